//! The lock beside a database file: one agent a file.

use std::{
    fs::{File, OpenOptions, TryLockError},
    io::{Read, Seek, Write},
    path::Path,
};

use crate::StoreError;

/// An exclusive lock on `<database>.lock`. A file of its own, since closing any handle of the
/// database file would drop the locks that SQLite holds on it. The system frees it with the process.
pub struct FileLock(#[allow(dead_code)] File);

impl FileLock {
    /// Takes the lock or names who has it.
    pub fn take(database: &Path) -> Result<Self, StoreError> {
        let mut path = database.as_os_str().to_owned();
        path.push(".lock");
        let not_writable = |source| StoreError::NotWritable { path: database.to_owned(), source };
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .map_err(not_writable)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut holder = String::new();
                // Who holds it is a courtesy; the refusal stands without.
                let _ = file.read_to_string(&mut holder);
                return Err(StoreError::InUse {
                    path: database.to_owned(),
                    holder: holder.trim().to_owned(),
                });
            }
            Err(TryLockError::Error(source)) => return Err(not_writable(source)),
        }
        let write = |file: &mut File| {
            file.set_len(0)?;
            file.rewind()?;
            write!(file, "process {}", std::process::id())
        };
        write(&mut file).map_err(not_writable)?;
        Ok(Self(file))
    }
}

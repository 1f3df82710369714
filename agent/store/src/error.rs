//! What can go wrong with the store, and what to do about it.

use std::path::PathBuf;

use thiserror::Error;

/// A failure of the store.
#[derive(Debug, Error)]
pub enum StoreError {
    /// The URL is not one that this version opens.
    #[error(
        "database.url `{url}`: {reason}; expected `sqlite:///absolute/path/agent.db` or `postgres://user@host/database`"
    )]
    Url {
        /// As configured.
        url: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// The database server can't be reached, or does not let this agent in.
    #[error(
        "the database at {at} can't be opened: {source}; is it running, and are user, password and database of `database.url` right?"
    )]
    Unreachable {
        /// Host and port.
        at: String,
        /// What it says.
        source: sqlx::Error,
    },
    /// The folder of the database file is missing.
    #[error("the folder {} does not exist; create it and let this user write to it", .folder.display())]
    NoFolder {
        /// The folder.
        folder: PathBuf,
    },
    /// The database file would lie below something that is no folder.
    #[error("{} can't be created, since {} is a file and no folder; name another place", .path.display(), .file.display())]
    BelowFile {
        /// The database file.
        path: PathBuf,
        /// What is no folder.
        file: PathBuf,
    },
    /// A folder stands where the database file should.
    #[error("{} is a folder; name a file in it, such as {}", .path.display(), .path.join("agent.db").display())]
    IsFolder {
        /// The folder.
        path: PathBuf,
    },
    /// The folder or the file can't be written.
    #[error("{} can't be written: {source}; let this user write to the folder and the file", .path.display())]
    NotWritable {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// Another process has the file.
    #[error("{} is in use by another agent ({holder}); stop that one, or give this one a database of its own", .path.display())]
    InUse {
        /// The database file.
        path: PathBuf,
        /// What the other agent wrote into its lock.
        holder: String,
    },
    /// The tables can't be brought up to date.
    #[error("the tables can't be brought up to date: {0}")]
    Migrate(#[from] sqlx::migrate::MigrateError),
    /// The database refuses or is away.
    #[error("the database failed: {0}")]
    Database(#[from] sqlx::Error),
    /// A row that this version can't read.
    #[error("table {table} has a row that can't be read: {reason}; was it written by another version?")]
    Corrupt {
        /// The table.
        table: &'static str,
        /// What is wrong.
        reason: String,
    },
}

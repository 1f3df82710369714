//! Storage: whole small files and names in a directory, by absolute path.

use std::{collections::BTreeMap, error::Error as _, io};

use opendal::{ErrorKind, Operator, services::Fs};
use tokio_stream::StreamExt;

use crate::SourceError;

/// Most bytes of one file that are read. Table metadata has a few hundred.
pub const MAX_FILE_BYTES: usize = 16 * 1024 * 1024;

/// Files under `/` of this machine. Never writes.
#[derive(Debug, Clone)]
pub struct Storage {
    operator: Operator,
    #[cfg(test)]
    pub hook: Option<Hook>,
}

/// Lets a test count requests and change files between two of them: called before each, with what
/// is asked (`read`, `list` or `probe`) and the path.
#[cfg(test)]
#[derive(Clone)]
pub struct Hook(pub std::sync::Arc<Asked>);

#[cfg(test)]
type Asked = dyn Fn(&str, &str) + Send + Sync;

#[cfg(test)]
impl std::fmt::Debug for Hook {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Hook")
    }
}

impl Storage {
    /// Storage of this machine. Its root is `/`, since the service creates a root that is missing:
    /// a warehouse that went away must stay away.
    pub fn local() -> Result<Self, SourceError> {
        let operator = Operator::new(Fs::default().root("/")).map_err(|error| failure("/", &error))?;
        Ok(Self {
            operator,
            #[cfg(test)]
            hook: None,
        })
    }

    /// The whole file; `None` when there is none. More than [`MAX_FILE_BYTES`] is an error.
    pub async fn read(&self, path: &str) -> Result<Option<Vec<u8>>, SourceError> {
        self.asked("read", path);
        match self.read_bounded(path).await {
            Ok(Some(bytes)) => Ok(Some(bytes)),
            Ok(None) => Err(SourceError::TooLarge { file: path.to_owned(), limit: MAX_FILE_BYTES }),
            Err(error) if is_missing(&error) => Ok(None),
            Err(error) => Err(failure(path, &error)),
        }
    }

    async fn read_bounded(&self, path: &str) -> opendal::Result<Option<Vec<u8>>> {
        let mut chunks = self.operator.reader(path).await?.into_stream(..).await?;
        let mut bytes = Vec::new();
        while let Some(chunk) = chunks.next().await {
            let chunk = chunk?;
            if bytes.len() + chunk.len() > MAX_FILE_BYTES {
                return Ok(None);
            }
            for part in chunk {
                bytes.extend_from_slice(&part);
            }
        }
        Ok(Some(bytes))
    }

    /// Names in a directory, in no order, those of directories with a `/` at the end; `None` when
    /// there is no such directory.
    pub async fn list(&self, directory: &str) -> Result<Option<Vec<String>>, SourceError> {
        self.asked("list", directory);
        let path = format!("{}/", directory.trim_end_matches('/'));
        let entries = match self.operator.list(&path).await {
            Ok(entries) => entries,
            Err(error) if is_missing(&error) => return Ok(None),
            Err(error) => return Err(failure(directory, &error)),
        };
        // A directory that exists lists itself first; without it, there is none.
        let own = path.trim_start_matches('/');
        let mut exists = false;
        let mut names = Vec::with_capacity(entries.len());
        for entry in entries {
            match entry.path().trim_start_matches('/').strip_prefix(own) {
                Some("") => exists = true,
                Some(name) => names.push(name.to_owned()),
                None => {}
            }
        }
        Ok((exists || !names.is_empty()).then_some(names))
    }

    /// Files in a directory, each with a mark that changes whenever the file does: its version, or when it was
    /// written and its size. None where there is no such directory. A file that goes away meanwhile is left
    /// out.
    pub async fn list_marked(&self, directory: &str) -> Result<BTreeMap<String, String>, SourceError> {
        self.asked("list", directory);
        let path = format!("{}/", directory.trim_end_matches('/'));
        let entries = match self.operator.list(&path).await {
            Ok(entries) => entries,
            Err(error) if is_missing(&error) => return Ok(BTreeMap::new()),
            Err(error) => return Err(failure(directory, &error)),
        };
        let own = path.trim_start_matches('/');
        let mut marked = BTreeMap::new();
        for entry in entries {
            let name = match entry.path().trim_start_matches('/').strip_prefix(own) {
                Some(name) if !name.is_empty() && !name.ends_with('/') => name.to_owned(),
                _ => continue,
            };
            // A listing of a local disk does not say it.
            let listed = entry.metadata();
            let metadata = match listed.last_modified().is_some() {
                true => listed.clone(),
                false => match self.operator.stat(entry.path()).await {
                    Ok(metadata) => metadata,
                    Err(error) if is_missing(&error) => continue,
                    Err(error) => return Err(failure(entry.path(), &error)),
                },
            };
            let written = metadata.last_modified().map(|at| at.to_string()).unwrap_or_default();
            let version = metadata.etag().unwrap_or_default();
            marked
                .insert(name, format!("{version} {written} {}", metadata.content_length()).trim().to_owned());
        }
        Ok(marked)
    }

    /// Whether a directory is there and can be listed, without listing all of it.
    pub async fn can_list(&self, directory: &str) -> Result<bool, SourceError> {
        self.asked("probe", directory);
        let path = format!("{}/", directory.trim_end_matches('/'));
        let first = async { self.operator.lister(&path).await?.next().await.transpose() };
        match first.await {
            Ok(entry) => Ok(entry.is_some()),
            Err(error) if is_missing(&error) => Ok(false),
            Err(error) => Err(failure(directory, &error)),
        }
    }

    #[cfg(test)]
    fn asked(&self, what: &str, path: &str) {
        if let Some(Hook(hook)) = &self.hook {
            hook(what, path);
        }
    }

    #[cfg(not(test))]
    fn asked(&self, _what: &str, _path: &str) {}
}

/// Nothing of that kind is under that name: also where a part of the path is a file, where the name
/// itself is a directory, and for names that no file can have.
fn is_missing(error: &opendal::Error) -> bool {
    match error.kind() {
        ErrorKind::NotFound | ErrorKind::IsADirectory | ErrorKind::NotADirectory => true,
        _ => io_error(error).is_some_and(|error| {
            use io::ErrorKind::{InvalidFilename, IsADirectory, NotADirectory, NotFound};
            matches!(error.kind(), NotFound | NotADirectory | IsADirectory | InvalidFilename)
        }),
    }
}

fn failure(path: &str, error: &opendal::Error) -> SourceError {
    let path = path.to_owned();
    if error.kind() == ErrorKind::PermissionDenied {
        return SourceError::Denied { path };
    }
    let reason = io_error(error).map_or_else(|| error.kind().to_string(), ToString::to_string);
    SourceError::Unreachable { path, reason }
}

/// The system's own error below the service's.
fn io_error(error: &opendal::Error) -> Option<&io::Error> {
    let mut next = error.source();
    while let Some(source) = next {
        if let Some(error) = source.downcast_ref::<io::Error>() {
            return Some(error);
        }
        next = source.source();
    }
    None
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[tokio::test]
    async fn files_and_directories() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| format!("{}/{name}", directory.path().display());
        let storage = Storage::local().unwrap();
        fs::create_dir_all(at("full/inner")).unwrap();
        fs::create_dir_all(at("empty")).unwrap();
        fs::write(at("full/file"), "text").unwrap();
        fs::write(at("full/blank"), "").unwrap();

        assert_eq!(storage.read(&at("full/file")).await.unwrap().unwrap(), b"text");
        assert_eq!(storage.read(&at("full/blank")).await.unwrap().unwrap(), b"");
        for missing in ["full/none", "none/file", "full/file/below", "full/inner", &"x".repeat(300)] {
            assert_eq!(storage.read(&at(missing)).await.unwrap(), None, "{missing}");
        }
        let mut names = storage.list(&at("full")).await.unwrap().unwrap();
        names.sort();
        assert_eq!(names, ["blank", "file", "inner/"]);
        assert_eq!(storage.list(&at("empty")).await.unwrap(), Some(vec![]));
        assert!(storage.can_list(&at("empty")).await.unwrap());
        for missing in ["none", "none/deeper", "full/file", &"x".repeat(300)] {
            assert_eq!(storage.list(&at(missing)).await.unwrap(), None, "{missing}");
            assert!(!storage.can_list(&at(missing)).await.unwrap(), "{missing}");
        }
        assert!(!fs::exists(at("none")).unwrap(), "looking creates nothing");
    }

    #[tokio::test]
    async fn a_file_beyond_the_bound_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("big");
        let file = fs::File::create(&path).unwrap();
        let storage = Storage::local().unwrap();
        file.set_len(MAX_FILE_BYTES as u64).unwrap();
        let bytes = storage.read(path.to_str().unwrap()).await.unwrap().unwrap();
        assert_eq!(bytes.len(), MAX_FILE_BYTES);
        file.set_len(MAX_FILE_BYTES as u64 + 1).unwrap();
        let error = storage.read(path.to_str().unwrap()).await.unwrap_err();
        assert_eq!(error.kind(), "too_large");
    }

    #[test]
    fn a_refusal_is_told_from_a_failure() {
        let denied = opendal::Error::new(ErrorKind::PermissionDenied, "no");
        assert_eq!(failure("/wh", &denied).kind(), "denied");
        let broken = opendal::Error::new(ErrorKind::Unexpected, "no").set_source(io::Error::other("disk"));
        let expected = SourceError::Unreachable { path: "/wh".into(), reason: "disk".into() };
        assert_eq!(failure("/wh", &broken), expected);
        assert!(!is_missing(&broken));
    }
}

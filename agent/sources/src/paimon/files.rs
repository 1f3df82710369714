//! The files of a table: each opened once and told as what it is, whatever became of it meanwhile.

use std::{
    collections::BTreeMap,
    sync::atomic::{AtomicBool, Ordering},
};

use asset_core::{change::Found, condition::MAX_TAG_CHARS, version::CommitClass};
use serde::de::IgnoredAny;

use super::{
    cursor::{Identity, Known},
    diff::Schemas,
    digest, is_plain_name, manifest_list, schema,
    snapshot::{self, Data, Snapshot},
};
use crate::{SourceError, storage::Storage};

/// Files of one table.
pub struct TableFiles<'a> {
    /// Where to read.
    pub storage: &'a Storage,
    /// Directory of the table.
    pub table: String,
    /// Set once the log has told of a commit kind that is not known.
    pub told_of_unknown_kind: &'a AtomicBool,
}

/// A snapshot file as it was found.
pub enum File {
    /// There is none.
    Missing,
    /// Half-written, or not a snapshot: what stands behind it waits for it.
    Broken(SourceError),
    /// Read.
    Whole(Snapshot),
}

impl TableFiles<'_> {
    /// Whether a commit brought data, with the delta manifest list where the snapshot does not tell.
    pub async fn class(&self, snapshot: &Snapshot) -> Result<CommitClass, SourceError> {
        match &snapshot.data {
            Data::Known(class) => Ok(*class),
            Data::Ask(name) if is_plain_name(name) => {
                let file = format!("{}/manifest/{name}", self.table);
                let empty = match self.storage.read(&file).await {
                    Ok(bytes) => bytes.and_then(|bytes| manifest_list::is_empty(&bytes)),
                    Err(SourceError::TooLarge { .. }) => None,
                    Err(error) => return Err(error),
                };
                // In doubt it is data: one run too many costs less than one that never comes.
                Ok(match empty {
                    Some(true) => CommitClass::Rewrite,
                    Some(false) | None => CommitClass::Advance,
                })
            }
            Data::Ask(_) => Ok(CommitClass::Advance),
            Data::AskSchema(id) => {
                let file = format!("{}/schema/schema-{id}", self.table);
                let shows = match self.storage.read(&file).await {
                    Ok(bytes) => bytes.and_then(|bytes| schema::shows_data_by_compaction(&bytes)),
                    Err(SourceError::TooLarge { .. }) => None,
                    Err(error) => return Err(error),
                };
                // Most tables show what is written at once: a compaction makes nobody ready.
                Ok(match shows {
                    Some(true) => CommitClass::Advance,
                    Some(false) | None => CommitClass::Rewrite,
                })
            }
            Data::UnknownKind => {
                if !self.told_of_unknown_kind.swap(true, Ordering::Relaxed) {
                    tracing::warn!(
                        table = %self.table,
                        snapshot = snapshot.commit.snapshot_id,
                        kind = %snapshot.commit.commit_kind,
                        "unknown commit kind: it and all others that this version does not know count as new data"
                    );
                }
                Ok(CommitClass::Advance)
            }
        }
    }

    /// Opens a snapshot.
    pub async fn snapshot(&self, id: i64) -> Result<File, SourceError> {
        let file = self.snapshot_file(id);
        let parsed = match self.storage.read(&file).await {
            Ok(None) => return Ok(File::Missing),
            Ok(Some(bytes)) => snapshot::parse(&file, id, &bytes),
            Err(error) => Err(error),
        };
        match parsed {
            Ok(snapshot) => Ok(File::Whole(snapshot)),
            Err(error @ (SourceError::Malformed { .. } | SourceError::TooLarge { .. })) => {
                Ok(File::Broken(error))
            }
            Err(error) => Err(error),
        }
    }

    /// Which table it is, by its schema files, and whether that is another one than the known.
    pub async fn schemas(&self, known: Option<&Known>) -> Result<Schemas, SourceError> {
        let numbers = self.numbered("schema", "schema-", 0).await?;
        let Some(&smallest) = numbers.first() else {
            // Without a schema file nothing tells one table from another.
            return Ok(Schemas { identity: None, other: false });
        };
        let identity = self.identity(smallest).await?;
        let other = match known.and_then(|known| known.identity.as_ref()) {
            None => false,
            Some(known) if numbers.binary_search(&known.schema).is_ok() => {
                let same_number = match &identity {
                    Some(identity) if identity.schema == known.schema => Some(identity.clone()),
                    _ => self.identity(known.schema).await?,
                };
                same_number.is_some_and(|now| now != *known)
            }
            // The known file is gone. A new table begins at 0, below it; old files that were cleaned
            // away leave larger ones.
            Some(known) => smallest < known.schema,
        };
        Ok(Schemas { identity, other })
    }

    async fn identity(&self, schema: i64) -> Result<Option<Identity>, SourceError> {
        let file = format!("{}/schema/schema-{schema}", self.table);
        let Some(bytes) = self.storage.read(&file).await? else {
            return Ok(None);
        };
        // Half a file would have an identity of its own, and the whole one then look like another table.
        if let Err(error) = serde_json::from_slice::<IgnoredAny>(&bytes) {
            return Err(SourceError::Malformed {
                file,
                field: None,
                expected: "a JSON object",
                found: format!("something else ({error})"),
            });
        }
        Ok(Some(Identity { schema, digest: digest(&bytes) }))
    }

    /// The newest schema file.
    pub async fn newest_schema(&self) -> Result<Option<i64>, SourceError> {
        Ok(self.numbered("schema", "schema-", 0).await?.pop())
    }

    /// The tags, each with the mark of its file.
    pub async fn tags(&self) -> Result<BTreeMap<String, String>, SourceError> {
        let files = self.storage.list_marked(&format!("{}/tag", self.table)).await?;
        let tags = files.into_iter().filter_map(|(name, mark)| {
            let name = name.strip_prefix("tag-").filter(|name| !name.is_empty())?;
            (name.chars().count() <= MAX_TAG_CHARS).then(|| (name.to_owned(), mark))
        });
        Ok(tags.collect())
    }

    /// The commit that a tag names; `None` when its file is gone, or not whole.
    pub async fn tag(&self, name: &str) -> Result<Option<Found>, SourceError> {
        let file = format!("{}/tag/tag-{name}", self.table);
        let Some(bytes) = self.storage.read(&file).await? else {
            return Ok(None);
        };
        match snapshot::parse_tag(&file, &bytes) {
            Ok(snapshot) => {
                let class = self.class(&snapshot).await?;
                Ok(Some(Found { class, ordinal: snapshot.commit.snapshot_id, commit: snapshot.commit }))
            }
            // It may be half-written; looked at again in the next round.
            Err(error) => {
                tracing::debug!(%file, %error, "this tag can't be read");
                Ok(None)
            }
        }
    }

    /// Listed snapshots, ascending.
    pub async fn snapshot_ids(&self) -> Result<Vec<i64>, SourceError> {
        self.numbered("snapshot", "snapshot-", 1).await
    }

    /// Whether there is a file of this snapshot, whatever is in it.
    pub async fn has_snapshot(&self, id: i64) -> Result<bool, SourceError> {
        let bytes = self.storage.read(&self.snapshot_file(id)).await?;
        Ok(bytes.is_some())
    }

    /// Numbers of the files `<prefix><number>` of a directory from `first` on, ascending. Anything
    /// else there is ignored: hints, temporary files, checksums. Hints are never trusted.
    async fn numbered(&self, directory: &str, prefix: &str, first: i64) -> Result<Vec<i64>, SourceError> {
        let path = format!("{}/{directory}", self.table);
        let names = self.storage.list(&path).await?.unwrap_or_default();
        let number = |name: &String| {
            let digits = name.strip_prefix(prefix)?;
            let number = digits.parse::<i64>().ok()?;
            ((first..i64::MAX).contains(&number) && number.to_string() == digits).then_some(number)
        };
        let mut numbers: Vec<i64> = names.iter().filter_map(number).collect();
        numbers.sort_unstable();
        Ok(numbers)
    }

    fn snapshot_file(&self, id: i64) -> String {
        format!("{}/snapshot/snapshot-{id}", self.table)
    }
}

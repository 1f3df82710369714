//! Reading a table: what to open in which order, so that what comes out was true at one moment.
//!
//! Files come and go while they are read. Everything opened for one answer stands between two reads
//! of the newest of the wanted snapshots: a rollback removes it and a fingerprint never comes back,
//! so if it is the same at both ends, no history was mixed with another.

use std::{
    collections::BTreeMap,
    sync::atomic::{AtomicBool, Ordering},
};

use asset_core::version::CommitClass;
use serde::de::IgnoredAny;

use super::{
    cursor::{Cursor, Identity, Known},
    diff::{self, Opened, Schemas, Sight, Verdict},
    digest, is_plain_name, manifest_list,
    snapshot::{self, Data, Snapshot},
};
use crate::{Depth, Poll, SourceError, Suspicion, storage::Storage};

/// How often a table is read when it changes meanwhile: once, and three times again.
const ATTEMPTS: usize = 4;

/// One table, for the time of one poll.
pub struct TableReader<'a> {
    /// Where to read.
    pub storage: &'a Storage,
    /// Directory of all tables.
    pub warehouse: &'a str,
    /// Directory of this one.
    pub table: String,
    /// Commits in one answer.
    pub batch_size: usize,
    /// Set once the log has told of a commit kind that is not known.
    pub told_of_unknown_kind: &'a AtomicBool,
}

/// A snapshot file as it was found.
enum Found {
    Missing,
    /// Half-written, or not a snapshot: what stands behind it waits for it.
    Broken(SourceError),
    Whole(Snapshot),
}

/// What the attempts of one poll tell each other.
#[derive(Default)]
struct Earlier {
    /// Newest id of an earlier listing.
    newest: Option<i64>,
    /// Listed, but gone when they were opened, and how often.
    vanished: BTreeMap<i64, usize>,
    last_attempt: bool,
}

impl TableReader<'_> {
    /// Answers a poll.
    pub async fn poll(
        &self,
        cursor: Option<&Cursor>,
        depth: Depth,
        suspicion: Option<&Suspicion>,
    ) -> Result<Poll, SourceError> {
        let known = cursor.and_then(Cursor::table).filter(|known| known.held.is_none());
        let head = known.and_then(|known| known.head.as_ref());
        if let (Depth::Fast, None, Some(head)) = (depth, suspicion, head)
            && self.storage.read(&self.snapshot_file(head.id + 1)).await?.is_none()
        {
            return Ok(Poll::Unchanged);
        }

        let mut earlier = Earlier::default();
        for attempt in 1..=ATTEMPTS {
            earlier.last_attempt = attempt == ATTEMPTS;
            if let Some(poll) = self.attempt(cursor, suspicion, &mut earlier).await? {
                return Ok(poll);
            }
        }
        Err(SourceError::Unsettled { path: self.table.clone() })
    }

    /// One read of the table; `None` when it changed under the read.
    async fn attempt(
        &self,
        cursor: Option<&Cursor>,
        suspicion: Option<&Suspicion>,
        earlier: &mut Earlier,
    ) -> Result<Option<Poll>, SourceError> {
        let mut ids = self.numbered("snapshot", "snapshot-", 1).await?;
        let listed_before = earlier.newest.replace(ids.last().copied().unwrap_or(0));
        if earlier.last_attempt {
            // Listed each time but never there: such a name (a dangling link) is no snapshot.
            ids.retain(|id| earlier.vanished.get(id) != Some(&(ATTEMPTS - 1)));
        }
        let wanted = diff::wanted(cursor, &ids, self.batch_size);
        // A listing may miss a file that is made while it runs. A missing id below what an earlier
        // listing had was made before this one began: it is really gone.
        let certain = |last: i64| listed_before.is_some_and(|newest| last < newest);
        let gaps_are_certain = wanted.gaps().all(|(_, last)| certain(last));

        let mut anchor = None;
        for &id in wanted.ids.iter().rev() {
            match self.snapshot(id).await? {
                Found::Missing => return Ok(earlier.vanished(id)),
                Found::Broken(_) => {}
                Found::Whole(snapshot) => {
                    anchor = Some(snapshot);
                    break;
                }
            }
        }

        let known = cursor.and_then(Cursor::table);
        let head = known.and_then(|known| known.head.as_ref());
        let at_head = match head.filter(|head| ids.binary_search(&head.id).is_ok()) {
            None => None,
            Some(head) => match self.snapshot(head.id).await? {
                Found::Missing => return Ok(earlier.vanished(head.id)),
                Found::Broken(error) => return Err(error),
                Found::Whole(snapshot) => Some(snapshot.commit.fingerprint),
            },
        };
        let stands = head.is_some_and(|head| at_head.as_ref() == Some(&head.fingerprint));
        let identity_known = known.is_some_and(|known| known.identity.is_some());
        let schemas = match stands && identity_known {
            true => None,
            false => Some(self.schemas(known).await?),
        };
        let sight = Sight { ids, at_head, schemas };

        match (diff::judge(cursor, &sight), known) {
            (Verdict::Follow, _) => {}
            (Verdict::Broken(seen), Some(known)) => {
                if !sight.exists() {
                    self.check_warehouse().await?;
                }
                return Ok(Some(diff::answer_broken(known, seen, suspicion)));
            }
            (Verdict::Absent | Verdict::Broken(_), _) => {
                self.check_warehouse().await?;
                let cursor = Cursor::Absent.to_text();
                return Ok(Some(Poll::Absent { cursor }));
            }
        }
        if !gaps_are_certain {
            return Ok(None);
        }

        let mut opened = Vec::with_capacity(wanted.ids.len());
        let mut stopped = None;
        for &id in &wanted.ids {
            let found = match &anchor {
                Some(anchor) if anchor.commit.snapshot_id == id => Found::Whole(anchor.clone()),
                _ => self.snapshot(id).await?,
            };
            match found {
                Found::Missing => return Ok(earlier.vanished(id)),
                Found::Broken(error) => {
                    stopped = Some(error);
                    break;
                }
                Found::Whole(snapshot) => {
                    let class = self.class(&snapshot).await?;
                    let commit = snapshot.commit;
                    opened.push(Opened { commit, class });
                }
            }
        }
        if let Some(anchor) = anchor {
            let id = anchor.commit.snapshot_id;
            match self.snapshot(id).await? {
                Found::Missing => return Ok(earlier.vanished(id)),
                Found::Whole(again) if again.commit.fingerprint == anchor.commit.fingerprint => {}
                Found::Whole(_) | Found::Broken(_) => return Ok(None),
            }
        }

        let answer = diff::answer(cursor, &sight, wanted.after, opened);
        match stopped {
            Some(error) if answer.changes.is_empty() => Err(error),
            stopped => {
                let more = wanted.more && stopped.is_none();
                Ok(Some(answer.into_poll(cursor, more)))
            }
        }
    }

    /// Whether a commit brought data, with the delta manifest list where the snapshot does not tell.
    async fn class(&self, snapshot: &Snapshot) -> Result<CommitClass, SourceError> {
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

    async fn snapshot(&self, id: i64) -> Result<Found, SourceError> {
        let file = self.snapshot_file(id);
        let parsed = match self.storage.read(&file).await {
            Ok(None) => return Ok(Found::Missing),
            Ok(Some(bytes)) => snapshot::parse(&file, id, &bytes),
            Err(error) => Err(error),
        };
        match parsed {
            Ok(snapshot) => Ok(Found::Whole(snapshot)),
            Err(error @ (SourceError::Malformed { .. } | SourceError::TooLarge { .. })) => {
                Ok(Found::Broken(error))
            }
            Err(error) => Err(error),
        }
    }

    /// Which table it is, by its schema files, and whether that is another one than the known.
    async fn schemas(&self, known: Option<&Known>) -> Result<Schemas, SourceError> {
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

    /// A table is absent only where its warehouse can be seen: one that went away is an error.
    async fn check_warehouse(&self) -> Result<(), SourceError> {
        super::check_warehouse(self.storage, self.warehouse).await
    }
}

impl Earlier {
    /// Expiry may take a file between listing and opening it: list again.
    fn vanished(&mut self, id: i64) -> Option<Poll> {
        *self.vanished.entry(id).or_default() += 1;
        None
    }
}

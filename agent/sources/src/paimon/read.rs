//! Reading a table: what to open in which order, so that what comes out was true at one moment.
//!
//! Files come and go while they are read. Everything opened for one answer stands between two reads
//! of the newest of the wanted snapshots: a rollback removes it and a fingerprint never comes back,
//! so if it is the same at both ends, no history was mixed with another.

use std::collections::BTreeMap;

use asset_core::change::{Found, HistoryBreak};

use super::{
    cursor::{Cursor, Held, Known},
    diff::{self, Beside, Sight, Verdict},
    files::{File, TableFiles},
    snapshot::Snapshot,
};
use crate::{Depth, Poll, SourceError, Suspicion, poll::Cause};

/// How often a table is read when it changes meanwhile: once, and three times again.
const ATTEMPTS: usize = 4;

/// One table, for the time of one poll.
pub struct TableReader<'a> {
    /// Its files.
    pub files: TableFiles<'a>,
    /// Directory of all tables.
    pub warehouse: &'a str,
    /// Commits in one answer.
    pub batch_size: usize,
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
            && !self.files.has_snapshot(head.id + 1).await?
        {
            return Ok(Poll::Unchanged);
        }

        let mut earlier = Earlier::default();
        for attempt in 1..=ATTEMPTS {
            earlier.last_attempt = attempt == ATTEMPTS;
            if let Some(poll) = self.attempt(cursor, depth, suspicion, &mut earlier).await? {
                return Ok(poll);
            }
        }
        Err(SourceError::Unsettled { path: self.files.table.clone() })
    }

    /// One read of the table; `None` when it changed under the read.
    async fn attempt(
        &self,
        cursor: Option<&Cursor>,
        depth: Depth,
        suspicion: Option<&Suspicion>,
        earlier: &mut Earlier,
    ) -> Result<Option<Poll>, SourceError> {
        let mut ids = self.files.snapshot_ids().await?;
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

        let anchor = match self.anchor(&wanted.ids, earlier).await? {
            Some(anchor) => anchor,
            None => return Ok(None),
        };

        let known = cursor.and_then(Cursor::table);
        let head = known.and_then(|known| known.head.as_ref());
        let at_head = match head.filter(|head| ids.binary_search(&head.id).is_ok()) {
            None => None,
            Some(head) => match self.files.snapshot(head.id).await? {
                File::Missing => return Ok(earlier.vanished(head.id)),
                File::Broken(error) => return Err(error),
                File::Whole(snapshot) => Some(snapshot.commit.fingerprint),
            },
        };
        let stands = head.is_some_and(|head| at_head.as_ref() == Some(&head.fingerprint));
        let identity_known = known.is_some_and(|known| known.identity.is_some());
        let schemas = match stands && identity_known {
            true => None,
            false => Some(self.files.schemas(known).await?),
        };
        let sight = Sight { ids, at_head, schemas };

        match (diff::judge(cursor, &sight), known) {
            (Verdict::Follow, _) => {}
            (Verdict::Broken(seen), Some(known)) => {
                if !sight.exists() {
                    self.check_warehouse().await?;
                }
                // Published when two reads agree: a rollback at work looks like this as well.
                if !suspicion.is_some_and(|earlier| seen.confirms(earlier)) {
                    let known_already = seen.cause == Cause::Gone && known.held == Some(Held::Absent);
                    return Ok(Some(if known_already { Poll::Unchanged } else { Poll::Suspect(seen) }));
                }
                return match seen.cause {
                    Cause::Gone => Ok(Some(diff::answer_gone(known))),
                    Cause::NewHistory(cause) => self.new_history(known, &sight, cause, earlier).await,
                };
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

        let (opened, stopped) = match self.open(&wanted.ids, anchor.as_ref(), earlier).await? {
            Some(opened) => opened,
            None => return Ok(None),
        };
        let (beside, more_beside) = match (depth, known) {
            (Depth::Strict, _) | (_, None) => self.beside(known).await?,
            (Depth::Fast, Some(_)) => (Beside::default(), false),
        };
        if !self.stands(anchor.as_ref(), earlier).await? {
            return Ok(None);
        }

        let answer = diff::answer(cursor, &sight, wanted.after, opened);
        let nothing = answer.changes.is_empty();
        let answer = answer.with(beside);
        match stopped {
            Some(error) if nothing => Err(error),
            stopped => {
                let more = (wanted.more || more_beside) && stopped.is_none();
                Ok(Some(answer.into_poll(cursor, more)))
            }
        }
    }

    /// Schemas and tags: they change without a snapshot, so that only a read that sees everything looks.
    /// Answers also whether more tags changed than one answer holds.
    async fn beside(&self, known: Option<&Known>) -> Result<(Beside, bool), SourceError> {
        let none = BTreeMap::new();
        let marks = self.files.tags().await?;
        let (mut other, untagged) = diff::tags(known.map_or(&none, |known| &known.tags), &marks);
        let more = other.len() > self.batch_size;
        other.truncate(self.batch_size);
        let mut beside = Beside { schema: self.files.newest_schema().await?, untagged, tagged: Vec::new() };
        for name in other {
            if let (Some(found), Some(mark)) = (self.files.tag(&name).await?, marks.get(&name)) {
                beside.tagged.push((name, found, mark.clone()));
            }
        }
        // Where none of them could be read, the next round looks again.
        let more = more && !beside.tagged.is_empty();
        Ok((beside, more))
    }

    /// Reads a history that is not the known one; `None` when it changed under the read.
    async fn new_history(
        &self,
        known: &Known,
        sight: &Sight,
        cause: HistoryBreak,
        earlier: &mut Earlier,
    ) -> Result<Option<Poll>, SourceError> {
        let ids = diff::new_history(&sight.ids);
        let Some(anchor) = self.anchor(ids, earlier).await? else {
            return Ok(None);
        };
        let Some((commits, stopped)) = self.open(ids, anchor.as_ref(), earlier).await? else {
            return Ok(None);
        };
        let schema = self.files.newest_schema().await?;
        if !self.stands(anchor.as_ref(), earlier).await? {
            return Ok(None);
        }
        match stopped {
            Some(error) if commits.is_empty() => Err(error),
            _ => Ok(Some(diff::answer_new_history(known, sight, schema, cause, commits))),
        }
    }

    /// The newest of the snapshots that is whole, where there is one; `None` when the table changed.
    async fn anchor(
        &self,
        ids: &[i64],
        earlier: &mut Earlier,
    ) -> Result<Option<Option<Snapshot>>, SourceError> {
        for &id in ids.iter().rev() {
            match self.files.snapshot(id).await? {
                File::Missing => return Ok(earlier.vanished(id)),
                File::Broken(_) => {}
                File::Whole(snapshot) => return Ok(Some(Some(snapshot))),
            }
        }
        Ok(Some(None))
    }

    /// Whether the anchor is what it was: then nothing that was read in between is of another history.
    async fn stands(&self, anchor: Option<&Snapshot>, earlier: &mut Earlier) -> Result<bool, SourceError> {
        let Some(anchor) = anchor else {
            return Ok(true);
        };
        let id = anchor.commit.snapshot_id;
        Ok(match self.files.snapshot(id).await? {
            File::Missing => {
                earlier.vanished::<()>(id);
                false
            }
            File::Whole(again) => again.commit.fingerprint == anchor.commit.fingerprint,
            File::Broken(_) => false,
        })
    }

    /// Opens snapshots up to the first one that is not whole; `None` when the table changed.
    async fn open(
        &self,
        ids: &[i64],
        anchor: Option<&Snapshot>,
        earlier: &mut Earlier,
    ) -> Result<Option<(Vec<Found>, Option<SourceError>)>, SourceError> {
        let mut opened = Vec::with_capacity(ids.len());
        for &id in ids {
            let file = match anchor {
                Some(anchor) if anchor.commit.snapshot_id == id => File::Whole(anchor.clone()),
                _ => self.files.snapshot(id).await?,
            };
            match file {
                File::Missing => return Ok(earlier.vanished(id)),
                File::Broken(error) => return Ok(Some((opened, Some(error)))),
                File::Whole(snapshot) => {
                    let class = self.files.class(&snapshot).await?;
                    opened.push(Found { class, ordinal: id, commit: snapshot.commit });
                }
            }
        }
        Ok(Some((opened, None)))
    }

    /// A table is absent only where its warehouse can be seen: one that went away is an error.
    async fn check_warehouse(&self) -> Result<(), SourceError> {
        super::check_warehouse(self.files.storage, self.warehouse).await
    }
}

impl Earlier {
    /// Expiry may take a file between listing and opening it: list again.
    fn vanished<T>(&mut self, id: i64) -> Option<T> {
        *self.vanished.entry(id).or_default() += 1;
        None
    }
}

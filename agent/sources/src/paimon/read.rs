//! Reading a table: what to open in which order, so that what comes out was true at one moment.
//!
//! Files come and go while they are read. Everything opened for one answer stands between two reads
//! of the newest of the wanted snapshots: a rollback removes it and a fingerprint never comes back,
//! so if it is the same at both ends, no history was mixed with another.

use std::collections::BTreeMap;

use super::{
    cursor::Cursor,
    diff::{self, Opened, Sight, Verdict},
    files::{Found, TableFiles},
};
use crate::{Depth, Poll, SourceError, Suspicion};

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
            if let Some(poll) = self.attempt(cursor, suspicion, &mut earlier).await? {
                return Ok(poll);
            }
        }
        Err(SourceError::Unsettled { path: self.files.table.clone() })
    }

    /// One read of the table; `None` when it changed under the read.
    async fn attempt(
        &self,
        cursor: Option<&Cursor>,
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

        let mut anchor = None;
        for &id in wanted.ids.iter().rev() {
            match self.files.snapshot(id).await? {
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
            Some(head) => match self.files.snapshot(head.id).await? {
                Found::Missing => return Ok(earlier.vanished(head.id)),
                Found::Broken(error) => return Err(error),
                Found::Whole(snapshot) => Some(snapshot.commit.fingerprint),
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
                _ => self.files.snapshot(id).await?,
            };
            match found {
                Found::Missing => return Ok(earlier.vanished(id)),
                Found::Broken(error) => {
                    stopped = Some(error);
                    break;
                }
                Found::Whole(snapshot) => {
                    let class = self.files.class(&snapshot).await?;
                    let commit = snapshot.commit;
                    opened.push(Opened { commit, class });
                }
            }
        }
        if let Some(anchor) = anchor {
            let id = anchor.commit.snapshot_id;
            match self.files.snapshot(id).await? {
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

    /// A table is absent only where its warehouse can be seen: one that went away is an error.
    async fn check_warehouse(&self) -> Result<(), SourceError> {
        super::check_warehouse(self.files.storage, self.warehouse).await
    }
}

impl Earlier {
    /// Expiry may take a file between listing and opening it: list again.
    fn vanished(&mut self, id: i64) -> Option<Poll> {
        *self.vanished.entry(id).or_default() += 1;
        None
    }
}

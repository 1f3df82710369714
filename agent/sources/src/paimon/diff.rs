//! The difference between a cursor and what a read saw. Pure.

use std::collections::BTreeMap;

use asset_core::change::{Change, Found, HistoryBreak};

use super::cursor::{Cursor, Head, Held, Identity, Known};
use crate::{Poll, Suspicion, poll::Cause};

/// Most commits of the first read of a table: older ones are history that nobody waits for.
pub const FIRST_READ: usize = 1000;

/// Most commits that are read of a history that is not the known one: those below are taken for known.
const NEW_HISTORY: usize = 5_000;

/// What a read saw of a table before it opened new commits.
#[derive(Debug)]
pub struct Sight {
    /// Listed snapshots, ascending.
    pub ids: Vec<i64>,
    /// Fingerprint that the snapshot with the known head's id has now.
    pub at_head: Option<String>,
    /// The schema files; `None` when the known head stands and tells all.
    pub schemas: Option<Schemas>,
}

impl Sight {
    /// Whether there is a table at all: one has a schema file, or a snapshot.
    pub fn exists(&self) -> bool {
        let schema = self.schemas.as_ref().is_some_and(|s| s.identity.is_some());
        schema || !self.ids.is_empty()
    }
}

/// What the schema files say.
#[derive(Debug)]
pub struct Schemas {
    /// Which table it is now; `None` when there is no schema file.
    pub identity: Option<Identity>,
    /// Whether that is certainly another table than the known one.
    pub other: bool,
}

/// Snapshots to open: the next ones of a history.
#[derive(Debug, PartialEq)]
pub struct Wanted {
    /// Id that they follow; `None` on the first read, which follows nothing.
    pub after: Option<i64>,
    /// Ascending.
    pub ids: Vec<i64>,
    /// There are more than the batch holds.
    pub more: bool,
}

/// What to do about a sight.
#[derive(Debug, PartialEq)]
pub enum Verdict {
    /// No table, and none was known.
    Absent,
    /// The known history is not there any more.
    Broken(Suspicion),
    /// The known history goes on, or one begins: open what is wanted and answer.
    Follow,
}

/// The next snapshots, if the history goes on. A first read takes the newest and is never cut, since
/// its newest commit becomes the baseline.
pub fn wanted(cursor: Option<&Cursor>, listed: &[i64], batch_size: usize) -> Wanted {
    let Some(cursor) = cursor else {
        let start = listed.len().saturating_sub(FIRST_READ);
        return Wanted { after: None, ids: listed[start..].to_vec(), more: false };
    };
    // Of a table that was empty or absent every commit is news, from the first id on.
    let head = cursor.table().and_then(|known| known.head.as_ref());
    let after = head.map_or(0, |head| head.id);
    let new = &listed[listed.partition_point(|id| *id <= after)..];
    Wanted {
        after: Some(after),
        ids: new[..new.len().min(batch_size)].to_vec(),
        more: new.len() > batch_size,
    }
}

impl Wanted {
    /// Ranges that are missing among the wanted ids.
    pub fn gaps(&self) -> impl Iterator<Item = (i64, i64)> {
        let mut last = self.after;
        self.ids.iter().filter_map(move |&id| {
            let before = last.replace(id)?;
            (id > before + 1).then_some((before + 1, id - 1))
        })
    }
}

/// Whether the known history goes on.
pub fn judge(cursor: Option<&Cursor>, sight: &Sight) -> Verdict {
    let identity = sight.schemas.as_ref().and_then(|s| s.identity.as_ref());
    let cause = match cursor.and_then(Cursor::table) {
        None if sight.exists() => return Verdict::Follow,
        None => return Verdict::Absent,
        Some(known) => broken(known, sight),
    };
    match cause {
        None => Verdict::Follow,
        Some(cause) => Verdict::Broken(Suspicion {
            cause,
            at_head: sight.at_head.clone(),
            identity: identity.map(|identity| identity.digest.clone()),
            newest: sight.ids.last().copied(),
        }),
    }
}

/// Snapshots to open of a history that is not the known one.
pub fn new_history(listed: &[i64]) -> &[i64] {
    &listed[listed.len().saturating_sub(NEW_HISTORY)..]
}

fn broken(known: &Known, sight: &Sight) -> Option<Cause> {
    let Some(head) = &known.head else {
        // Where no commit was known, no commit can be missed: any table continues an empty one.
        return (!sight.exists()).then_some(Cause::Gone);
    };
    if sight.at_head.as_ref() == Some(&head.fingerprint) {
        return None;
    }
    if !sight.exists() {
        return Some(Cause::Gone);
    }
    if sight.schemas.as_ref().is_some_and(|schemas| schemas.other) {
        return Some(Cause::NewHistory(HistoryBreak::Recreated));
    }
    // Expiry takes the smallest ids, so it explains a head that is missing below all others. Not
    // after the table was gone: then ids prove nothing.
    let below_all = sight.ids.first().is_some_and(|first| head.id < *first);
    if sight.at_head.is_none() && below_all && known.held.is_none() {
        return None;
    }
    Some(Cause::NewHistory(HistoryBreak::Rewound { known: head.id, found: sight.ids.last().copied() }))
}

/// The answer to a table that is gone: published once.
pub fn answer_gone(known: &Known) -> Poll {
    if known.held == Some(Held::Absent) {
        return Poll::Unchanged;
    }
    // The head stays: it is what tells that the known history is back.
    let cursor = Cursor::Table(Known { held: Some(Held::Absent), ..known.clone() });
    Poll::Changed { changes: vec![Change::Gone], cursor: cursor.to_text(), more: false }
}

/// The answer to another history, with what was opened of it.
pub fn answer_new_history(
    known: &Known,
    sight: &Sight,
    schema: Option<i64>,
    cause: HistoryBreak,
    commits: Vec<Found>,
) -> Poll {
    let newest = commits.last();
    let another_table = cause == HistoryBreak::Recreated;
    let cause = match cause {
        HistoryBreak::Rewound { known, .. } => {
            HistoryBreak::Rewound { known, found: newest.map(|found| found.ordinal) }
        }
        other => other,
    };
    let head = newest.map(|found| Head { id: found.ordinal, fingerprint: found.commit.fingerprint.clone() });
    let seen = sight.schemas.as_ref().and_then(|s| s.identity.clone());
    let cursor = Cursor::Table(Known {
        head,
        identity: seen.or_else(|| known.identity.clone()),
        earliest: sight.ids.first().copied(),
        held: None,
        // Schemas of another table are counted from the beginning.
        schema: if another_table { schema } else { known.schema.max(schema) },
        tags: known.tags.clone(),
    });
    let mut changes = vec![Change::NewHistory { cause, commits }];
    let is_new = |id: &i64| another_table || known.schema.is_none_or(|known| known < *id);
    changes.extend(schema.filter(is_new).map(|id| Change::Schema { id }));
    Poll::Changed { changes, cursor: cursor.to_text(), more: false }
}

/// The answer where a history goes on, or begins, with what was opened of the wanted commits.
pub fn answer(cursor: Option<&Cursor>, sight: &Sight, after: Option<i64>, opened: Vec<Found>) -> Answer {
    let known = cursor.and_then(Cursor::table).cloned().unwrap_or_default();
    let mut changes = Vec::new();
    if known.held.is_some() {
        changes.push(Change::Back);
    }

    let mut last = after;
    let mut head = known.head;
    for Found { class, ordinal, commit } in opened {
        if let Some(before) = last.replace(ordinal)
            && ordinal > before + 1
        {
            changes.push(Change::Gap { first: before + 1, last: ordinal - 1 });
        }
        head = Some(Head { id: ordinal, fingerprint: commit.fingerprint.clone() });
        changes.push(Change::Committed { class, ordinal, commit });
    }

    let earliest = sight.ids.first().copied();
    if let (Some(before), Some(earliest)) = (known.earliest, earliest)
        && earliest > before
    {
        changes.push(Change::Expired { earliest });
    }
    let seen = sight.schemas.as_ref().and_then(|s| s.identity.clone());
    Answer {
        changes,
        cursor: Cursor::Table(Known {
            head,
            identity: seen.or(known.identity),
            earliest,
            held: None,
            schema: known.schema,
            tags: known.tags,
        }),
    }
}

/// What stands beside the snapshots of a table, as far as a read looked.
#[derive(Debug, Default)]
pub struct Beside {
    /// Newest schema.
    pub schema: Option<i64>,
    /// Tags that are new or another, with what they name and their marks.
    pub tagged: Vec<(String, Found, String)>,
    /// Tags that are gone.
    pub untagged: Vec<String>,
}

/// Tags that are new or another than known, and those that are gone.
pub fn tags(known: &BTreeMap<String, String>, now: &BTreeMap<String, String>) -> (Vec<String>, Vec<String>) {
    let other = now.iter().filter(|(name, mark)| known.get(*name) != Some(mark));
    let gone = known.keys().filter(|name| !now.contains_key(*name));
    (other.map(|(name, _)| name.clone()).collect(), gone.cloned().collect())
}

impl Answer {
    /// Adds what stands beside the snapshots. A schema comes before the commits that were written with it.
    pub fn with(mut self, beside: Beside) -> Self {
        let Cursor::Table(known) = &mut self.cursor else {
            return self;
        };
        if let Some(id) = beside.schema.filter(|id| known.schema.is_none_or(|known| known < *id)) {
            known.schema = Some(id);
            self.changes.insert(0, Change::Schema { id });
        }
        for (name, found, mark) in beside.tagged {
            known.tags.insert(name.clone(), mark);
            self.changes.push(Change::Tagged { name, found });
        }
        for name in beside.untagged {
            known.tags.remove(&name);
            self.changes.push(Change::Untagged { name });
        }
        self
    }
}

/// Changes with the cursor behind them.
#[derive(Debug)]
pub struct Answer {
    /// Oldest first.
    pub changes: Vec<Change>,
    /// Behind them.
    pub cursor: Cursor,
}

impl Answer {
    /// As a poll answers it: a cursor that did not move says nothing.
    pub fn into_poll(self, before: Option<&Cursor>, more: bool) -> Poll {
        if self.changes.is_empty() && before == Some(&self.cursor) {
            return Poll::Unchanged;
        }
        Poll::Changed { changes: self.changes, cursor: self.cursor.to_text(), more }
    }
}

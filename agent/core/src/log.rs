//! The version log of an asset and its fold.
//!
//! The log is the truth about an asset's commits; everything else is derived from it. Folding is
//! pure, and stamped events in any order, repeated and batched at will, give the same log: an entry
//! is keyed by its position, of two contradicting ones a fixed rule keeps one, and what an entry
//! inherits from its ancestors is derived again whenever an ancestor arrives late.

use std::collections::BTreeMap;

use crate::{
    event::{EventBody, IgnoredReason, Outcome, StampedEvent},
    version::{Commit, CommitClass, Millis, Position, Version},
};

/// One line of the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Entry {
    /// A commit.
    Commit(Version),
    /// Commits from ordinal `first` up to this entry's own ordinal that expired unseen.
    Gap {
        /// First missing ordinal.
        first: i64,
        /// Watermark of the nearest known ancestor.
        effective_watermark: Option<Millis>,
    },
}

/// The newest part of an asset's versions, or all of them. A part is cut so that its oldest entry
/// has its inherited values already; what is below it can't change what is above.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct VersionLog {
    entries: BTreeMap<Position, Entry>,
}

/// What an entry hands on to the next of its history.
#[derive(Clone, Copy, Default)]
struct Inherited {
    /// The data version that a Rewrite would carry; `None` when unknown.
    data_ordinal: Option<i64>,
    watermark: Option<Millis>,
}

impl VersionLog {
    /// A log of entries read from the store.
    pub fn from_entries(entries: impl IntoIterator<Item = (Position, Entry)>) -> Self {
        Self { entries: entries.into_iter().collect() }
    }

    /// All entries, oldest first.
    pub fn entries(&self) -> impl DoubleEndedIterator<Item = (Position, &Entry)> {
        self.entries.iter().map(|(position, entry)| (*position, entry))
    }

    /// All commits, oldest first.
    pub fn versions(&self) -> impl DoubleEndedIterator<Item = (Position, &Version)> {
        self.entries().filter_map(|(position, entry)| match entry {
            Entry::Commit(version) => Some((position, version)),
            Entry::Gap { .. } => None,
        })
    }

    /// The commit at a position.
    pub fn version(&self, position: Position) -> Option<&Version> {
        match self.entries.get(&position)? {
            Entry::Commit(version) => Some(version),
            Entry::Gap { .. } => None,
        }
    }

    /// The newest commit of any class.
    pub fn latest(&self) -> Option<(Position, &Version)> {
        self.versions().next_back()
    }

    /// The newest data version: the only one that a condition with `match: HEAD` looks at.
    pub fn latest_data(&self) -> Option<(Position, &Version)> {
        let (head, version) = self.latest()?;
        let position = Position { ordinal: version.data_ordinal, ..head };
        Some((position, self.version(position)?))
    }

    /// The commit that a reader of the data version at `data` should open: its own while that can be
    /// read, else the newest readable Rewrite that carries it.
    pub fn readable_carrier(&self, data: Position) -> Option<&Version> {
        let own = self.version(data).filter(|version| version.readable);
        own.or_else(|| {
            self.versions()
                .rev()
                .take_while(|(position, _)| *position > data)
                .filter(|(position, _)| position.generation == data.generation)
                .map(|(_, version)| version)
                .find(|version| version.readable && version.data_ordinal == data.ordinal)
        })
    }

    /// Folds one event in. The outcome says what became of it.
    pub fn fold(mut self, event: &StampedEvent) -> (Self, Outcome) {
        let at = event.position;
        let data_before = self.data_position();
        match &event.body {
            EventBody::Committed { class, commit } => {
                match self.entries.get(&at) {
                    Some(Entry::Commit(known)) if known.commit == *commit => {
                        return (self, Outcome::Duplicate);
                    }
                    Some(Entry::Commit(known)) if !wins(commit, &known.commit) => {
                        return (self, Outcome::Ignored(IgnoredReason::Stale));
                    }
                    _ => {}
                }
                let version = Version {
                    commit: commit.clone(),
                    class: *class,
                    data_ordinal: at.ordinal,
                    effective_watermark: None,
                    readable: true,
                    observed_at: event.observed_at,
                };
                self.entries.insert(at, Entry::Commit(version));
            }
            EventBody::Gap { first } => {
                let first = match self.entries.get(&at) {
                    // What was seen is not missing.
                    Some(Entry::Commit(_)) => {
                        return (self, Outcome::Ignored(IgnoredReason::Stale));
                    }
                    Some(Entry::Gap { first: known, .. }) if known <= first => {
                        return (self, Outcome::Duplicate);
                    }
                    _ => *first,
                };
                let gap = Entry::Gap { first, effective_watermark: None };
                self.entries.insert(at, gap);
            }
        }
        self.derive_from(at);

        // What counts is the data version, not the class: a Rewrite behind a gap is new data, and a
        // late Advance below a Rewrite is what that one carries.
        let data = self.data_position();
        let is_head = self.latest().is_some_and(|(position, _)| position == at);
        let outcome = match &event.body {
            EventBody::Gap { .. } => Outcome::Applied,
            _ if data == Some(at) || data != data_before => Outcome::Applied,
            _ if is_head => Outcome::Ignored(IgnoredReason::MaintenanceOnly),
            _ => Outcome::Ignored(IgnoredReason::Stale),
        };
        (self, outcome)
    }

    fn data_position(&self) -> Option<Position> {
        self.latest_data().map(|(position, _)| position)
    }

    /// Marks the commits of a history below `earliest` as no longer readable. Answers whether that
    /// changed anything in this part of the log.
    pub fn expire_below(&mut self, earliest: Position) -> bool {
        let begin = Position { ordinal: i64::MIN, ..earliest };
        let mut changed = false;
        for entry in self.entries.range_mut(begin..earliest).map(|(_, e)| e) {
            if let Entry::Commit(version) = entry {
                changed |= version.readable;
                version.readable = false;
            }
        }
        changed
    }

    /// Drops what is below the newest data version: evaluation never looks there.
    pub fn keep_from_latest_data(&mut self) {
        if let Some((position, _)) = self.latest_data() {
            self.entries = self.entries.split_off(&position);
        }
    }

    /// Derives the inherited values of the entry at `from` and of those above it, until one comes
    /// out as it was: all above that one stay as they are.
    fn derive_from(&mut self, from: Position) {
        let below = self.entries.range(..from).next_back();
        let mut inherited = below
            .filter(|(position, _)| position.generation == from.generation)
            .map_or(Inherited::default(), |(_, entry)| entry.handed_on());
        for (position, entry) in self.entries.range_mut(from..) {
            if position.generation != from.generation {
                break;
            }
            let changed = entry.derive(*position, inherited);
            if !changed && *position > from {
                break;
            }
            inherited = entry.handed_on();
        }
    }
}

impl Entry {
    fn handed_on(&self) -> Inherited {
        match self {
            Self::Commit(version) => {
                Inherited { data_ordinal: Some(version.data_ordinal), watermark: version.effective_watermark }
            }
            // Behind a gap nobody knows which data a Rewrite carries: it counts as data itself.
            Self::Gap { effective_watermark, .. } => {
                Inherited { data_ordinal: None, watermark: *effective_watermark }
            }
        }
    }

    fn derive(&mut self, position: Position, inherited: Inherited) -> bool {
        match self {
            Self::Commit(version) => {
                let data_ordinal = match version.class {
                    CommitClass::Advance => position.ordinal,
                    CommitClass::Rewrite => inherited.data_ordinal.unwrap_or(position.ordinal),
                };
                let watermark = version.commit.watermark.or(inherited.watermark);
                let changed =
                    (version.data_ordinal, version.effective_watermark) != (data_ordinal, watermark);
                version.data_ordinal = data_ordinal;
                version.effective_watermark = watermark;
                changed
            }
            Self::Gap { effective_watermark, .. } => {
                let changed = *effective_watermark != inherited.watermark;
                *effective_watermark = inherited.watermark;
                changed
            }
        }
    }
}

/// Which of two commits that claim one position stays, whatever came first. Stamping under the
/// cursor's lock version keeps this from happening; the rule keeps the fold independent of order.
fn wins(new: &Commit, known: &Commit) -> bool {
    let rank = |commit: &Commit| {
        (
            commit.commit_time,
            commit.fingerprint.clone(),
            commit.snapshot_id,
            commit.commit_kind.clone(),
            commit.schema_id,
            commit.watermark,
            commit.delta_record_count,
        )
    };
    rank(new) > rank(known)
}

#[cfg(test)]
mod tests;

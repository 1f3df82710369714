//! An asset: its version log with what is derived from it, and how a batch of changes moves it.

use crate::{
    change::{Change, Found, HistoryBreak},
    event::{EventBody, Evidence, Fact, Outcome, StampedEvent},
    key::AssetKey,
    log::VersionLog,
    version::{Floor, Millis, Position, Version},
};

/// What the store knows of one asset.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asset {
    /// Its key.
    pub key: AssetKey,
    /// Head at the first successful read: what came before is history, not news.
    pub first_head: Floor,
    /// Since when the table is gone from its catalog; nothing is released from it meanwhile.
    pub gone_since: Option<Millis>,
    /// The newest part of its versions, from the newest data version at the latest.
    pub log: VersionLog,
    /// Counts the changes of this asset; a decision that rests on an older one is not written.
    pub lock_version: i64,
    /// Store-wide revision of the last change.
    pub revision: i64,
    /// When it last changed.
    pub update_time: Millis,
}

/// Why nothing is known of an asset.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unread {
    /// No catalog of the configuration has its table.
    NoCatalog,
    /// Its catalog is configured to read some tables, and this is none of them.
    NotListed,
    /// This agent is configured to read no table.
    PollingOff,
    /// Its table is about to be read for the first time.
    NotYet,
    /// Its table can't be read: why, and the way out.
    Failing(String),
}

/// What is known under a key.
#[derive(Debug, Clone, Copy)]
pub enum Knowledge<'a> {
    /// The store has nothing.
    Unknown,
    /// The store has nothing, and the caller knows why.
    Unread(&'a Unread),
    /// A catalog was read and has no such table.
    Absent,
    /// This asset.
    Known(&'a Asset),
}

/// A batch of changes, applied.
#[derive(Debug)]
pub struct Applied {
    /// The asset after it.
    pub asset: Asset,
    /// The evidence to keep: duplicates are left out.
    pub evidence: Vec<Evidence>,
    /// How many events were there already.
    pub duplicates: usize,
    /// Everything below this ordinal of the current history has become unreadable.
    pub expired_below: Option<i64>,
    /// Whether the state moved: false means that nothing is to be written but the cursor.
    pub changed: bool,
}

/// What a batch has brought so far.
#[derive(Default)]
struct Batch {
    evidence: Vec<Evidence>,
    duplicates: usize,
    expired_below: Option<i64>,
    changed: bool,
}

impl Asset {
    /// An asset that was just read for the first time.
    pub fn new(key: AssetKey) -> Self {
        Self {
            key,
            first_head: Floor::BelowAll,
            gone_since: None,
            log: VersionLog::default(),
            lock_version: 0,
            revision: 0,
            update_time: 0,
        }
    }

    /// The newest commit of any class.
    pub fn latest(&self) -> Option<(Position, &Version)> {
        self.log.latest()
    }

    /// The newest commit that brought data.
    pub fn latest_data(&self) -> Option<(Position, &Version)> {
        self.log.latest_data()
    }

    /// Its current history.
    pub fn generation(&self) -> i64 {
        self.log.generation()
    }

    /// The newest commit as a point that later ones are newer than.
    pub fn head(&self) -> Floor {
        self.latest().map_or(Floor::BelowAll, |(position, _)| Floor::At(position))
    }

    /// Stamps changes with their places and folds them. Pure: the caller holds the lock under which
    /// nothing can move in between, and sets lock version and revision. A new history, and a commit that
    /// was known in a history that was given up, need the whole log, of all histories.
    pub fn apply(mut self, changes: &[Change], now: Millis) -> Applied {
        let mut applied = Batch::default();
        let mut changes = changes.iter().peekable();
        while let Some(change) = changes.next() {
            match change {
                Change::Committed { .. } if self.known_elsewhere(change).is_some() => {
                    let mut run = vec![change];
                    while let Some(next) = changes.next_if(|next| self.known_elsewhere(next).is_some()) {
                        run.push(next);
                    }
                    self.rejoin(&run, now, &mut applied);
                }
                Change::Committed { class, ordinal, commit } => {
                    let found = Found { class: *class, ordinal: *ordinal, commit: commit.clone() };
                    self.take_commit(found, now, &mut applied);
                }
                Change::Gap { first, last } => self.take_gap(*first, *last, now, &mut applied),
                Change::Expired { earliest } => {
                    let at = self.at(*earliest);
                    self.log.expire_below(at);
                    applied.expired_below = applied.expired_below.max(Some(*earliest));
                    applied.changed = true;
                }
                Change::NewHistory { cause, commits } => {
                    self.begin_history(cause, commits, now, &mut applied);
                }
                Change::Gone => {
                    applied.changed |= self.gone_since.is_none();
                    self.gone_since.get_or_insert(now);
                }
                Change::Back => applied.changed |= self.gone_since.take().is_some(),
            }
        }
        let Batch { evidence, duplicates, expired_below, changed } = applied;
        Applied { asset: self, evidence, duplicates, expired_below, changed }
    }

    fn take_commit(&mut self, found: Found, now: Millis, applied: &mut Batch) {
        let Found { class, ordinal, commit } = found;
        let body = EventBody::Committed { class, commit: commit.clone() };
        self.fold(self.at(ordinal), body, Fact::Committed(commit), now, applied);
    }

    fn take_gap(&mut self, first: i64, last: i64, now: Millis, applied: &mut Batch) {
        self.fold(self.at(last), EventBody::Gap { first }, Fact::Gap { first }, now, applied);
    }

    /// Begins the next generation: what was known of the new history keeps its ordinals and is no news,
    /// all above the base is.
    fn begin_history(&mut self, cause: &HistoryBreak, commits: &[Found], now: Millis, applied: &mut Batch) {
        let split = self.log.split(cause, commits, now);
        let generation = self.generation() + 1;
        let base = split.origin.map(|origin| origin.ordinal);
        let position = Position { generation, ordinal: base.unwrap_or(i64::MIN) };
        let fact = Fact::RolledBack { cause: cause.clone(), base };
        let began = EventBody::Began { origin: split.origin, kept: split.kept };
        self.fold(position, began, fact, now, applied);
        applied.expired_below = None;
        let mut last = base;
        for found in &commits[split.above..] {
            if let Some(before) = last.replace(found.ordinal).filter(|before| *before + 1 < found.ordinal) {
                self.take_gap(before + 1, found.ordinal - 1, now, applied);
            }
            self.take_commit(found.clone(), now, applied);
        }
        self.gone_since = None;
    }

    /// Where a commit stood in a history that was given up.
    fn known_elsewhere(&self, change: &Change) -> Option<Position> {
        let Change::Committed { ordinal, commit, .. } = change else {
            return None;
        };
        let here = self.log.version(self.at(*ordinal));
        if here.is_some_and(|version| version.commit.fingerprint == commit.fingerprint) {
            return None;
        }
        self.log.given_up(&commit.fingerprint)
    }

    /// Commits that were taken back follow on the head: their history is the one of now again, and
    /// nothing of it is news.
    fn rejoin(&mut self, run: &[&Change], now: Millis, applied: &mut Batch) {
        let Some(Change::Committed { commit, .. }) = run.last() else {
            return;
        };
        let Some(origin) = self.log.given_up(&commit.fingerprint) else {
            return;
        };
        let mut listed = self.log.readable();
        listed.extend(run.iter().filter_map(|change| match change {
            Change::Committed { ordinal, .. } => Some(*ordinal),
            _ => None,
        }));
        let known = self.latest().map_or(0, |(_, version)| version.commit.snapshot_id);
        let cause = HistoryBreak::Rewound { known, found: Some(commit.snapshot_id) };
        let position = Position { generation: self.generation() + 1, ordinal: origin.ordinal };
        let began = EventBody::Began { origin: Some(origin), kept: self.log.up_to(origin, &listed) };
        let fact = Fact::RolledBack { cause, base: Some(origin.ordinal) };
        self.fold(position, began, fact, now, applied);
    }

    fn fold(&mut self, position: Position, body: EventBody, fact: Fact, now: Millis, applied: &mut Batch) {
        let event = StampedEvent { position, observed_at: now, body };
        let (log, outcome) = std::mem::take(&mut self.log).fold(&event);
        self.log = log;
        if outcome == Outcome::Duplicate {
            applied.duplicates += 1;
            return;
        }
        applied.changed = true;
        applied.evidence.push(Evidence { fact, position: Some(position), observed_at: now, outcome });
    }

    fn at(&self, ordinal: i64) -> Position {
        Position { generation: self.generation(), ordinal }
    }
}

#[cfg(test)]
mod tests;

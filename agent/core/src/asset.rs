//! An asset: its version log with what is derived from it, and how a batch of changes moves it.

use crate::{
    change::{Change, Hold},
    event::{EventBody, Evidence, Fact, Outcome, StampedEvent},
    key::AssetKey,
    log::VersionLog,
    version::{FIRST_GENERATION, Floor, Millis, Position, Version},
};

/// What the store knows of one asset.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asset {
    /// Its key.
    pub key: AssetKey,
    /// Current history.
    pub generation: i64,
    /// Head at the first successful read: what came before is history, not news.
    pub first_head: Floor,
    /// Set while the table is not on its known history.
    pub hold: Option<Hold>,
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

impl Asset {
    /// An asset that was just read for the first time.
    pub fn new(key: AssetKey) -> Self {
        Self {
            key,
            generation: FIRST_GENERATION,
            first_head: Floor::BelowAll,
            hold: None,
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

    /// The newest commit as a point that later ones are newer than.
    pub fn head(&self) -> Floor {
        self.latest().map_or(Floor::BelowAll, |(position, _)| Floor::At(position))
    }

    /// Stamps changes with their places and folds them. Pure: the caller holds the lock under which
    /// nothing can move in between, and sets lock version and revision.
    pub fn apply(mut self, changes: &[Change], now: Millis) -> Applied {
        let mut evidence = Vec::new();
        let mut duplicates = 0;
        let mut expired_below = None;
        let mut changed = false;
        for change in changes {
            let (position, body, fact) = match change {
                Change::Committed { class, ordinal, commit } => (
                    self.at(*ordinal),
                    EventBody::Committed { class: *class, commit: commit.clone() },
                    Fact::Committed(commit.clone()),
                ),
                Change::Gap { first, last } => {
                    (self.at(*last), EventBody::Gap { first: *first }, Fact::Gap { first: *first })
                }
                Change::Expired { earliest } => {
                    let at = self.at(*earliest);
                    self.log.expire_below(at);
                    expired_below = expired_below.max(Some(*earliest));
                    changed = true;
                    continue;
                }
                Change::Broken(cause) => {
                    if self.hold.as_ref().is_some_and(|hold| hold.cause == *cause) {
                        continue;
                    }
                    let hold = Hold { cause: cause.clone(), since: now };
                    evidence.push(Evidence {
                        fact: Fact::RolledBack(hold.clone()),
                        position: self.latest().map(|(position, _)| position),
                        observed_at: now,
                        outcome: Outcome::Applied,
                    });
                    self.hold = Some(hold);
                    changed = true;
                    continue;
                }
                Change::Mended => {
                    changed |= self.hold.take().is_some();
                    continue;
                }
            };

            let event = StampedEvent { position, observed_at: now, body };
            let (log, outcome) = self.log.fold(&event);
            self.log = log;
            if outcome == Outcome::Duplicate {
                duplicates += 1;
                continue;
            }
            changed = true;
            evidence.push(Evidence { fact, position: Some(position), observed_at: now, outcome });
        }
        Applied { asset: self, evidence, duplicates, expired_below, changed }
    }

    fn at(&self, ordinal: i64) -> Position {
        Position { generation: self.generation, ordinal }
    }
}

#[cfg(test)]
mod tests;

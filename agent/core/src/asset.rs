//! An asset: its version log with what is derived from it, and how a batch of changes moves it.

mod reports;

use crate::{
    change::{Change, Found, HistoryBreak},
    event::{EventBody, Evidence, Fact, Outcome, StampedEvent},
    facts::{Quality, SchemaStatus, Tag},
    key::AssetKey,
    log::VersionLog,
    report::Ordering,
    statement::Statement,
    version::{Assurance, Floor, Millis, Position, Version},
};

pub use reports::{Refused, Source};

/// What the store knows of one asset.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asset {
    /// Its key.
    pub key: AssetKey,
    /// Head at the first successful read: what came before is history, not news.
    pub first_head: Floor,
    /// Since when the table is gone from its catalog; nothing is released from it meanwhile.
    pub gone_since: Option<Millis>,
    /// What orders its versions where they are reported; `None`: no report has said so yet.
    pub ordering: Option<Ordering>,
    /// The tag that was made last. Its own, since tags are loaded only for who looks at them.
    pub latest_tag: Option<String>,
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

/// What one event did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Folded {
    /// What became of it.
    pub outcome: Outcome,
    /// What it speaks of.
    pub position: Option<Position>,
    /// Whether what is known moved.
    pub changed: bool,
}

impl Folded {
    /// An event that changed nothing.
    fn noted(outcome: Outcome) -> Self {
        Self { outcome, position: None, changed: false }
    }
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
            ordering: None,
            latest_tag: None,
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

    /// What checks said of the newest data version.
    pub fn quality(&self) -> Option<&Statement<Quality>> {
        self.log.quality(self.latest_data()?.0)
    }

    /// Where the newest schema stands.
    pub fn schema_status(&self) -> Option<SchemaStatus> {
        let (table, id) = self.log.facts().schemas.latest?;
        Some(self.log.facts().schemas.status(table, id))
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
        self.see_first_schema(changes, now);
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
                Change::Tagged { name, found } => {
                    let Found { class, ordinal, commit } = found.clone();
                    let tag = Tag { ordinal, class, commit };
                    let fact = Fact::Tagged { name: name.clone(), tag: tag.clone() };
                    self.take_tag_change(name, Some(tag), fact, now, &mut applied);
                }
                Change::Untagged { name } => {
                    let fact = Fact::Untagged { name: name.clone() };
                    self.take_tag_change(name, None, fact, now, &mut applied);
                }
                Change::Schema { id } => self.take_schema(*id, now, &mut applied),
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
        if let Some(schema) = commit.schema_id {
            self.take_schema(schema, now, applied);
        }
        let body = EventBody::Committed { class, commit: commit.clone(), assurance: Assurance::Verified };
        self.fold(self.at(ordinal), body, Fact::Committed(commit), now, applied);
    }

    /// At first sight the newest schema needs no approval, and those before it neither.
    fn see_first_schema(&mut self, changes: &[Change], now: Millis) {
        if self.log.facts().schemas.latest.is_some() {
            return;
        }
        let first = changes.iter().take_while(|change| !matches!(change, Change::NewHistory { .. }));
        let ids = first.filter_map(|change| match change {
            Change::Schema { id } => Some(*id),
            Change::Committed { commit, .. } => commit.schema_id,
            _ => None,
        });
        if let Some(id) = ids.max() {
            self.see_schema(id, now);
        }
    }

    fn take_schema(&mut self, id: i64, now: Millis, applied: &mut Batch) {
        let place = Position { generation: self.log.table(), ordinal: 0 };
        let latest = self.log.facts().schemas.latest;
        if latest.is_none() {
            self.see_schema(id, now);
        } else if latest < Some((place.generation, id)) {
            let body = EventBody::SchemaSeen { id, first: false };
            self.fold(place, body, Fact::SchemaChanged { id }, now, applied);
        }
    }

    /// Reads of one table follow each other, whatever the clock says: the later one counts.
    fn take_tag_change(
        &mut self,
        name: &str,
        value: Option<Tag>,
        fact: Fact,
        now: Millis,
        applied: &mut Batch,
    ) {
        let before = self.log.facts().tags.get(name);
        if before.map(|tag| &tag.value) == Some(&value) {
            return;
        }
        let at = before.map_or(now, |tag| now.max(tag.at.saturating_add(1)));
        let position = value.as_ref().map_or_else(|| self.at(i64::MIN), |tag| self.at(tag.ordinal));
        let tag = Statement { value, at, reporter: "POLL".to_owned(), key: String::new() };
        let body = EventBody::Tagged { name: name.to_owned(), tag };
        self.fold(position, body, fact, now, applied);
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
        let another_table = *cause == HistoryBreak::Recreated;
        let began = EventBody::Began { origin: split.origin, kept: split.kept, another_table };
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
        let kept = self.log.up_to(origin, &listed);
        let began = EventBody::Began { origin: Some(origin), kept, another_table: false };
        let fact = Fact::RolledBack { cause, base: Some(origin.ordinal) };
        self.fold(position, began, fact, now, applied);
    }

    fn fold(&mut self, position: Position, body: EventBody, fact: Fact, now: Millis, applied: &mut Batch) {
        let outcome = self.fold_one(position, body, now);
        if outcome == Outcome::Duplicate {
            applied.duplicates += 1;
            return;
        }
        applied.changed = true;
        applied.evidence.push(Evidence { fact, position: Some(position), observed_at: now, outcome });
    }

    fn fold_one(&mut self, position: Position, body: EventBody, now: Millis) -> Outcome {
        let event = StampedEvent { position, observed_at: now, body };
        let (log, outcome) = std::mem::take(&mut self.log).fold(&event);
        self.log = log;
        if matches!(event.body, EventBody::Tagged { .. }) {
            self.latest_tag = self.log.facts().latest_tag().map(str::to_owned);
        }
        outcome
    }

    fn at(&self, ordinal: i64) -> Position {
        Position { generation: self.generation(), ordinal }
    }
}

#[cfg(test)]
mod tests;

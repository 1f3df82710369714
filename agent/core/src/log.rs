//! The version log of an asset and its fold.
//!
//! The log is the truth about an asset's commits; everything else is derived from it. Folding is
//! pure, and stamped events in any order, repeated and batched at will, give the same log: an entry
//! is keyed by its position, of two contradicting ones a fixed rule keeps one, and what an entry
//! inherits from its ancestors is derived again whenever an ancestor arrives late.

mod derive;

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    change::{Found, HistoryBreak},
    event::{EventBody, IgnoredReason, Outcome, StampedEvent},
    facts::{Facts, Quality, SchemaStatus},
    statement::Statement,
    version::{Assurance, Commit, FIRST_GENERATION, Floor, Millis, Position, Version},
};

use derive::Reach;

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
    /// Every history but the first, with its origin: where the newest of its commits that was known
    /// before (its base) stood before.
    origins: BTreeMap<i64, Option<Position>>,
    /// Generations that another table under the name began with.
    tables: BTreeSet<i64>,
    entries: BTreeMap<Position, Entry>,
    /// What else is known, of these entries and of the asset.
    facts: Facts,
}

/// What of a new history was known.
#[derive(Debug, PartialEq, Eq)]
pub struct NewHistory {
    /// Where its newest commit that was known stood before.
    pub origin: Option<Position>,
    /// What it holds up to there.
    pub kept: Vec<(i64, Entry)>,
    /// How many of its commits lie up to there; those behind them are news.
    pub above: usize,
}

impl VersionLog {
    /// A log of histories (generation and origin, without the first) and entries read from the store.
    pub fn from_rows(
        origins: impl IntoIterator<Item = (i64, Option<Position>)>,
        entries: impl IntoIterator<Item = (Position, Entry)>,
    ) -> Self {
        Self {
            origins: origins.into_iter().collect(),
            tables: BTreeSet::new(),
            entries: entries.into_iter().collect(),
            facts: Facts::default(),
        }
    }

    /// With other lines.
    pub fn with_entries(self, entries: impl IntoIterator<Item = (Position, Entry)>) -> Self {
        Self { entries: entries.into_iter().collect(), ..self }
    }

    /// With the generations that another table began with.
    pub fn with_tables(self, tables: impl IntoIterator<Item = i64>) -> Self {
        Self { tables: tables.into_iter().collect(), ..self }
    }

    /// Whether a generation began with another table.
    pub fn is_another_table(&self, generation: i64) -> bool {
        self.tables.contains(&generation)
    }

    /// With what else is known.
    pub fn with_facts(self, facts: Facts) -> Self {
        Self { facts, ..self }
    }

    /// What else is known.
    pub fn facts(&self) -> &Facts {
        &self.facts
    }

    /// The history that the table holds now.
    pub fn generation(&self) -> i64 {
        self.origins.last_key_value().map_or(FIRST_GENERATION, |(generation, _)| *generation)
    }

    /// Every history but the first, with its origin.
    pub fn origins(&self) -> impl Iterator<Item = (i64, Option<Position>)> {
        self.origins.iter().map(|(generation, origin)| (*generation, *origin))
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

    /// The newest commit of any class in the history of now.
    pub fn latest(&self) -> Option<(Position, &Version)> {
        let generation = self.generation();
        self.versions().next_back().filter(|(position, _)| position.generation == generation)
    }

    /// Where a remembered place stands in the history of now: at its own commit if that is there, else
    /// at the newest commit there that its own history had up to it. So a rollback is no news to whoever
    /// had seen what it took back, undoing it is none either, and the first commit after it is, though
    /// its ordinal was used before.
    pub fn carry(&self, floor: Floor) -> Floor {
        let Floor::At(mut place) = floor else {
            return floor;
        };
        // The histories that the one of now grew from, newest first, each with its base.
        let mut path = Vec::new();
        let mut generation = self.generation();
        while let Some(Some(origin)) = self.origins.get(&generation) {
            path.push((generation, origin.ordinal));
            generation = origin.generation;
        }
        let first = generation;
        // Down to a history that is one of them ...
        while place.generation != first && path.iter().all(|(generation, _)| *generation != place.generation)
        {
            let Some(Some(origin)) = self.origins.get(&place.generation) else {
                return Floor::BelowAll;
            };
            place = Position { ordinal: place.ordinal.min(origin.ordinal), ..*origin };
        }
        // ... and up to now.
        let from = place.generation;
        for (generation, base) in path.into_iter().rev().filter(|(later, _)| *later > from) {
            place = Position { generation, ordinal: place.ordinal.min(base) };
        }
        Floor::At(place)
    }

    /// Tells apart what of a new history was known: its base, with all that the log has up to there,
    /// and the commits above it, which are news. `whole` log only.
    pub fn split(&self, cause: &HistoryBreak, commits: &[Found], now: Millis) -> NewHistory {
        let known = match cause {
            HistoryBreak::Recreated => None,
            HistoryBreak::Rewound { .. } | HistoryBreak::ByHand { .. } => {
                commits.iter().rev().find_map(|found| {
                    // The newest history that has it: nothing that befell it later is lost.
                    let same = |(_, version): &(Position, &Version)| {
                        version.commit.fingerprint == found.commit.fingerprint
                    };
                    self.versions().rev().find(same).map(|(at, _)| at)
                })
            }
        };
        if let Some(origin) = known {
            let above = commits.partition_point(|found| found.ordinal <= origin.ordinal);
            let listed = commits.iter().map(|found| found.ordinal).collect();
            return NewHistory { origin: Some(origin), kept: self.up_to(origin, &listed), above };
        }
        // Of the same table, what is older than all that the log has left was known once.
        let oldest = match cause {
            HistoryBreak::Recreated => None,
            HistoryBreak::Rewound { .. } | HistoryBreak::ByHand { .. } => {
                let generation = self.generation();
                self.entries.keys().find(|at| at.generation == generation).map(|at| at.ordinal)
            }
        };
        let above = oldest.map_or(0, |oldest| commits.partition_point(|found| found.ordinal < oldest));
        let kept = commits[..above].iter().map(|found| {
            let version = Version::of(found.class, found.ordinal, found.commit.clone(), now);
            (found.ordinal, Entry::Commit(version))
        });
        let base = commits[..above].last().map(|found| found.ordinal);
        let origin = base.map(|ordinal| Position { generation: self.generation(), ordinal });
        NewHistory { origin, kept: kept.collect(), above }
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
        own.or_else(|| self.carriers(data).find(|version| version.readable))
    }

    /// All that a history has up to a place, by ordinal, for another one to take over. Only what is
    /// `listed` now can be read: a history that comes back may have holes.
    pub fn up_to(&self, at: Position, listed: &BTreeSet<i64>) -> Vec<(i64, Entry)> {
        let first = Position { ordinal: i64::MIN, ..at };
        let kept = self.entries.range(first..=at).map(|(at, entry)| {
            let mut entry = entry.clone();
            if let Entry::Commit(version) = &mut entry {
                version.readable = listed.contains(&at.ordinal);
            }
            (at.ordinal, entry)
        });
        kept.collect()
    }

    /// Ordinals of the history of now that can be read.
    pub fn readable(&self) -> BTreeSet<i64> {
        let generation = self.generation();
        let here = self.versions().rev().take_while(|(at, _)| at.generation == generation);
        here.filter(|(_, version)| version.readable).map(|(at, _)| at.ordinal).collect()
    }

    /// Where the commit of a fingerprint stood in the newest of the histories that were given up.
    pub fn given_up(&self, fingerprint: &str) -> Option<Position> {
        let generation = self.generation();
        let mut commits = self.versions().rev().filter(|(at, _)| at.generation < generation);
        commits.find(|(_, version)| version.commit.fingerprint == fingerprint).map(|(at, _)| at)
    }

    /// The data version at `data` and every commit that carries its data, newest first.
    pub fn carriers(&self, data: Position) -> impl Iterator<Item = &Version> {
        let last = Position { ordinal: i64::MAX, ..data };
        let here = self.entries.range(data..=last).rev().filter_map(|(_, entry)| match entry {
            Entry::Commit(version) => Some(version),
            Entry::Gap { .. } => None,
        });
        here.filter(move |version| version.data_ordinal == data.ordinal)
    }

    /// The watermark of the data version at `data`: the greatest of its own and of those of the commits
    /// that carry it, since a job without new rows still moves its watermark on.
    pub fn watermark(&self, data: Position) -> Option<Millis> {
        self.carriers(data).filter_map(|version| version.effective_watermark).max()
    }

    /// What checks said of the data version at `data`: the latest about it or a commit that carries it.
    pub fn quality(&self, data: Position) -> Option<&Statement<Quality>> {
        let said = self.carriers(data).filter_map(|v| self.facts.quality.get(&v.commit.fingerprint));
        said.reduce(|one, other| if other.supersedes(one) { other } else { one })
    }

    /// Where a schema of the table of now stands.
    pub fn schema_status(&self, id: i64) -> SchemaStatus {
        self.facts.schemas.status(self.table(), id)
    }

    /// The generation that the table of now began with: a rollback leaves it the same table.
    pub fn table(&self) -> i64 {
        self.tables.last().copied().unwrap_or(FIRST_GENERATION)
    }

    /// Commits that had a native id, in any history: each once, by fingerprint, oldest first.
    pub fn of_id(&self, snapshot_id: i64) -> Vec<&Commit> {
        let mut found: Vec<&Commit> = Vec::new();
        for (_, version) in self.versions().filter(|(_, v)| v.commit.snapshot_id == snapshot_id) {
            if found.iter().all(|known| known.fingerprint != version.commit.fingerprint) {
                found.push(&version.commit);
            }
        }
        found
    }

    /// Whether a gap of the history of now names an ordinal.
    pub fn is_missing(&self, ordinal: i64) -> bool {
        let from = Position { generation: self.generation(), ordinal };
        let next = self.entries.range(from..).next();
        matches!(next, Some((at, Entry::Gap { first, .. }))
            if at.generation == from.generation && *first <= ordinal)
    }

    /// Folds one event in. The outcome says what became of it.
    pub fn fold(mut self, event: &StampedEvent) -> (Self, Outcome) {
        let outcome = match &event.body {
            EventBody::Committed { .. } | EventBody::Gap { .. } | EventBody::Began { .. } => {
                self.fold_history(event)
            }
            EventBody::Checked { fingerprint, quality } => {
                let mut known = self.facts.quality.remove(fingerprint);
                let same = known.as_ref() == Some(quality);
                let counts = quality.put(&mut known);
                self.facts.quality.extend(known.map(|known| (fingerprint.clone(), known)));
                register(counts, same)
            }
            EventBody::Watermarked { fingerprint, watermark } => {
                let known = self.facts.watermarks.get(fingerprint).copied();
                if known.is_none_or(|known| known < *watermark) {
                    self.facts.watermarks.insert(fingerprint.clone(), *watermark);
                    let changed = self.derive_watermarks(fingerprint);
                    if changed { Outcome::Applied } else { Outcome::Ignored(IgnoredReason::Stale) }
                } else {
                    register(false, known == Some(*watermark))
                }
            }
            EventBody::Tagged { name, tag } => {
                let mut known = self.facts.tags.remove(name);
                let same = known.as_ref() == Some(tag);
                let counts = tag.put(&mut known);
                self.facts.tags.extend(known.map(|known| (name.clone(), known)));
                register(counts, same)
            }
            EventBody::SchemaSeen { id, first } => {
                let schemas = &mut self.facts.schemas;
                let before = (schemas.first, schemas.latest);
                if *first {
                    schemas.first = schemas.first.max(Some(*id));
                }
                schemas.latest = schemas.latest.max(Some((event.position.generation, *id)));
                let changed = before != (schemas.first, schemas.latest);
                register(changed, before.1 == Some((event.position.generation, *id)))
            }
            EventBody::SchemaDecided { id, decision } => {
                let place = (event.position.generation, *id);
                let mut known = self.facts.schemas.decisions.remove(&place);
                let same = known.as_ref() == Some(decision);
                let counts = decision.put(&mut known);
                self.facts.schemas.decisions.extend(known.map(|known| (place, known)));
                register(counts, same)
            }
            EventBody::Backfilled { id, backfill } => {
                let same = self.facts.backfills.get(id).is_some_and(|known| known.last == *backfill);
                register(self.facts.put_backfill(id, backfill), same)
            }
        };
        (self, outcome)
    }

    /// Folds a commit, a gap or a new history in.
    fn fold_history(&mut self, event: &StampedEvent) -> Outcome {
        let at = event.position;
        let data_before = self.data_position();
        match &event.body {
            EventBody::Committed { class, commit, assurance } => {
                let known = match self.entries.get(&at) {
                    Some(Entry::Commit(known)) => Some(known),
                    _ => None,
                };
                if let Some(known) = known {
                    if known.commit == *commit && known.assurance >= *assurance {
                        return Outcome::Duplicate;
                    }
                    if !wins((*assurance, commit), (known.assurance, &known.commit)) {
                        return Outcome::Ignored(IgnoredReason::Stale);
                    }
                }
                let mut version = Version::of(*class, at.ordinal, commit.clone(), event.observed_at);
                version.assurance = *assurance;
                self.entries.insert(at, Entry::Commit(version));
            }
            EventBody::Gap { first } => {
                let first = match self.entries.get(&at) {
                    // What was seen is not missing.
                    Some(Entry::Commit(_)) => return Outcome::Ignored(IgnoredReason::Stale),
                    Some(Entry::Gap { first: known, .. }) if known <= first => return Outcome::Duplicate,
                    _ => *first,
                };
                let gap = Entry::Gap { first, effective_watermark: None };
                self.entries.insert(at, gap);
            }
            EventBody::Began { origin, kept, another_table } => {
                if *another_table {
                    self.tables.insert(at.generation);
                }
                if self.origins.insert(at.generation, *origin) == Some(*origin) {
                    return Outcome::Duplicate;
                }
                for (ordinal, entry) in kept {
                    self.entries.entry(Position { ordinal: *ordinal, ..at }).or_insert_with(|| entry.clone());
                }
                self.derive_from(Position { ordinal: i64::MIN, ..at }, Reach::All);
                return Outcome::Applied;
            }
            _ => return Outcome::Ignored(IgnoredReason::NoState),
        }
        self.derive_from(at, Reach::UntilUnchanged);

        // What counts is the data version, not the class: a Rewrite behind a gap is new data, and a
        // late Advance below a Rewrite is what that one carries.
        let data = self.data_position();
        let is_head = self.latest().is_some_and(|(position, _)| position == at);
        match &event.body {
            EventBody::Gap { .. } => Outcome::Applied,
            _ if data == Some(at) || data != data_before => Outcome::Applied,
            _ if is_head => Outcome::Ignored(IgnoredReason::MaintenanceOnly),
            _ => Outcome::Ignored(IgnoredReason::Stale),
        }
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

    /// Drops what is below the newest data version: a condition that asks for the head never looks there.
    pub fn keep_from_latest_data(&mut self) {
        let oldest = Position { generation: self.generation(), ordinal: i64::MIN };
        let from = self.latest_data().map_or(oldest, |(position, _)| position);
        self.entries = self.entries.split_off(&from);
    }
}

/// What became of a statement.
fn register(counts: bool, same: bool) -> Outcome {
    match (counts, same) {
        (true, _) => Outcome::Applied,
        (false, true) => Outcome::Duplicate,
        (false, false) => Outcome::Ignored(IgnoredReason::Stale),
    }
}

/// Which of two commits that claim one position stays, whatever came first: the one that was read in the
/// table. Stamping under the cursor's lock version keeps the rest from happening; the rule keeps the fold
/// independent of order.
fn wins(new: (Assurance, &Commit), known: (Assurance, &Commit)) -> bool {
    let rank = |(assurance, commit): (Assurance, &Commit)| {
        (
            assurance,
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

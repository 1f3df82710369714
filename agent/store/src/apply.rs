//! Applying what sources found: event, log, state, cursor, marks and revision in one transaction.

use std::collections::BTreeMap;

use asset_core::{
    asset::{Asset, Source},
    change::Change,
    event::Evidence,
    key::AssetKey,
    log::{Entry, VersionLog},
    version::{FIRST_GENERATION, Millis, Position},
};
use sea_query::{Expr, ExprTrait, Query};

use crate::{
    Store, StoreError,
    asset::{self, Loaded},
    database::Tx,
    facts, pending,
    rows::{self, version_names},
    schema::{CONSUMER_GROUP, OFFSET, POLL, VERSION},
    write,
};

/// What one poll of one table found.
#[derive(Debug, Clone)]
pub struct SourceBatch {
    /// The table.
    pub key: AssetKey,
    /// Lock version of the cursor that the table was compared with; `None`: there was none.
    pub read_lock: Option<i64>,
    /// The cursor after this batch.
    pub cursor: String,
    /// Whether the table is there; false only while it never was.
    pub present: bool,
    /// What changed, oldest first.
    pub changes: Vec<Change>,
    /// When the poll handed it over.
    pub observed_at: Millis,
}

/// What became of a batch.
#[derive(Debug)]
pub enum BatchOutcome {
    /// It is on disk.
    Committed(Committed),
    /// Somebody else moved the cursor: nothing of it was written, read the table again.
    Stale,
}

/// A batch that is on disk.
#[derive(Debug)]
pub struct Committed {
    /// Lock version of the cursor.
    pub cursor_lock: i64,
    /// What is known of the table now.
    pub now: Loaded,
    /// Whether that differs from before.
    pub changed: bool,
    /// How many events were kept.
    pub events: usize,
    /// How many events were there already.
    pub duplicates: usize,
}

/// An asset on its way through the transaction.
pub struct Working {
    /// Row of the asset; `None` until it is written for the first time.
    pub id: Option<i64>,
    /// The asset as it stands now.
    pub asset: Asset,
    /// The log as it was read, to write only what differs.
    pub before: VersionLog,
    /// Events to keep.
    pub evidence: Vec<Evidence>,
    /// What became unreadable.
    pub expired_below: Option<i64>,
    /// Whether it differs from what is stored.
    pub changed: bool,
}

impl Store {
    /// Applies batches of many tables in one transaction; answers are in the order of the batches.
    /// Each batch is applied whole together with its cursor, or is stale and not at all.
    pub async fn apply(&self, batches: Vec<SourceBatch>) -> Result<Vec<BatchOutcome>, StoreError> {
        let mut tx = self.database.begin().await?;
        let mut revision = tx.lock_revision().await?;
        let reserved_from = revision;
        let keys: Vec<AssetKey> = batches.iter().map(|batch| batch.key.clone()).collect();
        let now = batches.iter().map(|batch| batch.observed_at).max().unwrap_or_default();
        let mut cursors = cursors(&mut tx, &keys).await?;
        let mut working = working_set(&mut tx, &batches).await?;

        let mut outcomes = Vec::with_capacity(batches.len());
        let mut moved = BTreeMap::new();
        for batch in batches {
            let known = cursors.get(&batch.key).copied();
            if known.map(|(lock, _)| lock) != batch.read_lock {
                outcomes.push(BatchOutcome::Stale);
                continue;
            }
            let cursor_lock = batch.read_lock.unwrap_or(0) + 1;
            let was_absent = known.is_some_and(|(_, present)| !present);
            cursors.insert(batch.key.clone(), (cursor_lock, batch.present));

            let mut committed = Committed {
                cursor_lock,
                now: Loaded::Absent,
                changed: !batch.present && !was_absent,
                events: 0,
                duplicates: 0,
            };
            if batch.present {
                let entry = working.entry(batch.key.clone());
                let work = entry.or_insert_with(|| Working::new(batch.key.clone()));
                work.take(&batch, was_absent, &mut revision, &mut committed);
            }
            outcomes.push(BatchOutcome::Committed(committed));
            moved.insert(batch.key.clone(), (batch, cursor_lock));
        }

        pending::take_up(&mut tx, &mut working, |_| Source::Table, now, &mut revision).await?;
        for (outcome, key) in outcomes.iter_mut().zip(&keys) {
            if let (BatchOutcome::Committed(committed), Some(work)) = (outcome, working.get(key))
                && matches!(committed.now, Loaded::Known(_))
            {
                committed.now = work.head();
            }
        }
        let mut changed: Vec<&mut Working> = working.values_mut().filter(|work| work.changed).collect();
        write::all(&mut tx, &mut changed).await?;
        write::cursors(&mut tx, &moved).await?;
        if revision != reserved_from {
            tx.set_revision(revision).await?;
        }
        tx.commit().await?;
        Ok(outcomes)
    }
}

impl Working {
    /// An asset that the store does not have.
    pub fn new(key: AssetKey) -> Self {
        Self {
            id: None,
            asset: Asset::new(key),
            before: VersionLog::default(),
            evidence: Vec::new(),
            expired_below: None,
            changed: false,
        }
    }

    /// Applies one batch and reserves a revision when it changed something visible.
    fn take(&mut self, batch: &SourceBatch, was_absent: bool, revision: &mut i64, committed: &mut Committed) {
        let first_read = self.id.is_none() && self.asset.lock_version == 0;
        let asset = std::mem::replace(&mut self.asset, Asset::new(batch.key.clone()));
        let mut applied = asset.apply(&batch.changes, batch.observed_at);
        if first_read && !was_absent {
            applied.asset.first_head = applied.asset.head();
        }
        committed.events = applied.evidence.len();
        committed.duplicates = applied.duplicates;
        committed.changed = applied.changed || first_read;
        if committed.changed {
            *revision += 1;
            applied.asset.revision = *revision;
            applied.asset.lock_version += 1;
            applied.asset.update_time = batch.observed_at;
        }
        self.changed |= committed.changed;
        self.expired_below = Ord::max(self.expired_below, applied.expired_below);
        self.evidence.extend(applied.evidence);
        self.asset = applied.asset;

        committed.now = self.head();
    }

    /// It changed by something else than a batch: a revision of its own, unless it has one already.
    pub fn moved(&mut self, revision: &mut i64, now: Millis) {
        if !self.changed {
            *revision += 1;
            self.asset.revision = *revision;
            self.asset.lock_version += 1;
            self.asset.update_time = now;
            self.changed = true;
        }
    }

    /// As [`crate::Store::load`] reads it.
    pub fn head(&self) -> Loaded {
        let mut now = self.asset.clone();
        now.log.keep_from_latest_data();
        Loaded::Known(Box::new(now))
    }
}

/// The cursors of the keys: lock version and whether the table was there.
async fn cursors(tx: &mut Tx, keys: &[AssetKey]) -> Result<BTreeMap<AssetKey, (i64, bool)>, StoreError> {
    let mut found = BTreeMap::new();
    let mut query = Query::select();
    query
        .columns(["asset_key", "lock_version", "present"])
        .from(OFFSET)
        .and_where(Expr::col("source_type").eq(POLL))
        .and_where(Expr::col("consumer_group").eq(CONSUMER_GROUP))
        .and_where(tx.among("asset_key", keys.iter().map(AssetKey::as_str)));
    for row in tx.rows(&query).await? {
        let value = (row.i64("lock_version")?, row.i64("present")? != 0);
        found.insert(rows::key(&row, OFFSET)?, value);
    }
    Ok(found)
}

/// The assets of the keys that the store has, each with its log from the newest data version on.
pub async fn known(tx: &mut Tx, keys: &[AssetKey]) -> Result<BTreeMap<AssetKey, Working>, StoreError> {
    let working = |(id, asset): (i64, Asset)| {
        let key = asset.key.clone();
        let work = Working { id: Some(id), before: asset.log.clone(), asset, ..Working::new(key.clone()) };
        (key, work)
    };
    Ok(asset::known(tx, keys).await?.into_iter().map(working).collect())
}

/// The assets that the batches touch, each with as much of its log as folding them needs.
async fn working_set(
    tx: &mut Tx,
    batches: &[SourceBatch],
) -> Result<BTreeMap<AssetKey, Working>, StoreError> {
    let keys: Vec<AssetKey> = batches.iter().map(|batch| batch.key.clone()).collect();
    let mut working = known(tx, &keys).await?;
    for batch in batches {
        let Some(work) = working.get_mut(&batch.key) else {
            continue;
        };
        let Some(id) = work.id else { continue };
        // What arrives below the loaded part, or in the place of its oldest entry, inherits from
        // entries that were not loaded.
        let oldest = work.asset.log.entries().next().map(|(at, _)| at.ordinal);
        let late = batch.changes.iter().any(|change| match change {
            Change::Committed { ordinal, .. } => Some(*ordinal) <= oldest,
            Change::Gap { first, .. } => Some(*first) < oldest,
            _ => false,
        });
        // Commits of a new history may be known from any before.
        let new_history = batch.changes.iter().any(|change| matches!(change, Change::NewHistory { .. }));
        let generation = work.asset.generation();
        let all = new_history || given_up(tx, id, generation, &batch.changes).await?;
        if late || all {
            let lines = entries(tx, id, (!all).then_some(generation)).await?;
            work.add(tx, lines).await?;
        }
        let tags = |change: &Change| matches!(change, Change::Tagged { .. } | Change::Untagged { .. });
        if batch.changes.iter().any(tags) {
            work.add_tags(tx).await?;
        }
    }
    Ok(working)
}

impl Working {
    /// Adds lines of the log, with what is known of their commits.
    pub async fn add(&mut self, tx: &mut Tx, lines: Vec<(Position, Entry)>) -> Result<(), StoreError> {
        let Some(id) = self.id else {
            return Ok(());
        };
        let mut all: BTreeMap<Position, Entry> =
            self.asset.log.entries().map(|(at, entry)| (at, entry.clone())).collect();
        let new: Vec<(Position, Entry)> = lines.into_iter().filter(|(at, _)| !all.contains_key(at)).collect();
        if new.is_empty() {
            return Ok(());
        }
        let prints = new.iter().filter_map(|(_, entry)| match entry {
            Entry::Commit(version) => Some(version.commit.fingerprint.clone()),
            Entry::Gap { .. } => None,
        });
        let of_new = facts::load(tx, &BTreeMap::from([(id, prints.collect())])).await?.remove(&id);
        let of_new = of_new.unwrap_or_default();
        all.extend(new);
        let log = std::mem::take(&mut self.asset.log);
        let mut facts = log.facts().clone();
        facts.quality.extend(of_new.quality);
        facts.watermarks.extend(of_new.watermarks);
        self.asset.log = log.with_entries(all).with_facts(facts);
        self.before = self.asset.log.clone();
        Ok(())
    }

    /// Adds the tags.
    pub async fn add_tags(&mut self, tx: &mut Tx) -> Result<(), StoreError> {
        let Some(id) = self.id else {
            return Ok(());
        };
        let tags = facts::tags(tx, &[id]).await?.remove(&id).unwrap_or_default();
        let log = std::mem::take(&mut self.asset.log);
        let mut facts = log.facts().clone();
        facts.tags = tags;
        self.asset.log = log.with_facts(facts);
        self.before = self.asset.log.clone();
        Ok(())
    }
}

/// Whether one of the commits was known in a history before the one of now.
async fn given_up(tx: &mut Tx, id: i64, generation: i64, changes: &[Change]) -> Result<bool, StoreError> {
    if generation == FIRST_GENERATION {
        return Ok(false);
    }
    let fingerprints: Vec<&str> = changes
        .iter()
        .filter_map(|change| match change {
            Change::Committed { commit, .. } => Some(commit.fingerprint.as_str()),
            _ => None,
        })
        .collect();
    let mut query = Query::select();
    query
        .column("ordinal")
        .from(VERSION)
        .and_where(Expr::col("asset_id").eq(id))
        .and_where(tx.among("fingerprint", fingerprints))
        .and_where(Expr::col("generation").lt(generation))
        .limit(1);
    Ok(!tx.rows(&query).await?.is_empty())
}

/// The stored log: of one history, or of all.
pub async fn entries(
    tx: &mut Tx,
    id: i64,
    generation: Option<i64>,
) -> Result<Vec<(Position, Entry)>, StoreError> {
    let mut query = Query::select();
    query.columns(version_names()).from(VERSION).and_where(Expr::col("asset_id").eq(id));
    if let Some(generation) = generation {
        query.and_where(Expr::col("generation").eq(generation));
    }
    let rows = tx.rows(&query).await?;
    rows.iter().map(rows::entry).collect()
}

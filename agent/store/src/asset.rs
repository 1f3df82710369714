//! Reading assets: what evaluation rests on.

mod deep;

use std::collections::BTreeMap;

use asset_core::{
    asset::{Asset, Knowledge},
    facts::Schemas,
    key::AssetKey,
    log::{Entry, VersionLog},
    version::{FIRST_GENERATION, Position},
};
use sea_query::{Expr, ExprTrait, JoinType, Order, Query, SelectStatement};

use crate::{
    Store, StoreError,
    database::Tx,
    facts,
    rows::{self, STATE_COLUMNS, version_names},
    schema::{CONSUMER_GROUP, GENERATION, OFFSET, POLL, STATE, VERSION},
};

/// What the store has under a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Loaded {
    /// Nothing.
    Unknown,
    /// A catalog was read and has no such table.
    Absent,
    /// An asset, its log from the newest data version on.
    Known(Box<Asset>),
}

/// A page of assets.
#[derive(Debug)]
pub struct AssetPage {
    /// Ordered by key.
    pub assets: Vec<Asset>,
    /// Whether more follow.
    pub more: bool,
    /// The store's revision as of this page.
    pub revision: i64,
}

/// How far a table was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredCursor {
    /// The source's own cursor.
    pub cursor: String,
    /// Whether the table was there.
    pub present: bool,
    /// Counts the moves of this cursor.
    pub lock_version: i64,
}

impl Loaded {
    /// As the evaluator takes it.
    pub fn knowledge(&self) -> Knowledge<'_> {
        match self {
            Self::Unknown => Knowledge::Unknown,
            Self::Absent => Knowledge::Absent,
            Self::Known(asset) => Knowledge::Known(asset),
        }
    }
}

impl Store {
    /// Reads what is known under each key, as of one moment, with the revision of that moment.
    pub async fn load(&self, keys: &[AssetKey]) -> Result<(BTreeMap<AssetKey, Loaded>, i64), StoreError> {
        let mut tx = self.database.snapshot().await?;
        let revision = tx.revision().await?;
        Ok((load(&mut tx, keys).await?, revision))
    }

    /// Reads what is known under each key with what a condition needs that looks at more than the newest
    /// data version: tags, the newest part of the log, and in it all that checks spoke about.
    pub async fn load_deep(
        &self,
        keys: &[AssetKey],
    ) -> Result<(BTreeMap<AssetKey, Loaded>, i64), StoreError> {
        let mut tx = self.database.snapshot().await?;
        let revision = tx.revision().await?;
        let mut found = load(&mut tx, keys).await?;
        deep::deepen(&mut tx, &mut found).await?;
        Ok((found, revision))
    }

    /// Reads a page of all assets whose key is greater than `after`.
    pub async fn page(&self, after: Option<&str>, size: usize) -> Result<AssetPage, StoreError> {
        let mut tx = self.database.snapshot().await?;
        let revision = tx.revision().await?;
        let mut query = states();
        query.order_by("asset_key", Order::Asc).limit(rows::limit(size.saturating_add(1)));
        if let Some(after) = after {
            query.and_where(Expr::col("asset_key").gt(after));
        }
        let mut assets = without_ids(with_logs(&mut tx, &query).await?);
        let more = assets.len() > size;
        assets.truncate(size);
        Ok(AssetPage { assets, more, revision })
    }

    /// Reads assets that changed after a revision, in the order of their revisions.
    pub async fn changed_after(&self, revision: i64, limit: usize) -> Result<Vec<Asset>, StoreError> {
        let mut tx = self.database.snapshot().await?;
        let mut query = states();
        query
            .and_where(Expr::col("revision").gt(revision))
            .order_by("revision", Order::Asc)
            .limit(rows::limit(limit));
        Ok(without_ids(with_logs(&mut tx, &query).await?))
    }

    /// Reads the store's revision.
    pub async fn revision(&self) -> Result<i64, StoreError> {
        self.database.snapshot().await?.revision().await
    }

    /// Reads the keys of all tables that were ever found in their catalogs.
    pub async fn present_keys(&self) -> Result<Vec<AssetKey>, StoreError> {
        let mut tx = self.database.snapshot().await?;
        let mut query = Query::select();
        query.column("asset_key").from(STATE);
        let rows = tx.rows(&query).await?;
        rows.iter().map(|row| rows::key(row, STATE)).collect()
    }

    /// Reads the poller's cursor of a table.
    pub async fn cursor(&self, key: &AssetKey) -> Result<Option<StoredCursor>, StoreError> {
        let mut tx = self.database.snapshot().await?;
        let mut query = Query::select();
        query
            .columns(["source_cursor", "present", "lock_version"])
            .from(OFFSET)
            .and_where(Expr::col("source_type").eq(POLL))
            .and_where(Expr::col("consumer_group").eq(CONSUMER_GROUP))
            .and_where(Expr::col("asset_key").eq(key.as_str()));
        let rows = tx.rows(&query).await?;
        let cursor = rows.first().map(|row| {
            Ok(StoredCursor {
                cursor: row.text("source_cursor")?,
                present: row.i64("present")? != 0,
                lock_version: row.i64("lock_version")?,
            })
        });
        cursor.transpose()
    }
}

/// Reads what is known under each key inside a transaction.
pub async fn load(tx: &mut Tx, keys: &[AssetKey]) -> Result<BTreeMap<AssetKey, Loaded>, StoreError> {
    let mut found: BTreeMap<AssetKey, Loaded> =
        keys.iter().map(|key| (key.clone(), Loaded::Unknown)).collect();
    let mut absent = Query::select();
    absent
        .column("asset_key")
        .from(OFFSET)
        .and_where(Expr::col("present").eq(0))
        .and_where(tx.among("asset_key", keys.iter().map(AssetKey::as_str)));
    for row in tx.rows(&absent).await? {
        found.insert(rows::key(&row, OFFSET)?, Loaded::Absent);
    }
    for (_, asset) in known(tx, keys).await? {
        found.insert(asset.key.clone(), Loaded::Known(Box::new(asset)));
    }
    Ok(found)
}

/// Reads the assets that the store has under the keys, each with the id of its row.
pub async fn known(tx: &mut Tx, keys: &[AssetKey]) -> Result<Vec<(i64, Asset)>, StoreError> {
    let mut query = states();
    query.and_where(tx.among("asset_key", keys.iter().map(AssetKey::as_str)));
    with_logs(tx, &query).await
}

fn without_ids(found: Vec<(i64, Asset)>) -> Vec<Asset> {
    found.into_iter().map(|(_, asset)| asset).collect()
}

fn states() -> SelectStatement {
    let mut query = Query::select();
    query.columns(STATE_COLUMNS).from(STATE);
    query
}

/// Runs a query over [`STATE_COLUMNS`] and fills in the logs from each newest data version on. Answers
/// with the ids of the rows.
async fn with_logs(tx: &mut Tx, query: &SelectStatement) -> Result<Vec<(i64, Asset)>, StoreError> {
    let rows = tx.rows(query).await?;
    if rows.is_empty() {
        return Ok(Vec::new());
    }
    let ids = rows.iter().map(|row| row.i64("asset_id")).collect::<Result<Vec<_>, _>>()?;
    let mut logs: BTreeMap<i64, Vec<(Position, Entry)>> = BTreeMap::new();
    for row in tx.rows(&from_newest_data(tx, &ids)).await? {
        logs.entry(row.i64("asset_id")?).or_default().push(rows::entry(&row)?);
    }
    let mut later = Vec::new();
    for (row, id) in rows.iter().zip(&ids) {
        if row.i64("generation")? > FIRST_GENERATION {
            later.push(*id);
        }
    }
    let mut histories = histories(tx, &later).await?;
    let prints = |log: &[(Position, Entry)]| log.iter().filter_map(|(_, entry)| fingerprint(entry)).collect();
    let of = ids.iter().map(|id| (*id, logs.get(id).map(|log| prints(log)).unwrap_or_default()));
    let mut facts = facts::load(tx, &of.collect()).await?;
    rows.iter()
        .zip(ids)
        .map(|(row, id)| {
            let mut asset = rows::asset(row)?;
            let Histories { origins, tables } = histories.remove(&id).unwrap_or_default();
            let mut facts = facts.remove(&id).unwrap_or_default();
            let decisions = std::mem::take(&mut facts.schemas.decisions);
            facts.schemas = Schemas { decisions, ..rows::schemas(row)? };
            let log = VersionLog::from_rows(origins, logs.remove(&id).unwrap_or_default());
            asset.log = log.with_tables(tables).with_facts(facts);
            Ok((id, asset))
        })
        .collect()
}

/// The lines of each log from its newest data version on.
fn from_newest_data(tx: &Tx, ids: &[i64]) -> SelectStatement {
    let from = Expr::col(("s", "data_ordinal")).if_null(i64::MIN);
    let of_log = Expr::col(("v", "asset_id"))
        .equals(("s", "asset_id"))
        .and(Expr::col(("v", "generation")).equals(("s", "generation")))
        .and(Expr::col(("v", "ordinal")).gte(from));
    let mut query = Query::select();
    query
        .columns(version_names().map(|column| ("v", column)))
        .from_as(STATE, "s")
        .and_where(tx.among_numbers(("s", "asset_id"), ids.iter().copied()));
    match tx {
        Tx::Sqlite(_) => query.join_as(JoinType::InnerJoin, VERSION, "v", of_log),
        // Its planner takes a log's newest lines for a third of the log and reads whole tables then; an
        // offset makes it look each log up.
        Tx::Postgres(_) => {
            let mut lines = Query::select();
            lines
                .columns(version_names().map(|column| ("v", column)))
                .from_as(VERSION, "v")
                .and_where(of_log)
                .offset(0);
            query.join_lateral(JoinType::InnerJoin, lines, "v", Expr::val(true))
        }
    };
    query
}

fn fingerprint(entry: &Entry) -> Option<String> {
    match entry {
        Entry::Commit(version) => Some(version.commit.fingerprint.clone()),
        Entry::Gap { .. } => None,
    }
}

/// The histories of an asset but the first.
#[derive(Default)]
struct Histories {
    /// Each with its origin.
    origins: Vec<(i64, Option<Position>)>,
    /// Those that began with another table.
    tables: Vec<i64>,
}

async fn histories(tx: &mut Tx, ids: &[i64]) -> Result<BTreeMap<i64, Histories>, StoreError> {
    let mut found: BTreeMap<i64, Histories> = BTreeMap::new();
    if ids.is_empty() {
        return Ok(found);
    }
    let mut query = Query::select();
    query
        .columns(["asset_id", "generation", "origin_generation", "origin_ordinal", "another_table"])
        .from(GENERATION)
        .and_where(tx.among_numbers("asset_id", ids.iter().copied()));
    for row in tx.rows(&query).await? {
        let origin = match (row.opt_i64("origin_generation")?, row.opt_i64("origin_ordinal")?) {
            (Some(generation), Some(ordinal)) => Some(Position { generation, ordinal }),
            _ => None,
        };
        let generation = row.i64("generation")?;
        let of = found.entry(row.i64("asset_id")?).or_default();
        of.origins.push((generation, origin));
        if row.i64("another_table")? != 0 {
            of.tables.push(generation);
        }
    }
    Ok(found)
}

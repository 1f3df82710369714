//! More of an asset than its newest data version, for conditions that look back.

use std::collections::{BTreeMap, BTreeSet};

use asset_core::{
    key::AssetKey,
    log::{Entry, VersionLog},
    version::Position,
};
use sea_query::{Expr, ExprTrait, Order, Query, SelectStatement};

use super::{Loaded, fingerprint};
use crate::{
    StoreError,
    database::Tx,
    facts,
    rows::{self, version_names},
    schema::{QUALITY, ROWS_A_STATEMENT, STATE, VERSION},
};

/// Lines of a log that such a condition looks at: so many of the newest, and so many more that checks or
/// tags speak of.
const LINES: u64 = 1_000;

/// Adds tags and more of the log to each asset.
pub async fn deepen(tx: &mut Tx, found: &mut BTreeMap<AssetKey, Loaded>) -> Result<(), StoreError> {
    let known = found.iter().filter(|(_, loaded)| matches!(loaded, Loaded::Known(_)));
    let mut query = Query::select();
    query
        .columns(["asset_key", "asset_id"])
        .from(STATE)
        .and_where(tx.among("asset_key", known.map(|(key, _)| key.as_str())));
    let mut ids: BTreeMap<AssetKey, i64> = BTreeMap::new();
    for row in tx.rows(&query).await? {
        ids.insert(rows::key(&row, STATE)?, row.i64("asset_id")?);
    }
    let mut tags = facts::tags(tx, &ids.values().copied().collect::<Vec<_>>()).await?;
    for (key, loaded) in found {
        let (Loaded::Known(asset), Some(id)) = (loaded, ids.get(key)) else {
            continue;
        };
        let log = &asset.log;
        let mut lines: BTreeMap<Position, Entry> =
            log.entries().map(|(at, entry)| (at, entry.clone())).collect();
        let tags = tags.remove(id).unwrap_or_default();
        let tagged: BTreeSet<i64> =
            tags.values().filter_map(|tag| Some(tag.value.as_ref()?.ordinal)).collect();
        lines.extend(newest(tx, *id, log.generation()).await?);
        lines.extend(checked(tx, *id, log.generation()).await?);
        lines.extend(of_tags(tx, *id, log.generation(), &tagged).await?);

        let mut prints: BTreeSet<String> = lines.values().filter_map(fingerprint).collect();
        let named = tags.values().filter_map(|tag| Some(tag.value.as_ref()?.commit.fingerprint.clone()));
        prints.extend(named);
        let of_commits = facts::load(tx, &BTreeMap::from([(*id, prints)])).await?.remove(id);
        let mut all = of_commits.unwrap_or_default();
        all.schemas = log.facts().schemas.clone();
        all.tags = tags;
        let tables: Vec<i64> =
            log.origins().map(|(at, _)| at).filter(|at| log.is_another_table(*at)).collect();
        asset.log = VersionLog::from_rows(log.origins(), lines).with_tables(tables).with_facts(all);
    }
    Ok(())
}

fn lines_of(id: i64, generation: i64) -> SelectStatement {
    let mut query = Query::select();
    query
        .columns(version_names())
        .from(VERSION)
        .and_where(Expr::col("asset_id").eq(id))
        .and_where(Expr::col("generation").eq(generation));
    query
}

async fn read(tx: &mut Tx, query: &SelectStatement) -> Result<Vec<(Position, Entry)>, StoreError> {
    tx.rows(query).await?.iter().map(rows::entry).collect()
}

async fn newest(tx: &mut Tx, id: i64, generation: i64) -> Result<Vec<(Position, Entry)>, StoreError> {
    let mut query = lines_of(id, generation);
    query.order_by("ordinal", Order::Desc).limit(LINES);
    read(tx, &query).await
}

/// The newest data versions that checks spoke about, with all that carry them.
async fn checked(tx: &mut Tx, id: i64, generation: i64) -> Result<Vec<(Position, Entry)>, StoreError> {
    let mut prints = Query::select();
    prints.column("fingerprint").from(QUALITY).and_where(Expr::col("asset_id").eq(id));
    let mut data = Query::select();
    data.distinct()
        .column("data_ordinal")
        .from(VERSION)
        .and_where(Expr::col("asset_id").eq(id))
        .and_where(Expr::col("generation").eq(generation))
        .and_where(Expr::col("fingerprint").in_subquery(prints))
        .order_by("data_ordinal", Order::Desc)
        .limit(LINES);
    carriers(tx, id, generation, data).await
}

/// The newest versions that tags name, with their data versions and all that carry these.
async fn of_tags(
    tx: &mut Tx,
    id: i64,
    generation: i64,
    tagged: &BTreeSet<i64>,
) -> Result<Vec<(Position, Entry)>, StoreError> {
    if tagged.is_empty() {
        return Ok(Vec::new());
    }
    let newest = tagged.iter().rev().take(ROWS_A_STATEMENT).copied();
    let mut data = Query::select();
    data.column("data_ordinal")
        .from(VERSION)
        .and_where(Expr::col("asset_id").eq(id))
        .and_where(Expr::col("generation").eq(generation))
        .and_where(Expr::col("ordinal").is_in(newest));
    carriers(tx, id, generation, data).await
}

/// The lines of data versions that a query names, and all that carry these.
async fn carriers(
    tx: &mut Tx,
    id: i64,
    generation: i64,
    data: SelectStatement,
) -> Result<Vec<(Position, Entry)>, StoreError> {
    let mut query = lines_of(id, generation);
    query.and_where(Expr::col("ordinal").in_subquery(data.clone()));
    let mut lines = read(tx, &query).await?;
    let mut query = lines_of(id, generation);
    query
        // As the partial index has it: a bound value would not be recognised.
        .and_where(Expr::cust("class = 'REWRITE'"))
        .and_where(Expr::col("data_ordinal").in_subquery(data));
    lines.extend(read(tx, &query).await?);
    Ok(lines)
}

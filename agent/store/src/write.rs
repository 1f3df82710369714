//! The rows that one transaction of [`crate::apply`] writes, a multi-row statement for each table.

mod events;

use std::collections::BTreeMap;

use asset_core::{
    change::Change,
    key::AssetKey,
    log::Entry,
    version::{Assurance, CommitClass, Floor, Position},
};
use sea_query::{Expr, ExprTrait, Query};

use crate::{
    StoreError,
    apply::{SourceBatch, Working},
    bulk::{Bulk, Column, OnConflict, Value},
    database::Tx,
    facts,
    rows::{self, ADVANCE, GAP, GONE, REWRITE, VERSION_COLUMNS},
    schema::{
        ASSET, CONSUMER_GROUP, GENERATION, MARK, OFFSET, POLL, ROWS_A_STATEMENT, STATE, VERSION, WAIT_ASSET,
    },
};

pub use events::{events, outcome};

const ASSETS: [Column; 8] = [
    Column::Text("asset_key"),
    Column::Text("storage_format"),
    Column::Text("catalog_name"),
    Column::Text("database_name"),
    Column::Text("table_name"),
    Column::Text("partition_expr"),
    Column::Now("create_time"),
    Column::Now("update_time"),
];

const STATES: [Column; 24] = [
    Column::Text("asset_key"),
    Column::Number("latest_snapshot_id"),
    Column::Number("latest_schema_id"),
    Column::Number("latest_watermark"),
    Column::Number("version"),
    Column::Now("update_time"),
    Column::Number("asset_id"),
    Column::Number("generation"),
    Column::Number("latest_ordinal"),
    Column::Number("data_ordinal"),
    Column::Number("data_snapshot_id"),
    Column::Number("first_generation"),
    Column::Number("first_ordinal"),
    Column::Text("hold_reason"),
    Column::Number("hold_since"),
    Column::Number("revision"),
    Column::Number("changed_at"),
    Column::Text("schema_status"),
    Column::Text("quality_status"),
    Column::Text("backfill_status"),
    Column::Text("latest_tag"),
    Column::Text("ordering_kind"),
    Column::Number("first_schema_id"),
    Column::Number("schema_generation"),
];

/// Writes all that changed, and marks who waits for it.
pub async fn all(tx: &mut Tx, changed: &mut [&mut Working]) -> Result<(), StoreError> {
    assets(tx, changed).await?;
    events(tx, changed).await?;
    generations(tx, changed).await?;
    versions(tx, changed).await?;
    let facts = changed.iter().filter_map(|work| Some((work.id?, &work.before, &work.asset.log)));
    facts::write(tx, facts).await?;
    states(tx, changed).await?;
    mark_waits(tx, changed).await
}

/// Writes assets that are new and learns their ids.
async fn assets(tx: &mut Tx, changed: &mut [&mut Working]) -> Result<(), StoreError> {
    let mut new: Vec<&mut &mut Working> = changed.iter_mut().filter(|work| work.id.is_none()).collect();
    if new.is_empty() {
        return Ok(());
    }
    let mut rows = Bulk::new(ASSET, &ASSETS, OnConflict::Keep(&["asset_key"]));
    for work in &new {
        let key = &work.asset.key;
        rows.push([
            key.as_str().into(),
            key.format().to_ascii_uppercase().into(),
            key.catalog().into(),
            key.database().into(),
            key.table().into(),
            key.partition().into(),
        ]);
    }
    rows.write(tx).await?;

    let mut query = Query::select();
    query
        .columns(["asset_key", "id"])
        .from(ASSET)
        .and_where(tx.among("asset_key", new.iter().map(|work| work.asset.key.as_str())));
    let mut ids = BTreeMap::new();
    for row in tx.rows(&query).await? {
        ids.insert(rows::key(&row, ASSET)?, row.i64("id")?);
    }
    for work in &mut new {
        work.id = ids.get(&work.asset.key).copied();
    }
    Ok(())
}

/// Writes the lines of the logs that are new or differ.
async fn versions(tx: &mut Tx, changed: &[&mut Working]) -> Result<(), StoreError> {
    let mut lines: Vec<(i64, Position, &Entry)> = Vec::new();
    for work in changed {
        let Some(id) = work.id else { continue };
        let before: BTreeMap<Position, &Entry> = work.before.entries().collect();
        for (position, entry) in work.asset.log.entries() {
            if before.get(&position).copied() != Some(entry) {
                lines.push((id, position, entry));
            }
        }
        if let Some(earliest) = work.expired_below {
            let mut update = Query::update();
            update
                .table(VERSION)
                .value("readable", 0)
                .and_where(Expr::col("asset_id").eq(id))
                .and_where(Expr::col("generation").eq(work.asset.generation()))
                .and_where(Expr::col("ordinal").lt(earliest))
                .and_where(Expr::col("readable").eq(1));
            tx.execute(&update).await?;
        }
    }
    let mut rows =
        Bulk::new(VERSION, &VERSION_COLUMNS, OnConflict::Replace(&["asset_id", "generation", "ordinal"]));
    for (id, position, entry) in lines {
        rows.push(version_row(id, position, entry));
    }
    rows.write(tx).await
}

fn version_row(id: i64, position: Position, entry: &Entry) -> [Value<'_>; 17] {
    let (class, first, version, watermark) = match entry {
        Entry::Commit(version) => (
            match version.class {
                CommitClass::Advance => ADVANCE,
                CommitClass::Rewrite => REWRITE,
            },
            None,
            Some(version),
            version.effective_watermark,
        ),
        Entry::Gap { first, effective_watermark } => (GAP, Some(*first), None, *effective_watermark),
    };
    let commit = version.map(|version| &version.commit);
    [
        id.into(),
        position.generation.into(),
        position.ordinal.into(),
        class.into(),
        first.into(),
        commit.map(|c| c.snapshot_id).into(),
        commit.map(|c| c.fingerprint.as_str()).into(),
        commit.map(|c| c.commit_kind.as_str()).into(),
        commit.and_then(|c| c.commit_time).into(),
        commit.and_then(|c| c.schema_id).into(),
        commit.and_then(|c| c.watermark).into(),
        commit.and_then(|c| c.delta_record_count).into(),
        version.map(|v| v.data_ordinal).into(),
        watermark.into(),
        i64::from(version.is_some_and(|v| v.readable)).into(),
        version.map_or(0, |v| v.observed_at).into(),
        version.map_or(Assurance::Verified, |v| v.assurance).as_str().into(),
    ]
}

/// Writes histories that began.
async fn generations(tx: &mut Tx, changed: &[&mut Working]) -> Result<(), StoreError> {
    let mut began: Vec<(i64, i64, Option<Position>, bool)> = Vec::new();
    for work in changed {
        let Some(id) = work.id else { continue };
        let known = work.before.generation();
        let new = work.asset.log.origins().filter(|(generation, _)| *generation > known);
        let another = |generation| work.asset.log.is_another_table(generation);
        began.extend(new.map(|(generation, origin)| (id, generation, origin, another(generation))));
    }
    for chunk in began.chunks(ROWS_A_STATEMENT) {
        let mut insert = Query::insert();
        insert.into_table(GENERATION).columns([
            "asset_id",
            "generation",
            "origin_generation",
            "origin_ordinal",
            "another_table",
        ]);
        for (id, generation, origin, another_table) in chunk {
            insert.values_panic([
                (*id).into(),
                (*generation).into(),
                origin.map(|at| at.generation).into(),
                origin.map(|at| at.ordinal).into(),
                i64::from(*another_table).into(),
            ]);
        }
        tx.execute(&insert).await?;
    }
    Ok(())
}

/// Writes the projections.
async fn states(tx: &mut Tx, changed: &[&mut Working]) -> Result<(), StoreError> {
    let mut rows = Bulk::new(STATE, &STATES, OnConflict::Replace(&["asset_key"]));
    for work in changed {
        rows.push(state_row(work));
    }
    rows.write(tx).await
}

fn state_row(work: &Working) -> [Value<'_>; 23] {
    let asset = &work.asset;
    let latest = asset.latest();
    let data = asset.latest_data();
    let facts = asset.log.facts();
    let schemas = &facts.schemas;
    let first = match asset.first_head {
        Floor::BelowAll => None,
        Floor::At(position) => Some(position),
    };
    [
        asset.key.as_str().into(),
        latest.map(|(_, v)| v.commit.snapshot_id).into(),
        schemas.latest.map(|(_, id)| id).into(),
        latest.and_then(|(_, v)| v.effective_watermark).into(),
        asset.lock_version.into(),
        work.id.into(),
        asset.generation().into(),
        latest.map(|(position, _)| position.ordinal).into(),
        data.map(|(position, _)| position.ordinal).into(),
        data.map(|(_, v)| v.commit.snapshot_id).into(),
        first.map(|position| position.generation).into(),
        first.map(|position| position.ordinal).into(),
        asset.gone_since.map(|_| GONE).into(),
        asset.gone_since.into(),
        asset.revision.into(),
        asset.update_time.into(),
        asset.schema_status().map_or("UNKNOWN", |status| status.as_str()).into(),
        asset.quality().map_or("UNKNOWN", |said| said.value.as_str()).into(),
        facts.backfill_status().as_str().into(),
        asset.latest_tag.as_deref().into(),
        asset.ordering.map(|ordering| ordering.as_str()).into(),
        schemas.first.into(),
        schemas.latest.map(|(generation, _)| generation).into(),
    ]
}

/// Moves the cursors.
pub async fn cursors(tx: &mut Tx, moved: &BTreeMap<AssetKey, (SourceBatch, i64)>) -> Result<(), StoreError> {
    const COLUMNS: [&str; 8] = [
        "source_type",
        "asset_key",
        "consumer_group",
        "last_snapshot_id",
        "last_scan_time",
        "source_cursor",
        "present",
        "lock_version",
    ];
    let moved: Vec<_> = moved.values().collect();
    for chunk in moved.chunks(ROWS_A_STATEMENT) {
        let mut insert = Query::insert();
        insert.into_table(OFFSET).columns(COLUMNS);
        for (batch, lock) in chunk {
            let last = batch.changes.iter().rev().find_map(|change| match change {
                Change::Committed { commit, .. } => Some(commit.snapshot_id),
                Change::NewHistory { commits, .. } => commits.last().map(|found| found.commit.snapshot_id),
                _ => None,
            });
            insert.values_panic([
                POLL.into(),
                batch.key.as_str().into(),
                CONSUMER_GROUP.into(),
                last.into(),
                Expr::current_timestamp(),
                batch.cursor.as_str().into(),
                i64::from(batch.present).into(),
                (*lock).into(),
            ]);
        }
        insert.on_conflict(
            sea_query::OnConflict::columns(["source_type", "asset_key", "consumer_group"])
                .update_columns(["last_scan_time", "source_cursor", "present", "lock_version"])
                .value(
                    "last_snapshot_id",
                    Expr::cust(
                        "COALESCE(excluded.last_snapshot_id, t_ds_asset_event_consumer_offset.last_snapshot_id)",
                    ),
                )
                .to_owned(),
        );
        tx.execute(&insert).await?;
    }
    Ok(())
}

/// Marks every open wait that looks at one of the changed assets.
async fn mark_waits(tx: &mut Tx, changed: &[&mut Working]) -> Result<(), StoreError> {
    let Some(revision) = changed.iter().map(|work| work.asset.revision).max() else {
        return Ok(());
    };
    let digests: Vec<String> = changed.iter().map(|work| work.asset.key.digest()).collect();
    let mut waits = Query::select();
    waits
        .distinct()
        .column("wait_id")
        .expr(Expr::val(revision))
        .from(WAIT_ASSET)
        .and_where(tx.among("asset_digest", digests.iter().map(String::as_str)));
    let mut insert = Query::insert();
    insert
        .into_table(MARK)
        .columns(["wait_id", "revision"])
        .select_from(waits)
        .map_err(|error| StoreError::Corrupt { table: MARK, reason: error.to_string() })?
        .on_conflict(sea_query::OnConflict::column("wait_id").update_column("revision").to_owned());
    tx.execute(&insert).await?;
    Ok(())
}

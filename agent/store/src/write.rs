//! The rows that one transaction of [`crate::apply`] writes, a multi-row statement for each table.

mod events;

use std::collections::BTreeMap;

use asset_core::{
    change::Change,
    key::AssetKey,
    log::Entry,
    version::{Assurance, CommitClass, Floor, Position},
};
use sea_query::{Expr, ExprTrait, InsertStatement, OnConflict, Query};

use crate::{
    StoreError,
    apply::{SourceBatch, Working},
    database::Tx,
    facts,
    rows::{self, ADVANCE, GAP, GONE, REWRITE, VERSION_COLUMNS},
    schema::{
        ASSET, CONSUMER_GROUP, GENERATION, MARK, OFFSET, POLL, ROWS_A_STATEMENT, STATE, VERSION, WAIT_ASSET,
    },
};

pub use events::{events, outcome};

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
    for chunk in new.chunks_mut(ROWS_A_STATEMENT) {
        let mut insert = Query::insert();
        insert.into_table(ASSET).columns([
            "asset_key",
            "storage_format",
            "catalog_name",
            "database_name",
            "table_name",
            "partition_expr",
            "create_time",
            "update_time",
        ]);
        for work in chunk.iter() {
            let key = &work.asset.key;
            insert.values_panic([
                key.as_str().into(),
                key.format().to_ascii_uppercase().into(),
                key.catalog().into(),
                key.database().into(),
                key.table().into(),
                key.partition().map(str::to_owned).into(),
                Expr::current_timestamp(),
                Expr::current_timestamp(),
            ]);
        }
        tx.execute(&insert).await?;

        let mut query = Query::select();
        let keys: Vec<String> = chunk.iter().map(|w| w.asset.key.to_string()).collect();
        query.columns(["asset_key", "id"]).from(ASSET).and_where(Expr::col("asset_key").is_in(keys));
        let mut ids = BTreeMap::new();
        for row in tx.rows(&query).await? {
            ids.insert(rows::key(&row, ASSET)?, row.i64("id")?);
        }
        for work in chunk {
            work.id = ids.get(&work.asset.key).copied();
        }
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
    for chunk in lines.chunks(ROWS_A_STATEMENT) {
        let mut insert = Query::insert();
        insert.into_table(VERSION).columns(VERSION_COLUMNS);
        for (id, position, entry) in chunk {
            version_row(&mut insert, *id, *position, entry);
        }
        let key = ["asset_id", "generation", "ordinal"];
        insert.on_conflict(
            OnConflict::columns(key)
                .update_columns(VERSION_COLUMNS.into_iter().filter(|c| !key.contains(c)))
                .to_owned(),
        );
        tx.execute(&insert).await?;
    }
    Ok(())
}

fn version_row(insert: &mut InsertStatement, id: i64, position: Position, entry: &Entry) {
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
    insert.values_panic([
        id.into(),
        position.generation.into(),
        position.ordinal.into(),
        class.into(),
        first.into(),
        commit.map(|c| c.snapshot_id).into(),
        commit.map(|c| c.fingerprint.clone()).into(),
        commit.map(|c| c.commit_kind.clone()).into(),
        commit.and_then(|c| c.commit_time).into(),
        commit.and_then(|c| c.schema_id).into(),
        commit.and_then(|c| c.watermark).into(),
        commit.and_then(|c| c.delta_record_count).into(),
        version.map(|v| v.data_ordinal).into(),
        watermark.into(),
        i64::from(version.is_some_and(|v| v.readable)).into(),
        version.map_or(0, |v| v.observed_at).into(),
        version.map_or(Assurance::Verified, |v| v.assurance).as_str().into(),
    ]);
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
    const COLUMNS: [&str; 24] = [
        "asset_key",
        "latest_snapshot_id",
        "latest_schema_id",
        "latest_watermark",
        "version",
        "update_time",
        "asset_id",
        "generation",
        "latest_ordinal",
        "data_ordinal",
        "data_snapshot_id",
        "first_generation",
        "first_ordinal",
        "hold_reason",
        "hold_since",
        "revision",
        "changed_at",
        "schema_status",
        "quality_status",
        "backfill_status",
        "latest_tag",
        "ordering_kind",
        "first_schema_id",
        "schema_generation",
    ];
    for chunk in changed.chunks(ROWS_A_STATEMENT) {
        let mut insert = Query::insert();
        insert.into_table(STATE).columns(COLUMNS);
        for work in chunk {
            let asset = &work.asset;
            let latest = asset.latest();
            let data = asset.latest_data();
            let facts = asset.log.facts();
            let schemas = &facts.schemas;
            let first = match asset.first_head {
                Floor::BelowAll => None,
                Floor::At(position) => Some(position),
            };
            insert.values_panic([
                asset.key.as_str().into(),
                latest.map(|(_, v)| v.commit.snapshot_id).into(),
                schemas.latest.map(|(_, id)| id).into(),
                latest.and_then(|(_, v)| v.effective_watermark).into(),
                asset.lock_version.into(),
                Expr::current_timestamp(),
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
                asset.latest_tag.clone().into(),
                asset.ordering.map(|ordering| ordering.as_str()).into(),
                schemas.first.into(),
                schemas.latest.map(|(generation, _)| generation).into(),
            ]);
        }
        insert.on_conflict(
            OnConflict::column("asset_key")
                .update_columns(COLUMNS.into_iter().filter(|c| *c != "asset_key"))
                .to_owned(),
        );
        tx.execute(&insert).await?;
    }
    Ok(())
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
            OnConflict::columns(["source_type", "asset_key", "consumer_group"])
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
    for chunk in changed.chunks(ROWS_A_STATEMENT) {
        let Some(revision) = chunk.iter().map(|work| work.asset.revision).max() else {
            continue;
        };
        let digests: Vec<String> = chunk.iter().map(|w| w.asset.key.digest()).collect();
        let mut waits = Query::select();
        waits
            .distinct()
            .column("wait_id")
            .expr(Expr::val(revision))
            .from(WAIT_ASSET)
            .and_where(Expr::col("asset_digest").is_in(digests));
        let mut insert = Query::insert();
        insert
            .into_table(MARK)
            .columns(["wait_id", "revision"])
            .select_from(waits)
            .map_err(|error| StoreError::Corrupt { table: MARK, reason: error.to_string() })?
            .on_conflict(OnConflict::column("wait_id").update_column("revision").to_owned());
        tx.execute(&insert).await?;
    }
    Ok(())
}

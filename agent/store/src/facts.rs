//! What is known of an asset beside its commits, in rows.

mod write;

use std::collections::{BTreeMap, BTreeSet};

use asset_core::{
    facts::{Backfill, BackfillRecord, BackfillStatus, Facts, Quality, SchemaDecision, Tag},
    statement::Statement,
    version::{Commit, CommitClass},
};
use sea_query::Query;

use crate::{
    StoreError,
    bulk::Column,
    database::{Row, Tx},
    rows::{ADVANCE, REWRITE},
    schema::{BACKFILL, QUALITY, REPORTED_WATERMARK, SCHEMA, TAG},
};

pub use write::write;

const QUALITY_COLUMNS: [Column; 6] = [
    Column::Number("asset_id"),
    Column::Text("fingerprint"),
    Column::Text("status"),
    Column::Number("said_at"),
    Column::Text("reporter"),
    Column::Text("dedupe_key"),
];

const WATERMARK_COLUMNS: [Column; 3] =
    [Column::Number("asset_id"), Column::Text("fingerprint"), Column::Number("watermark")];

const SCHEMA_COLUMNS: [Column; 7] = [
    Column::Number("asset_id"),
    Column::Number("table_generation"),
    Column::Number("schema_id"),
    Column::Text("decision"),
    Column::Number("said_at"),
    Column::Text("reporter"),
    Column::Text("dedupe_key"),
];

const BACKFILL_COLUMNS: [Column; 9] = [
    Column::Number("asset_id"),
    Column::Text("backfill_id"),
    Column::Text("status"),
    Column::Number("range_from"),
    Column::Number("range_to"),
    Column::Number("started_at"),
    Column::Number("said_at"),
    Column::Text("reporter"),
    Column::Text("dedupe_key"),
];

/// Asset ids with the fingerprints whose facts are wanted.
pub type Fingerprints = BTreeMap<i64, BTreeSet<String>>;

/// Reads what is known of assets: of their schemas, their backfills, and of the commits named. Tags stay
/// out, and what a state row has of schemas as well.
pub async fn load(tx: &mut Tx, of: &Fingerprints) -> Result<BTreeMap<i64, Facts>, StoreError> {
    let mut found: BTreeMap<i64, Facts> = of.keys().map(|id| (*id, Facts::default())).collect();
    let mut query = Query::select();
    query
        .columns(SCHEMA_COLUMNS.map(Column::name))
        .from(SCHEMA)
        .and_where(tx.among_numbers("asset_id", of.keys().copied()));
    for row in tx.rows(&query).await? {
        let place = (row.i64("table_generation")?, row.i64("schema_id")?);
        let decision = said(&row, decision(&row)?)?;
        if let Some(facts) = found.get_mut(&row.i64("asset_id")?) {
            facts.schemas.decisions.insert(place, decision);
        }
    }
    let mut query = Query::select();
    query
        .columns(BACKFILL_COLUMNS.map(Column::name))
        .from(BACKFILL)
        .and_where(tx.among_numbers("asset_id", of.keys().copied()));
    for row in tx.rows(&query).await? {
        let record = backfill(&row)?;
        if let Some(facts) = found.get_mut(&row.i64("asset_id")?) {
            facts.backfills.insert(row.text("backfill_id")?, record);
        }
    }
    of_commits(tx, of, &mut found).await?;
    Ok(found)
}

/// Reads verdicts and reported watermarks of commits.
async fn of_commits(
    tx: &mut Tx,
    of: &Fingerprints,
    found: &mut BTreeMap<i64, Facts>,
) -> Result<(), StoreError> {
    let ids = || of.iter().filter(|(_, prints)| !prints.is_empty()).map(|(id, _)| *id);
    let prints: BTreeSet<&str> = of.values().flatten().map(String::as_str).collect();
    if prints.is_empty() {
        return Ok(());
    }
    let mut query = Query::select();
    query
        .columns(QUALITY_COLUMNS.map(Column::name))
        .from(QUALITY)
        .and_where(tx.among_numbers("asset_id", ids()))
        .and_where(tx.among("fingerprint", prints.iter().copied()));
    for row in tx.rows(&query).await? {
        let quality = said(&row, quality(&row)?)?;
        if let Some(facts) = found.get_mut(&row.i64("asset_id")?) {
            facts.quality.insert(row.text("fingerprint")?, quality);
        }
    }
    let mut query = Query::select();
    query
        .columns(WATERMARK_COLUMNS.map(Column::name))
        .from(REPORTED_WATERMARK)
        .and_where(tx.among_numbers("asset_id", ids()))
        .and_where(tx.among("fingerprint", prints.iter().copied()));
    for row in tx.rows(&query).await? {
        if let Some(facts) = found.get_mut(&row.i64("asset_id")?) {
            facts.watermarks.insert(row.text("fingerprint")?, row.i64("watermark")?);
        }
    }
    Ok(())
}

const TAG_COLUMNS: [Column; 14] = [
    Column::Number("asset_id"),
    Column::Text("name"),
    Column::Number("ordinal"),
    Column::Text("class"),
    Column::Number("snapshot_id"),
    Column::Text("fingerprint"),
    Column::Text("commit_kind"),
    Column::Number("commit_time"),
    Column::Number("schema_id"),
    Column::Number("watermark"),
    Column::Number("delta_record_count"),
    Column::Number("said_at"),
    Column::Text("reporter"),
    Column::Text("dedupe_key"),
];

/// Reads the tags of assets, those that were deleted too.
pub async fn tags(
    tx: &mut Tx,
    ids: &[i64],
) -> Result<BTreeMap<i64, BTreeMap<String, Statement<Option<Tag>>>>, StoreError> {
    let mut found: BTreeMap<i64, BTreeMap<String, Statement<Option<Tag>>>> = BTreeMap::new();
    let mut query = Query::select();
    query
        .columns(TAG_COLUMNS.map(Column::name))
        .from(TAG)
        .and_where(tx.among_numbers("asset_id", ids.iter().copied()));
    for row in tx.rows(&query).await? {
        let tag = said(&row, tag(&row)?)?;
        found.entry(row.i64("asset_id")?).or_default().insert(row.text("name")?, tag);
    }
    Ok(found)
}

fn said<T>(row: &Row, value: T) -> Result<Statement<T>, StoreError> {
    Ok(Statement {
        value,
        at: row.i64("said_at")?,
        reporter: row.text("reporter")?,
        key: row.text("dedupe_key")?,
    })
}

fn corrupt(table: &'static str, what: &str, value: &str) -> StoreError {
    StoreError::Corrupt { table, reason: format!("{what} `{value}`") }
}

fn quality(row: &Row) -> Result<Quality, StoreError> {
    match row.text("status")?.as_str() {
        "PASSED" => Ok(Quality::Passed),
        "FAILED" => Ok(Quality::Failed),
        other => Err(corrupt(QUALITY, "status", other)),
    }
}

fn decision(row: &Row) -> Result<SchemaDecision, StoreError> {
    match row.text("decision")?.as_str() {
        "APPROVED" => Ok(SchemaDecision::Approved),
        "REJECTED" => Ok(SchemaDecision::Rejected),
        other => Err(corrupt(SCHEMA, "decision", other)),
    }
}

fn backfill(row: &Row) -> Result<BackfillRecord, StoreError> {
    let status = match row.text("status")?.as_str() {
        "RUNNING" => BackfillStatus::Running,
        "COMPLETED" => BackfillStatus::Completed,
        other => return Err(corrupt(BACKFILL, "status", other)),
    };
    let value = Backfill { status, from: row.opt_i64("range_from")?, to: row.opt_i64("range_to")? };
    Ok(BackfillRecord { last: said(row, value)?, started_at: row.opt_i64("started_at")? })
}

fn tag(row: &Row) -> Result<Option<Tag>, StoreError> {
    let Some(ordinal) = row.opt_i64("ordinal")? else {
        return Ok(None);
    };
    let class = match row.text("class")?.as_str() {
        ADVANCE => CommitClass::Advance,
        REWRITE => CommitClass::Rewrite,
        other => return Err(corrupt(TAG, "class", other)),
    };
    let commit = Commit {
        snapshot_id: row.i64("snapshot_id")?,
        fingerprint: row.text("fingerprint")?,
        commit_kind: row.text("commit_kind")?,
        commit_time: row.opt_i64("commit_time")?,
        schema_id: row.opt_i64("schema_id")?,
        watermark: row.opt_i64("watermark")?,
        delta_record_count: row.opt_i64("delta_record_count")?,
    };
    Ok(Some(Tag { ordinal, class, commit }))
}

//! How assets and versions stand in rows.

use asset_core::{
    asset::Asset,
    facts::Schemas,
    key::AssetKey,
    log::{Entry, VersionLog},
    report::Ordering,
    version::{Assurance, Commit, CommitClass, Floor, Position, Version},
};

use crate::{
    StoreError,
    bulk::Column,
    database::Row,
    schema::{STATE, VERSION},
};

/// Columns that [`asset`] reads.
pub const STATE_COLUMNS: [&str; 15] = [
    "asset_key",
    "generation",
    "first_generation",
    "first_ordinal",
    "hold_reason",
    "hold_since",
    "version",
    "revision",
    "changed_at",
    "asset_id",
    "ordering_kind",
    "first_schema_id",
    "schema_generation",
    "latest_schema_id",
    "latest_tag",
];

/// Columns of a version log.
pub const VERSION_COLUMNS: [Column; 17] = [
    Column::Number("asset_id"),
    Column::Number("generation"),
    Column::Number("ordinal"),
    Column::Text("class"),
    Column::Number("first_ordinal"),
    Column::Number("snapshot_id"),
    Column::Text("fingerprint"),
    Column::Text("commit_kind"),
    Column::Number("commit_time"),
    Column::Number("schema_id"),
    Column::Number("watermark"),
    Column::Number("delta_record_count"),
    Column::Number("data_ordinal"),
    Column::Number("effective_watermark"),
    Column::Number("readable"),
    Column::Number("observed_at"),
    Column::Text("assurance"),
];

/// Columns that [`entry`] reads.
pub fn version_names() -> [&'static str; 17] {
    VERSION_COLUMNS.map(Column::name)
}

pub const ADVANCE: &str = "ADVANCE";
pub const REWRITE: &str = "REWRITE";
pub const GAP: &str = "GAP";

/// `hold_reason` of a table that is gone from its catalog.
pub const GONE: &str = "ABSENT";

/// A number of rows, no greater than databases count.
pub fn limit(rows: usize) -> u64 {
    u64::try_from(rows).unwrap_or(u64::MAX).min(i64::MAX as u64)
}

/// Reads a key column.
pub fn key(row: &Row, table: &'static str) -> Result<AssetKey, StoreError> {
    let text = row.text("asset_key")?;
    AssetKey::from_canonical(&text)
        .map_err(|error| StoreError::Corrupt { table, reason: format!("asset_key `{text}`: {error}") })
}

/// Reads an asset without its log.
pub fn asset(row: &Row) -> Result<Asset, StoreError> {
    let first_head = match (row.opt_i64("first_generation")?, row.opt_i64("first_ordinal")?) {
        (Some(generation), Some(ordinal)) => Floor::At(Position { generation, ordinal }),
        _ => Floor::BelowAll,
    };
    let gone_since = match row.opt_text("hold_reason")?.as_deref() {
        None => None,
        Some(GONE) => Some(row.i64("hold_since")?),
        Some(other) => {
            return Err(StoreError::Corrupt { table: STATE, reason: format!("hold_reason `{other}`") });
        }
    };
    let ordering = row.opt_text("ordering_kind")?;
    let ordering = ordering.map(|name| {
        Ordering::from_name(&name)
            .ok_or_else(|| StoreError::Corrupt { table: STATE, reason: format!("ordering_kind `{name}`") })
    });
    Ok(Asset {
        key: key(row, STATE)?,
        first_head,
        gone_since,
        ordering: ordering.transpose()?,
        latest_tag: row.opt_text("latest_tag")?,
        log: VersionLog::default(),
        lock_version: row.i64("version")?,
        revision: row.i64("revision")?,
        update_time: row.i64("changed_at")?,
    })
}

/// Reads what a state row has of schemas.
pub fn schemas(row: &Row) -> Result<Schemas, StoreError> {
    let latest = match (row.opt_i64("schema_generation")?, row.opt_i64("latest_schema_id")?) {
        (Some(generation), Some(id)) => Some((generation, id)),
        _ => None,
    };
    Ok(Schemas { first: row.opt_i64("first_schema_id")?, latest, ..Schemas::default() })
}

/// Reads a line of a version log.
pub fn entry(row: &Row) -> Result<(Position, Entry), StoreError> {
    let position = Position { generation: row.i64("generation")?, ordinal: row.i64("ordinal")? };
    let class = row.text("class")?;
    let class = match class.as_str() {
        ADVANCE => CommitClass::Advance,
        REWRITE => CommitClass::Rewrite,
        GAP => {
            let gap = Entry::Gap {
                first: row.i64("first_ordinal")?,
                effective_watermark: row.opt_i64("effective_watermark")?,
            };
            return Ok((position, gap));
        }
        _ => {
            return Err(StoreError::Corrupt { table: VERSION, reason: format!("class `{class}`") });
        }
    };
    let assurance = match row.text("assurance")?.as_str() {
        "VERIFIED" => Assurance::Verified,
        "REPORTED" => Assurance::Reported,
        other => {
            return Err(StoreError::Corrupt { table: VERSION, reason: format!("assurance `{other}`") });
        }
    };
    let version = Version {
        assurance,
        commit: Commit {
            snapshot_id: row.i64("snapshot_id")?,
            fingerprint: row.text("fingerprint")?,
            commit_kind: row.text("commit_kind")?,
            commit_time: row.opt_i64("commit_time")?,
            schema_id: row.opt_i64("schema_id")?,
            watermark: row.opt_i64("watermark")?,
            delta_record_count: row.opt_i64("delta_record_count")?,
        },
        class,
        data_ordinal: row.i64("data_ordinal")?,
        effective_watermark: row.opt_i64("effective_watermark")?,
        readable: row.i64("readable")? != 0,
        observed_at: row.i64("observed_at")?,
    };
    Ok((position, Entry::Commit(version)))
}

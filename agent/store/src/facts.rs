//! What is known of an asset beside its commits, in rows.

use std::collections::{BTreeMap, BTreeSet};

use asset_core::{
    facts::{Backfill, BackfillRecord, BackfillStatus, Facts, Quality, SchemaDecision, Tag},
    log::VersionLog,
    statement::Statement,
    version::{Commit, CommitClass},
};
use sea_query::{Expr, ExprTrait, InsertStatement, OnConflict, Query};

use crate::{
    StoreError,
    database::{Row, Tx},
    rows::{ADVANCE, REWRITE},
    schema::{BACKFILL, QUALITY, REPORTED_WATERMARK, ROWS_A_STATEMENT, SCHEMA, TAG},
};

const QUALITY_COLUMNS: [&str; 6] = ["asset_id", "fingerprint", "status", "said_at", "reporter", "dedupe_key"];

const SCHEMA_COLUMNS: [&str; 7] =
    ["asset_id", "table_generation", "schema_id", "decision", "said_at", "reporter", "dedupe_key"];

const BACKFILL_COLUMNS: [&str; 9] = [
    "asset_id",
    "backfill_id",
    "status",
    "range_from",
    "range_to",
    "started_at",
    "said_at",
    "reporter",
    "dedupe_key",
];

/// Asset ids with the fingerprints whose facts are wanted.
pub type Fingerprints = BTreeMap<i64, BTreeSet<String>>;

/// Reads what is known of assets: of their schemas, their backfills, and of the commits named. Tags stay
/// out, and what a state row has of schemas as well.
pub async fn load(tx: &mut Tx, of: &Fingerprints) -> Result<BTreeMap<i64, Facts>, StoreError> {
    let mut found: BTreeMap<i64, Facts> = of.keys().map(|id| (*id, Facts::default())).collect();
    let ids: Vec<i64> = of.keys().copied().collect();
    for chunk in ids.chunks(ROWS_A_STATEMENT) {
        let mut query = Query::select();
        query
            .columns(SCHEMA_COLUMNS)
            .from(SCHEMA)
            .and_where(Expr::col("asset_id").is_in(chunk.iter().copied()));
        for row in tx.rows(&query).await? {
            let place = (row.i64("table_generation")?, row.i64("schema_id")?);
            let decision = said(&row, decision(&row)?)?;
            if let Some(facts) = found.get_mut(&row.i64("asset_id")?) {
                facts.schemas.decisions.insert(place, decision);
            }
        }
        let mut query = Query::select();
        query
            .columns(BACKFILL_COLUMNS)
            .from(BACKFILL)
            .and_where(Expr::col("asset_id").is_in(chunk.iter().copied()));
        for row in tx.rows(&query).await? {
            let record = backfill(&row)?;
            if let Some(facts) = found.get_mut(&row.i64("asset_id")?) {
                facts.backfills.insert(row.text("backfill_id")?, record);
            }
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
    let pairs: Vec<(i64, &str)> =
        of.iter().flat_map(|(id, all)| all.iter().map(|print| (*id, print.as_str()))).collect();
    for chunk in pairs.chunks(ROWS_A_STATEMENT) {
        let ids: BTreeSet<i64> = chunk.iter().map(|(id, _)| *id).collect();
        let prints: BTreeSet<&str> = chunk.iter().map(|(_, print)| *print).collect();
        let mut query = Query::select();
        query
            .columns(QUALITY_COLUMNS)
            .from(QUALITY)
            .and_where(Expr::col("asset_id").is_in(ids.iter().copied()))
            .and_where(Expr::col("fingerprint").is_in(prints.iter().copied()));
        for row in tx.rows(&query).await? {
            let quality = said(&row, quality(&row)?)?;
            if let Some(facts) = found.get_mut(&row.i64("asset_id")?) {
                facts.quality.insert(row.text("fingerprint")?, quality);
            }
        }
        let mut query = Query::select();
        query
            .columns(["asset_id", "fingerprint", "watermark"])
            .from(REPORTED_WATERMARK)
            .and_where(Expr::col("asset_id").is_in(ids))
            .and_where(Expr::col("fingerprint").is_in(prints));
        for row in tx.rows(&query).await? {
            if let Some(facts) = found.get_mut(&row.i64("asset_id")?) {
                facts.watermarks.insert(row.text("fingerprint")?, row.i64("watermark")?);
            }
        }
    }
    Ok(())
}

const TAG_COLUMNS: [&str; 14] = [
    "asset_id",
    "name",
    "ordinal",
    "class",
    "snapshot_id",
    "fingerprint",
    "commit_kind",
    "commit_time",
    "schema_id",
    "watermark",
    "delta_record_count",
    "said_at",
    "reporter",
    "dedupe_key",
];

/// Reads the tags of assets, those that were deleted too.
pub async fn tags(
    tx: &mut Tx,
    ids: &[i64],
) -> Result<BTreeMap<i64, BTreeMap<String, Statement<Option<Tag>>>>, StoreError> {
    let mut found: BTreeMap<i64, BTreeMap<String, Statement<Option<Tag>>>> = BTreeMap::new();
    for chunk in ids.chunks(ROWS_A_STATEMENT) {
        let mut query = Query::select();
        query.columns(TAG_COLUMNS).from(TAG).and_where(Expr::col("asset_id").is_in(chunk.iter().copied()));
        for row in tx.rows(&query).await? {
            let tag = said(&row, tag(&row)?)?;
            found.entry(row.i64("asset_id")?).or_default().insert(row.text("name")?, tag);
        }
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

/// Writes what differs between the facts of two logs.
pub async fn write<'a>(
    tx: &mut Tx,
    changed: impl Iterator<Item = (i64, &'a VersionLog, &'a VersionLog)>,
) -> Result<(), StoreError> {
    let mut rows = Rows::new();
    for (id, before, after) in changed {
        rows.add(id, before.facts(), after.facts());
    }
    for rows in [rows.quality, rows.watermarks, rows.tags, rows.schemas, rows.backfills] {
        rows.write(tx).await?;
    }
    Ok(())
}

/// Rows for one table.
struct Upsert {
    table: &'static str,
    keys: &'static [&'static str],
    columns: &'static [&'static str],
    rows: Vec<Vec<Expr>>,
}

impl Upsert {
    async fn write(self, tx: &mut Tx) -> Result<(), StoreError> {
        for chunk in self.rows.chunks(ROWS_A_STATEMENT) {
            let mut insert: InsertStatement = Query::insert();
            insert.into_table(self.table).columns(self.columns.iter().copied());
            for row in chunk {
                insert.values_panic(row.iter().cloned());
            }
            let values = self.columns.iter().filter(|column| !self.keys.contains(column));
            insert.on_conflict(
                OnConflict::columns(self.keys.iter().copied()).update_columns(values.copied()).to_owned(),
            );
            tx.execute(&insert).await?;
        }
        Ok(())
    }
}

struct Rows {
    quality: Upsert,
    watermarks: Upsert,
    tags: Upsert,
    schemas: Upsert,
    backfills: Upsert,
}

impl Rows {
    fn new() -> Self {
        let upsert = |table, keys, columns| Upsert { table, keys, columns, rows: Vec::new() };
        Self {
            quality: upsert(QUALITY, &["asset_id", "fingerprint"], &QUALITY_COLUMNS),
            watermarks: upsert(
                REPORTED_WATERMARK,
                &["asset_id", "fingerprint"],
                &["asset_id", "fingerprint", "watermark"],
            ),
            tags: upsert(TAG, &["asset_id", "name"], &TAG_COLUMNS),
            schemas: upsert(SCHEMA, &["asset_id", "table_generation", "schema_id"], &SCHEMA_COLUMNS),
            backfills: upsert(BACKFILL, &["asset_id", "backfill_id"], &BACKFILL_COLUMNS),
        }
    }

    fn add(&mut self, id: i64, before: &Facts, after: &Facts) {
        for (print, said) in differing(&before.quality, &after.quality) {
            let mut row = vec![id.into(), print.as_str().into(), said.value.as_str().into()];
            row.extend(statement(said));
            self.quality.rows.push(row);
        }
        for (print, watermark) in differing(&before.watermarks, &after.watermarks) {
            self.watermarks.rows.push(vec![id.into(), print.as_str().into(), (*watermark).into()]);
        }
        for (name, said) in differing(&before.tags, &after.tags) {
            let tag = said.value.as_ref();
            let commit = tag.map(|tag| &tag.commit);
            let class = tag.map(|tag| match tag.class {
                CommitClass::Advance => ADVANCE,
                CommitClass::Rewrite => REWRITE,
            });
            let mut row = vec![
                id.into(),
                name.as_str().into(),
                tag.map(|tag| tag.ordinal).into(),
                class.into(),
                commit.map(|c| c.snapshot_id).into(),
                commit.map(|c| c.fingerprint.clone()).into(),
                commit.map(|c| c.commit_kind.clone()).into(),
                commit.and_then(|c| c.commit_time).into(),
                commit.and_then(|c| c.schema_id).into(),
                commit.and_then(|c| c.watermark).into(),
                commit.and_then(|c| c.delta_record_count).into(),
            ];
            row.extend(statement(said));
            self.tags.rows.push(row);
        }
        for ((table, schema), said) in differing(&before.schemas.decisions, &after.schemas.decisions) {
            let mut row = vec![id.into(), (*table).into(), (*schema).into(), said.value.as_str().into()];
            row.extend(statement(said));
            self.schemas.rows.push(row);
        }
        for (name, record) in differing(&before.backfills, &after.backfills) {
            let value = &record.last.value;
            let mut row = vec![
                id.into(),
                name.as_str().into(),
                value.status.as_str().into(),
                value.from.into(),
                value.to.into(),
                record.started_at.into(),
            ];
            row.extend(statement(&record.last));
            self.backfills.rows.push(row);
        }
    }
}

fn statement<T>(said: &Statement<T>) -> [Expr; 3] {
    [said.at.into(), said.reporter.as_str().into(), said.key.as_str().into()]
}

/// Entries of a map that are new or another.
fn differing<'a, K: Ord, V: PartialEq>(
    before: &'a BTreeMap<K, V>,
    after: &'a BTreeMap<K, V>,
) -> impl Iterator<Item = (&'a K, &'a V)> {
    after.iter().filter(|(key, value)| before.get(key) != Some(value))
}

//! Writing them.

use std::collections::BTreeMap;

use asset_core::{facts::Facts, log::VersionLog, statement::Statement, version::CommitClass};

use super::{BACKFILL_COLUMNS, QUALITY_COLUMNS, SCHEMA_COLUMNS, TAG_COLUMNS, WATERMARK_COLUMNS};
use crate::{
    StoreError,
    bulk::{Bulk, OnConflict, Value},
    database::Tx,
    rows::{ADVANCE, REWRITE},
    schema::{BACKFILL, QUALITY, REPORTED_WATERMARK, SCHEMA, TAG},
};

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

struct Rows<'a> {
    quality: Bulk<'a>,
    watermarks: Bulk<'a>,
    tags: Bulk<'a>,
    schemas: Bulk<'a>,
    backfills: Bulk<'a>,
}

impl<'a> Rows<'a> {
    fn new() -> Self {
        let rows = |table, key, columns| Bulk::new(table, columns, OnConflict::Replace(key));
        Self {
            quality: rows(QUALITY, &["asset_id", "fingerprint"], &QUALITY_COLUMNS),
            watermarks: rows(REPORTED_WATERMARK, &["asset_id", "fingerprint"], &WATERMARK_COLUMNS),
            tags: rows(TAG, &["asset_id", "name"], &TAG_COLUMNS),
            schemas: rows(SCHEMA, &["asset_id", "table_generation", "schema_id"], &SCHEMA_COLUMNS),
            backfills: rows(BACKFILL, &["asset_id", "backfill_id"], &BACKFILL_COLUMNS),
        }
    }

    fn add(&mut self, id: i64, before: &'a Facts, after: &'a Facts) {
        for (print, said) in differing(&before.quality, &after.quality) {
            let row = [id.into(), print.as_str().into(), said.value.as_str().into()];
            self.quality.push(row.into_iter().chain(statement(said)));
        }
        for (print, watermark) in differing(&before.watermarks, &after.watermarks) {
            self.watermarks.push([id.into(), print.as_str().into(), (*watermark).into()]);
        }
        for (name, said) in differing(&before.tags, &after.tags) {
            let tag = said.value.as_ref();
            let commit = tag.map(|tag| &tag.commit);
            let class = tag.map(|tag| match tag.class {
                CommitClass::Advance => ADVANCE,
                CommitClass::Rewrite => REWRITE,
            });
            let row = [
                id.into(),
                name.as_str().into(),
                tag.map(|tag| tag.ordinal).into(),
                class.into(),
                commit.map(|c| c.snapshot_id).into(),
                commit.map(|c| c.fingerprint.as_str()).into(),
                commit.map(|c| c.commit_kind.as_str()).into(),
                commit.and_then(|c| c.commit_time).into(),
                commit.and_then(|c| c.schema_id).into(),
                commit.and_then(|c| c.watermark).into(),
                commit.and_then(|c| c.delta_record_count).into(),
            ];
            self.tags.push(row.into_iter().chain(statement(said)));
        }
        for ((table, schema), said) in differing(&before.schemas.decisions, &after.schemas.decisions) {
            let row = [id.into(), (*table).into(), (*schema).into(), said.value.as_str().into()];
            self.schemas.push(row.into_iter().chain(statement(said)));
        }
        for (name, record) in differing(&before.backfills, &after.backfills) {
            let value = &record.last.value;
            let row = [
                id.into(),
                name.as_str().into(),
                value.status.as_str().into(),
                value.from.into(),
                value.to.into(),
                record.started_at.into(),
            ];
            self.backfills.push(row.into_iter().chain(statement(&record.last)));
        }
    }
}

fn statement<T>(said: &Statement<T>) -> [Value<'_>; 3] {
    [said.at.into(), said.reporter.as_str().into(), said.key.as_str().into()]
}

/// Entries of a map that are new or another.
fn differing<'a, K: Ord, V: PartialEq>(
    before: &'a BTreeMap<K, V>,
    after: &'a BTreeMap<K, V>,
) -> impl Iterator<Item = (&'a K, &'a V)> {
    after.iter().filter(|(key, value)| before.get(key) != Some(value))
}

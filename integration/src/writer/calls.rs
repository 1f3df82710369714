//! The operations, one method each. A table is `database.table`, a branch of it
//! `database.table$branch_name`.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use super::{Commit, NewTable, SnapshotReport, Writer};

impl Writer {
    pub async fn create_database(&self, database: &str) -> Result<()> {
        self.done("create_database", json!({ "database": database })).await
    }

    /// With all its tables.
    pub async fn drop_database(&self, database: &str) -> Result<()> {
        self.done("drop_database", json!({ "database": database })).await
    }

    pub async fn create_table(&self, table: NewTable) -> Result<()> {
        self.done("create_table", serde_json::to_value(table)?).await
    }

    pub async fn drop_table(&self, table: &str) -> Result<()> {
        self.done("drop_table", json!({ "table": table })).await
    }

    /// Returns the id of the new schema. No snapshot is made.
    pub async fn add_column(&self, table: &str, column: &str, kind: &str) -> Result<i64> {
        self.field("add_column", json!({ "table": table, "column": column, "type": kind }), "schema_id").await
    }

    /// New rows, whose ids go on from the last append.
    pub async fn append(&self, table: &str, rows: u32) -> Result<Commit> {
        self.commit("append", json!({ "table": table, "rows": rows })).await
    }

    /// New rows that have `value` in `column`, e.g. those of one partition.
    pub async fn append_with(&self, table: &str, rows: u32, column: &str, value: &str) -> Result<Commit> {
        self.commit("append", json!({ "table": table, "rows": rows, "set": { column: value } })).await
    }

    pub async fn upsert(&self, table: &str, ids: &[i64]) -> Result<Commit> {
        self.commit("upsert", json!({ "table": table, "ids": ids })).await
    }

    /// pypaimon wants a table whose option `rowkind.field` names a STRING column.
    pub async fn delete(&self, table: &str, ids: &[i64]) -> Result<Commit> {
        self.commit("delete", json!({ "table": table, "ids": ids })).await
    }

    pub async fn overwrite(&self, table: &str, rows: u32) -> Result<Commit> {
        self.commit("overwrite", json!({ "table": table, "rows": rows })).await
    }

    pub async fn truncate(&self, table: &str) -> Result<Commit> {
        self.commit("truncate", json!({ "table": table })).await
    }

    /// Java only: a full compaction by a job of its own. It makes one COMPACT snapshot, or none when
    /// there is nothing to do (an append table below `compaction.min.file-num` files).
    pub async fn compact(&self, table: &str) -> Result<Commit> {
        self.commit("compact", json!({ "table": table })).await
    }

    /// Java only: one checkpoint of the table's streaming job. `rows` may be 0.
    pub async fn stream_append(&self, table: &str, rows: u32, watermark: Option<i64>) -> Result<Commit> {
        self.commit("stream_append", json!({ "table": table, "rows": rows, "watermark": watermark })).await
    }

    /// Java only: one checkpoint of the table's streaming job with a full compaction. It makes an
    /// APPEND and a COMPACT with one identifier; the APPEND is empty when `rows` is 0.
    pub async fn stream_compact(&self, table: &str, rows: u32, watermark: Option<i64>) -> Result<Commit> {
        let request = json!({ "table": table, "rows": rows, "watermark": watermark, "compact": true });
        self.commit("stream_append", request).await
    }

    /// Java only: the next streaming commit comes from a new job, with another commit user.
    pub async fn stream_close(&self, table: &str) -> Result<()> {
        self.done("stream_close", json!({ "table": table })).await
    }

    /// Of the newest snapshot, if none is named.
    pub async fn create_tag(&self, table: &str, tag: &str, snapshot: Option<i64>) -> Result<()> {
        self.done("create_tag", json!({ "table": table, "tag": tag, "snapshot": snapshot })).await
    }

    pub async fn delete_tag(&self, table: &str, tag: &str) -> Result<()> {
        self.done("delete_tag", json!({ "table": table, "tag": tag })).await
    }

    /// Tag to snapshot id, as the library reports it.
    pub async fn tags(&self, table: &str) -> Result<BTreeMap<String, i64>> {
        self.field("tags", json!({ "table": table }), "tags").await
    }

    /// Removes the snapshots, and the tags on them, that are newer than `snapshot`.
    pub async fn rollback(&self, table: &str, snapshot: i64) -> Result<Commit> {
        self.commit("rollback", json!({ "table": table, "snapshot": snapshot })).await
    }

    /// From a tag, or empty with the newest schema.
    pub async fn create_branch(&self, table: &str, branch: &str, tag: Option<&str>) -> Result<()> {
        self.done("create_branch", json!({ "table": table, "branch": branch, "tag": tag })).await
    }

    /// Makes the branch's snapshots those of the table.
    pub async fn fast_forward(&self, table: &str, branch: &str) -> Result<Commit> {
        self.commit("fast_forward", json!({ "table": table, "branch": branch })).await
    }

    /// Java only: keeps the newest `retain` snapshots and returns how many went.
    pub async fn expire(&self, table: &str, retain: u32) -> Result<u32> {
        self.field("expire", json!({ "table": table, "retain": retain }), "expired").await
    }

    /// All snapshots there are, oldest first, as the library reports them.
    pub async fn snapshots(&self, table: &str) -> Result<Vec<SnapshotReport>> {
        self.field("snapshots", json!({ "table": table }), "snapshots").await
    }

    async fn done(&self, op: &str, request: Value) -> Result<()> {
        self.call(op, object(request)).await.map(drop)
    }

    async fn commit(&self, op: &str, request: Value) -> Result<Commit> {
        let answer = self.call(op, object(request)).await?;
        serde_json::from_value(Value::Object(answer)).with_context(|| format!("the answer to {op}"))
    }

    async fn field<T: DeserializeOwned>(&self, op: &str, request: Value, name: &str) -> Result<T> {
        let mut answer = self.call(op, object(request)).await?;
        let value = answer.remove(name).unwrap_or_default();
        serde_json::from_value(value).with_context(|| format!("'{name}' in the answer to {op}"))
    }
}

/// Requests are written down as `json!` objects; a field that is null counts as absent.
fn object(request: Value) -> Map<String, Value> {
    match request {
        Value::Object(fields) => fields.into_iter().filter(|(_, value)| !value.is_null()).collect(),
        _ => Map::new(),
    }
}

//! What goes to a writer and comes back.

use serde::{Deserialize, Serialize};

/// A table to create. Without columns it has `id BIGINT, v STRING`.
#[derive(Clone, Debug, Serialize)]
pub struct NewTable {
    table: String,
    primary_keys: Vec<String>,
    partition_keys: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    columns: Vec<Column>,
    options: serde_json::Map<String, serde_json::Value>,
}

#[derive(Clone, Debug, Serialize)]
struct Column {
    name: String,
    r#type: String,
}

impl NewTable {
    /// `table` is `database.table`; the database is created where it is missing.
    pub fn append_only(table: &str) -> Self {
        Self {
            table: table.to_owned(),
            primary_keys: Vec::new(),
            partition_keys: Vec::new(),
            columns: Vec::new(),
            options: serde_json::Map::new(),
        }
    }

    /// With the primary key `id`.
    pub fn keyed(table: &str) -> Self {
        Self { primary_keys: vec!["id".to_owned()], ..Self::append_only(table) }
    }

    /// `kind` as SQL writes it, e.g. `BIGINT`. The first column named replaces the usual two.
    pub fn column(mut self, name: &str, kind: &str) -> Self {
        self.columns.push(Column { name: name.to_owned(), r#type: kind.to_owned() });
        self
    }

    pub fn partitioned_by(mut self, column: &str) -> Self {
        self.partition_keys.push(column.to_owned());
        if !self.primary_keys.is_empty() {
            self.primary_keys.push(column.to_owned());
        }
        self
    }

    pub fn option(mut self, name: &str, value: &str) -> Self {
        self.options.insert(name.to_owned(), value.into());
        self
    }
}

/// What a commit left behind.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
pub struct Commit {
    /// The newest snapshot after it. A commit may have made two, and an empty one none.
    pub snapshot_id: i64,
    /// The writer's clock directly after the library returned, in milliseconds since 1970.
    pub committed_at_ms: i64,
}

/// One snapshot, as the library reports it.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
pub struct SnapshotReport {
    pub id: i64,
    /// `APPEND`, `COMPACT`, `OVERWRITE`, `ANALYZE`.
    pub kind: String,
    pub schema_id: i64,
    pub commit_user: String,
    pub commit_identifier: i64,
    pub time_ms: i64,
    pub watermark: Option<i64>,
    /// Only pypaimon writes it.
    pub uuid: Option<String>,
    pub delta_manifest_list: String,
    pub total_records: i64,
    pub delta_records: i64,
}

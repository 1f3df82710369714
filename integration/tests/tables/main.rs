//! Real Paimon tables, in every state that their libraries and their accidents leave them in.

#![allow(clippy::unwrap_used)]

mod accidents;
mod compaction;
mod discovery;
mod expiry;
mod hints;
mod history;
mod random;
mod tags;
mod watermarks;

use std::path::Path;

use asset_integration::scene::Scene;
use asset_integration::writer::{NewTable, SnapshotReport, Writer};
use serde_json::{Value, json};

const TABLE: &str = "ods.orders";
const KEY: &str = "paimon://lake/ods/orders";

/// A table that goes on while another is in trouble.
const OTHER: &str = "ods.items";
const OTHER_KEY: &str = "paimon://lake/ods/items";

/// An agent, and pypaimon with an empty table.
async fn with_empty_table() -> (Scene, Writer) {
    let scene = Scene::start().await.unwrap();
    let writer = Writer::pypaimon(&scene.warehouse).await.unwrap();
    writer.create_table(NewTable::append_only(TABLE)).await.unwrap();
    (scene, writer)
}

/// The newest snapshot, as the library reports it.
async fn newest(writer: &Writer, table: &str) -> SnapshotReport {
    writer.snapshots(table).await.unwrap().pop().unwrap()
}

/// Evaluates one condition as of now.
async fn evaluated(scene: &Scene, condition: Value) -> Value {
    let request = json!({"groups": [{"conditions": [condition]}]});
    scene.call("DependencyService/EvaluateDependency", &request).await.unwrap()
}

fn snapshot_file(warehouse: &Path, table: &str, id: i64) -> std::path::PathBuf {
    let (database, name) = table.split_once('.').unwrap();
    warehouse.join(format!("{database}.db/{name}/snapshot/snapshot-{id}"))
}

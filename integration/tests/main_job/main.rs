//! The main job: somebody waits for a table, somebody else commits, and the wait ends with the version
//! that the table's own library reports.

#![allow(clippy::unwrap_used)]

mod conditions;
mod identity;
mod outputs;
mod restarts;
mod shown;

use asset_integration::scene::Scene;
use asset_integration::writer::{NewTable, SnapshotReport, Writer};

const TABLE: &str = "ods.orders";
const KEY: &str = "paimon://lake/ods/orders";

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

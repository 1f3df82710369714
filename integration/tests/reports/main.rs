//! Reports: verdicts of checks, watermarks, tags, schemas, backfills and commits that jobs tell of, on
//! tables that the agent reads and on assets that it does not.

#![allow(clippy::unwrap_used)]

mod hints;
mod pushed;
mod verdicts;

use asset_integration::scene::{SOON, Scene};
use asset_integration::writer::{NewTable, Writer};
use serde_json::{Value, json};

const TABLE: &str = "ods.orders";
const KEY: &str = "paimon://lake/ods/orders";
const RESOLVE: &str = "asset.v1.DependencyService/ResolveDependency";

async fn with_empty_table() -> (Scene, Writer) {
    let scene = Scene::start().await.unwrap();
    let writer = Writer::pypaimon(&scene.warehouse).await.unwrap();
    writer.create_table(NewTable::append_only(TABLE)).await.unwrap();
    (scene, writer)
}

/// Runs `asset-sensor report …` and answers its exit code and what it printed of the only event.
async fn report(scene: &Scene, arguments: &[&str]) -> (i32, Value) {
    let arguments = [&["--output", "json", "report"], arguments].concat();
    let ended = scene.sensor(&arguments).unwrap().ended(SOON).await.unwrap();
    let outcome = serde_json::from_str(&ended.stdout).unwrap_or_else(|_| panic!("{ended:?}"));
    (ended.code, outcome)
}

/// The verdict on one condition as of now.
async fn evaluate(scene: &Scene, condition: Value) -> Value {
    let request = json!({"groups": [{"conditions": [condition]}]});
    scene.call("DependencyService/EvaluateDependency", &request).await.unwrap()
}

/// Code of what blocks a condition, or the pinned snapshot.
async fn verdict(scene: &Scene, condition: Value) -> String {
    let answer = evaluate(scene, condition).await;
    match answer["pinned"][0]["snapshotId"].as_str() {
        Some(pinned) => pinned.to_owned(),
        None => answer["groups"][0]["conditions"][0]["reason"].as_str().unwrap_or("ready").to_owned(),
    }
}

//! Reports on a table that the agent reads: it looks at once, and counts what it finds.

use asset_integration::config::polling;
use asset_integration::scene::{SOON, Scene};
use asset_integration::writer::{NewTable, Writer};
use serde_json::json;

use crate::{KEY, TABLE, report, verdict};

/// An agent that would look again only after an hour.
async fn slow() -> (Scene, Writer) {
    let scene = Scene::start_with(|config| {
        let polling = polling(config);
        for interval in ["interval-seconds", "idle-interval-seconds"] {
            polling[interval] = json!(3_600);
        }
    });
    let scene = scene.await.unwrap();
    let writer = Writer::pypaimon(&scene.warehouse).await.unwrap();
    writer.create_table(NewTable::append_only(TABLE)).await.unwrap();
    let first = writer.append(TABLE, 1).await.unwrap();
    scene.latest_is(KEY, first.snapshot_id).await.unwrap();
    // The next look is an eighth of the hour away.
    (scene, writer)
}

#[tokio::test]
async fn a_reported_commit_is_looked_for_at_once_and_never_taken_on_faith() {
    let (scene, writer) = slow().await;
    let (code, lie) = report(&scene, &["snapshot", "--asset", KEY, "--snapshot", "7"]).await;
    assert_eq!((code, &lie["outcome"]), (0, &json!("PENDING")), "{lie}");
    assert_eq!(verdict(&scene, json!({"asset_key": KEY, "min_snapshot_id": 7})).await, "BELOW_MIN_SNAPSHOT");

    writer.append(TABLE, 1).await.unwrap();
    let (_, hint) = report(&scene, &["snapshot", "--asset", KEY, "--snapshot", "2"]).await;
    assert!(["PENDING", "APPLIED"].contains(&hint["outcome"].as_str().unwrap()), "{hint}");
    scene.latest_is(KEY, 2).await.unwrap();
    let listed = scene
        .sensor(&["--output", "json", "events", "list", "--asset", KEY, "--outcome", "pending"])
        .unwrap()
        .ended(SOON)
        .await
        .unwrap();
    let pending: Vec<serde_json::Value> =
        listed.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(pending.len(), 1, "only the lie still waits: {listed:?}");
    assert_eq!(pending[0]["snapshotId"], 7);
}

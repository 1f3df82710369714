//! Compactions of the Java library: they move the snapshot, not the data.

use asset_integration::scene::{SOON, Scene, int, latest, latest_data};
use asset_integration::writer::{NewTable, SnapshotReport, Writer};
use serde_json::Value;

use crate::{KEY, TABLE};

/// Id of the newest snapshot, and of the newest that brought records, by the library's own report.
fn heads(reported: &[SnapshotReport]) -> (Option<i64>, Option<i64>) {
    let data = reported.iter().rev().find(|snapshot| snapshot.kind == "APPEND" && snapshot.delta_records > 0);
    (reported.last().map(|snapshot| snapshot.id), data.map(|snapshot| snapshot.id))
}

/// The agent has seen what the library reports, and takes the same for data.
async fn agrees(scene: &Scene, writer: &Writer, table: &str, key: &str) -> (i64, i64) {
    let expected = heads(&writer.snapshots(table).await.unwrap());
    let answer = scene.latest_is(key, expected.0.unwrap()).await.unwrap();
    assert_eq!((latest(&answer), latest_data(&answer)), expected, "{answer}");
    (expected.0.unwrap(), expected.1.unwrap())
}

#[tokio::test]
async fn a_compaction_of_a_streaming_job_releases_nobody() {
    let scene = Scene::start().await.unwrap();
    let writer = Writer::paimon_java(&scene.warehouse).await.unwrap();
    writer.create_table(NewTable::keyed(TABLE)).await.unwrap();
    writer.stream_append(TABLE, 2, Some(1_000)).await.unwrap();
    agrees(&scene, &writer, TABLE, KEY).await;

    let arguments = ["--output", "json", "wait", "--asset", KEY, "--since", "registered", "--timeout", "60s"];
    let mut sensor = scene.sensor(&arguments).unwrap();
    sensor.says("newer than 1", SOON).await.unwrap();
    // An APPEND of nothing and a COMPACT, with one identifier.
    writer.stream_compact(TABLE, 0, Some(2_000)).await.unwrap();
    assert_eq!(agrees(&scene, &writer, TABLE, KEY).await, (3, 1));
    // A checkpoint without rows moves the watermark only.
    writer.stream_append(TABLE, 0, Some(3_000)).await.unwrap();
    assert_eq!(agrees(&scene, &writer, TABLE, KEY).await, (4, 1));
    scene.is_read_again(KEY).await.unwrap();
    assert_eq!(sensor.printed(), "", "{}", sensor.said());

    // What was there already is pinned by the version that brought it.
    let there =
        scene.sensor(&["--output", "json", "wait", "--asset", KEY]).unwrap().ended(SOON).await.unwrap();
    let there: Value = serde_json::from_str(&there.stdout).unwrap();
    assert_eq!(there["pinned"][0]["snapshotId"], 1);

    writer.stream_append(TABLE, 1, Some(4_000)).await.unwrap();
    let (_, data) = agrees(&scene, &writer, TABLE, KEY).await;
    let ended = sensor.ended(SOON).await.unwrap();
    assert_eq!(ended.code, 0, "{ended:?}");
    let outcome: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(outcome["pinned"][0]["snapshotId"], data);
    assert_eq!(outcome["pinned"][0]["watermark"], 4_000);
    let reported = writer.snapshots(TABLE).await.unwrap();
    assert_eq!(outcome["pinned"][0]["fingerprint"], reported[4].delta_manifest_list, "Java writes no uuids");
}

#[tokio::test]
async fn a_compaction_by_a_job_of_its_own_releases_nobody() {
    let scene = Scene::start().await.unwrap();
    let writer = Writer::paimon_java(&scene.warehouse).await.unwrap();
    writer.create_table(NewTable::append_only(TABLE)).await.unwrap();
    for _ in 0..6 {
        writer.append(TABLE, 1).await.unwrap();
    }
    assert_eq!(agrees(&scene, &writer, TABLE, KEY).await, (6, 6));
    let arguments = ["wait", "--asset", KEY, "--since", "registered", "--timeout", "60s"];
    let mut sensor = scene.sensor(&arguments).unwrap();
    sensor.says("newer than 6", SOON).await.unwrap();
    writer.compact(TABLE).await.unwrap();
    assert_eq!(agrees(&scene, &writer, TABLE, KEY).await, (7, 6));
    // A wait that begins now counts from the compaction on, and is told the same story.
    let mut later = scene.sensor(&arguments).unwrap();
    later.says("newer than 7", SOON).await.unwrap();
    assert_eq!(sensor.printed(), "", "{}", sensor.said());
    let condition = serde_json::json!({"asset_key": KEY, "min_snapshot_id": 7});
    let behind = crate::evaluated(&scene, condition).await;
    let arguments = &behind["groups"][0]["conditions"][0]["reasonArgs"];
    assert_eq!(int(&serde_json::json!(arguments["found_snapshot_id"])), Some(6), "{behind}");

    writer.append(TABLE, 1).await.unwrap();
    let (_, data) = agrees(&scene, &writer, TABLE, KEY).await;
    for sensor in [sensor, later] {
        let ended = sensor.ended(SOON).await.unwrap();
        assert_eq!(ended.code, 0, "{ended:?}");
        assert!(ended.stdout.contains(&format!(" snapshot {data} ")), "{ended:?}");
    }
}

#[tokio::test]
async fn where_readers_wait_for_compaction_it_is_what_brings_the_data() {
    let scene = Scene::start().await.unwrap();
    let writer = Writer::paimon_java(&scene.warehouse).await.unwrap();
    // Readers of such a table skip what was not compacted yet.
    let table = NewTable::keyed(TABLE).option("deletion-vectors.enabled", "true");
    writer.create_table(table).await.unwrap();
    writer.stream_append(TABLE, 2, None).await.unwrap();
    writer.stream_compact(TABLE, 1, None).await.unwrap();
    let newest = writer.snapshots(TABLE).await.unwrap().pop().unwrap();
    assert_eq!(newest.kind, "COMPACT", "{newest:?}");
    let answer = scene.latest_is(KEY, newest.id).await.unwrap();
    assert_eq!(latest_data(&answer), Some(newest.id), "{answer}");
}

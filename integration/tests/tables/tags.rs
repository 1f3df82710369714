//! Tags and schemas of real tables: both change without a snapshot.

use asset_integration::deadline;
use asset_integration::scene::{SOON, Scene, pins};
use asset_integration::writer::{NewTable, Writer};
use serde_json::{Value, json};

use crate::{KEY, TABLE};

const RESOLVE: &str = "asset.v1.DependencyService/ResolveDependency";
const EVALUATE: &str = "DependencyService/EvaluateDependency";

async fn pinned(scene: &Scene, condition: &Value) -> Option<i64> {
    let request = json!({"groups": [{"conditions": [condition]}]});
    let answer = scene.call(EVALUATE, &request).await.unwrap();
    Some(pins(&answer).ok()?.first()?.1)
}

/// Waits until a condition pins a snapshot, or none.
async fn pins_become(scene: &Scene, condition: &Value, expected: Option<i64>) {
    let what = format!("{condition} pins {expected:?}");
    let same = async || (pinned(scene, condition).await == expected).then_some(());
    deadline::until(&what, SOON, same).await.unwrap();
}

#[tokio::test]
async fn a_tag_releases_the_version_that_it_names_for_as_long_as_it_stands() {
    let scene = Scene::start().await.unwrap();
    let writer = Writer::pypaimon(&scene.warehouse).await.unwrap();
    writer.create_table(NewTable::append_only(TABLE)).await.unwrap();
    for _ in 0..3 {
        writer.append(TABLE, 1).await.unwrap();
    }
    scene.latest_is(KEY, 3).await.unwrap();
    let daily = json!({"asset_key": KEY, "tag": "day-*"});
    let mut stream = scene.grpcurl().stream(RESOLVE, &json!({"groups": [{"conditions": [daily]}]})).unwrap();
    let blocked = stream.next(SOON).await.unwrap().unwrap();
    assert_eq!(blocked["groups"][0]["conditions"][0]["blockedBy"], "BLOCKED_BY_TAG", "{blocked}");

    writer.create_tag(TABLE, "other", Some(3)).await.unwrap();
    writer.create_tag(TABLE, "day-1", Some(2)).await.unwrap();
    let ready = loop {
        let message = stream.next(SOON).await.unwrap().unwrap();
        if message["status"] == "READY" {
            break message;
        }
    };
    let tags = writer.tags(TABLE).await.unwrap();
    assert_eq!(pins(&ready).unwrap(), [(KEY.to_owned(), tags["day-1"])]);
    assert_eq!(ready["pinned"][0]["tag"], "day-1");

    // It goes, comes again on another snapshot, and goes with a rollback behind it.
    writer.delete_tag(TABLE, "day-1").await.unwrap();
    pins_become(&scene, &daily, None).await;
    writer.create_tag(TABLE, "day-1", Some(3)).await.unwrap();
    pins_become(&scene, &daily, Some(3)).await;
    writer.rollback(TABLE, 1).await.unwrap();
    scene.asset_until("it is rolled back", KEY, |answer| answer["state"]["generation"] == "2").await.unwrap();
    assert_eq!(pinned(&scene, &daily).await, None, "the tag's commit was taken back");
}

#[tokio::test]
async fn what_a_tag_names_stays_when_its_snapshot_expires() {
    let scene = Scene::start().await.unwrap();
    let writer = Writer::paimon_java(&scene.warehouse).await.unwrap();
    writer.create_table(NewTable::keyed(TABLE)).await.unwrap();
    for _ in 0..2 {
        writer.append(TABLE, 1).await.unwrap();
    }
    writer.create_tag(TABLE, "month-1", Some(2)).await.unwrap();
    for _ in 0..6 {
        writer.append(TABLE, 1).await.unwrap();
    }
    writer.expire(TABLE, 1).await.unwrap();
    let left = writer.snapshots(TABLE).await.unwrap();
    assert!(left.iter().all(|snapshot| snapshot.id != 2), "snapshot 2 has expired: {left:?}");
    let tagged = writer.tags(TABLE).await.unwrap()["month-1"];
    pins_become(&scene, &json!({"asset_key": KEY, "tag": "month-?"}), Some(tagged)).await;
}

#[tokio::test]
async fn a_schema_change_without_a_snapshot_is_seen_and_waits_for_approval() {
    let scene = Scene::start().await.unwrap();
    let writer = Writer::pypaimon(&scene.warehouse).await.unwrap();
    writer.create_table(NewTable::append_only(TABLE)).await.unwrap();
    writer.append(TABLE, 1).await.unwrap();
    scene.latest_is(KEY, 1).await.unwrap();
    let compatible = json!({"asset_key": KEY, "schema_status": "SCHEMA_STATUS_COMPATIBLE"});
    assert_eq!(pinned(&scene, &compatible).await, Some(1));

    let schema = writer.add_column(TABLE, "more", "INT").await.unwrap().to_string();
    scene
        .asset_until("the schema is seen", KEY, |answer| {
            let state = &answer["state"];
            state["schemaId"] == schema.as_str() && state["schemaStatus"] == "SCHEMA_STATUS_PENDING_APPROVAL"
        })
        .await
        .unwrap();
    assert_eq!(pinned(&scene, &compatible).await, Some(1), "the data was written with the old schema");
    writer.append(TABLE, 1).await.unwrap();
    scene.latest_is(KEY, 2).await.unwrap();
    assert_eq!(pinned(&scene, &compatible).await, None);
    let approve = ["report", "schema", "--asset", KEY, "--schema", &schema, "--status", "APPROVED"];
    let ended = scene.sensor(&approve).unwrap().ended(SOON).await.unwrap();
    assert_eq!(ended.code, 0, "{ended:?}");
    assert_eq!(pinned(&scene, &compatible).await, Some(2));
}

//! Tables whose history is another one suddenly: nothing is released from them, and people are told why.

use std::fs;

use asset_integration::scene::{SOON, Scene, latest};
use asset_integration::stored;
use asset_integration::writer::{NewTable, Writer};
use serde_json::{Value, json};

use crate::{KEY, OTHER, OTHER_KEY, TABLE, evaluated, with_empty_table};

/// A table with three snapshots, and another that goes on whatever happens to it.
async fn with_two_tables() -> (Scene, Writer) {
    let (scene, writer) = with_empty_table().await;
    writer.create_table(NewTable::append_only(OTHER)).await.unwrap();
    writer.append(OTHER, 1).await.unwrap();
    for _ in 0..3 {
        writer.append(TABLE, 1).await.unwrap();
    }
    scene.latest_is(KEY, 3).await.unwrap();
    scene.latest_is(OTHER_KEY, 1).await.unwrap();
    (scene, writer)
}

/// Waits until the asset is held, checks that a wait is told so and not released, and returns the hold.
async fn is_held(scene: &Scene, writer: &Writer, cause: &str) -> Value {
    let held = |answer: &Value| answer["state"]["hold"]["reason"] == cause;
    let answer = scene.asset_until(&format!("it is held as {cause}"), KEY, held).await.unwrap();
    let verdict = evaluated(scene, json!({"asset_key": KEY})).await;
    let condition = &verdict["groups"][0]["conditions"][0];
    assert_eq!(condition["blockedBy"], "BLOCKED_BY_SNAPSHOT", "{verdict}");
    assert_eq!(condition["reason"], "HISTORY_ON_HOLD");
    assert_eq!(condition["reasonArgs"]["cause"], cause);
    assert!(verdict["pinned"].is_null(), "{verdict}");
    let events = stored::events(&scene.database, KEY, "ROLLED_BACK").await.unwrap();
    assert_eq!(events.len(), 1, "evidence is kept, once: {events:?}");

    // The others go on.
    let commit = writer.append(OTHER, 1).await.unwrap();
    let min = commit.snapshot_id.to_string();
    let sensor = scene.sensor(&["wait", "--asset", OTHER_KEY, "--min-snapshot", &min, "--timeout", "30s"]);
    let ended = sensor.unwrap().ended(SOON).await.unwrap();
    assert_eq!(ended.code, 0, "{ended:?}");
    answer["state"]["hold"].clone()
}

#[tokio::test]
async fn a_rollback_holds_the_asset_and_names_both_heads() {
    let (scene, writer) = with_two_tables().await;
    let mut sensor = scene.sensor(&["wait", "--asset", KEY, "--min-snapshot", "4"]).unwrap();
    sensor.says("missing: 1 behind", SOON).await.unwrap();
    writer.rollback(TABLE, 1).await.unwrap();
    let hold = is_held(&scene, &writer, "REWOUND").await;
    let sentence = "the table left its known history: snapshot 3 was its head, now snapshot 1 is";
    assert_eq!(hold["sentence"], sentence);
    sensor.says(sentence, SOON).await.unwrap();

    // The ids come again, with other content: 4 is reached, but by another history.
    for _ in 0..3 {
        writer.append(TABLE, 1).await.unwrap();
    }
    assert_eq!(writer.snapshots(TABLE).await.unwrap().len(), 4);
    scene.is_read_again(KEY).await.unwrap();
    scene.is_read_again(KEY).await.unwrap();
    assert_eq!(sensor.printed(), "");
    let answer = scene.asset(KEY).await.unwrap().unwrap();
    assert_eq!(latest(&answer), Some(3), "the known history stays as it was: {answer}");
    let state = scene.sensor(&["assets", "state", KEY]).unwrap().ended(SOON).await.unwrap();
    assert!(state.stdout.contains("on hold        REWOUND (since "), "{state:?}");
}

#[tokio::test]
async fn a_table_that_was_dropped_and_created_again_is_another() {
    let (scene, writer) = with_two_tables().await;
    writer.drop_table(TABLE).await.unwrap();
    writer.create_table(NewTable::append_only(TABLE)).await.unwrap();
    for _ in 0..4 {
        writer.append(TABLE, 1).await.unwrap();
    }
    let hold = is_held(&scene, &writer, "RECREATED").await;
    let sentence = hold["sentence"].as_str().unwrap();
    assert!(sentence.contains("dropped and created again"), "{sentence}");
}

#[tokio::test]
async fn a_table_that_is_gone_holds_and_one_that_is_back_goes_on() {
    let (scene, writer) = with_two_tables().await;
    let table = scene.warehouse.join("ods.db/orders");
    let aside = scene.folder.path().join("aside");
    fs::rename(&table, &aside).unwrap();
    let hold = is_held(&scene, &writer, "ABSENT").await;
    assert_eq!(hold["sentence"], "the table is gone from its catalog");
    fs::rename(&aside, &table).unwrap();
    let free = |answer: &Value| answer["state"]["hold"].is_null();
    let answer = scene.asset_until("it is no longer held", KEY, free).await.unwrap();
    assert_eq!(latest(&answer), Some(3));
    let ready = evaluated(&scene, json!({"asset_key": KEY})).await;
    assert_eq!(ready["ready"], true, "{ready}");
    writer.append(TABLE, 1).await.unwrap();
    scene.latest_is(KEY, 4).await.unwrap();
}

#[tokio::test]
async fn a_commit_on_a_branch_moves_nothing() {
    let (scene, writer) = with_two_tables().await;
    let before = scene.asset(KEY).await.unwrap().unwrap();
    writer.create_tag(TABLE, "release", None).await.unwrap();
    writer.create_branch(TABLE, "fix", Some("release")).await.unwrap();
    let branch = format!("{TABLE}$branch_fix");
    assert_eq!(writer.append(&branch, 1).await.unwrap().snapshot_id, 4);
    for _ in 0..3 {
        scene.is_read_again(KEY).await.unwrap();
    }
    let after = scene.asset(KEY).await.unwrap().unwrap();
    assert_eq!(after["state"], before["state"]);
    // The branch is no table of its own either.
    let answer = scene.call("AssetService/ListAssets", &json!({})).await.unwrap();
    assert_eq!(answer["assets"].as_array().unwrap().len(), 2, "{answer}");
}

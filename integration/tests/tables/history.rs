//! Tables whose history is another one suddenly: a rollback is no news, and what comes after it is.

use std::fs;

use asset_integration::command::Running;
use asset_integration::scene::{SOON, Scene, int, latest, pins};
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

/// Waits until the asset is in a generation with this head.
async fn stands(scene: &Scene, generation: i64, head: i64) {
    let stands = |answer: &Value| {
        int(&answer["state"]["generation"]) == Some(generation) && latest(answer) == Some(head)
    };
    scene.asset_until(&format!("snapshot {head} of generation {generation}"), KEY, stands).await.unwrap();
}

/// A sensor that waits for what is newer than the head of now, and has been told so.
async fn waiting(scene: &Scene, head: i64) -> Running {
    let mut sensor =
        scene.sensor(&["wait", "--asset", KEY, "--since", "registered", "--output", "json"]).unwrap();
    sensor.says(&format!("newer than {head}, the head when the wait began"), SOON).await.unwrap();
    sensor
}

/// The snapshot that a sensor is released on.
async fn released(sensor: Running) -> i64 {
    let ended = sensor.ended(SOON).await.unwrap();
    assert_eq!(ended.code, 0, "{ended:?}");
    let printed: Value = serde_json::from_str(&ended.stdout).unwrap();
    printed["pinned"][0]["snapshotId"].as_i64().unwrap_or_else(|| panic!("{printed}"))
}

#[tokio::test]
async fn a_rollback_starts_nobody_and_the_first_commit_after_it_does() {
    let (scene, writer) = with_two_tables().await;
    let newer = waiting(&scene, 3).await;
    let mut fourth = scene.sensor(&["wait", "--asset", KEY, "--min-snapshot", "4"]).unwrap();
    fourth.says("missing: 1 behind", SOON).await.unwrap();

    writer.rollback(TABLE, 1).await.unwrap();
    stands(&scene, 2, 1).await;
    fourth.says("missing: 3 behind", SOON).await.unwrap();
    assert_eq!(newer.printed(), "", "what was taken back is no news");
    let events = stored::events(&scene.database, KEY, "ROLLED_BACK").await.unwrap();
    assert_eq!(events.len(), 1, "evidence is kept, once: {events:?}");
    let ready = evaluated(&scene, json!({"asset_key": KEY})).await;
    assert_eq!(pins(&ready).unwrap(), [(KEY.to_owned(), 1)]);

    // The id was used before, by a commit that the wait had seen.
    let commit = writer.append(TABLE, 1).await.unwrap();
    assert_eq!(commit.snapshot_id, 2);
    assert_eq!(released(newer).await, 2);
    for _ in 0..2 {
        writer.append(TABLE, 1).await.unwrap();
    }
    assert_eq!(fourth.ended(SOON).await.unwrap().code, 0);
    stands(&scene, 2, 4).await;
}

#[tokio::test]
async fn a_rollback_that_is_undone_starts_nobody() {
    let (scene, writer) = with_two_tables().await;
    let mut newer = waiting(&scene, 3).await;
    writer.create_tag(TABLE, "third", None).await.unwrap();
    writer.create_branch(TABLE, "undo", Some("third")).await.unwrap();
    writer.rollback(TABLE, 1).await.unwrap();
    stands(&scene, 2, 1).await;
    // The branch has the commits of before, under their own fingerprints.
    let java = Writer::paimon_java(&scene.warehouse).await.unwrap();
    java.fast_forward(TABLE, "undo").await.unwrap();
    let undone = |answer: &Value| latest(answer) == Some(3);
    let answer = scene.asset_until("the third snapshot is back", KEY, undone).await.unwrap();
    assert!(int(&answer["state"]["generation"]) > Some(2), "{answer}");
    scene.is_read_again(KEY).await.unwrap();
    assert_eq!(newer.printed(), "");
    newer.says("has snapshot 3", SOON).await.unwrap();

    // By Java, since pypaimon leaves the hint at 1 and would write another snapshot 2 below the head.
    let commit = java.append(TABLE, 1).await.unwrap();
    assert_eq!(commit.snapshot_id, 4);
    assert_eq!(released(newer).await, 4);
}

#[tokio::test]
async fn a_table_that_was_dropped_and_created_again_is_another() {
    let (scene, writer) = with_two_tables().await;
    let newer = waiting(&scene, 3).await;
    writer.drop_table(TABLE).await.unwrap();
    writer.create_table(NewTable::append_only(TABLE)).await.unwrap();
    let commit = writer.append(TABLE, 1).await.unwrap();
    assert_eq!(commit.snapshot_id, 1);
    assert_eq!(released(newer).await, 1, "all that the new table has is news");
    stands(&scene, 2, 1).await;
    let state = scene.sensor(&["assets", "state", KEY]).unwrap().ended(SOON).await.unwrap();
    assert!(state.stdout.contains("generation     2"), "{state:?}");
}

#[tokio::test]
async fn a_table_that_is_gone_releases_nobody_until_it_is_back() {
    let (scene, writer) = with_two_tables().await;
    let table = scene.warehouse.join("ods.db/orders");
    let aside = scene.folder.path().join("aside");
    fs::rename(&table, &aside).unwrap();
    let gone = |answer: &Value| answer["state"]["hold"]["reason"] == "ABSENT";
    scene.asset_until("it is gone", KEY, gone).await.unwrap();
    let verdict = evaluated(&scene, json!({"asset_key": KEY})).await;
    let condition = &verdict["groups"][0]["conditions"][0];
    assert_eq!(condition["blockedBy"], "BLOCKED_BY_UNKNOWN_ASSET", "{verdict}");
    assert_eq!(condition["reason"], "TABLE_GONE");
    assert!(verdict["pinned"].is_null(), "{verdict}");
    // The others go on.
    let commit = writer.append(OTHER, 1).await.unwrap();
    scene.latest_is(OTHER_KEY, commit.snapshot_id).await.unwrap();

    fs::rename(&aside, &table).unwrap();
    let back = |answer: &Value| answer["state"]["hold"].is_null();
    let answer = scene.asset_until("it is back", KEY, back).await.unwrap();
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

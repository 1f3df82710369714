//! What a wait can ask for, and when it is released.

use std::fs;

use asset_integration::config;
use asset_integration::scene::{SOON, Scene};
use asset_integration::writer::{NewTable, Writer};
use serde_json::{Value, json};

use crate::{KEY, TABLE, newest, with_empty_table};

const ITEMS: &str = "ods.items";
const ITEMS_KEY: &str = "paimon://lake/ods/items";

#[tokio::test]
async fn a_wait_for_a_snapshot_id_ends_when_it_is_reached_and_not_before() {
    let (scene, writer) = with_empty_table().await;
    let arguments = ["wait", "--asset", "paimon://ods/orders", "--min-snapshot", "3", "--timeout", "60s"];
    let mut sensor = scene.sensor(&arguments).unwrap();
    sensor.says("missing: the first snapshot", SOON).await.unwrap();
    for missing in ["missing: 2 behind", "missing: 1 behind"] {
        writer.append(TABLE, 1).await.unwrap();
        sensor.says(missing, SOON).await.unwrap();
    }
    writer.append(TABLE, 1).await.unwrap();
    let ended = sensor.ended(SOON).await.unwrap();
    assert_eq!(ended.code, 0, "{ended:?}");
    let reported = newest(&writer, TABLE).await;
    assert!(ended.stdout.starts_with(&format!("READY {KEY} snapshot {}", reported.id)), "{ended:?}");
    assert_eq!(reported.id, 3);
}

#[tokio::test]
async fn since_registered_counts_what_is_committed_after_the_wait_began() {
    // Nobody looks at the table for hours unless somebody waits: the wait has to have it read.
    let scene = Scene::start_with(|config| config::polling(config)["idle-interval-seconds"] = 86_400.into());
    let scene = scene.await.unwrap();
    // Found with its first snapshot, or the next look would be hours later.
    let elsewhere = scene.folder.path().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    let first = Writer::pypaimon(&elsewhere).await.unwrap();
    first.create_table(NewTable::append_only(TABLE)).await.unwrap();
    first.append(TABLE, 1).await.unwrap();
    fs::rename(elsewhere.join("ods.db"), scene.warehouse.join("ods.db")).unwrap();
    let writer = Writer::pypaimon(&scene.warehouse).await.unwrap();
    scene.latest_is(KEY, 1).await.unwrap();
    writer.append(TABLE, 1).await.unwrap();

    let arguments = ["wait", "--asset", KEY, "--since", "registered", "--timeout", "60s"];
    let mut sensor = scene.sensor(&arguments).unwrap();
    sensor.says("newer than 2, the head when the wait began", SOON).await.unwrap();
    assert!(!sensor.said().contains("newer than 1"), "{}", sensor.said());
    // Several polls later still nothing counts.
    scene.is_read_again(KEY).await.unwrap();
    scene.is_read_again(KEY).await.unwrap();
    assert_eq!(sensor.printed(), "");

    let next = writer.append(TABLE, 1).await.unwrap();
    let ended = sensor.ended(SOON).await.unwrap();
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(ended.stdout.starts_with(&format!("READY {KEY} snapshot {}", next.snapshot_id)), "{ended:?}");
}

#[tokio::test]
async fn two_assets_must_both_have_what_is_wanted() {
    let (scene, writer) = with_empty_table().await;
    writer.create_table(NewTable::append_only(ITEMS)).await.unwrap();
    let arguments = [
        &["wait", "--asset", KEY, "--min-snapshot", "2", "--alias", "o"][..],
        &["--asset", ITEMS_KEY, "--timeout", "60s"],
    ];
    let mut sensor = scene.sensor(&arguments.concat()).unwrap();
    writer.append(TABLE, 1).await.unwrap();
    sensor.says("missing: 1 behind", SOON).await.unwrap();
    writer.append(TABLE, 1).await.unwrap();
    // Now one of them is ready, and only the other is spoken of.
    scene.latest_is(KEY, 2).await.unwrap();
    let alone = format!("\nwaiting: {ITEMS_KEY}: needs a snapshot, has a table without a snapshot");
    sensor.says(&alone, SOON).await.unwrap();
    assert_eq!(sensor.printed(), "");

    writer.append(ITEMS, 1).await.unwrap();
    let ended = sensor.ended(SOON).await.unwrap();
    assert_eq!(ended.code, 0, "{ended:?}");
    let lines: Vec<_> = ended.stdout.lines().filter_map(|line| line.split_once(" committed")).collect();
    let orders = format!("READY {KEY} snapshot {}", newest(&writer, TABLE).await.id);
    let items = format!("READY {ITEMS_KEY} snapshot {}", newest(&writer, ITEMS).await.id);
    assert_eq!([lines[0].0, lines[1].0], [orders, items], "in the order of the conditions");
}

#[tokio::test]
async fn either_group_of_a_condition_file_releases() {
    let (scene, writer) = with_empty_table().await;
    writer.create_table(NewTable::append_only(ITEMS)).await.unwrap();
    let file = scene.folder.path().join("conditions.json");
    let groups = json!({"groups": [
        {"name": "daily", "conditions": [{"assetKey": KEY, "minSnapshotId": 9}]},
        {"name": "backup", "conditions": [
            {"assetKey": ITEMS_KEY, "snapshotRequired": true},
            {"assetKey": KEY, "alias": "o"},
        ]},
    ]});
    fs::write(&file, groups.to_string()).unwrap();
    let file = file.to_str().unwrap();
    let arguments = ["--output", "json", "wait", "--condition-file", file, "--timeout", "60s"];
    let mut sensor = scene.sensor(&arguments).unwrap();
    writer.append(TABLE, 1).await.unwrap();
    sensor.says("missing: 8 behind | or backup: ", SOON).await.unwrap();
    writer.append(ITEMS, 1).await.unwrap();

    let ended = sensor.ended(SOON).await.unwrap();
    assert_eq!(ended.code, 0, "{ended:?}");
    let outcome: Value = serde_json::from_str(&ended.stdout).unwrap();
    let pins: Vec<_> = outcome["pinned"].as_array().unwrap().iter().collect();
    assert_eq!(pins.len(), 2, "those of the group that holds");
    assert_eq!((&pins[0]["assetKey"], &pins[0]["name"]), (&json!(ITEMS_KEY), &json!("items")));
    assert_eq!((&pins[1]["assetKey"], &pins[1]["name"]), (&json!(KEY), &json!("o")));
    assert_eq!(pins[0]["snapshotId"], newest(&writer, ITEMS).await.id);
    assert_eq!(pins[1]["fingerprint"], newest(&writer, TABLE).await.uuid.unwrap());
}

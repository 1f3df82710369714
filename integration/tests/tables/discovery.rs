//! Which tables are found, and when.

use asset_integration::deadline;
use asset_integration::scene::{SOON, Scene};
use asset_integration::writer::{NewTable, Writer};
use serde_json::json;

use crate::{KEY, OTHER, OTHER_KEY, TABLE, evaluated};

#[tokio::test]
async fn a_table_that_is_created_after_the_wait_began_releases_it() {
    let scene = Scene::start().await.unwrap();
    let wait = |since| scene.sensor(&["wait", "--asset", KEY, "--since", since, "--timeout", "60s"]).unwrap();
    let mut waits = [wait("exists"), wait("registered")];
    for sensor in &mut waits {
        sensor.says("missing: the table and its first snapshot", SOON).await.unwrap();
    }
    let writer = Writer::pypaimon(&scene.warehouse).await.unwrap();
    writer.create_table(NewTable::append_only(TABLE)).await.unwrap();
    for sensor in &mut waits {
        sensor.says("missing: the first snapshot", SOON).await.unwrap();
    }
    let commit = writer.append(TABLE, 1).await.unwrap();
    for sensor in waits {
        let ended = sensor.ended(SOON).await.unwrap();
        assert_eq!(ended.code, 0, "{ended:?}");
        assert!(ended.stdout.contains(&format!("snapshot {} ", commit.snapshot_id)), "{ended:?}");
    }
}

#[tokio::test]
async fn a_hundred_tables_are_found_and_read() {
    let scene = Scene::start().await.unwrap();
    let writer = Writer::pypaimon(&scene.warehouse).await.unwrap();
    for number in 0..100 {
        let table = format!("wide.t{number:03}");
        writer.create_table(NewTable::append_only(&table)).await.unwrap();
        if number % 2 == 0 {
            writer.append(&table, 1).await.unwrap();
        }
    }
    let request = json!({"page_size": 1000});
    let found = deadline::until("all tables are read", SOON, async || {
        let answer = scene.call("AssetService/ListAssets", &request).await.ok()?;
        let assets = answer["assets"].as_array()?.clone();
        let written = assets.iter().filter(|state| state["latest"]["snapshotId"] == "1").count();
        (assets.len() == 100 && written == 50).then_some(assets)
    });
    let found = found.await.unwrap();
    for (number, state) in found.iter().enumerate() {
        assert_eq!(state["assetKey"], format!("paimon://lake/wide/t{number:03}"));
        assert_eq!(state["latest"].is_object(), number % 2 == 0, "{state}");
    }
}

#[tokio::test]
async fn without_discovery_only_tables_that_are_named_are_assets() {
    let scene = Scene::start_with(|config| {
        config["catalogs"][0]["discover"] = false.into();
        config["catalogs"][0]["tables"] = json!([TABLE]);
    });
    let scene = scene.await.unwrap();
    let writer = Writer::pypaimon(&scene.warehouse).await.unwrap();
    for table in [TABLE, OTHER] {
        writer.create_table(NewTable::append_only(table)).await.unwrap();
        writer.append(table, 1).await.unwrap();
    }
    // The agent read the named table before it was there, and finds it all the same.
    scene.latest_is(KEY, 1).await.unwrap();
    scene.is_read_again(KEY).await.unwrap();
    let answer = scene.call("AssetService/ListAssets", &json!({})).await.unwrap();
    assert_eq!(answer["assets"].as_array().unwrap().len(), 1, "{answer}");
    let unknown = evaluated(&scene, json!({"asset_key": OTHER_KEY})).await;
    assert_eq!(unknown["groups"][0]["conditions"][0]["blockedBy"], "BLOCKED_BY_UNKNOWN_ASSET");

    // Who waits for another table of the catalog is told where it would have to be named.
    let mut sensor = scene.sensor(&["wait", "--asset", OTHER_KEY, "--timeout", "60s"]).unwrap();
    sensor
        .says("missing: this table in `tables` of its catalog, or `discover: true` there", SOON)
        .await
        .unwrap();
    scene.is_read_again(KEY).await.unwrap();
    assert_eq!(sensor.printed(), "");
}

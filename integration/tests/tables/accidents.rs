//! Files that are half-written, broken or away.

use std::fs;

use asset_integration::deadline;
use asset_integration::scene::{SOON, Scene, latest};
use asset_integration::writer::{NewTable, Writer};
use serde_json::{Value, json};

use crate::{KEY, OTHER, OTHER_KEY, TABLE, newest, snapshot_file, with_empty_table};

#[tokio::test]
async fn a_half_written_snapshot_counts_when_it_is_whole() {
    let (scene, writer) = with_empty_table().await;
    writer.append(TABLE, 1).await.unwrap();
    scene.latest_is(KEY, 1).await.unwrap();
    let mut sensor = scene.sensor(&["wait", "--asset", KEY, "--min-snapshot", "2"]).unwrap();
    sensor.says("missing: 1 behind", SOON).await.unwrap();

    // Committed where the agent does not look; its file then comes in two pieces.
    let elsewhere = scene.folder.path().join("elsewhere");
    let copied = std::process::Command::new("cp").arg("-r").args([&scene.warehouse, &elsewhere]).status();
    assert!(copied.unwrap().success());
    let twin = Writer::pypaimon(&elsewhere).await.unwrap();
    twin.append(TABLE, 1).await.unwrap();
    let whole = fs::read(snapshot_file(&elsewhere, TABLE, 2)).unwrap();
    let file = snapshot_file(&scene.warehouse, TABLE, 2);
    fs::write(&file, &whole[..whole.len() / 2]).unwrap();
    let error = scene.read_error(KEY).await.unwrap();
    assert!(error.starts_with(&format!("{} is malformed: ", file.display())), "{error}");
    assert!(error.contains("it is read again at the next poll"), "{error}");
    assert_eq!(sensor.printed(), "");
    let answer = scene.asset(KEY).await.unwrap().unwrap();
    assert_eq!(latest(&answer), Some(1), "{answer}");
    assert!(answer["state"]["hold"].is_null(), "{answer}");

    fs::write(&file, &whole).unwrap();
    let ended = sensor.ended(SOON).await.unwrap();
    assert_eq!(ended.code, 0, "{ended:?}");
    let answer = scene.latest_is(KEY, 2).await.unwrap();
    assert_eq!(answer["state"]["latest"]["fingerprint"], newest(&twin, TABLE).await.uuid.unwrap());
    assert!(answer["source"]["error"].is_null() && answer["source"]["failingSince"].is_null(), "{answer}");
}

#[tokio::test]
async fn a_broken_table_stops_no_other_and_says_which_file_it_is() {
    let (scene, writer) = with_empty_table().await;
    for table in [OTHER, "ods.broken"] {
        writer.create_table(NewTable::append_only(table)).await.unwrap();
    }
    writer.append("ods.broken", 1).await.unwrap();
    let broken = "paimon://lake/ods/broken";
    scene.latest_is(broken, 1).await.unwrap();
    let file = snapshot_file(&scene.warehouse, "ods.broken", 2);
    fs::write(&file, b"\x00\xff no JSON at all").unwrap();
    let error = scene.read_error(broken).await.unwrap();
    assert!(error.contains(file.to_str().unwrap()) && error.contains("repair or remove it"), "{error}");
    let state = scene.sensor(&["assets", "state", broken]).unwrap().ended(SOON).await.unwrap();
    assert!(state.stdout.contains("read fails     ") && state.stdout.contains("snapshot-2"), "{state:?}");

    let sensors = [(TABLE, KEY), (OTHER, OTHER_KEY)].map(|(table, key)| {
        let sensor = scene.sensor(&["wait", "--asset", key, "--timeout", "60s"]).unwrap();
        (table, sensor)
    });
    for (table, sensor) in sensors {
        writer.append(table, 1).await.unwrap();
        assert_eq!(sensor.ended(SOON).await.unwrap().code, 0);
    }
    let log = scene.agent.server.log();
    assert!(log.contains("ods/broken") && log.contains("snapshot-2"), "the log names it: {log}");
    let metrics = scene.agent.http().get("/metrics").await.unwrap().body;
    assert!(metrics.contains("lakehouse_asset_tables{kind=\"failing\"} 1"), "{metrics}");

    fs::remove_file(&file).unwrap();
    let well = |answer: &Value| answer["source"]["error"].is_null();
    scene.asset_until("it is read again", broken, well).await.unwrap();
}

#[tokio::test]
async fn a_table_that_never_could_be_read_says_so_to_whoever_asks() {
    let elsewhere = tempfile::TempDir::new().unwrap();
    let writer = Writer::pypaimon(elsewhere.path()).await.unwrap();
    writer.create_table(NewTable::append_only(TABLE)).await.unwrap();
    writer.append(TABLE, 1).await.unwrap();
    let file = snapshot_file(elsewhere.path(), TABLE, 1);
    let whole = fs::read(&file).unwrap();
    fs::write(&file, "{").unwrap();
    // The agent never saw it otherwise.
    let warehouse = format!("file://{}", elsewhere.path().display());
    let scene =
        Scene::start_with(|config| config["catalogs"][0]["warehouse"] = warehouse.into()).await.unwrap();
    let mut sensor = scene.sensor(&["wait", "--asset", KEY, "--timeout", "60s"]).unwrap();
    sensor.says("has a table that can't be read (", SOON).await.unwrap();
    let said = deadline::until("asking for it says why", SOON, async || {
        let state = scene.sensor(&["assets", "state", KEY]).ok()?.ended(SOON).await.ok()?;
        state.stderr.contains("since its table can't be read").then_some(state)
    });
    let said = said.await.unwrap();
    assert_eq!(said.code, 2, "{said:?}");
    assert!(said.stderr.contains(file.to_str().unwrap()), "{said:?}");

    fs::write(&file, &whole).unwrap();
    assert_eq!(sensor.ended(SOON).await.unwrap().code, 0);
}

#[tokio::test]
async fn a_warehouse_that_goes_away_and_comes_back_is_no_change_of_its_tables() {
    let (scene, writer) = with_empty_table().await;
    writer.append(TABLE, 1).await.unwrap();
    scene.latest_is(KEY, 1).await.unwrap();
    let before = scene.asset(KEY).await.unwrap().unwrap();
    let mut sensor = scene.sensor(&["wait", "--asset", KEY, "--min-snapshot", "2"]).unwrap();
    sensor.says("missing: 1 behind", SOON).await.unwrap();

    let aside = scene.folder.path().join("aside");
    fs::rename(&scene.warehouse, &aside).unwrap();
    let error = scene.read_error(KEY).await.unwrap();
    assert!(error.contains(scene.warehouse.to_str().unwrap()), "{error}");
    assert!(error.contains("check that the warehouse exists and is mounted"), "{error}");
    let away = scene.asset(KEY).await.unwrap().unwrap();
    assert_eq!(away["state"], before["state"], "what is known stays known");
    // What was there is still answered from the store.
    let ready = crate::evaluated(&scene, json!({"asset_key": KEY})).await;
    assert_eq!(ready["ready"], true, "{ready}");

    fs::rename(&aside, &scene.warehouse).unwrap();
    let well = |answer: &Value| answer["source"]["error"].is_null();
    let back = scene.asset_until("it is read again", KEY, well).await.unwrap();
    assert_eq!(back["state"], before["state"]);
    writer.append(TABLE, 1).await.unwrap();
    let ended = sensor.ended(SOON).await.unwrap();
    assert_eq!(ended.code, 0, "{ended:?}");
}

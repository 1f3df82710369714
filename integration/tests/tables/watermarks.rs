//! Waits for a day to be complete: the watermark has passed midnight where the business is.

use asset_integration::scene::{SOON, Scene};
use asset_integration::writer::{NewTable, Writer};
use serde_json::{Value, json};

use crate::{KEY, TABLE, evaluated, newest};

/// 2026-12-01T00:00 in Shanghai is 2026-11-30T16:00Z: day 20,787 since the epoch, and 16 hours.
const MIDNIGHT: i64 = (20_787 * 24 + 16) * 3_600_000;
const MINUTE: i64 = 60_000;

async fn with_table(change: impl FnOnce(&mut Value)) -> (Scene, Writer) {
    let scene = Scene::start_with(change).await.unwrap();
    let writer = Writer::paimon_java(&scene.warehouse).await.unwrap();
    writer.create_table(NewTable::keyed(TABLE)).await.unwrap();
    (scene, writer)
}

#[tokio::test]
async fn a_day_is_over_when_the_watermark_says_so() {
    let (scene, writer) = with_table(|_| {}).await;
    writer.stream_append(TABLE, 2, Some(MIDNIGHT - 18 * MINUTE)).await.unwrap();
    let day = ["--asset", KEY, "--watermark-gte", "20261130+1d", "--timezone", "Asia/Shanghai"];
    let wait = |output| {
        let mut arguments = vec!["--output", output, "wait", "--timeout", "60s"];
        arguments.extend(day);
        scene.sensor(&arguments).unwrap()
    };
    let (mut json, mut lines) = (wait("json"), wait("dolphinscheduler"));
    for sensor in [&mut json, &mut lines] {
        sensor
            .says("needs a snapshot with watermark >= 2026-11-30T16:00:00Z, has snapshot 1 with", SOON)
            .await
            .unwrap();
        sensor.says("missing: 18min behind", SOON).await.unwrap();
    }
    writer.stream_append(TABLE, 1, Some(MIDNIGHT - 1)).await.unwrap();
    json.says("missing: 1ms behind", SOON).await.unwrap();
    // A compaction says nothing of the time, and takes nothing back.
    writer.stream_compact(TABLE, 0, None).await.unwrap();
    scene.is_read_again(KEY).await.unwrap();
    assert_eq!(json.printed(), "", "{}", json.said());

    // No rows came any more, and still the day is over.
    writer.stream_append(TABLE, 0, Some(MIDNIGHT)).await.unwrap();
    let ended = json.ended(SOON).await.unwrap();
    assert_eq!(ended.code, 0, "{ended:?}");
    let outcome: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(outcome["pinned"][0]["watermark"], MIDNIGHT);
    assert_eq!(outcome["pinned"][0]["snapshotId"], 2, "the last one that brought rows");
    let ended = lines.ended(SOON).await.unwrap();
    let line = format!("${{setValue(asset_orders_watermark={MIDNIGHT})}}");
    assert!(ended.stdout.lines().any(|printed| printed == line), "{ended:?}");
}

#[tokio::test]
async fn dates_stand_in_the_zone_of_the_agent_where_none_is_named() {
    let (scene, writer) = with_table(|config| config["timezone"] = "+08:00".into()).await;
    writer.stream_append(TABLE, 1, Some(MIDNIGHT)).await.unwrap();
    scene.latest_is(KEY, 1).await.unwrap();
    let ready = evaluated(&scene, json!({"asset_key": KEY, "watermark_gte": "20261201"})).await;
    assert_eq!(ready["ready"], true, "{ready}");
    let other = json!({"asset_key": KEY, "watermark_gte": "20261201", "timezone": "UTC"});
    let blocked = evaluated(&scene, other).await;
    let condition = &blocked["groups"][0]["conditions"][0];
    assert_eq!(condition["blockedBy"], "BLOCKED_BY_WATERMARK", "{blocked}");
    assert_eq!(condition["missing"], "8h behind");
}

#[tokio::test]
async fn what_was_committed_before_a_time_is_not_enough() {
    let (scene, writer) = with_table(|_| {}).await;
    writer.stream_append(TABLE, 1, None).await.unwrap();
    scene.latest_is(KEY, 1).await.unwrap();
    let first = newest(&writer, TABLE).await.time_ms;
    let after = (first + 1).to_string();
    let mut sensor = scene.sensor(&["wait", "--asset", KEY, "--committed-after", &after]).unwrap();
    sensor.says("missing: a later commit, this one was 1ms too early", SOON).await.unwrap();
    writer.stream_append(TABLE, 1, None).await.unwrap();
    assert_eq!(sensor.ended(SOON).await.unwrap().code, 0);
    let at = (first + 1).to_string();
    let ready = evaluated(&scene, json!({"asset_key": KEY, "committed_after": at})).await;
    assert_eq!(ready["ready"], true, "{ready}");
}

//! Waits typed by hand.

use std::time::Duration;

use asset_integration::scene::{SOON, Scene, pins};
use asset_integration::writer::{NewTable, Writer};
use serde_json::json;
use tokio::time::Instant;

use crate::{KEY, RESOLVE, TABLE};

#[tokio::test]
async fn the_shortest_wait_is_blocked_then_ready_then_over() {
    let scene = Scene::start().await.unwrap();
    let writer = Writer::pypaimon(&scene.warehouse).await.unwrap();
    writer.create_table(NewTable::append_only(TABLE)).await.unwrap();
    scene.asset_until("it is discovered", KEY, |_| true).await.unwrap();
    // Word for word as the contract has it: two segments mean the default catalog.
    let request =
        json!({"groups":[{"conditions":[{"asset_key":"paimon://ods/orders","snapshot_required":true}]}]});
    let mut stream = scene.grpcurl().stream(RESOLVE, &request).unwrap();
    let blocked = stream.next(SOON).await.unwrap().unwrap();
    assert_eq!(blocked["status"], "BLOCKED");
    let condition = &blocked["groups"][0]["conditions"][0];
    assert_eq!(condition["assetKey"], KEY, "the canonical key is returned");
    assert_eq!(condition["blockedBy"], "BLOCKED_BY_SNAPSHOT");
    assert_eq!(condition["reason"], "NO_SNAPSHOT");
    assert_eq!(blocked["groups"][0]["name"], "default");
    assert!(blocked["waitId"].is_null(), "nobody in particular waits: {blocked}");

    let commit = writer.append(TABLE, 1).await.unwrap();
    let ready = stream.next(SOON).await.unwrap().unwrap();
    assert_eq!(ready["status"], "READY");
    assert_eq!(pins(&ready).unwrap(), [(KEY.to_owned(), commit.snapshot_id)]);
    assert_eq!(ready["groups"][0]["ready"], true);
    assert_eq!(stream.end(SOON).await.unwrap().code, 0);
}

#[tokio::test]
async fn evaluating_answers_at_once_and_records_nothing() {
    let scene = Scene::start().await.unwrap();
    let writer = Writer::pypaimon(&scene.warehouse).await.unwrap();
    writer.create_table(NewTable::append_only(TABLE)).await.unwrap();
    let commit = writer.append(TABLE, 1).await.unwrap();
    scene.latest_is(KEY, 1).await.unwrap();
    let asked = async |condition: serde_json::Value| {
        let request = json!({"groups": [{"conditions": [condition]}]});
        scene.call("DependencyService/EvaluateDependency", &request).await.unwrap()
    };
    let ready = asked(json!({"asset_key": KEY})).await;
    assert_eq!(ready["ready"], true);
    assert_eq!(pins(&ready).unwrap(), [(KEY.to_owned(), commit.snapshot_id)]);

    let behind = asked(json!({"asset_key": KEY, "min_snapshot_id": 5})).await;
    let condition = &behind["groups"][0]["conditions"][0];
    assert_eq!(condition["reason"], "BELOW_MIN_SNAPSHOT");
    let arguments = json!({"wanted_snapshot_id": "5", "found_snapshot_id": "1", "behind": "4"});
    assert_eq!(condition["reasonArgs"], arguments);
    assert!(behind["ready"].is_null() && behind["pinned"].is_null(), "{behind}");

    let never = asked(json!({"asset_key": KEY, "since": "SINCE_REGISTERED"})).await;
    assert_eq!(never["groups"][0]["conditions"][0]["reason"], "NOT_NEWER");
    let waits = asset_integration::stored::rows(&scene.database, "SELECT * FROM t_ds_asset_wait", &[]).await;
    assert!(waits.unwrap().is_empty());
}

#[tokio::test]
async fn an_idle_stream_beats_after_15_seconds_and_ends_at_its_deadline() {
    let scene = Scene::start().await.unwrap();
    let now = scene.call("DependencyService/EvaluateDependency", &request()).await.unwrap();
    let mut timed = request();
    timed["deadline"] = in_seconds(&now["evaluatedAt"], 18).await.into();
    let began = Instant::now();
    let mut stream = scene.grpcurl().stream(RESOLVE, &timed).unwrap();
    let mut watch = scene.grpcurl().stream(crate::WATCH, &json!({})).unwrap();
    let first = stream.next(SOON).await.unwrap().unwrap();
    assert_eq!(first["groups"][0]["conditions"][0]["blockedBy"], "BLOCKED_BY_UNKNOWN_ASSET", "{first}");

    let beat = stream.next(SOON).await.unwrap().unwrap();
    let after = began.elapsed();
    assert_eq!(beat["status"], "HEARTBEAT", "{beat}");
    assert!(beat["groups"].is_null() && beat["pinned"].is_null(), "{beat}");
    assert!(after >= Duration::from_secs(14), "it came after {after:?}");
    assert!(watch.next(SOON).await.unwrap().unwrap()["heartbeat"].is_object());

    let last = stream.next(SOON).await.unwrap().unwrap();
    assert_eq!(last["status"], "TIMEOUT", "{last}");
    assert_eq!(last["groups"], first["groups"], "it says what was missing");
    assert_eq!(stream.end(SOON).await.unwrap().code, 0);
}

fn request() -> serde_json::Value {
    // Of a catalog that is not configured: nothing will ever be found out about it.
    json!({"groups": [{"conditions": [{"asset_key": "paimon://elsewhere/ods/nothing"}]}]})
}

/// A time so many seconds after one in RFC 3339.
async fn in_seconds(from: &serde_json::Value, seconds: u32) -> String {
    let script = "import datetime, sys
at = datetime.datetime.fromisoformat(sys.argv[1].replace('Z', '+00:00'))
print((at + datetime.timedelta(seconds=int(sys.argv[2]))).isoformat(timespec='milliseconds'))";
    let mut python = tokio::process::Command::new(asset_integration::tools::python().unwrap());
    let output = python.args(["-c", script, from.as_str().unwrap(), &seconds.to_string()]).output();
    String::from_utf8(output.await.unwrap().stdout).unwrap().trim().to_owned()
}

#[tokio::test]
async fn reasons_read_in_the_callers_language() {
    let scene = Scene::start().await.unwrap();
    let condition = json!({"asset_key": "paimon://ods/orders", "quality_status": "QUALITY_PASSED"});
    let request = json!({"groups": [{"conditions": [condition]}]});
    for (language, parts) in [
        ("zh-CN,zh;q=0.9", ["需要快照，质量为 PASSED", "缺少："]),
        ("en", ["needs a snapshot with quality", "missing: "]),
    ] {
        let outcome = scene
            .grpcurl()
            .header(format!("accept-language: {language}"))
            .call("asset.v1.DependencyService/EvaluateDependency", &request)
            .await
            .unwrap();
        let answer = &outcome.messages().unwrap()[0];
        let sentence = answer["groups"][0]["conditions"][0]["sentence"].as_str().unwrap();
        for part in parts {
            assert!(sentence.contains(part), "{part} in {sentence}");
        }
    }
}

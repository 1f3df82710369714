//! Assets that no catalog has: what is reported counts, and is known by a report only.

use asset_integration::scene::{SOON, Scene};
use serde_json::{Value, json};

use crate::{report, verdict};

const PUSHED: &str = "kafka://events/web/clicks";

async fn scene() -> Scene {
    Scene::start_with(|config| {
        let source = &mut config["dolphinscheduler"]["asset-event-scheduling"]["event-source"];
        source["push-receiver"] = json!({"register-unknown": true});
    })
    .await
    .unwrap()
}

#[tokio::test]
async fn versions_that_are_reported_release_whoever_takes_reports() {
    let scene = scene().await;
    let request = json!({"groups": [{"conditions": [{"asset_key": PUSHED, "since": "SINCE_REGISTERED"}]}]});
    let snapshot = async |id: &str, more: &[&str]| {
        let arguments = [&["snapshot", "--asset", PUSHED, "--snapshot", id], more].concat();
        report(&scene, &arguments).await.1["outcome"].as_str().unwrap().to_owned()
    };
    assert_eq!(snapshot("10", &[]).await, "APPLIED");
    let mut stream = scene.grpcurl().stream(crate::RESOLVE, &request).unwrap();
    assert_eq!(stream.next(SOON).await.unwrap().unwrap()["status"], "BLOCKED");
    // Late and old: nobody is released by it.
    assert_eq!(snapshot("9", &[]).await, "IGNORED");
    assert_eq!(snapshot("10", &[]).await, "DUPLICATE");
    assert_eq!(snapshot("10", &["--watermark", "5"]).await, "CONFLICT");
    assert_eq!(snapshot("11", &["--commit-kind", "COMPACT"]).await, "IGNORED");
    assert_eq!(snapshot("12", &["--watermark", "20261130"]).await, "APPLIED");
    let mut last = Value::Null;
    while let Some(message) = stream.next(SOON).await.unwrap() {
        last = message;
    }
    assert_eq!((&last["status"], &last["pinned"][0]["snapshotId"]), (&json!("READY"), &json!("12")));

    let verified = json!({"asset_key": PUSHED, "assurance": "ASSURANCE_VERIFIED"});
    assert_eq!(verdict(&scene, verified).await, "ONLY_REPORTED");
    // 2026-11-30 is 20,787 days after 1970-01-01.
    let day = (20_787_i64 * 86_400_000).to_string();
    let passed = json!({"asset_key": PUSHED, "watermark_gte": day});
    assert_eq!(verdict(&scene, passed).await, "12");
    let later = json!({"asset_key": PUSHED, "watermark_gte": "20261130+1d"});
    assert_eq!(verdict(&scene, later.clone()).await, "BELOW_WATERMARK");
    let (_, outcome) =
        report(&scene, &["watermark", "--asset", PUSHED, "--watermark", "2026-12-01T00:00:00Z"]).await;
    assert_eq!(outcome["outcome"], "APPLIED");
    assert_eq!(verdict(&scene, later).await, "12");
}

#[tokio::test]
async fn tags_schemas_and_backfills() {
    let scene = scene().await;
    let told = async |arguments: &[&str]| {
        let arguments = [&arguments[..1], &["--asset", PUSHED], &arguments[1..]].concat();
        let (code, outcome) = report(&scene, &arguments).await;
        assert_eq!(code, 0, "{outcome}");
        outcome["outcome"].as_str().unwrap().to_owned()
    };
    for id in ["1", "2", "3"] {
        let schema = if id == "3" { "1" } else { "0" };
        assert_eq!(told(&["snapshot", "--snapshot", id, "--schema", schema]).await, "APPLIED");
    }
    let schema = json!({"asset_key": PUSHED, "schema_status": "SCHEMA_STATUS_COMPATIBLE"});
    assert_eq!(verdict(&scene, schema.clone()).await, "OTHER_SCHEMA_STATUS");
    let newest = json!({
        "asset_key": PUSHED, "schema_status": "SCHEMA_STATUS_COMPATIBLE", "match": "MATCH_NEWEST",
    });
    assert_eq!(verdict(&scene, newest).await, "2", "the newest with a schema that is not new");
    assert_eq!(told(&["schema", "--schema", "1", "--status", "APPROVED"]).await, "APPLIED");
    assert_eq!(verdict(&scene, schema.clone()).await, "3");
    assert_eq!(told(&["schema", "--schema", "1", "--status", "rejected"]).await, "APPLIED");
    assert_eq!(verdict(&scene, schema).await, "OTHER_SCHEMA_STATUS");

    let tagged = json!({"asset_key": PUSHED, "tag": "day-*"});
    assert_eq!(verdict(&scene, tagged.clone()).await, "NO_TAG");
    assert_eq!(told(&["tag", "--tag", "day-1", "--snapshot", "1"]).await, "APPLIED");
    assert_eq!(told(&["tag", "--tag", "day-2", "--snapshot", "2"]).await, "APPLIED");
    assert_eq!(told(&["tag", "--tag", "other", "--snapshot", "3"]).await, "APPLIED");
    assert_eq!(verdict(&scene, tagged.clone()).await, "2");
    assert_eq!(told(&["tag", "--tag", "day-2", "--deleted"]).await, "APPLIED");
    assert_eq!(verdict(&scene, tagged).await, "1");
    assert_eq!(told(&["tag", "--tag", "day-9", "--snapshot", "9"]).await, "PENDING");

    let done = json!({"asset_key": PUSHED, "backfill_status": "BACKFILL_STATUS_COMPLETED"});
    assert_eq!(verdict(&scene, done.clone()).await, "OTHER_BACKFILL_STATUS");
    assert_eq!(told(&["backfill", "--id", "b-1", "--status", "STARTED"]).await, "APPLIED");
    assert_eq!(verdict(&scene, done.clone()).await, "OTHER_BACKFILL_STATUS");
    assert_eq!(told(&["backfill", "--id", "b-1", "--status", "COMPLETED"]).await, "APPLIED");
    assert_eq!(verdict(&scene, done).await, "3");
}

#[tokio::test]
async fn what_does_not_fit_is_refused_with_the_way_out() {
    let scene = Scene::start().await.unwrap();
    let (code, unknown) = report(&scene, &["snapshot", "--asset", PUSHED, "--snapshot", "1"]).await;
    assert_eq!((code, &unknown["outcome"]), (1, &json!("NOT_FOUND")));
    assert!(unknown["message"].as_str().unwrap().contains("register-unknown"), "{unknown}");

    let events = json!({"events": [
        {"asset_key": "paimon://ods/orders", "event_type": "QUALITY_CHECK_PASSED", "snapshot_id": "1"},
        {"asset_key": "paimon:/ods/orders", "event_type": "ROLLED_BACK"},
        {"asset_key": "paimon://ods/orders", "event_type": "BACKFILL_STARTED", "event_id": "b"},
        {"asset_key": "paimon://ods/orders", "event_type": "TAG_CREATED", "event_id": "t", "snapshot_id": "-1"},
    ]});
    let answer = scene.call("EventService/ReportEvents", &events).await.unwrap();
    for (index, parts) in [
        &["event_id: is required for this kind"][..],
        &[
            "asset_key: `paimon:/ods/orders`: malformed asset key at byte",
            "event_type: only the agent itself",
        ],
        &["backfill_id: is required for this kind"],
        &["tag: is required", "snapshot_id: must be between 0 and"],
    ]
    .iter()
    .enumerate()
    {
        let outcome = &answer["outcomes"][index];
        assert_eq!(outcome["outcome"], "REFUSED", "{outcome}");
        for part in *parts {
            assert!(outcome["message"].as_str().unwrap().contains(part), "{part} in {outcome}");
        }
    }
    let none = scene.grpcurl().call("asset.v1.EventService/ReportEvents", &json!({})).await.unwrap();
    assert!(none.stderr.contains("between 1 and 10000 events"), "{none:?}");
}

#[tokio::test]
async fn an_asset_is_registered_and_taken_back_by_hand() {
    let scene = Scene::start().await.unwrap();
    let assets = async |arguments: &[&str]| {
        let arguments = [&["--output", "json", "assets"], arguments].concat();
        scene.sensor(&arguments).unwrap().ended(SOON).await.unwrap()
    };
    let registered = assets(&["register", PUSHED, "--ordering", "ID", "--description", "clicks"]).await;
    assert_eq!(registered.code, 0, "{registered:?}");
    assert_eq!(assets(&["register", PUSHED]).await.code, 0, "doing it again does no harm");
    let other = assets(&["register", PUSHED, "--ordering", "sequence"]).await;
    assert!(other.code == 2 && other.stderr.contains("ordered by ID already"), "{other:?}");
    let read = assets(&["register", "paimon://ods/orders"]).await;
    assert!(read.code == 2 && read.stderr.contains("read from catalog `lake`"), "{read:?}");

    let snapshot =
        async |id: &str| report(&scene, &["snapshot", "--asset", PUSHED, "--snapshot", id]).await.1;
    for id in ["1", "2", "3"] {
        assert_eq!(snapshot(id).await["outcome"], "APPLIED");
    }
    let request = json!({"groups": [{"conditions": [{"asset_key": PUSHED, "since": "SINCE_REGISTERED"}]}]});
    let mut stream = scene.grpcurl().stream(crate::RESOLVE, &request).unwrap();
    assert_eq!(stream.next(SOON).await.unwrap().unwrap()["status"], "BLOCKED");
    let absent = assets(&["rewind", PUSHED, "--snapshot", "9", "--reason", "r"]).await;
    assert!(absent.code == 2 && absent.stderr.contains("has no snapshot 9"), "{absent:?}");
    let back = assets(&["rewind", PUSHED, "--snapshot", "1", "--reason", "bad load"]).await;
    assert_eq!(back.code, 0, "{back:?}");
    assert_eq!(serde_json::from_str::<Value>(&back.stdout).unwrap()["generation"], 2);
    // Nobody was started by it, and the same id again is news.
    assert_eq!(snapshot("2").await["outcome"], "APPLIED");
    let mut last = Value::Null;
    while let Some(message) = stream.next(SOON).await.unwrap() {
        last = message;
    }
    assert_eq!((&last["status"], &last["pinned"][0]["snapshotId"]), (&json!("READY"), &json!("2")), "{last}");
    assert_eq!(last["pinned"][0]["generation"], "2");
    let request = json!({"asset_key": PUSHED, "event_type": "ROLLED_BACK"});
    let listed = scene.call("EventService/ListEvents", &request).await.unwrap();
    assert!(listed["events"][0]["payload"].as_str().unwrap().contains("bad load"), "{listed}");
}

//! Verdicts of checks: before the version is seen, after it, twice, contradicting, on an id that came again.

use asset_integration::scene::{SOON, pins};
use serde_json::json;

use crate::{KEY, RESOLVE, TABLE, report, verdict, with_empty_table};

fn passed() -> serde_json::Value {
    json!({"asset_key": KEY, "quality_status": "QUALITY_PASSED"})
}

fn newest_passed() -> serde_json::Value {
    json!({"asset_key": KEY, "quality_status": "QUALITY_PASSED", "match": "MATCH_NEWEST"})
}

#[tokio::test]
async fn a_check_releases_the_version_that_it_speaks_of_and_no_other() {
    let (scene, writer) = with_empty_table().await;
    let first = writer.append(TABLE, 1).await.unwrap();
    scene.latest_is(KEY, first.snapshot_id).await.unwrap();
    assert_eq!(verdict(&scene, passed()).await, "NOT_CHECKED");

    let mut head = scene.grpcurl().stream(RESOLVE, &json!({"groups": [{"conditions": [passed()]}]})).unwrap();
    let mut newest =
        scene.grpcurl().stream(RESOLVE, &json!({"groups": [{"conditions": [newest_passed()]}]})).unwrap();
    for stream in [&mut head, &mut newest] {
        assert_eq!(stream.next(SOON).await.unwrap().unwrap()["status"], "BLOCKED");
    }
    // The table has gone on when the check of its first version comes: it is not the head any more.
    let second = writer.append(TABLE, 1).await.unwrap();
    scene.latest_is(KEY, second.snapshot_id).await.unwrap();
    let quality = |status, snapshot: i64, id| {
        let snapshot = snapshot.to_string();
        let arguments = ["--snapshot", &snapshot, "--status", status, "--event-id", id].map(str::to_owned);
        [["quality", "--asset", KEY].map(str::to_owned).to_vec(), arguments.to_vec()].concat()
    };
    let said = async |arguments: Vec<String>| {
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let (code, outcome) = report(&scene, &arguments).await;
        (code, outcome["outcome"].as_str().unwrap().to_owned())
    };
    assert_eq!(said(quality("PASSED", first.snapshot_id, "c-1")).await, (0, "APPLIED".to_owned()));
    // Who takes the newest that passed goes on with it; who looks at the head waits.
    loop {
        let message = newest.next(SOON).await.unwrap().unwrap();
        if message["status"] == "READY" {
            assert_eq!(pins(&message).unwrap(), [(KEY.to_owned(), first.snapshot_id)]);
            break;
        }
        assert_eq!(message["status"], "BLOCKED", "{message}");
    }
    assert_eq!(verdict(&scene, passed()).await, "NOT_CHECKED");

    // The same again is a duplicate, the same id with another version a conflict.
    assert_eq!(said(quality("PASSED", first.snapshot_id, "c-1")).await, (0, "DUPLICATE".to_owned()));
    assert_eq!(said(quality("PASSED", second.snapshot_id, "c-1")).await, (1, "CONFLICT".to_owned()));
    assert_eq!(verdict(&scene, passed()).await, "NOT_CHECKED");

    // Failed, and then mended by a later check: the latest counts.
    assert_eq!(said(quality("FAILED", second.snapshot_id, "c-2")).await, (0, "APPLIED".to_owned()));
    assert_eq!(verdict(&scene, passed()).await, "OTHER_QUALITY");
    assert_eq!(said(quality("PASSED", second.snapshot_id, "c-3")).await, (0, "APPLIED".to_owned()));
    let ready = loop {
        let message = head.next(SOON).await.unwrap().unwrap();
        if message["status"] == "READY" {
            break message;
        }
    };
    assert_eq!(pins(&ready).unwrap(), [(KEY.to_owned(), second.snapshot_id)]);
    let state = scene.asset(KEY).await.unwrap().unwrap();
    assert_eq!(state["state"]["quality"]["status"], "QUALITY_PASSED");
}

#[tokio::test]
async fn a_verdict_that_comes_before_its_version_waits_for_it() {
    let (mut scene, writer) = with_empty_table().await;
    writer.append(TABLE, 1).await.unwrap();
    scene.latest_is(KEY, 1).await.unwrap();
    let quality = ["quality", "--asset", KEY, "--snapshot", "2", "--status", "PASSED"];
    let (code, outcome) = report(&scene, &quality).await;
    assert_eq!((code, &outcome["outcome"]), (0, &json!("PENDING")), "{outcome}");
    // Acknowledged means on disk.
    scene.agent.server.kill().await.unwrap();
    scene.agent.server.start_again().unwrap();
    scene.agent.wait_ready(SOON).await.unwrap();
    writer.append(TABLE, 1).await.unwrap();
    scene
        .asset_until("the verdict is taken up", KEY, |answer| {
            answer["state"]["latest"]["snapshotId"] == "2"
                && answer["state"]["quality"]["status"] == "QUALITY_PASSED"
        })
        .await
        .unwrap();
    assert_eq!(verdict(&scene, passed()).await, "2");
    let listed = scene
        .call("EventService/ListEvents", &json!({"asset_key": KEY, "event_type": "QUALITY_CHECK_PASSED"}))
        .await
        .unwrap();
    assert_eq!(listed["events"][0]["outcome"], "APPLIED", "{listed}");
    assert_eq!(listed["events"][0]["reporter"], "asset-sensor");
}

#[tokio::test]
async fn of_an_id_that_came_again_the_verdict_means_what_the_check_read() {
    let (scene, writer) = with_empty_table().await;
    for _ in 0..2 {
        writer.append(TABLE, 1).await.unwrap();
    }
    scene.latest_is(KEY, 2).await.unwrap();
    let old = writer.snapshots(TABLE).await.unwrap().pop().unwrap();
    writer.rollback(TABLE, 1).await.unwrap();
    scene.asset_until("it is rolled back", KEY, |answer| answer["state"]["generation"] == "2").await.unwrap();
    writer.append(TABLE, 1).await.unwrap();
    scene.latest_is(KEY, 2).await.unwrap();

    let quality = ["quality", "--asset", KEY, "--snapshot", "2", "--status", "PASSED"];
    let (code, outcome) = report(&scene, &quality).await;
    assert_eq!((code, &outcome["reason"]), (0, &json!("AMBIGUOUS_VERSION")), "{outcome}");
    assert_eq!(verdict(&scene, passed()).await, "NOT_CHECKED");
    // A check that read the table right after the old one was committed saw that one.
    let read = old.time_ms.to_string();
    let (_, outcome) = report(&scene, &[&quality[..], &["--read-time", &read]].concat()).await;
    assert_eq!(outcome["outcome"], "APPLIED", "{outcome}");
    assert_eq!(verdict(&scene, passed()).await, "NOT_CHECKED", "the head is another commit");
    let new = writer.snapshots(TABLE).await.unwrap().pop().unwrap();
    let read = new.time_ms.to_string();
    let (_, outcome) = report(&scene, &[&quality[..], &["--read-time", &read]].concat()).await;
    assert_eq!(outcome["outcome"], "APPLIED", "{outcome}");
    assert_eq!(verdict(&scene, passed()).await, "2");
}

//! What every stream keeps to: revisions never go back, nothing is said twice, the last word arrives.

use std::collections::HashSet;

use asset_integration::grpcurl::Stream;
use asset_integration::scene::{SOON, Scene, int};
use asset_integration::writer::{NewTable, Writer};
use serde_json::{Value, json};

use crate::{KEY, RESOLVE, TABLE, WATCH};

const USERS_KEY: &str = "paimon://lake/ods/users";

async fn with_two_tables() -> (Scene, Writer) {
    let scene = Scene::start().await.unwrap();
    let writer = Writer::pypaimon(&scene.warehouse).await.unwrap();
    for (table, key) in [(TABLE, KEY), ("ods.users", USERS_KEY)] {
        writer.create_table(NewTable::append_only(table)).await.unwrap();
        writer.append(table, 1).await.unwrap();
        scene.latest_is(key, 1).await.unwrap();
    }
    (scene, writer)
}

/// The next message with a state, its revision and snapshot.
async fn state(stream: &mut Stream) -> (i64, String, i64) {
    loop {
        let message = stream.next(SOON).await.unwrap().unwrap();
        if let Some(state) = message.get("state") {
            let key = state["assetKey"].as_str().unwrap().to_owned();
            return (revision(&message), key, int(&state["latest"]["snapshotId"]).unwrap());
        }
    }
}

fn revision(message: &Value) -> i64 {
    int(&message["revision"]).unwrap_or(0)
}

#[tokio::test]
async fn a_watch_resumes_behind_what_was_seen() {
    let (scene, writer) = with_two_tables().await;
    let mut first = scene.grpcurl().stream(WATCH, &json!({})).unwrap();
    let (one, two) = (state(&mut first).await, state(&mut first).await);
    assert_eq!([one.1.as_str(), two.1.as_str()], [KEY, USERS_KEY], "in the order of their revisions");
    writer.append(TABLE, 1).await.unwrap();
    let (seen, key, snapshot) = state(&mut first).await;
    assert_eq!((key.as_str(), snapshot), (KEY, 2));
    assert!(seen > one.0.max(two.0));
    drop(first);

    // Meanwhile one table moves; what was seen of both is not sent again.
    let commit = writer.append("ods.users", 1).await.unwrap();
    let mut resumed = scene.grpcurl().stream(WATCH, &json!({"resume_after_revision": seen})).unwrap();
    let (next, key, snapshot) = state(&mut resumed).await;
    assert_eq!((key.as_str(), snapshot), (USERS_KEY, commit.snapshot_id));
    assert!(next > seen);

    // Resumed at the newest revision, it has nothing to say until something happens.
    let mut idle = scene.grpcurl().stream(WATCH, &json!({"resume_after_revision": next})).unwrap();
    let commit = writer.append(TABLE, 1).await.unwrap();
    assert_eq!(state(&mut idle).await.2, commit.snapshot_id);

    // A revision that this store has not reached: it was restored from a backup. All is sent.
    let future = json!({"resume_after_revision": i64::MAX});
    let mut full = scene.grpcurl().stream(WATCH, &future).unwrap();
    let states = [state(&mut full).await, state(&mut full).await];
    let mut keys = states.map(|(_, key, _)| key);
    keys.sort();
    assert_eq!(keys, [KEY, USERS_KEY]);
}

#[tokio::test]
async fn revisions_never_go_back_and_nothing_is_said_twice() {
    let (scene, writer) = with_two_tables().await;
    let other = Writer::pypaimon(&scene.warehouse).await.unwrap();
    let condition = |key: &str| json!({"asset_key": key, "min_snapshot_id": 30});
    let request = json!({"groups": [{"conditions": [condition(KEY), condition(USERS_KEY)]}]});
    let mut wait = scene.grpcurl().stream(RESOLVE, &request).unwrap();
    let mut watch = scene.grpcurl().stream(WATCH, &json!({"asset_keys": ["paimon://lake/*/*"]})).unwrap();

    let commits = async |writer: &Writer, table: &str| {
        while writer.append(table, 1).await.unwrap().snapshot_id < 30 {}
    };
    let waited = async {
        let (mut last, mut said) = (0, HashSet::new());
        loop {
            let message = wait.next(SOON).await.unwrap().unwrap();
            let revision = revision(&message);
            assert!(revision >= last, "{revision} after {last}: {message}");
            last = revision;
            let status = message["status"].as_str().unwrap();
            if status != "HEARTBEAT" {
                let blocked: Vec<_> =
                    message["groups"][0]["conditions"].as_array().into_iter().flatten().collect();
                let blocked: Vec<_> = blocked.iter().map(|condition| &condition["reason"]).collect();
                let what = format!("{revision} {} {status} {blocked:?}", message["evaluatedAt"]);
                assert!(said.insert(what), "twice: {message}");
            }
            if status == "READY" {
                return;
            }
            assert!(said.len() <= 100, "more than one message a commit");
        }
    };
    let watched = async {
        let (mut last, mut heads) = (0, [1, 1]);
        while heads != [30, 30] {
            let (revision, key, snapshot) = state(&mut watch).await;
            assert!(revision > last, "{revision} after {last}");
            last = revision;
            let head = &mut heads[usize::from(key == USERS_KEY)];
            assert!(snapshot >= *head, "{key} goes from {head} to {snapshot}");
            *head = snapshot;
        }
    };
    tokio::join!(commits(&writer, TABLE), commits(&other, "ods.users"), waited, watched);
    wait.end(SOON).await.unwrap();
}

//! Snapshots that the Java library expired: nothing that can't be read is handed out.

use asset_integration::scene::{SOON, Scene, latest_data, pins};
use asset_integration::stored;
use asset_integration::writer::{NewTable, Writer};
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::{KEY, TABLE};

const RESOLVE: &str = "asset.v1.DependencyService/ResolveDependency";

fn identified() -> Value {
    json!({
        "groups": [{"conditions": [{"asset_key": KEY}]}],
        "wait": {
            "project_code": 1, "workflow_definition_code": 2, "task_definition_code": 3,
            "workflow_instance_id": 4, "task_name": "wait for orders",
        },
    })
}

#[tokio::test]
async fn commits_that_expired_unseen_are_a_gap_and_the_log_goes_on() {
    let scene = Scene::start().await.unwrap();
    let writer = Writer::paimon_java(&scene.warehouse).await.unwrap();
    writer.create_table(NewTable::append_only(TABLE)).await.unwrap();
    writer.append(TABLE, 1).await.unwrap();
    scene.latest_is(KEY, 1).await.unwrap();
    let arguments = ["wait", "--asset", KEY, "--since", "registered", "--timeout", "60s"];
    let mut sensor = scene.sensor(&arguments).unwrap();
    sensor.says("newer than 1", SOON).await.unwrap();

    // The agent sleeps through it.
    scene.agent.server.signal(Signal::STOP).unwrap();
    for _ in 0..6 {
        writer.append(TABLE, 1).await.unwrap();
    }
    writer.expire(TABLE, 2).await.unwrap();
    let left: Vec<_> = writer.snapshots(TABLE).await.unwrap().iter().map(|snapshot| snapshot.id).collect();
    assert_eq!(left, [6, 7]);
    scene.agent.server.signal(Signal::CONT).unwrap();

    let ended = sensor.ended(SOON).await.unwrap();
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(ended.stdout.contains(" snapshot 7 "), "{ended:?}");
    let gaps = stored::events(&scene.database, KEY, "GAP_DETECTED").await.unwrap();
    assert_eq!(gaps.len(), 1, "{gaps:?}");
    assert_eq!((&gaps[0]["first_ordinal"], &gaps[0]["ordinal"]), (&json!(2), &json!(5)), "{gaps:?}");
    writer.append(TABLE, 1).await.unwrap();
    let answer = scene.latest_is(KEY, 8).await.unwrap();
    assert!(answer["state"]["hold"].is_null(), "{answer}");
    assert_eq!(stored::events(&scene.database, KEY, "GAP_DETECTED").await.unwrap().len(), 1, "told once");
}

#[tokio::test]
async fn a_version_that_expired_is_read_through_the_compaction_that_carries_it() {
    let scene = Scene::start().await.unwrap();
    let writer = Writer::paimon_java(&scene.warehouse).await.unwrap();
    writer.create_table(NewTable::append_only(TABLE)).await.unwrap();
    for _ in 0..5 {
        writer.append(TABLE, 1).await.unwrap();
    }
    scene.latest_is(KEY, 5).await.unwrap();
    let promised = scene.grpcurl().call(RESOLVE, &identified()).await.unwrap().messages().unwrap();
    let promised = promised.last().unwrap();
    assert_eq!(pins(promised).unwrap(), [(KEY.to_owned(), 5)]);

    writer.compact(TABLE).await.unwrap();
    writer.expire(TABLE, 1).await.unwrap();
    let left = writer.snapshots(TABLE).await.unwrap();
    assert_eq!(left.iter().map(|left| (left.id, left.kind.as_str())).collect::<Vec<_>>(), [(6, "COMPACT")]);
    scene.latest_is(KEY, 6).await.unwrap();

    // READY was never acknowledged, but what it promised can't be read any more: it is promised anew.
    let mut last = Value::Null;
    let readable = asset_integration::deadline::until("what is left is pinned", SOON, async || {
        let outcome = scene.grpcurl().call(RESOLVE, &identified()).await.ok()?;
        last = outcome.messages().ok()?.pop()?;
        (pins(&last).ok()? == [(KEY.to_owned(), 6)]).then_some(())
    });
    readable.await.unwrap();
    assert_eq!(last["waitId"], promised["waitId"], "the wait is the same");
    assert_eq!(last["pinned"][0]["ordinal"], "5", "and so are the data");
    let answer = scene.asset(KEY).await.unwrap().unwrap();
    assert_eq!(latest_data(&answer), Some(5), "{answer}");
    let ready = crate::evaluated(&scene, json!({"asset_key": KEY})).await;
    assert_eq!(pins(&ready).unwrap(), [(KEY.to_owned(), 6)]);
}

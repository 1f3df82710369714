//! Waits that say who waits: READY is kept until it was taken up.

use asset_integration::scene::{SOON, Scene, int, pins};
use serde_json::{Value, json};

use crate::{KEY, TABLE, with_empty_table};

const RESOLVE: &str = "asset.v1.DependencyService/ResolveDependency";

fn request(instance: i64) -> Value {
    json!({
        "groups": [{"conditions": [{"asset_key": KEY, "since": "SINCE_REGISTERED"}]}],
        "wait": {
            "project_code": 1, "workflow_definition_code": 2, "task_definition_code": 3,
            "workflow_instance_id": instance, "task_name": "wait for orders",
        },
    })
}

/// The last message of a stream that ends by itself.
async fn resolved(scene: &Scene, instance: i64) -> Value {
    let outcome = scene.grpcurl().call(RESOLVE, &request(instance)).await.unwrap();
    outcome.messages().unwrap().pop().unwrap()
}

#[tokio::test]
async fn ready_is_repeated_with_the_same_pins_until_it_is_acknowledged() {
    let (mut scene, writer) = with_empty_table().await;
    writer.append(TABLE, 1).await.unwrap();
    scene.latest_is(KEY, 1).await.unwrap();
    let mut stream = scene.grpcurl().stream(RESOLVE, &request(4)).unwrap();
    let blocked = stream.next(SOON).await.unwrap().unwrap();
    assert_eq!(blocked["status"], "BLOCKED");
    let commit = writer.append(TABLE, 1).await.unwrap();
    let ready = stream.next(SOON).await.unwrap().unwrap();
    assert_eq!(ready["status"], "READY", "{ready}");
    assert_eq!(ready["waitId"], blocked["waitId"]);
    assert_eq!(pins(&ready).unwrap(), [(KEY.to_owned(), commit.snapshot_id)]);
    assert!(stream.next(SOON).await.unwrap().is_none(), "nothing comes behind READY");

    // The table goes on and the agent is killed: what was promised stands.
    writer.append(TABLE, 1).await.unwrap();
    scene.latest_is(KEY, 3).await.unwrap();
    let again = resolved(&scene, 4).await;
    scene.agent.server.kill().await.unwrap();
    scene.agent.server.start_again().unwrap();
    scene.agent.wait_ready(SOON).await.unwrap();
    let after_a_kill = resolved(&scene, 4).await;
    for message in [&again, &after_a_kill] {
        assert_eq!(message["status"], "READY");
        assert_eq!(message["waitId"], ready["waitId"]);
        assert_eq!(message["pinned"], ready["pinned"]);
        assert!(int(&message["revision"]) >= int(&ready["revision"]), "{message} after {ready}");
    }

    // asset-sensor as the same task takes it up; acknowledging twice is no error.
    let wait = [
        &["--output", "json", "wait", "--asset", KEY, "--since", "registered", "--timeout", "60s"][..],
        &["--project", "1", "--workflow", "2", "--task-code", "3"],
        &["--instance", "4", "--task", "wait for orders"],
    ];
    let wait = wait.concat();
    let taken = scene.sensor(&wait).unwrap().ended(SOON).await.unwrap();
    assert_eq!(taken.code, 0, "{taken:?}");
    let taken: Value = serde_json::from_str(&taken.stdout).unwrap();
    assert_eq!(taken["waitId"], ready["waitId"]);
    assert_eq!(taken["pinned"][0]["snapshotId"], commit.snapshot_id);
    scene.call("DependencyService/AcknowledgeWait", &json!({"wait_id": ready["waitId"]})).await.unwrap();

    // From then on it is a new wait, and what was there when it began does not count.
    let mut sensor = scene.sensor(&wait).unwrap();
    sensor.says("newer than 3, the head when the wait began", SOON).await.unwrap();
    let next = writer.append(TABLE, 1).await.unwrap();
    let ended = sensor.ended(SOON).await.unwrap();
    assert_eq!(ended.code, 0, "{ended:?}");
    let outcome: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_ne!(outcome["waitId"], ready["waitId"]);
    assert_eq!(outcome["pinned"][0]["snapshotId"], next.snapshot_id);
}

#[tokio::test]
async fn who_registers_with_an_open_waits_identity_joins_it() {
    let (scene, writer) = with_empty_table().await;
    writer.append(TABLE, 1).await.unwrap();
    scene.latest_is(KEY, 1).await.unwrap();
    let mut first = scene.grpcurl().stream(RESOLVE, &request(4)).unwrap();
    let opened = first.next(SOON).await.unwrap().unwrap();
    let mut second = scene.grpcurl().stream(RESOLVE, &request(4)).unwrap();
    let joined = second.next(SOON).await.unwrap().unwrap();
    assert_eq!(joined["waitId"], opened["waitId"]);
    let mut other = scene.grpcurl().stream(RESOLVE, &request(5)).unwrap();
    assert_ne!(other.next(SOON).await.unwrap().unwrap()["waitId"], opened["waitId"]);

    // A wait goes on without anybody at its stream.
    drop(first);
    drop(second);
    let acknowledge = json!({"wait_id": opened["waitId"]});
    let early =
        scene.grpcurl().call("asset.v1.DependencyService/AcknowledgeWait", &acknowledge).await.unwrap();
    assert_eq!(early.code, 64 + 9, "it is not READY: {early:?}");
    let commit = writer.append(TABLE, 1).await.unwrap();
    assert_eq!(other.next(SOON).await.unwrap().unwrap()["status"], "READY");
    let late = resolved(&scene, 4).await;
    assert_eq!(late["waitId"], opened["waitId"]);
    assert_eq!(pins(&late).unwrap(), [(KEY.to_owned(), commit.snapshot_id)]);
}

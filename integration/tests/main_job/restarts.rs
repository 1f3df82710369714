//! The agent ends and comes back while somebody waits.

use asset_integration::command::Running;
use asset_integration::scene::{SOON, Scene};

use crate::{KEY, TABLE, with_empty_table};

const IDENTITY: [&str; 10] =
    ["--project", "1", "--workflow", "2", "--task-code", "3", "--instance", "4", "--task", "wait for orders"];

/// A wait without identity, which nobody but the sensor remembers, and one with, which is stored; both
/// for what is newer than the head.
async fn two_waits(scene: &Scene, head: i64) -> [Running; 2] {
    let wait = ["wait", "--asset", KEY, "--since", "registered", "--timeout", "60s"];
    let instance = (head + 1_000).to_string();
    let mut identity = IDENTITY;
    identity[7] = &instance;
    let mut waits = [scene.sensor(&wait).unwrap(), scene.sensor(&[&wait[..], &identity].concat()).unwrap()];
    for wait in &mut waits {
        wait.says(&format!("newer than {head}, the head when the wait began"), SOON).await.unwrap();
    }
    waits
}

async fn both_end_with(waits: [Running; 2], snapshot: i64) {
    for wait in waits {
        let ended = wait.ended(SOON).await.unwrap();
        assert_eq!(ended.code, 0, "{ended:?}");
        assert!(ended.stdout.starts_with(&format!("READY {KEY} snapshot {snapshot} ")), "{ended:?}");
        assert_eq!(ended.stdout.lines().count(), 1, "{ended:?}");
    }
}

#[tokio::test]
async fn a_killed_agent_loses_no_wait() {
    let (mut scene, writer) = with_empty_table().await;
    writer.append(TABLE, 1).await.unwrap();
    scene.latest_is(KEY, 1).await.unwrap();

    // Nobody is there when it is committed.
    let mut waits = two_waits(&scene, 1).await;
    scene.agent.server.kill().await.unwrap();
    for wait in &mut waits {
        wait.says("lost the agent", SOON).await.unwrap();
    }
    let commit = writer.append(TABLE, 1).await.unwrap();
    scene.agent.server.start_again().unwrap();
    both_end_with(waits, commit.snapshot_id).await;

    // It is back before anything is committed.
    let mut waits = two_waits(&scene, 2).await;
    scene.agent.server.kill().await.unwrap();
    scene.agent.server.start_again().unwrap();
    for wait in &mut waits {
        wait.says("answers again", SOON).await.unwrap();
    }
    let commit = writer.append(TABLE, 1).await.unwrap();
    both_end_with(waits, commit.snapshot_id).await;

    // It is killed about when it sees the commit, wherever it is in its work then.
    let waits = two_waits(&scene, 3).await;
    let commit = writer.append(TABLE, 1).await.unwrap();
    scene.agent.server.kill().await.unwrap();
    scene.agent.server.start_again().unwrap();
    both_end_with(waits, commit.snapshot_id).await;
}

#[tokio::test]
async fn an_agent_that_is_told_to_stop_drains_and_its_callers_come_back() {
    let (mut scene, writer) = with_empty_table().await;
    writer.append(TABLE, 1).await.unwrap();
    scene.latest_is(KEY, 1).await.unwrap();
    let mut waits = two_waits(&scene, 1).await;

    let status = scene.agent.server.terminate(SOON).await.unwrap();
    assert_eq!(status.code(), Some(0), "{}", scene.agent.server.log());
    let log = scene.agent.server.log();
    assert!(log.contains("SIGTERM: draining") && log.contains("drained"), "{log}");
    assert!(!log.contains("leaving"), "it did not have to give up: {log}");
    for wait in &mut waits {
        wait.says("trying again", SOON).await.unwrap();
    }

    scene.agent.server.start_again().unwrap();
    for wait in &mut waits {
        wait.says("answers again", SOON).await.unwrap();
    }
    let commit = writer.append(TABLE, 1).await.unwrap();
    both_end_with(waits, commit.snapshot_id).await;
}

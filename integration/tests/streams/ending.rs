//! The agent leaves: every stream is told so.

use std::time::Duration;

use asset_integration::scene::{SOON, Scene};
use asset_proto::v1::Wait;
use tokio::task::JoinSet;
use tonic::{Code, Status, Streaming};

use crate::{open, soon, with_table};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stopping_agent_ends_all_streams_as_unavailable() {
    let (mut scene, _writer) = with_table(Scene::start().await.unwrap()).await;
    let mut streams = JoinSet::new();
    for connection in 1..=2 {
        let channel = open::connection(scene.address()).await;
        for task in 1..=20 {
            let identity = Wait {
                project_code: 1,
                workflow_definition_code: 1,
                task_definition_code: task,
                workflow_instance_id: connection,
                task_name: "t".to_owned(),
                ..Wait::default()
            };
            for identity in [None, Some(identity)] {
                let mut stream = open::wait(&channel, identity).await;
                stream.message().await.unwrap().unwrap();
                streams.spawn(end(stream));
            }
            let mut stream = open::watch(&channel).await;
            stream.message().await.unwrap().unwrap();
            streams.spawn(end(stream));
        }
    }

    let ended = scene.agent.server.terminate(SOON).await.unwrap();
    assert!(ended.success(), "{ended}\n{}", scene.agent.server.log());
    let statuses = soon("every stream ends", streams.join_all()).await;
    assert_eq!(statuses.len(), 120);
    for status in statuses {
        assert_eq!(status.code(), Code::Unavailable, "{status:?}");
        assert!(status.message().contains("stopping"), "{status:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reader_that_never_reads_keeps_a_stopping_agent_no_longer_than_it_drains() {
    let scene = Scene::start_with(|config| config["server"]["drain"] = "1s".into()).await.unwrap();
    let (mut scene, _writer) = with_table(scene).await;
    let channel = open::connection(scene.address()).await;
    let _stalled = open::long_wait(&channel).await;
    let mut reader = open::wait(&channel, None).await;
    reader.message().await.unwrap().unwrap();

    let ended = scene.agent.server.terminate(Duration::from_secs(8)).await.unwrap();
    assert!(ended.success(), "{ended}\n{}", scene.agent.server.log());
    assert!(scene.agent.server.log().contains("leaving"), "it drained: the reader was not stalled");
    let status = soon("the other stream was told", end(reader)).await;
    assert_eq!(status.code(), Code::Unavailable, "{status:?}");
}

/// The status that a stream ends with.
async fn end<T>(mut stream: Streaming<T>) -> Status {
    loop {
        match stream.message().await {
            Ok(Some(_)) => {}
            Ok(None) => panic!("the stream ended as if all had been said"),
            Err(status) => return status,
        }
    }
}

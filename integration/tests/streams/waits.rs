//! Thousands of waits over one connection, beside readers that never read.

use std::time::Instant;

use asset_integration::scene::Scene;
use asset_proto::v1::{ResolveDependencyResponse, resolve_dependency_response::Status};
use tokio::task::JoinSet;
use tonic::{Streaming, transport::Channel};

use crate::{TABLE, open, resident, soon, with_table};

const WAITS: usize = 2_000;
const ROUNDS: usize = 5;

/// Above what the allocator keeps back from one round to the next; one wait that is never let go in
/// each round would be far less, two thousand of them far more.
const SLACK_KIB: u64 = 16 * 1_024;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_commit_releases_two_thousand_waits_whoever_does_not_read() {
    let (scene, writer) = with_table(Scene::start().await.unwrap()).await;
    let agent = scene.agent.server.id().unwrap();
    let shared = open::connection(scene.address()).await;
    let other = open::connection(scene.address()).await;

    // Nobody reads these until the end: two on the connection of all others, two on one of their own.
    let mut stalled = Vec::new();
    let mut watching = Vec::new();
    for channel in [&shared, &other] {
        stalled.push(open::long_wait(channel).await);
        watching.push(open::watch(channel).await);
    }

    eprintln!("resident before the first wait: {} KiB", resident(agent));
    let mut settled = 0;
    for round in 1..=ROUNDS {
        let begun = Instant::now();
        let waits = soon("every wait is answered at once", begin(&shared)).await;
        let (answered, held) = (begun.elapsed(), resident(agent));
        let commit = writer.append(TABLE, 1).await.unwrap();
        let committed = Instant::now();
        soon("every wait is released", released(waits, commit.snapshot_id)).await;
        let after = resident(agent);
        eprintln!(
            "round {round}: {WAITS} answered in {answered:?}, released {:?} after the commit; resident \
             {held} KiB with them, {after} KiB after them",
            committed.elapsed()
        );
        // The first two rounds fill pools and caches.
        if round == 2 {
            settled = after;
        }
        assert!(round <= 2 || after < settled + SLACK_KIB, "{after} KiB after {settled} KiB");
    }

    // Whoever reads at last finds its first verdict, which was under way, and then the last one.
    for mut stream in stalled {
        let first = soon("a first verdict", stream.message()).await.unwrap().unwrap();
        assert_eq!(first.status(), Status::Blocked);
        let last = soon("the last verdict", stream.message()).await.unwrap().unwrap();
        assert_eq!(last.status(), Status::Ready);
        assert_eq!(last.pinned[0].snapshot_id, 2, "the first commit after it began");
        assert!(soon("the end", stream.message()).await.unwrap().is_none());
    }
}

/// Opens the waits together and reads the first verdict of each.
async fn begin(channel: &Channel) -> Vec<Streaming<ResolveDependencyResponse>> {
    let mut opening = JoinSet::new();
    for _ in 0..WAITS {
        let channel = channel.clone();
        opening.spawn(async move {
            let mut stream = open::wait(&channel, None).await;
            let first = stream.message().await.unwrap().unwrap();
            assert_eq!(first.status(), Status::Blocked);
            stream
        });
    }
    opening.join_all().await
}

async fn released(waits: Vec<Streaming<ResolveDependencyResponse>>, snapshot: i64) {
    let mut reading = JoinSet::new();
    for mut stream in waits {
        reading.spawn(async move {
            let verdict = stream.message().await.unwrap().unwrap();
            assert_eq!(verdict.status(), Status::Ready);
            assert_eq!(verdict.pinned[0].snapshot_id, snapshot);
            assert!(stream.message().await.unwrap().is_none(), "READY is the last word");
        });
    }
    reading.join_all().await;
}

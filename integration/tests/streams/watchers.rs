//! Watchers: everyone gets the last state, in order, however slowly somebody reads.

use asset_core::invariant::no_revision_goes_back;
use asset_integration::scene::Scene;
use asset_proto::v1::{WatchAssetResponse, watch_asset_response::Event};
use tokio::task::JoinSet;
use tonic::Streaming;

use crate::{KEY, TABLE, open, soon, with_table};

const WATCHERS: usize = 200;
const COMMITS: i64 = 30;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_watcher_gets_the_last_state_and_a_slow_one_little_else() {
    let (scene, writer) = with_table(Scene::start().await.unwrap()).await;
    let channel = open::connection(scene.address()).await;
    let slow = open::watch(&channel).await;
    let mut fast = JoinSet::new();
    for _ in 1..WATCHERS {
        fast.spawn(seen(open::watch(&channel).await, 1 + COMMITS));
    }
    for _ in 0..COMMITS {
        let commit = writer.append(TABLE, 1).await.unwrap();
        // Each is a state of its own.
        scene.latest_is(KEY, commit.snapshot_id).await.unwrap();
    }

    let fast = soon("everyone has the last state", fast.join_all()).await;
    assert!(fast.iter().any(|states| *states == COMMITS as usize + 1), "who reads at once misses nothing");
    let slow = soon("the slow one has it too", seen(slow, 1 + COMMITS)).await;
    eprintln!("{COMMITS} commits: the slow watcher was sent {slow} states");
    assert!(slow <= COMMITS as usize / 2, "{slow} states were kept for a reader that did not read");
}

/// How many states come until that with the last snapshot.
async fn seen(mut stream: Streaming<WatchAssetResponse>, last: i64) -> usize {
    let mut revisions = Vec::new();
    let mut states = 0;
    loop {
        let message = stream.message().await.unwrap().unwrap();
        revisions.push(message.revision);
        no_revision_goes_back(&revisions).unwrap();
        let Some(Event::State(state)) = message.event else {
            continue;
        };
        states += 1;
        if state.latest.unwrap().snapshot_id == last {
            return states;
        }
    }
}

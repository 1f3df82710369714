//! Waits for what is new, registered while commits come in.

use std::sync::{
    Arc,
    atomic::{AtomicI64, Ordering},
};

use asset_core::baseline::{Baseline, Baselines};
use asset_core::version::Floor;
use tokio::task::JoinSet;

use crate::{
    WaitStream,
    testing::{Lake, Rig, newer, pinned, ready, until, verdict},
};

const ROUNDS: i64 = 30;
const WAITS: i64 = 12;
const COMMITS: i64 = 3;

struct Begun {
    stream: WaitStream,
    baseline: i64,
    /// Head that was committed before it registered.
    before: i64,
    released_on: Option<i64>,
}

/// In each round waits register while snapshots are committed. Whoever began before a commit is
/// released without a further one, nobody is on what was there, and the rest by the next commit.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_commit_is_missed_and_none_counts_that_was_there() {
    let lake = Lake::new();
    let rig = Arc::new(Rig::start(&lake).await);
    let committed = Arc::new(AtomicI64::new(1));
    rig.commit("orders", 1).await;

    for round in 0..ROUNDS {
        let mut begun = JoinSet::new();
        for number in 0..WAITS {
            let (rig, committed) = (rig.clone(), committed.clone());
            begun.spawn(async move { begin(&rig, round * WAITS + number, &committed).await });
        }
        for _ in 0..COMMITS {
            let next = committed.load(Ordering::SeqCst) + 1;
            rig.commit("orders", next).await;
            committed.store(next, Ordering::SeqCst);
        }
        let begun = begun.join_all().await;
        let head = committed.load(Ordering::SeqCst);

        let mut late = Vec::new();
        for mut wait in begun {
            assert!(wait.baseline >= wait.before, "{} was there, {} counts from", wait.before, wait.baseline);
            if wait.baseline < head {
                let released_on = match wait.released_on {
                    Some(id) => id,
                    None => pinned(&ready(&mut wait.stream).await).unwrap(),
                };
                assert!(released_on > wait.baseline, "released on {released_on}, {}", wait.baseline);
            } else {
                assert_eq!((wait.baseline, wait.released_on), (head, None));
                late.push(wait.stream);
            }
        }
        rig.commit("orders", head + 1).await;
        committed.store(head + 1, Ordering::SeqCst);
        for mut stream in late {
            assert_eq!(pinned(&ready(&mut stream).await), Some(head + 1));
        }
    }

    until("nobody is counted any more", async || rig.counts.blocked().is_empty()).await;
    until("no stream is left", async || rig.counts.streams() == (0, 0)).await;
    until("no mark is left", async || rig.marks().await.is_empty()).await;
    let rig = Arc::into_inner(rig).unwrap();
    rig.stop().await;
}

async fn begin(rig: &Rig, number: i64, committed: &AtomicI64) -> Begun {
    let before = committed.load(Ordering::SeqCst);
    let mut stream = match number % 2 {
        0 => rig.identified(number, newer("orders")).await,
        _ => rig.anonymous(newer("orders")).await,
    };
    let first = verdict(&mut stream).await;
    let baselines = match &first.wait_id {
        Some(id) => rig.stored(id).await.baselines,
        None => Baselines::from_token(&first.resume_token).unwrap(),
    };
    let baseline = match baselines.of(&Lake::key("orders")) {
        Baseline::Above(Floor::At(position)) => position.ordinal,
        other => panic!("{other:?} though the table is known"),
    };
    Begun { stream, baseline, before, released_on: pinned(&first) }
}

//! Readers that don't read for a while get the last word, and not all that was said before.

use crate::{
    WatchEvent,
    testing::{Lake, Rig, pinned, reached, ready, soon, until, verdict},
};

const COMMITS: i64 = 50;

#[tokio::test]
async fn a_slow_wait_gets_the_last_verdict() {
    let lake = Lake::new();
    let rig = Rig::start(&lake).await;
    let mut wait = rig.anonymous(reached("orders", 1_000)).await;
    let first = verdict(&mut wait).await;
    for id in 1..=COMMITS {
        rig.commit("orders", id).await;
    }
    // A wait that comes after the commits is answered after they were handled.
    verdict(&mut rig.anonymous(reached("orders", 1_000)).await).await;
    let last = verdict(&mut wait).await;
    let told = format!("{:?}", last.evaluation.groups[0].conditions[0].verdict);
    assert!(told.contains(&format!("found: {COMMITS}")), "{told}");
    assert!(last.revision > first.revision);

    rig.commit("orders", 1_000).await;
    assert_eq!(pinned(&ready(&mut wait).await), Some(1_000), "nothing was kept in between");
    rig.stop().await;
}

#[tokio::test]
async fn a_slow_watcher_gets_the_last_state_of_each_asset_in_order() {
    let lake = Lake::new();
    let rig = Rig::start(&lake).await;
    let mut all = globset::GlobSetBuilder::new();
    all.add(globset::Glob::new("**").unwrap());
    let all = all.build().unwrap();
    let mut watcher = rig.engine.watch(all.clone(), 0).await.unwrap();
    let first = soon("a first event", watcher.next()).await.unwrap();
    assert!(matches!(first, WatchEvent::Heartbeat { revision: 0 }), "{first:?}");

    let tables = ["a", "b", "c"];
    let mut last = 0;
    for id in 1..=COMMITS {
        for table in tables {
            let asset_store::Loaded::Known(asset) = rig.commit(table, id).await.now else {
                panic!("a table that was committed to is known");
            };
            last = asset.revision;
        }
    }
    // As above: whoever is told of a watcher has handled all before it.
    drop(rig.engine.watch(all, 0).await.unwrap());
    let mut heads = Vec::new();
    let mut sent = 0;
    let reading = async {
        while sent < last {
            let WatchEvent::State(asset) = watcher.next().await.unwrap() else {
                continue;
            };
            assert!(asset.revision > sent, "{} came after {sent}", asset.revision);
            sent = asset.revision;
            heads.push(asset.latest().map(|(position, _)| position.ordinal));
        }
    };
    soon("the last state", reading).await;
    assert_eq!(heads, [Some(COMMITS); 3], "the last state of each, and nothing else");

    until("the watcher that left is let go", async || rig.counts.streams() == (0, 1)).await;
    rig.stop().await;
}

//! An agent that leaves, and one that comes after it.

use asset_store::WaitStatus;

use crate::{
    WaitEvent,
    testing::{Lake, Rig, advance, newer, pinned, reached, ready, soon, until, verdict},
};

#[tokio::test]
async fn a_stopping_engine_ends_its_streams_and_its_tasks() {
    let lake = Lake::new();
    let rig = Rig::start(&lake).await;
    let mut streams = vec![rig.anonymous(reached("orders", 1)).await];
    streams.push(rig.identified(1, reached("orders", 1)).await);
    let mut watcher = rig.engine.watch(globs(), 0).await.unwrap();
    for stream in &mut streams {
        verdict(stream).await;
    }
    soon("a first event", watcher.next()).await.unwrap();
    rig.stop().await;
    for mut stream in streams {
        assert!(matches!(soon("the end", stream.next()).await, WaitEvent::Stopped));
        assert!(matches!(soon("the end", stream.next()).await, WaitEvent::End));
    }
    let end = soon("the end", watcher.next()).await.unwrap();
    assert!(matches!(end, crate::WatchEvent::Stopped), "{end:?}");
}

#[tokio::test]
async fn open_waits_are_taken_up_and_ready_is_repeated_until_it_is_acknowledged() {
    let lake = Lake::new();
    let rig = Rig::start(&lake).await;
    rig.commit("orders", 1).await;
    let mut wait = rig.identified(1, newer("orders")).await;
    let id = verdict(&mut wait).await.wait_id.clone().unwrap();
    let mut other = rig.identified(2, reached("orders", 9)).await;
    let other = verdict(&mut other).await.wait_id.clone().unwrap();
    // The commit and its mark are on disk, and then the agent is gone.
    rig.store_only("orders", vec![advance(2)]).await;
    let mut marks = [id.to_string(), other.to_string()];
    marks.sort();
    assert_eq!(rig.marks().await, marks);
    rig.stop().await;

    let rig = Rig::start(&lake).await;
    until("the wait is decided though nobody asks", async || {
        matches!(rig.stored(&id).await.status, WaitStatus::Ready { .. })
    })
    .await;
    // Also that of the wait which is still blocked.
    until("no mark is left", async || rig.marks().await.is_empty()).await;
    rig.commit("orders", 3).await;
    rig.stop().await;

    let rig = Rig::start(&lake).await;
    let first = ready(&mut rig.identified(1, newer("orders")).await).await;
    assert_eq!((&first.wait_id, pinned(&first)), (&Some(id.clone()), Some(2)), "pins don't move");
    let second = ready(&mut rig.identified(1, newer("orders")).await).await;
    assert_eq!((&second.standing, second.revision), (&first.standing, first.revision));

    rig.engine.acknowledge(&id).await.unwrap();
    let next = verdict(&mut rig.identified(1, newer("orders")).await).await;
    assert_ne!(next.wait_id, first.wait_id);
    assert_eq!(pinned(&next), None, "a new wait, from now on");
    rig.stop().await;
}

fn globs() -> globset::GlobSet {
    let mut set = globset::GlobSetBuilder::new();
    set.add(globset::Glob::new("**").unwrap());
    set.build().unwrap()
}

//! Decisions that rest on what has moved since.

use asset_core::change::Change;
use asset_store::{Loaded, WaitStatus};
use tokio::time::Instant;

use crate::{
    hub::Moved,
    testing::{Lake, Rig, advance, pinned, reached, ready, until, verdict},
};

fn moved(now: Loaded) -> Vec<Moved> {
    vec![Moved { key: Lake::key("orders"), now, handed_over: Instant::now() }]
}

#[tokio::test]
async fn a_decision_on_a_state_that_moved_is_made_again_on_the_new_one() {
    let lake = Lake::new();
    let rig = Rig::start(&lake).await;
    let mut wait = rig.identified(1, reached("orders", 1)).await;
    let blocked = verdict(&mut wait).await;
    assert_eq!(pinned(&blocked), None);

    let first = rig.store_only("orders", vec![advance(1)]).await;
    rig.store_only("orders", vec![advance(2)]).await;
    rig.engine.hub.moved(moved(first.now)).await;

    let update = ready(&mut wait).await;
    assert_eq!(pinned(&update), Some(2), "snapshot 1 was the head no more when it was decided");
    let stored = rig.stored(update.wait_id.as_deref().unwrap()).await;
    let WaitStatus::Ready { pins, revision, .. } = stored.status else {
        panic!("READY was sent before it was stored");
    };
    assert_eq!((pins[0].snapshot_id, revision), (2, update.revision));
    assert!(update.revision >= blocked.revision);
    rig.stop().await;
}

#[tokio::test]
async fn a_table_that_went_meanwhile_releases_nobody() {
    let lake = Lake::new();
    let rig = Rig::start(&lake).await;
    let mut wait = rig.identified(1, reached("orders", 1)).await;
    verdict(&mut wait).await;

    let first = rig.store_only("orders", vec![advance(1)]).await;
    rig.store_only("orders", vec![Change::Gone]).await;
    rig.engine.hub.moved(moved(first.now)).await;

    let update = verdict(&mut wait).await;
    assert_eq!(pinned(&update), None, "{update:?}");
    let stored = rig.stored(update.wait_id.as_deref().unwrap()).await;
    assert_eq!(stored.status, WaitStatus::Open);
    rig.stop().await;
}

/// The reload behind a stale decision may bring a state to the hub before its notice: the notice must
/// not be taken for old news by those who have not been evaluated on it.
#[tokio::test]
async fn what_a_reload_brings_wakes_everybody_who_looks_at_it() {
    let lake = Lake::new();
    let rig = Rig::start(&lake).await;
    let mut decided = rig.identified(1, reached("orders", 1)).await;
    let mut stored = rig.identified(2, reached("orders", 2)).await;
    let mut anonymous = rig.anonymous(reached("orders", 2)).await;
    for stream in [&mut decided, &mut stored, &mut anonymous] {
        assert_eq!(pinned(&verdict(stream).await), None);
    }

    let first = rig.store_only("orders", vec![advance(1)]).await;
    let second = rig.store_only("orders", vec![advance(2)]).await;
    rig.engine.hub.moved(moved(first.now)).await;
    assert_eq!(pinned(&ready(&mut decided).await), Some(2));
    rig.engine.hub.moved(moved(second.now)).await;

    assert_eq!(pinned(&ready(&mut anonymous).await), Some(2));
    assert_eq!(pinned(&ready(&mut stored).await), Some(2));
    rig.stop().await;
}

/// A load may see a commit before its notice comes. The wait has been told by then; its mark has not
/// been taken away, and no later commit may come that does.
#[tokio::test]
async fn a_notice_of_what_is_known_still_takes_the_marks_away() {
    let lake = Lake::new();
    let rig = Rig::start(&lake).await;
    let wait = rig.registered_only(1, reached("orders", 9)).await;
    let first = rig.store_only("orders", vec![advance(1)]).await;
    assert_eq!(rig.marks().await, [wait.wait_id]);

    let mut stream = rig.identified(1, reached("orders", 9)).await;
    let told = verdict(&mut stream).await;
    let found = told.evaluation.groups[0].conditions[0].verdict.clone();
    assert!(format!("{found:?}").contains("found: 1"), "{found:?}");
    rig.engine.hub.moved(moved(first.now)).await;
    until("no mark is left", async || rig.marks().await.is_empty()).await;
    rig.stop().await;
}

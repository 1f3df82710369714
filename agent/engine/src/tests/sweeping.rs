//! Marks that no notice takes away.

use std::time::Duration;

use asset_store::WaitStatus;

use crate::testing::{Lake, Rig, advance, pinned, reached, ready, until, verdict};

async fn sweeping(lake: &Lake) -> Rig {
    Rig::start_with(lake, lake.catalogs(&[], 500), |config| {
        config.sweep_interval = Some(Duration::from_millis(20));
        config.sweep_batch = 3;
    })
    .await
}

#[tokio::test]
async fn a_lost_notice_is_made_up_for() {
    let lake = Lake::new();
    let rig = sweeping(&lake).await;
    let mut wait = rig.identified(1, reached("orders", 1)).await;
    assert_eq!(pinned(&verdict(&mut wait).await), None);
    assert_eq!(rig.counts.swept(), 0);

    rig.store_only("orders", vec![advance(1)]).await;
    assert_eq!(pinned(&ready(&mut wait).await), Some(1));
    assert!(rig.counts.swept() >= 1);
    assert!(rig.marks().await.is_empty());
    rig.stop().await;
}

/// A caller that leaves between the registration and the hub leaves a wait that only the store has. It
/// is decided all the same, and its mark must not stand in the way of others for ever.
#[tokio::test]
async fn a_wait_that_only_the_store_has_is_taken_up() {
    let lake = Lake::new();
    let rig = sweeping(&lake).await;
    let mut ids = Vec::new();
    // More than one sweep takes, and all of them before the one that somebody waits on.
    for number in 1..=4 {
        ids.push(rig.registered_only(number, reached("orders", 2)).await.wait_id);
    }
    rig.store_only("orders", vec![advance(1)]).await;
    let mut wait = rig.identified(9, reached("items", 1)).await;
    assert_eq!(pinned(&verdict(&mut wait).await), None);
    rig.store_only("items", vec![advance(1)]).await;
    assert_eq!(pinned(&ready(&mut wait).await), Some(1));

    until("every mark is gone", async || rig.marks().await.is_empty()).await;
    rig.commit("orders", 2).await;
    for id in ids {
        until("the wait is decided", async || {
            matches!(rig.stored(&id).await.status, WaitStatus::Ready { .. })
        })
        .await;
    }
    rig.stop().await;
}

//! Version logs stay bounded, and nothing that is still needed goes.

use asset_core::{
    change::{Change, Found, HistoryBreak},
    version::{CommitClass, Floor, Position},
};
use asset_store::{Loaded, Retention, Store};

use crate::{
    File, advance, apply, commit, key, newer, rewrite,
    waiting::{decide, register, registration, verdict},
};

async fn trimmed(store: &Store, newest: usize, since: i64) -> usize {
    store.trim(Retention { newest, since }).await.unwrap()
}

/// What is left from the newest data version on.
async fn ordinals(store: &Store, table: &str) -> Vec<(i64, i64)> {
    let (loaded, _) = store.load(&[key(table)]).await.unwrap();
    let Loaded::Known(asset) = &loaded[&key(table)] else { panic!("{loaded:?}") };
    asset.log.entries().map(|(at, _)| (at.generation, at.ordinal)).collect()
}

#[tokio::test]
async fn only_what_is_neither_young_nor_among_the_newest_goes() {
    let file = File::new();
    let store = file.open().await;
    apply(&store, "orders", (1..=50).map(advance).collect()).await;
    // All were observed at 7.
    assert_eq!(trimmed(&store, 10, 7).await, 0, "they are young");
    assert_eq!(trimmed(&store, 50, 8).await, 0, "they are the newest");
    assert_eq!(trimmed(&store, 10, 8).await, 40);
    assert_eq!(trimmed(&store, 10, 8).await, 0);
    // What comes next goes on from what is left.
    let now = apply(&store, "orders", vec![rewrite(51)]).await.now;
    let Loaded::Known(asset) = now else { panic!("{now:?}") };
    assert_eq!(asset.latest_data().unwrap().0.ordinal, 50);
}

#[tokio::test]
async fn the_newest_data_version_stays_whatever_came_after_it() {
    let file = File::new();
    let store = file.open().await;
    apply(&store, "orders", vec![advance(1), advance(2)]).await;
    apply(&store, "orders", (3..=60).map(rewrite).collect()).await;
    assert_eq!(trimmed(&store, 10, 8).await, 1, "the data version and its carriers stay");
    let left = ordinals(&store, "orders").await;
    assert_eq!((left.first(), left.len()), (Some(&(1, 2)), 59));
}

#[tokio::test]
async fn what_somebody_was_promised_stays_until_it_is_acknowledged() {
    let file = File::new();
    let store = file.open().await;
    let wait = register(&store, registration(1, newer("orders"))).await;
    apply(&store, "orders", vec![advance(1)]).await;
    apply(&store, "orders", vec![advance(2)]).await;
    decide(&store, verdict(&store, &wait).await).await;
    apply(&store, "orders", (3..=40).map(advance).collect()).await;
    assert_eq!(trimmed(&store, 5, 8).await, 34, "all but the newest five and the promised one");
    // Whoever comes back is told the same.
    let again = register(&store, registration(1, newer("orders"))).await;
    assert_eq!(again.status, crate::waiting::stored(&store, "w-1").await.status);
    assert!(matches!(again.status, asset_store::WaitStatus::Ready { .. }));
    store.acknowledge(&["w-1".to_owned()], 9).await.unwrap();
    assert_eq!(trimmed(&store, 5, 8).await, 1);
}

#[tokio::test]
async fn a_rollback_behind_all_that_is_left_starts_nobody() {
    let file = File::new();
    let store = file.open().await;
    apply(&store, "orders", (1..=2_000).map(advance).collect()).await;
    let wait = register(&store, registration(1, newer("orders"))).await;
    assert_eq!(trimmed(&store, 1_000, 8).await, 1_000);
    let commits = (1..=500).map(|id| Found { class: CommitClass::Advance, ordinal: id, commit: commit(id) });
    let rolled_back = Change::NewHistory {
        cause: HistoryBreak::Rewound { known: 2_000, found: Some(500) },
        commits: commits.collect(),
    };
    let now = apply(&store, "orders", vec![rolled_back]).await.now;
    let Loaded::Known(asset) = now else { panic!("{now:?}") };
    let head = Position { generation: 2, ordinal: 500 };
    assert_eq!((asset.head(), asset.log.carry(Floor::At(Position { generation: 1, ordinal: 2_000 }))), {
        (Floor::At(head), Floor::At(head))
    });
    assert_eq!(verdict(&store, &wait).await.ready, None);
    apply(&store, "orders", vec![advance(501)]).await;
    // The id was used before; its commit is another one only by what the log has left, which is nothing.
    assert!(verdict(&store, &wait).await.ready.is_some());
}

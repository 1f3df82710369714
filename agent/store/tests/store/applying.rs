//! Batches: whole with their cursor, or not at all.

use asset_core::{asset::Asset, change::Change};
use asset_store::{BatchOutcome, Loaded};

use crate::{File, advance, apply, batch, committed, key, rewrite};

fn known(loaded: &Loaded) -> &Asset {
    match loaded {
        Loaded::Known(asset) => asset,
        other => panic!("no asset but {other:?}"),
    }
}

#[tokio::test]
async fn a_batch_that_was_compared_with_an_old_cursor_changes_nothing() {
    let file = File::new();
    let store = file.open().await;
    let first = apply(&store, "orders", vec![advance(1)]).await;
    assert_eq!(first.cursor_lock, 1);
    let (_, revision) = store.load(&[]).await.unwrap();
    for stale in [None, Some(0), Some(2)] {
        let outcome = store.apply(vec![batch("orders", stale, vec![advance(2)])]).await.unwrap().remove(0);
        assert!(matches!(outcome, BatchOutcome::Stale), "{stale:?}");
    }
    let (loaded, after) = store.load(&[key("orders")]).await.unwrap();
    assert_eq!((&loaded[&key("orders")], after), (&first.now, revision));
    assert_eq!(store.cursor(&key("orders")).await.unwrap().unwrap().cursor, "cursor after None");
}

#[tokio::test]
async fn one_call_takes_the_good_batches_and_leaves_the_stale_ones() {
    let file = File::new();
    let store = file.open().await;
    apply(&store, "a", vec![advance(1)]).await;
    let outcomes = store
        .apply(vec![
            batch("a", None, vec![advance(2)]),
            batch("b", None, vec![advance(1)]),
            // The second batch of one table in one call was compared with the cursor before the first.
            batch("b", None, vec![advance(2)]),
            batch("b", Some(1), vec![advance(3)]),
        ])
        .await
        .unwrap();
    let stale: Vec<bool> = outcomes.iter().map(|outcome| matches!(outcome, BatchOutcome::Stale)).collect();
    assert_eq!(stale, [true, false, true, false]);
    let (loaded, _) = store.load(&[key("a"), key("b")]).await.unwrap();
    let head = |table| known(&loaded[&key(table)]).latest().map(|(at, _)| at.ordinal);
    assert_eq!((head("a"), head("b")), (Some(1), Some(3)));
}

#[tokio::test]
async fn revisions_count_what_becomes_visible_and_order_the_feed() {
    let file = File::new();
    let store = file.open().await;
    let first = known(&apply(&store, "a", vec![advance(1)]).await.now).revision;
    let second = known(&apply(&store, "b", vec![advance(1)]).await.now).revision;
    let again = apply(&store, "a", vec![advance(1)]).await;
    assert!(!again.changed && again.duplicates == 1 && again.events == 0, "{again:?}");
    let third = known(&apply(&store, "a", vec![advance(2)]).await.now).revision;
    assert_eq!([second, third], [first + 1, first + 2], "a duplicate takes none");

    let keys = |assets: Vec<Asset>| assets.into_iter().map(|asset| asset.key).collect::<Vec<_>>();
    assert_eq!(keys(store.changed_after(0, 10).await.unwrap()), [key("b"), key("a")]);
    assert_eq!(keys(store.changed_after(second, 10).await.unwrap()), [key("a")]);
    assert_eq!(keys(store.changed_after(0, 1).await.unwrap()), [key("b")]);
    assert!(store.changed_after(third, 10).await.unwrap().is_empty());
}

#[tokio::test]
async fn batches_over_every_limit_of_a_statement() {
    const TABLES: usize = 700;
    const COMMITS: i64 = 40;
    let file = File::new();
    let store = file.open().await;
    let tables: Vec<String> = (0..TABLES).map(|number| format!("t{number:04}")).collect();
    let batches = tables.iter().map(|table| batch(table, None, (1..=COMMITS).map(advance).collect()));
    for outcome in store.apply(batches.collect()).await.unwrap() {
        assert_eq!(committed(outcome).events, COMMITS as usize);
    }
    let keys: Vec<_> = tables.iter().map(|table| key(table)).collect();
    let (loaded, revision) = store.load(&keys).await.unwrap();
    assert_eq!(revision, TABLES as i64);
    assert!(loaded.values().all(|loaded| known(loaded).latest().map(|(at, _)| at.ordinal) == Some(COMMITS)));

    let first = store.page(None, 500).await.unwrap();
    let last = first.assets.last().unwrap().key.clone();
    let second = store.page(Some(last.as_str()), 500).await.unwrap();
    assert_eq!((first.assets.len(), first.more, second.assets.len(), second.more), (500, true, 200, false));
    let paged: Vec<_> = first.assets.into_iter().chain(second.assets).map(|asset| asset.key).collect();
    assert_eq!(paged, keys);
}

#[tokio::test]
async fn a_table_that_is_not_there_and_then_is() {
    let file = File::new();
    let store = file.open().await;
    let absent = |lock| asset_store::SourceBatch { present: false, ..batch("orders", lock, Vec::new()) };
    let first = committed(store.apply(vec![absent(None)]).await.unwrap().remove(0));
    assert!(first.changed && first.now == Loaded::Absent);
    let second = committed(store.apply(vec![absent(Some(1))]).await.unwrap().remove(0));
    assert!(!second.changed, "still not there");
    assert!(store.present_keys().await.unwrap().is_empty());

    // All that it brings is news: whoever saw it absent waited for its first snapshot.
    let there = apply(&store, "orders", vec![advance(1)]).await;
    assert_eq!(known(&there.now).first_head, asset_core::version::Floor::BelowAll);
    // What was there at the first look is not.
    let other = apply(&store, "customers", vec![advance(1)]).await;
    assert_eq!(known(&other.now).first_head, known(&other.now).head());
}

#[tokio::test]
async fn states_are_loaded_from_the_newest_data_version_on() {
    let file = File::new();
    let store = file.open().await;
    apply(&store, "orders", vec![advance(1), advance(2)]).await;
    let now = apply(&store, "orders", vec![rewrite(3), rewrite(4)]).await.now;
    let ordinals: Vec<i64> = known(&now).log.entries().map(|(at, _)| at.ordinal).collect();
    assert_eq!(ordinals, [2, 3, 4]);
    let (loaded, _) = store.load(&[key("orders")]).await.unwrap();
    assert_eq!(loaded[&key("orders")], now);
}

#[tokio::test]
async fn expired_versions_stay_in_the_log_and_are_not_read_from() {
    let file = File::new();
    let store = file.open().await;
    apply(&store, "orders", vec![advance(1), rewrite(2), rewrite(3)]).await;
    let now = apply(&store, "orders", vec![Change::Expired { earliest: 3 }]).await.now;
    let asset = known(&now);
    let (data, _) = asset.latest_data().unwrap();
    assert_eq!(data.ordinal, 1);
    assert_eq!(asset.log.readable_carrier(data).unwrap().commit.snapshot_id, 3);
    apply(&store, "orders", vec![Change::Expired { earliest: 4 }]).await;
    let (loaded, _) = store.load(&[key("orders")]).await.unwrap();
    assert!(known(&loaded[&key("orders")]).log.readable_carrier(data).is_none());
}

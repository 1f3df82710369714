//! Files that come and go while they are read.

use std::{
    fs,
    path::Path,
    sync::atomic::{AtomicUsize, Ordering},
};

use super::*;

/// Does something once, before the nth request of a kind.
fn before(
    lake: &mut Lake,
    what: &'static str,
    name: &'static str,
    nth: usize,
    act: impl Fn(&Path) + Send + Sync + 'static,
) {
    let table = lake.at("");
    let seen = AtomicUsize::new(0);
    lake.on_request(move |asked, path| {
        if asked == what && path.ends_with(name) && seen.fetch_add(1, Ordering::Relaxed) + 1 == nth {
            act(&table);
        }
    });
}

fn write(table: &Path, id: i64, history: &str) {
    let snapshot = json!({"id": id, "commitKind": "APPEND", "uuid": format!("{history}{id}")});
    fs::write(table.join(format!("snapshot/snapshot-{id}")), snapshot.to_string()).unwrap();
}

fn remove(table: &Path, ids: impl IntoIterator<Item = i64>) {
    for id in ids {
        let _ = fs::remove_file(table.join(format!("snapshot/snapshot-{id}")));
    }
}

#[tokio::test]
async fn files_expire_between_listing_and_opening() {
    let mut lake = Lake::with(1..=3);
    let mut follower = Follower::at_head(&lake).await;
    lake.append(4..=9, "a");
    before(&mut lake, "read", "snapshot-5", 1, |table| remove(table, 1..=6));
    assert_eq!(follower.strict(&lake).await, "gap 4-6 +7 +8 +9 expired 7");
}

#[tokio::test]
async fn the_known_head_expires_between_listing_and_opening() {
    let mut lake = Lake::with(1..=3);
    let mut follower = Follower::at_head(&lake).await;
    lake.append([4], "a");
    before(&mut lake, "read", "snapshot-3", 1, |table| remove(table, 1..=3));
    assert_eq!(follower.strict(&lake).await, "+4 expired 4");
}

#[tokio::test]
async fn a_listing_that_missed_a_new_file_makes_no_gap() {
    let mut lake = Lake::with(1..=3);
    let mut follower = Follower::at_head(&lake).await;
    lake.append([5], "a");
    before(&mut lake, "list", "snapshot", 2, |table| write(table, 4, "a"));
    assert_eq!(follower.strict(&lake).await, "+4 +5");

    // The same with a first listing that shows no hole where the second one does.
    lake.append([7], "a");
    let requests = Arc::new(AtomicUsize::new(0));
    let (count, table) = (requests.clone(), lake.at(""));
    lake.on_request(move |asked, path| {
        if asked == "list" && path.ends_with("/snapshot") {
            match count.fetch_add(1, Ordering::Relaxed) {
                1 => {
                    write(&table, 6, "a");
                    write(&table, 9, "a");
                }
                2 => write(&table, 8, "a"),
                _ => {}
            }
        }
    });
    assert_eq!(follower.strict(&lake).await, "+6 +7 +8 +9");
    assert_eq!(requests.load(Ordering::Relaxed), 3);
}

#[tokio::test]
async fn a_rollback_while_reading_mixes_no_histories() {
    // Back to 4 and other commits, after 5 was opened: 4, 5 and 6 of one history, or none.
    let mut lake = Lake::with(1..=3);
    let mut follower = Follower::at_head(&lake).await;
    lake.append(4..=6, "a");
    before(&mut lake, "read", "snapshot-5", 1, |table| {
        remove(table, [6, 5]);
        write(table, 5, "b");
        write(table, 6, "b");
    });
    let poll = follower.poll(&lake, Depth::Strict).await.unwrap();
    let Poll::Changed { changes, .. } = poll else { panic!("{poll:?}") };
    let fingerprints: Vec<&str> = changes
        .iter()
        .filter_map(|change| match change {
            Change::Committed { commit, .. } => Some(commit.fingerprint.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(fingerprints, ["a4", "b5", "b6"]);
}

#[tokio::test]
async fn a_rollback_below_the_head_while_reading_is_a_break() {
    let mut lake = Lake::with(1..=3);
    let mut follower = Follower::at_head(&lake).await;
    lake.append(4..=5, "a");
    before(&mut lake, "read", "snapshot-5", 2, |table| {
        remove(table, 2..=5);
        (2..=5).for_each(|id| write(table, id, "b"));
    });
    assert_eq!(follower.strict(&lake).await, "suspect");
    assert_eq!(follower.strict(&lake).await, "rewound from 3: +1 +2 +3 +4 +5");
}

#[tokio::test]
async fn a_table_that_never_rests_is_an_error() {
    let mut lake = Lake::with(1..=3);
    let mut follower = Follower::at_head(&lake).await;
    lake.append([4], "a");
    let (table, count) = (lake.at(""), AtomicUsize::new(0));
    lake.on_request(move |asked, path| {
        if asked == "read" && path.ends_with("snapshot-4") {
            write(&table, 4, &format!("x{}", count.fetch_add(1, Ordering::Relaxed)));
        }
    });
    assert_eq!(follower.strict(&lake).await, "error unsettled");
}

#[tokio::test]
async fn a_name_that_is_listed_but_never_there_is_no_snapshot() {
    let lake = Lake::with(1..=3);
    let mut follower = Follower::at_head(&lake).await;
    lake.append([4, 6], "a");
    std::os::unix::fs::symlink("/nowhere", lake.at("snapshot/snapshot-5")).unwrap();
    assert_eq!(follower.strict(&lake).await, "+4 gap 5-5 +6");
}

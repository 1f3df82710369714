//! Histories that go on.

use std::fs;

use super::*;
use crate::paimon::manifest_list::container;

#[tokio::test]
async fn a_first_read_answers_all_that_is_there() {
    let lake = Lake::with(3..=6);
    let mut follower = Follower::default();
    assert_eq!(follower.strict(&lake).await, "+3 +4 +5 +6");
    assert_eq!(follower.strict(&lake).await, "unchanged");
    assert_eq!(Follower::default().fast(&lake).await, "+3 +4 +5 +6");
}

#[tokio::test]
async fn a_first_read_is_never_cut_but_bounded() {
    let lake = Lake::new(10);
    lake.create("first");
    lake.append(1..=1005, "a");
    let mut follower = Follower::default();
    let Poll::Changed { changes, more, .. } = follower.poll(&lake, Depth::Strict).await.unwrap() else {
        panic!("expected changes");
    };
    // The schema, and the newest thousand commits.
    assert_eq!((changes.len(), more), (1001, false));
    assert_eq!((word(&changes[0]), word(&changes[1])), ("schema 0".into(), "+6".into()));
    lake.append([1006], "a");
    assert_eq!(follower.strict(&lake).await, "+1006");
}

#[tokio::test]
async fn names_that_are_no_snapshots_are_ignored() {
    let lake = Lake::with(1..=2);
    for junk in ["LATEST", "EARLIEST", "snapshot-3.tmp", ".snapshot-4.crc", "snapshot-", "snapshot-05"] {
        lake.write(&format!("snapshot/{junk}"), "9");
    }
    lake.write("snapshot/snapshot-99999999999999999999", "9");
    lake.write("snapshot/snapshot--1", "9");
    fs::create_dir(lake.at("snapshot/snapshot-7")).unwrap();
    lake.write("branch/branch-b/snapshot/snapshot-3", "9");
    assert_eq!(Follower::default().strict(&lake).await, "+1 +2");
    // A directory under the next name is no snapshot either.
    fs::create_dir(lake.at("snapshot/snapshot-3")).unwrap();
    assert_eq!(Follower::at_head(&lake).await.fast(&lake).await, "unchanged");
}

#[tokio::test]
async fn an_idle_poll_costs_one_request() {
    let mut lake = Lake::with(1..=3);
    let mut follower = Follower::at_head(&lake).await;
    let requests = lake.record();
    assert_eq!(follower.fast(&lake).await, "unchanged");
    assert_eq!(std::mem::take(&mut *requests.lock().unwrap()), ["read snapshot-4"]);
    assert_eq!(follower.strict(&lake).await, "unchanged");
    assert_eq!(
        std::mem::take(&mut *requests.lock().unwrap()),
        ["list snapshot", "read snapshot-3", "list tag", "list schema"]
    );
}

#[tokio::test]
async fn a_fast_poll_sees_the_next_commit_and_reads_on() {
    let lake = Lake::with(1..=3);
    let mut follower = Follower::at_head(&lake).await;
    lake.write("snapshot/LATEST", "3");
    lake.append(4..=6, "a");
    assert_eq!(follower.fast(&lake).await, "+4 +5 +6");
    assert_eq!(follower.fast(&lake).await, "unchanged");
}

#[tokio::test]
async fn batches_are_cut() {
    let lake = Lake::new(2);
    lake.create("first");
    lake.append([1], "a");
    let mut follower = Follower::at_head(&lake).await;
    lake.append(2..=6, "a");
    assert_eq!(follower.fast(&lake).await, "+2 +3 more");
    assert_eq!(follower.fast(&lake).await, "+4 +5 more");
    assert_eq!(follower.fast(&lake).await, "+6");
    assert_eq!(follower.fast(&lake).await, "unchanged");
}

#[tokio::test]
async fn a_table_that_appears_and_begins() {
    let lake = Lake::new(500);
    let mut follower = Follower::default();
    assert_eq!(follower.fast(&lake).await, "absent");
    assert_eq!(follower.strict(&lake).await, "absent");
    fs::create_dir_all(lake.at("bucket-0")).unwrap();
    assert_eq!(follower.fast(&lake).await, "absent", "a directory is no table");
    lake.create("first");
    assert_eq!(follower.fast(&lake).await, "", "a cursor without changes");
    assert_eq!(follower.fast(&lake).await, "unchanged");
    lake.append(1..=2, "a");
    assert_eq!(follower.fast(&lake).await, "+1 +2");

    // One that was absent a moment ago has no history: what is missing was missed.
    let mut late = Follower::from_cursor(r#"{"layout":1,"state":"absent"}"#);
    lake.remove([1]);
    assert_eq!(late.fast(&lake).await, "gap 1-1 +2");
}

#[tokio::test]
async fn a_table_without_commits_may_be_another_one_tomorrow() {
    let lake = Lake::with([]);
    let mut follower = Follower::at_head(&lake).await;
    lake.drop_table();
    lake.create("second");
    lake.append([1], "b");
    assert_eq!(follower.fast(&lake).await, "+1");
    lake.drop_table();
    lake.create("third");
    lake.append([1], "c");
    assert_eq!(follower.strict(&lake).await, "suspect");
    assert_eq!(follower.strict(&lake).await, "recreated: +1");
}

#[tokio::test]
async fn expiry_is_told_and_a_gap_named() {
    let lake = Lake::with(1..=5);
    let mut follower = Follower::at_head(&lake).await;
    lake.remove([1]);
    assert_eq!(follower.fast(&lake).await, "unchanged");
    assert_eq!(follower.strict(&lake).await, "expired 2");
    lake.remove([2]);
    assert_eq!(follower.strict(&lake).await, "expired 3");
    assert_eq!(follower.strict(&lake).await, "unchanged");
    lake.append(6..=7, "a");
    lake.remove(3..=4);
    assert_eq!(follower.fast(&lake).await, "+6 +7 expired 5");
    lake.append(8..=12, "a");
    lake.remove(5..=9);
    assert_eq!(follower.fast(&lake).await, "unchanged", "8 is gone: strict rounds see it");
    assert_eq!(follower.strict(&lake).await, "gap 8-9 +10 +11 +12 expired 10");
    lake.remove(10..=12);
    lake.append([13], "a");
    assert_eq!(follower.strict(&lake).await, "+13 expired 13", "the head expired, nothing was missed");
}

#[tokio::test]
async fn a_gap_is_named_once_however_batches_fall() {
    let lake = Lake::new(2);
    lake.create("first");
    lake.append([1], "a");
    let mut follower = Follower::at_head(&lake).await;
    lake.append(10..=12, "a");
    lake.remove([1]);
    assert_eq!(follower.strict(&lake).await, "gap 2-9 +10 +11 expired 10 more");
    assert_eq!(follower.strict(&lake).await, "+12");
}

#[tokio::test]
async fn a_hole_that_stays_is_a_gap() {
    let lake = Lake::with([1, 2, 5]);
    let mut follower = Follower::default();
    assert_eq!(follower.strict(&lake).await, "+1 +2 gap 3-4 +5");
    lake.append([6, 8], "a");
    assert_eq!(follower.fast(&lake).await, "+6 gap 7-7 +8");
    assert_eq!(follower.strict(&lake).await, "unchanged");
}

#[tokio::test]
async fn schema_files_may_be_cleaned_up() {
    let lake = Lake::with(1..=2);
    lake.write("schema/schema-1", "{}");
    let mut follower = Follower::at_head(&lake).await;
    fs::remove_file(lake.at("schema/schema-0")).unwrap();
    lake.append([4], "a");
    lake.remove(1..=2);
    assert_eq!(follower.strict(&lake).await, "gap 3-3 +4 expired 4");
    assert!(follower.cursor.as_ref().unwrap().contains("\"schema\":1"), "the next file stands in");
    // A file below the known one begins another table.
    lake.create("second");
    fs::remove_file(lake.at("schema/schema-1")).unwrap();
    lake.append([6], "b");
    lake.remove([4]);
    assert_eq!(follower.strict(&lake).await, "suspect");
    assert_eq!(follower.strict(&lake).await, "recreated: +6");
}

#[tokio::test]
async fn a_half_written_snapshot_waits() {
    let lake = Lake::with(1..=2);
    let mut follower = Follower::at_head(&lake).await;
    lake.append([3, 5], "a");
    lake.write("snapshot/snapshot-4", "{\"id\": 4");
    assert_eq!(follower.fast(&lake).await, "+3", "what stands before it");
    for _ in 0..2 {
        let error = follower.poll(&lake, Depth::Fast).await.unwrap_err();
        assert!(error.to_string().contains("snapshot-4 is malformed"), "{error}");
    }
    lake.write("snapshot/snapshot-4", "");
    assert_eq!(follower.fast(&lake).await, "error malformed");
    lake.append([4], "a");
    assert_eq!(follower.fast(&lake).await, "+4 +5");

    lake.write("snapshot/snapshot-6", "");
    lake.remove(1..=2);
    assert_eq!(follower.strict(&lake).await, "expired 3");
    assert_eq!(follower.strict(&lake).await, "error malformed");
    lake.write("snapshot/snapshot-5", "");
    assert_eq!(follower.strict(&lake).await, "error malformed", "the known head itself");
}

#[tokio::test]
async fn a_half_written_file_at_first_sight() {
    let lake = Lake::with([]);
    lake.write("snapshot/snapshot-1", "{");
    assert_eq!(Follower::default().strict(&lake).await, "error malformed");
    lake.append([2], "a");
    assert_eq!(Follower::default().strict(&lake).await, "error malformed");
    lake.append([1], "a");
    lake.write("snapshot/snapshot-3", "{");
    assert_eq!(Follower::default().strict(&lake).await, "+1 +2");
    lake.write("schema/schema-0", "{");
    let error = Follower::default().poll(&lake, Depth::Strict).await.unwrap_err();
    assert!(error.to_string().contains("schema-0 is malformed"), "{error}");
}

#[tokio::test]
async fn maintenance_is_told_from_data() {
    let lake = Lake::with([1]);
    let mut follower = Follower::at_head(&lake).await;
    let zero = |id: i64, list: &str| {
        let fields = json!({"commitKind": "APPEND", "uuid": id.to_string(), "deltaRecordCount": 0,
            "deltaManifestList": list, "watermark": 77});
        lake.snapshot(id, fields);
    };
    lake.write("manifest/empty", container(&[]));
    lake.write("manifest/blocks-of-none", container(&[0, 0]));
    lake.write("manifest/full", container(&[2]));
    lake.write("manifest/odd", "PAR1");
    lake.write("outside", container(&[]));
    zero(2, "empty");
    zero(3, "blocks-of-none");
    zero(4, "full");
    zero(5, "odd");
    zero(6, "gone");
    zero(7, "../outside");
    lake.snapshot(8, json!({"commitKind": "COMPACT", "uuid": "8"}));
    lake.snapshot(9, json!({"commitKind": "COMPACT", "uuid": "9", "changelogRecordCount": 1}));
    lake.snapshot(10, json!({"commitKind": "ANALYZE", "uuid": "10"}));
    lake.snapshot(11, json!({"commitKind": "OVERWRITE", "uuid": "11"}));
    lake.snapshot(12, json!({"commitKind": "TELEPORT", "uuid": "12"}));
    let poll = follower.poll(&lake, Depth::Fast).await.unwrap();
    if let Poll::Changed { changes, .. } = &poll
        && let Change::Committed { commit, .. } = &changes[0]
    {
        assert_eq!(commit.watermark, Some(77), "an empty commit's watermark counts");
    }
    assert_eq!(words(Ok(poll)), "~2 ~3 +4 +5 +6 +7 ~8 +9 ~10 +11 +12");
}

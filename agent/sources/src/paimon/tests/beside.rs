//! Tags and schemas: they change without a snapshot.

use serde_json::json;

use super::*;

fn tag(lake: &Lake, name: &str, id: i64) {
    let snapshot = json!({"id": id, "commitKind": "APPEND", "uuid": format!("tagged-{id}"), "schemaId": 0});
    lake.write(&format!("tag/tag-{name}"), snapshot.to_string());
}

#[tokio::test]
async fn tags_are_made_moved_and_deleted() {
    let lake = Lake::with(1..=3);
    let mut follower = Follower::at_head(&lake).await;
    tag(&lake, "day-1", 2);
    tag(&lake, "day-2", 3);
    assert_eq!(follower.fast(&lake).await, "unchanged", "a fast poll does not look");
    assert_eq!(follower.strict(&lake).await, "tag day-1=2 tag day-2=3");
    assert_eq!(follower.strict(&lake).await, "unchanged");

    fs::remove_file(lake.at("tag/tag-day-2")).unwrap();
    tag(&lake, "day-1", 10);
    assert_eq!(follower.strict(&lake).await, "tag day-1=10 untag day-2");
    lake.append(4..=4, "a");
    fs::remove_file(lake.at("tag/tag-day-1")).unwrap();
    assert_eq!(follower.strict(&lake).await, "+4 untag day-1");
}

#[tokio::test]
async fn a_tag_of_what_expired_has_all_of_its_commit() {
    let lake = Lake::with(5..=6);
    tag(&lake, "old", 2);
    let Poll::Changed { changes, .. } = Follower::default().poll(&lake, Depth::Strict).await.unwrap() else {
        panic!("expected changes");
    };
    let Some(Change::Tagged { found, .. }) = changes.last() else { panic!("{changes:?}") };
    assert_eq!((found.ordinal, found.commit.fingerprint.as_str()), (2, "tagged-2"));
}

#[tokio::test]
async fn a_broken_tag_stops_nothing_and_is_looked_at_again() {
    let lake = Lake::with(1..=2);
    let mut follower = Follower::at_head(&lake).await;
    for (name, text) in [("half", "{\"id\": 2, "), ("empty", ""), ("zero", "{\"id\": 0}"), ("other", "[]")] {
        lake.write(&format!("tag/tag-{name}"), text);
    }
    lake.write("tag/tag-", "{}");
    lake.write("tag/.tag-hidden.crc", "{}");
    tag(&lake, "whole", 1);
    lake.append(3..=3, "a");
    assert_eq!(follower.strict(&lake).await, "+3 tag whole=1");
    assert_eq!(follower.strict(&lake).await, "unchanged");
    tag(&lake, "half", 2);
    assert_eq!(follower.strict(&lake).await, "tag half=2");
}

#[tokio::test]
async fn many_tags_come_in_batches() {
    let lake = Lake::new(3);
    lake.create("first");
    lake.append(1..=1, "a");
    for number in 0..7 {
        tag(&lake, &format!("t{number}"), 1);
    }
    let mut follower = Follower::default();
    assert_eq!(follower.strict(&lake).await, "+1 tag t0=1 tag t1=1 tag t2=1 more");
    assert_eq!(follower.strict(&lake).await, "tag t3=1 tag t4=1 tag t5=1 more");
    assert_eq!(follower.strict(&lake).await, "tag t6=1");
    assert_eq!(follower.strict(&lake).await, "unchanged");
}

#[tokio::test]
async fn a_schema_is_seen_without_a_snapshot() {
    let lake = Lake::with(1..=2);
    let mut follower = Follower::at_head(&lake).await;
    lake.write("schema/schema-1", "{\"id\": 1}");
    lake.write("schema/schema-3", "{\"id\": 3}");
    lake.write("schema/schema-4.tmp", "{}");
    assert_eq!(follower.fast(&lake).await, "unchanged");
    lake.append(3..=3, "a");
    assert_eq!(follower.strict(&lake).await, "schema 3 +3", "before what was written with it");
    assert_eq!(follower.strict(&lake).await, "unchanged");
}

#[tokio::test]
async fn a_compaction_is_data_where_readers_wait_for_it() {
    for (options, expected) in [
        (json!({}), "+1 ~2"),
        (json!({"bucket": "-2"}), "+1 +2"),
        (json!({"merge-engine": "first-row"}), "+1 +2"),
    ] {
        let lake = Lake::new(10);
        let schema = json!({"id": 0, "primaryKeys": ["id"], "options": options});
        lake.write("schema/schema-0", schema.to_string());
        lake.append(1..=1, "a");
        lake.snapshot(2, json!({"commitKind": "COMPACT", "schemaId": 0, "uuid": "c"}));
        assert_eq!(Follower::default().strict(&lake).await, expected, "{options}");
    }
    // A schema file that can't be read says nothing: maintenance.
    let lake = Lake::new(10);
    lake.write("schema/schema-0", "{");
    lake.append(1..=1, "a");
    lake.snapshot(2, json!({"commitKind": "COMPACT", "schemaId": 7, "uuid": "c"}));
    assert_eq!(Follower::default().strict(&lake).await, "error malformed", "its identity is not known yet");
}

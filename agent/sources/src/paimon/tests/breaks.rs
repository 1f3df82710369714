//! Histories that break, and come back.

use std::fs;

use super::*;

/// Polls until the break is published, and then that it is published once.
async fn breaks(follower: &mut Follower, lake: &Lake, expected: &str) {
    assert_eq!(follower.strict(lake).await, "suspect");
    assert_eq!(follower.fast(lake).await, expected, "a suspicion makes any poll strict");
    assert_eq!(follower.strict(lake).await, "unchanged");
    assert_eq!(follower.fast(lake).await, "unchanged");
}

#[tokio::test]
async fn a_rollback_and_back() {
    let lake = Lake::with(1..=5);
    let mut follower = Follower::at_head(&lake).await;
    lake.remove(4..=5);
    assert_eq!(follower.fast(&lake).await, "unchanged", "a fast poll can't see it");
    breaks(&mut follower, &lake, "rewound from 5: +1 +2 +3").await;
    lake.append(4..=5, "a");
    assert_eq!(follower.fast(&lake).await, "+4 +5", "that these were known is for the log to say");
    assert_eq!(follower.strict(&lake).await, "unchanged");
}

#[tokio::test]
async fn a_rollback_and_other_commits_behind_it() {
    let lake = Lake::with(1..=5);
    let mut follower = Follower::at_head(&lake).await;
    lake.remove(3..=5);
    lake.append(3..=4, "b");
    breaks(&mut follower, &lake, "rewound from 5: +1 +2 +3 +4").await;
    lake.append([5], "b");
    assert_eq!(follower.fast(&lake).await, "+5");
}

#[tokio::test]
async fn the_same_id_with_other_content() {
    let lake = Lake::with(1..=5);
    let mut follower = Follower::at_head(&lake).await;
    lake.append(4..=5, "b");
    breaks(&mut follower, &lake, "rewound from 5: +1 +2 +3 +4 +5").await;
    lake.append(6..=7, "b");
    assert_eq!(follower.strict(&lake).await, "+6 +7");
    lake.append([7], "c");
    breaks(&mut follower, &lake, "rewound from 7: +1 +2 +3 +4 +5 +6 +7").await;
}

#[tokio::test]
async fn a_break_is_found_before_news_is_published() {
    let lake = Lake::with(1..=5);
    let mut follower = Follower::at_head(&lake).await;
    lake.append(5..=6, "b");
    assert_eq!(follower.fast(&lake).await, "suspect");
    assert_eq!(follower.fast(&lake).await, "rewound from 5: +1 +2 +3 +4 +5 +6");
}

#[tokio::test]
async fn all_snapshots_gone_of_a_table_that_stays() {
    let lake = Lake::with(1..=2);
    let mut follower = Follower::at_head(&lake).await;
    lake.remove(1..=2);
    breaks(&mut follower, &lake, "rewound from 2:").await;
    lake.append([1], "b");
    assert_eq!(follower.fast(&lake).await, "+1");
}

#[tokio::test]
async fn a_new_history_is_read_as_far_as_it_is_whole() {
    let lake = Lake::with(1..=5);
    let mut follower = Follower::at_head(&lake).await;
    lake.remove(4..=5);
    lake.append(4..=5, "b");
    lake.write("snapshot/snapshot-6", "{");
    assert_eq!(follower.strict(&lake).await, "suspect");
    assert_eq!(follower.strict(&lake).await, "rewound from 5: +1 +2 +3 +4 +5");
    assert_eq!(follower.strict(&lake).await, "error malformed");
    lake.append([6], "b");
    assert_eq!(follower.strict(&lake).await, "+6");
}

#[tokio::test]
async fn dropped_and_created_again() {
    let lake = Lake::with(1..=5);
    let mut follower = Follower::at_head(&lake).await;
    lake.drop_table();
    lake.create("second");
    lake.append(1..=2, "b");
    breaks(&mut follower, &lake, "recreated: +1 +2").await;
    lake.append(3..=9, "b");
    lake.remove(1..=6);
    assert_eq!(follower.strict(&lake).await, "gap 3-6 +7 +8 +9 expired 7");
}

#[tokio::test]
async fn created_again_and_beyond_the_known_head_already() {
    let lake = Lake::with(1..=3);
    let mut follower = Follower::at_head(&lake).await;
    lake.drop_table();
    lake.create("second");
    lake.append(8..=9, "b");
    breaks(&mut follower, &lake, "recreated: +8 +9").await;
}

#[tokio::test]
async fn created_again_without_a_commit() {
    let lake = Lake::with(1..=3);
    let mut follower = Follower::at_head(&lake).await;
    lake.drop_table();
    lake.create("second");
    breaks(&mut follower, &lake, "recreated:").await;
    lake.append([1], "b");
    assert_eq!(follower.fast(&lake).await, "+1");
}

#[tokio::test]
async fn dropped_then_created_then_restored() {
    let lake = Lake::with(1..=3);
    let mut follower = Follower::at_head(&lake).await;
    lake.drop_table();
    breaks(&mut follower, &lake, "gone").await;
    lake.create("second");
    breaks(&mut follower, &lake, "recreated:").await;
    lake.drop_table();
    breaks(&mut follower, &lake, "gone").await;
    lake.create("second");
    lake.append([1], "b");
    assert_eq!(follower.strict(&lake).await, "back +1");
}

#[tokio::test]
async fn gone_and_back_as_it_was() {
    let lake = Lake::with(1..=3);
    let mut follower = Follower::at_head(&lake).await;
    lake.drop_table();
    breaks(&mut follower, &lake, "gone").await;
    lake.create("first");
    lake.append(1..=4, "a");
    assert_eq!(follower.strict(&lake).await, "back +4");
}

#[tokio::test]
async fn an_empty_table_dropped() {
    let lake = Lake::with([]);
    let mut follower = Follower::at_head(&lake).await;
    lake.drop_table();
    breaks(&mut follower, &lake, "gone").await;
    // No commit was known, so none can be missed: whatever comes continues it.
    lake.create("second");
    lake.append([1], "b");
    assert_eq!(follower.fast(&lake).await, "back +1");
}

#[tokio::test]
async fn a_rollback_at_work_is_not_published() {
    let lake = Lake::with(1..=5);
    let mut follower = Follower::at_head(&lake).await;
    lake.remove([5]);
    assert_eq!(follower.strict(&lake).await, "suspect");
    lake.remove([4]);
    assert_eq!(follower.strict(&lake).await, "suspect", "it still sinks");
    lake.append([4], "b");
    assert_eq!(follower.strict(&lake).await, "rewound from 5: +1 +2 +3 +4", "a writer went on");
}

#[tokio::test]
async fn a_suspicion_that_was_nothing() {
    let lake = Lake::with(1..=5);
    let mut follower = Follower::at_head(&lake).await;
    lake.remove([5]);
    assert_eq!(follower.strict(&lake).await, "suspect");
    lake.append(5..=6, "a");
    assert_eq!(follower.strict(&lake).await, "+6");

    lake.drop_table();
    assert_eq!(follower.strict(&lake).await, "suspect");
    lake.create("second");
    assert_eq!(follower.strict(&lake).await, "suspect", "gone, and then another: no two agree");
    lake.append([6], "b");
    assert_eq!(follower.strict(&lake).await, "suspect");
    assert_eq!(follower.strict(&lake).await, "recreated: +6");
}

#[tokio::test]
async fn recreated_twice_between_two_reads() {
    let lake = Lake::with(1..=5);
    let mut follower = Follower::at_head(&lake).await;
    for (created, last) in [("second", 2), ("third", 3)] {
        lake.drop_table();
        lake.create(created);
        lake.append(1..=last, created);
        assert_eq!(follower.strict(&lake).await, "suspect", "{created}");
    }
    assert_eq!(follower.strict(&lake).await, "recreated: +1 +2 +3");
}

#[tokio::test]
async fn what_older_agents_held_is_published_at_last() {
    let lake = Lake::with(1..=5);
    for held in ["rewound", "recreated"] {
        let cursor = format!(
            r#"{{"layout":1,"state":"table","head":{{"id":7,"fingerprint":"a7"}},"identity":null,"earliest":1,"held":"{held}"}}"#
        );
        let mut follower = Follower::from_cursor(&cursor);
        assert_eq!(follower.fast(&lake).await, "suspect");
        assert_eq!(follower.fast(&lake).await, "rewound from 7: +1 +2 +3 +4 +5");
        let cursor = cursor.replace("\"id\":7", "\"id\":5").replace("\"a7\"", "\"a5\"");
        assert_eq!(Follower::from_cursor(&cursor).fast(&lake).await, "back");
    }
}

#[tokio::test]
async fn the_fingerprint_outweighs_the_schema_file() {
    let lake = Lake::with(1..=3);
    let mut follower = Follower::at_head(&lake).await;
    lake.create("written again in place");
    lake.append([4], "a");
    assert_eq!(follower.strict(&lake).await, "+4");
}

#[tokio::test]
async fn a_warehouse_without_the_database_is_an_absent_table() {
    let lake = Lake::with(1..=2);
    let mut follower = Follower::at_head(&lake).await;
    fs::remove_dir_all(lake.warehouse().join("ods.db")).unwrap();
    breaks(&mut follower, &lake, "gone").await;
}

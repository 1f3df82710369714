//! Short ways to write tables, changes and conditions.

use asset_core::{
    change::Change,
    condition::{ConditionSpec, Defaults, Dependency, GroupSpec, Since},
    key::AssetKey,
    version::{Commit, CommitClass},
};
use asset_store::{BatchOutcome, Committed, SourceBatch, Store};

pub fn key(table: &str) -> AssetKey {
    AssetKey::of_table("paimon", "lake", "ods", table).unwrap()
}

pub fn commit(id: i64) -> Commit {
    Commit {
        snapshot_id: id,
        fingerprint: format!("f{id}"),
        commit_kind: "APPEND".to_owned(),
        commit_time: Some(id * 10),
        schema_id: Some(0),
        watermark: None,
        delta_record_count: Some(1),
    }
}

pub fn advance(id: i64) -> Change {
    Change::Committed { class: CommitClass::Advance, ordinal: id, commit: commit(id) }
}

pub fn rewrite(id: i64) -> Change {
    let commit = Commit { commit_kind: "COMPACT".to_owned(), ..commit(id) };
    Change::Committed { class: CommitClass::Rewrite, ordinal: id, commit }
}

pub fn batch(table: &str, read_lock: Option<i64>, changes: Vec<Change>) -> SourceBatch {
    SourceBatch {
        key: key(table),
        read_lock,
        cursor: format!("cursor after {:?}", read_lock),
        present: true,
        changes,
        observed_at: 7,
    }
}

/// Applies changes to a table, compared with its cursor as of now.
pub async fn apply(store: &Store, table: &str, changes: Vec<Change>) -> Committed {
    let lock = store.cursor(&key(table)).await.unwrap().map(|cursor| cursor.lock_version);
    committed(store.apply(vec![batch(table, lock, changes)]).await.unwrap().remove(0))
}

pub fn committed(outcome: BatchOutcome) -> Committed {
    match outcome {
        BatchOutcome::Committed(committed) => committed,
        BatchOutcome::Stale => panic!("nobody else moved the cursor"),
    }
}

/// Waits for each of the tables to reach a snapshot.
pub fn reached(tables: &[&str], min: i64) -> Dependency {
    let conditions = tables.iter().map(|table| ConditionSpec {
        asset_key: key(table).to_string(),
        min_snapshot_id: Some(min),
        ..ConditionSpec::default()
    });
    let group = GroupSpec { conditions: conditions.collect(), ..GroupSpec::default() };
    Dependency::check(vec![group], &Defaults::NONE).unwrap()
}

/// Waits for what is newer than the head.
pub fn newer(table: &str) -> Dependency {
    let asset_key = key(table).to_string();
    let condition = ConditionSpec { asset_key, since: Since::Registered, ..ConditionSpec::default() };
    Dependency::check(
        vec![GroupSpec { conditions: vec![condition], ..GroupSpec::default() }],
        &Defaults::NONE,
    )
    .unwrap()
}

//! Short ways to write commits, changes and assets in the tests of this crate.

use crate::{
    asset::Asset,
    change::Change,
    condition::{ConditionSpec, Defaults, Dependency, GroupSpec, Since, Violation},
    event::{EventBody, StampedEvent},
    key::AssetKey,
    time::Zone,
    version::{Assurance, Commit, CommitClass, Position},
};

/// Native ids are ordinals plus this, so that a test sees which of them was used.
pub const NATIVE: i64 = 1000;

pub const OBSERVED_AT: i64 = 7;

pub fn key(text: &str) -> AssetKey {
    AssetKey::parse(text, |_| None).unwrap()
}

pub fn orders() -> AssetKey {
    key("paimon://lake/ods/orders")
}

pub fn at(ordinal: i64) -> Position {
    Position { generation: 1, ordinal }
}

pub fn commit(ordinal: i64, kind: &str, watermark: Option<i64>) -> Commit {
    Commit {
        snapshot_id: NATIVE + ordinal,
        fingerprint: format!("f{ordinal}"),
        commit_kind: kind.to_owned(),
        commit_time: Some(ordinal * 10),
        schema_id: Some(0),
        watermark,
        delta_record_count: Some(1),
    }
}

pub fn committed(class: CommitClass, ordinal: i64, watermark: Option<i64>) -> Change {
    let kind = match class {
        CommitClass::Advance => "APPEND",
        CommitClass::Rewrite => "COMPACT",
    };
    Change::Committed { class, ordinal, commit: commit(ordinal, kind, watermark) }
}

pub fn advance(ordinal: i64) -> Change {
    committed(CommitClass::Advance, ordinal, None)
}

pub fn rewrite(ordinal: i64) -> Change {
    committed(CommitClass::Rewrite, ordinal, None)
}

pub fn gap(first: i64, last: i64) -> Change {
    Change::Gap { first, last }
}

/// The change as an event of a generation.
pub fn stamped(change: &Change, generation: i64) -> StampedEvent {
    let (ordinal, body) = match change {
        Change::Committed { class, ordinal, commit } => (
            *ordinal,
            EventBody::Committed { class: *class, commit: commit.clone(), assurance: Assurance::Verified },
        ),
        Change::Gap { first, last } => (*last, EventBody::Gap { first: *first }),
        other => panic!("{other:?} is no event of the log"),
    };
    StampedEvent { position: Position { generation, ordinal }, observed_at: OBSERVED_AT, body }
}

pub fn asset(key: &AssetKey, changes: &[Change]) -> Asset {
    Asset::new(key.clone()).apply(changes, OBSERVED_AT).asset
}

pub fn wants(asset_key: &str) -> ConditionSpec {
    ConditionSpec { asset_key: asset_key.to_owned(), ..ConditionSpec::default() }
}

pub fn wants_newer(asset_key: &str) -> ConditionSpec {
    ConditionSpec { since: Since::Registered, ..wants(asset_key) }
}

pub fn wants_min(asset_key: &str, min: i64) -> ConditionSpec {
    ConditionSpec { min_snapshot_id: Some(min), ..wants(asset_key) }
}

pub fn group(name: &str, conditions: Vec<ConditionSpec>) -> GroupSpec {
    GroupSpec { name: name.to_owned(), conditions }
}

pub fn check(groups: Vec<GroupSpec>) -> Result<Dependency, Vec<Violation>> {
    let catalog = |format: &str| (format == "paimon").then(|| "lake".to_owned());
    Dependency::check(groups, &Defaults { catalog: &catalog, zone: &Zone::UTC })
}

pub fn one(condition: ConditionSpec) -> Dependency {
    check(vec![group("", vec![condition])]).unwrap()
}

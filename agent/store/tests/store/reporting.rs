//! Reports: stored once, folded into the asset, waiting for what they speak of, across restarts.

use std::collections::BTreeMap;

use asset_core::{
    change::{Change, Found},
    event::{IgnoredReason, Outcome},
    facts::{BackfillStatus, Quality, SchemaDecision, SchemaStatus},
    key::AssetKey,
    report::{Report, ReportBody, VersionName},
    version::CommitClass,
};
use asset_store::{EventQuery, Loaded, ReportOutcome, ReportRequest, Role, Store};

use crate::{File, advance, apply, commit, key};

const READ: Role = Role::Read;
const PUSHED: Role = Role::Reported { register: true };

pub fn name(snapshot_id: i64) -> VersionName {
    VersionName { snapshot_id, fingerprint: None }
}

pub fn quality(id: &str, snapshot_id: i64, status: Quality, at: i64) -> Report {
    Report {
        event_id: Some(id.to_owned()),
        reporter: "soda".to_owned(),
        event_time: Some(at),
        body: ReportBody::Quality { version: name(snapshot_id), status, read_time: None },
    }
}

fn other(body: ReportBody) -> Report {
    Report { event_id: Some("e".into()), reporter: "r".into(), event_time: Some(5), body }
}

fn snapshot(snapshot_id: i64) -> Report {
    Report {
        event_id: None,
        reporter: "r".into(),
        event_time: None,
        body: ReportBody::Snapshot {
            version: name(snapshot_id),
            sequence: None,
            commit_time: None,
            commit_kind: None,
            schema_id: None,
            watermark: Some(snapshot_id),
            delta_record_count: None,
        },
    }
}

pub async fn report(store: &Store, table: &str, role: Role, reports: Vec<Report>) -> Vec<ReportOutcome> {
    let request = |report| ReportRequest { key: key(table), role, report, received: 7 };
    store.report(reports.into_iter().map(request).collect()).await.unwrap().outcomes
}

fn outcomes(told: &[ReportOutcome]) -> Vec<Outcome> {
    let one = |outcome: &ReportOutcome| match outcome {
        ReportOutcome::Stored { outcome, .. } => *outcome,
        other => panic!("{other:?}"),
    };
    told.iter().map(one).collect()
}

async fn asset(store: &Store, table: &str) -> asset_core::asset::Asset {
    let (mut loaded, _): (BTreeMap<AssetKey, Loaded>, _) = store.load_deep(&[key(table)]).await.unwrap();
    let Loaded::Known(asset) = loaded.remove(&key(table)).unwrap() else { panic!("unknown") };
    *asset
}

#[tokio::test]
async fn what_was_said_is_there_after_a_restart() {
    let file = File::new();
    let store = file.open().await;
    apply(&store, "orders", vec![Change::Schema { id: 0 }, advance(1), advance(2)]).await;
    let found = Found { class: CommitClass::Advance, ordinal: 1, commit: commit(1) };
    apply(&store, "orders", vec![Change::Tagged { name: "v1".into(), found }]).await;
    let decision = Some(SchemaDecision::Rejected);
    let told = report(
        &store,
        "orders",
        READ,
        vec![
            quality("q-1", 1, Quality::Failed, 5),
            quality("q-2", 2, Quality::Passed, 5),
            other(ReportBody::Watermark { watermark: 50, version: Some(name(1)) }),
            other(ReportBody::Schema { schema_id: 0, decision }),
            other(ReportBody::Backfill {
                id: "b".into(),
                status: BackfillStatus::Running,
                from: Some(1),
                to: None,
            }),
        ],
    );
    assert_eq!(outcomes(&told.await), [Outcome::Applied; 5]);
    let before = asset(&store, "orders").await;
    store.close().await;
    drop(store);
    let store = file.open().await;
    let after = asset(&store, "orders").await;
    assert_eq!(after, before);
    assert_eq!(after.quality().unwrap().value, Quality::Passed);
    assert_eq!(after.schema_status(), Some(SchemaStatus::Rejected));
    assert_eq!(after.log.facts().backfill_status(), BackfillStatus::Running);
    assert_eq!(after.latest_tag.as_deref(), Some("v1"));
    let marks: Vec<Option<i64>> = after.log.versions().map(|(_, v)| v.effective_watermark).collect();
    assert_eq!(marks, [Some(50), Some(50)], "the second inherits it");
}

#[tokio::test]
async fn one_event_is_stored_once_and_a_changed_one_is_a_conflict() {
    let file = File::new();
    let store = file.open().await;
    apply(&store, "orders", vec![advance(1), advance(2)]).await;
    let first = || quality("q-1", 1, Quality::Passed, 5);
    let told =
        report(&store, "orders", READ, vec![first(), first(), quality("q-1", 2, Quality::Passed, 5)]).await;
    assert!(matches!(told[0], ReportOutcome::Stored { outcome: Outcome::Applied, .. }), "{told:?}");
    assert_eq!(told[1], ReportOutcome::Duplicate { event_id: "q-1".into() });
    assert_eq!(told[2], ReportOutcome::Conflict { event_id: "q-1".into() });
    let again = report(&store, "orders", READ, vec![first()]).await;
    assert_eq!(again, [ReportOutcome::Duplicate { event_id: "q-1".into() }]);
    let query =
        EventQuery { event_type: Some("QUALITY_CHECK_PASSED".into()), limit: 9, ..EventQuery::default() };
    assert_eq!(store.events(&query).await.unwrap().events.len(), 1);
}

#[tokio::test]
async fn what_was_not_seen_yet_waits_and_is_given_up_after_its_time() {
    let file = File::new();
    let store = file.open().await;
    // Before the table was ever read.
    let told =
        report(&store, "orders", READ, vec![quality("q-1", 2, Quality::Passed, 5), snapshot(1), snapshot(9)])
            .await;
    assert_eq!(outcomes(&told), [Outcome::Pending; 3]);
    let state = async |event_id: &str| {
        let page = store.events(&EventQuery { limit: 100, ..EventQuery::default() }).await.unwrap();
        let event = page.events.into_iter().find(|event| {
            event.event_id == event_id
                || (event.source == "PUSH"
                    && event.snapshot_id.map(|id| id.to_string()).as_deref() == Some(event_id))
        });
        let event = event.unwrap();
        (event.outcome, event.outcome_reason)
    };
    apply(&store, "orders", vec![advance(1)]).await;
    assert_eq!(state("1").await, ("APPLIED".into(), None));
    assert_eq!(state("q-1").await.0, "PENDING");
    apply(&store, "orders", vec![advance(2), Change::Gap { first: 3, last: 9 }, advance(10)]).await;
    assert_eq!(state("q-1").await, ("APPLIED".into(), None));
    assert_eq!(state("9").await, ("IGNORED".into(), Some("UNKNOWN_VERSION".into())), "a gap names it");
    assert!(asset(&store, "orders").await.log.facts().quality.contains_key("f2"));

    let told = report(&store, "orders", READ, vec![quality("q-3", 99, Quality::Passed, 5)]).await;
    assert_eq!(outcomes(&told), [Outcome::Pending]);
    assert_eq!(store.give_up_pending(7).await.unwrap(), 0, "it came at 7");
    assert_eq!(store.give_up_pending(8).await.unwrap(), 1);
    assert_eq!(state("q-3").await, ("IGNORED".into(), Some("UNKNOWN_VERSION".into())));
}

#[tokio::test]
async fn late_reports_are_put_where_they_belong() {
    let file = File::new();
    let store = file.open().await;
    let told = report(&store, "clicks", PUSHED, [5, 9, 7].map(snapshot).to_vec()).await;
    let stale = Outcome::Ignored(IgnoredReason::Stale);
    assert_eq!(outcomes(&told), [Outcome::Applied, Outcome::Applied, stale]);
    let told = report(&store, "clicks", PUSHED, [6, 10, 8].map(snapshot).to_vec()).await;
    assert_eq!(outcomes(&told), [stale, Outcome::Applied, stale]);
    let log: Vec<i64> = asset(&store, "clicks").await.log.versions().map(|(at, _)| at.ordinal).collect();
    assert_eq!(log, [5, 6, 7, 8, 9, 10]);
    let nobody = report(&store, "others", Role::Reported { register: false }, vec![snapshot(1)]).await;
    assert_eq!(nobody, [ReportOutcome::NoSuchAsset]);
}

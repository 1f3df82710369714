use super::*;
use crate::{
    change::{Change, Found, HistoryBreak},
    facts::{Quality, SchemaStatus},
    samples::{OBSERVED_AT, advance, asset, at, commit, gap, key, orders, rewrite},
};

fn name(snapshot_id: i64) -> VersionName {
    VersionName { snapshot_id, fingerprint: None }
}

fn report(body: ReportBody) -> Report {
    Report { event_id: Some("e".into()), reporter: "r".into(), event_time: Some(5), body }
}

fn quality(version: VersionName, read_time: Option<i64>) -> Report {
    report(ReportBody::Quality { version, status: Quality::Passed, read_time })
}

fn snapshot(id: i64) -> Report {
    report(ReportBody::Snapshot {
        version: name(id),
        sequence: None,
        commit_time: None,
        commit_kind: None,
        schema_id: None,
        watermark: None,
        delta_record_count: None,
    })
}

fn take(asset: &mut Asset, report: &Report, source: Source) -> Outcome {
    asset.take(report, source, "k", 9).unwrap().outcome
}

fn passed(asset: &Asset) -> bool {
    asset.quality().is_some_and(|said| said.value == Quality::Passed)
}

/// A table whose snapshot 1002 came again with other content after a rollback to 1001.
fn came_again() -> Asset {
    let other = |ordinal: i64| {
        let mut commit = commit(ordinal, "APPEND", None);
        commit.fingerprint = format!("g{ordinal}");
        // The first was committed at 20.
        commit.commit_time = Some(ordinal * 10 + 100);
        Found { class: CommitClass::Advance, ordinal, commit }
    };
    let Change::Committed { class, ordinal, commit } = advance(1) else { unreachable!() };
    let cause = HistoryBreak::Rewound { known: 1002, found: Some(1002) };
    let commits = vec![Found { class, ordinal, commit }, other(2)];
    asset(&orders(), &[advance(1), advance(2), Change::NewHistory { cause, commits }])
}

#[test]
fn a_verdict_binds_to_one_version() {
    use IgnoredReason::{AmbiguousVersion, UnknownVersion};
    for (version, read_time, outcome, counts) in [
        (name(1002), None, Outcome::Ignored(AmbiguousVersion), false),
        // Read before either was there; after the first; after the second.
        (name(1002), Some(19), Outcome::Ignored(UnknownVersion), false),
        (name(1002), Some(20), Outcome::Applied, false),
        (name(1002), Some(119), Outcome::Applied, false),
        (name(1002), Some(120), Outcome::Applied, true),
        (VersionName { fingerprint: Some("f2".into()), ..name(1002) }, None, Outcome::Applied, false),
        (VersionName { fingerprint: Some("g2".into()), ..name(1002) }, None, Outcome::Applied, true),
        (VersionName { fingerprint: Some("other".into()), ..name(1002) }, None, Outcome::Pending, false),
        (name(1003), None, Outcome::Pending, false),
    ] {
        let mut asset = came_again();
        let verdict = quality(version.clone(), read_time);
        assert_eq!(take(&mut asset, &verdict, Source::Table), outcome, "{version:?} {read_time:?}");
        assert_eq!(passed(&asset), counts, "{version:?} {read_time:?}");
    }
}

#[test]
fn a_verdict_goes_with_its_commit_through_rollbacks() {
    let mut table = asset(&orders(), &[advance(1), advance(2)]);
    assert_eq!(take(&mut table, &quality(name(1002), None), Source::Table), Outcome::Applied);
    let found = |ordinal| match advance(ordinal) {
        Change::Committed { class, ordinal, commit } => Found { class, ordinal, commit },
        _ => unreachable!(),
    };
    let back = |to: i64, commits| Change::NewHistory {
        cause: HistoryBreak::Rewound { known: 0, found: Some(to) },
        commits,
    };
    let table = table.apply(&[back(1001, vec![found(1)])], 9).asset;
    assert!(!passed(&table), "its commit is not there");
    let table = table.apply(&[back(1002, vec![found(1), found(2)])], 9).asset;
    assert!(passed(&table), "undone");
}

#[test]
fn a_verdict_on_a_compaction_counts_for_the_data_that_it_carries() {
    let mut table = asset(&orders(), &[advance(1), rewrite(2)]);
    assert_eq!(take(&mut table, &quality(name(1002), None), Source::Table), Outcome::Applied);
    assert!(table.log.quality(at(1)).is_some() && passed(&table));
}

#[test]
fn what_a_gap_names_is_unknown() {
    // Ids of this table are ordinals.
    let changes = [advance(1001), gap(1002, 1004), advance(1005)].map(|change| match change {
        Change::Committed { class, ordinal, mut commit } => {
            commit.snapshot_id = ordinal;
            Change::Committed { class, ordinal, commit }
        }
        change => change,
    });
    let mut table = asset(&orders(), &changes);
    for (id, outcome) in [
        (1001, Outcome::Applied),
        (1002, Outcome::Ignored(IgnoredReason::UnknownVersion)),
        (1004, Outcome::Ignored(IgnoredReason::UnknownVersion)),
        (1005, Outcome::Applied),
        (1006, Outcome::Pending),
    ] {
        assert_eq!(take(&mut table, &quality(name(id), None), Source::Table), outcome, "{id}");
    }
}

#[test]
fn a_hint_moves_nothing() {
    let mut table = asset(&orders(), &[advance(1)]);
    let before = table.clone();
    for (report, outcome) in [
        (snapshot(1001), Outcome::Applied),
        (snapshot(1009), Outcome::Pending),
        (report(ReportBody::Tag { name: "t".into(), version: Some(name(1001)) }), Outcome::Pending),
        (report(ReportBody::Schema { schema_id: 0, decision: None }), Outcome::Applied),
        (report(ReportBody::Schema { schema_id: 7, decision: None }), Outcome::Pending),
    ] {
        assert_eq!(take(&mut table, &report, Source::Table), outcome, "{report:?}");
    }
    assert_eq!(table, before);
}

#[test]
fn the_first_event_fixes_what_orders_the_versions() {
    let with = |id, sequence, commit_time| match snapshot(id).body {
        ReportBody::Snapshot { version, commit_kind, schema_id, watermark, delta_record_count, .. } => {
            report(ReportBody::Snapshot {
                version,
                sequence,
                commit_time,
                commit_kind,
                schema_id,
                watermark,
                delta_record_count,
            })
        }
        _ => unreachable!(),
    };
    let watermark = |at| report(ReportBody::Watermark { watermark: at, version: None });
    for (asset_key, reports, ordering, heads) in [
        ("kafka://web/clicks", vec![snapshot(5), snapshot(7), snapshot(6)], Ordering::Id, 7),
        // Ids of no order.
        (
            "kafka://web/clicks",
            vec![with(90, Some(1), None), with(10, Some(3), None), with(50, Some(2), None)],
            Ordering::Sequence,
            10,
        ),
        (
            "iceberg://web/clicks",
            vec![with(90, None, Some(5)), with(10, None, Some(9)), with(50, None, Some(7))],
            Ordering::CommitTime,
            10,
        ),
        ("kafka://web/clicks", vec![watermark(50), watermark(70), watermark(60)], Ordering::Watermark, 70),
    ] {
        let mut asset = Asset::new(key(asset_key));
        for report in &reports {
            take(&mut asset, report, Source::Reports);
        }
        assert_eq!(asset.ordering, Some(ordering));
        assert_eq!(asset.latest_data().unwrap().1.commit.snapshot_id, heads, "{ordering:?}");
        assert_eq!(asset.log.versions().count(), 3);
        let refused = match ordering {
            Ordering::Sequence => snapshot(99),
            Ordering::Id | Ordering::CommitTime | Ordering::Watermark => with(99, Some(99), None),
        };
        let before = asset.clone();
        let error = asset.take(&refused, Source::Reports, "k", 9).unwrap_err();
        assert!(error.to_string().contains(ordering.as_str()), "{error}");
        assert_eq!(asset, before, "what is refused moves nothing");
    }
}

#[test]
fn a_watermark_of_the_head_never_lowers_it() {
    let mut table = asset(&orders(), &[advance(1)]);
    let watermark = |at| report(ReportBody::Watermark { watermark: at, version: None });
    let of = |table: &Asset| table.log.watermark(at(1));
    assert_eq!(take(&mut table, &watermark(50), Source::Table), Outcome::Applied);
    assert_eq!(take(&mut table, &watermark(40), Source::Table), Outcome::Ignored(IgnoredReason::Stale));
    assert_eq!(of(&table), Some(50));
    // The next commit inherits it.
    let table = table.apply(&[advance(2)], OBSERVED_AT).asset;
    assert_eq!(table.log.watermark(at(2)), Some(50));
}

#[test]
fn schemas_need_approval_unless_they_were_there_at_first_sight() {
    let with_schema = |ordinal: i64, schema: i64| {
        let mut commit = commit(ordinal, "APPEND", None);
        commit.schema_id = Some(schema);
        Change::Committed { class: CommitClass::Advance, ordinal, commit }
    };
    let mut table = asset(&orders(), &[with_schema(1, 0), with_schema(2, 2)]);
    assert_eq!([0, 1, 2, 3].map(|id| table.log.schema_status(id)), {
        use SchemaStatus::{Compatible, PendingApproval};
        [Compatible, Compatible, Compatible, PendingApproval]
    });
    table = table.apply(&[with_schema(3, 3)], 9).asset;
    assert_eq!(table.schema_status(), Some(SchemaStatus::PendingApproval));
    let decide = |id, decision, at| Report {
        event_time: Some(at),
        ..report(ReportBody::Schema { schema_id: id, decision: Some(decision) })
    };
    take(&mut table, &decide(3, SchemaDecision::Approved, 5), Source::Table);
    assert_eq!(table.schema_status(), Some(SchemaStatus::Compatible));
    take(&mut table, &decide(3, SchemaDecision::Rejected, 4), Source::Table);
    assert_eq!(table.schema_status(), Some(SchemaStatus::Compatible), "an older decision");

    // Another table under the name: its schemas are others, whatever their ids.
    let cause = HistoryBreak::Recreated;
    let Change::Committed { class, ordinal, commit } = with_schema(1, 3) else { unreachable!() };
    let commits = vec![Found { class, ordinal, commit }];
    let table = table.apply(&[Change::NewHistory { cause, commits }], 9).asset;
    assert_eq!(table.schema_status(), Some(SchemaStatus::PendingApproval));
}

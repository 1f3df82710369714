use proptest::{collection::vec, prelude::*};

use super::*;
use crate::{
    change::HistoryBreak,
    samples::{advance, asset, at, committed, gap, orders, rewrite},
    version::CommitClass,
};

fn rewound() -> Change {
    Change::Broken(HistoryBreak::Rewound { known: 1003, found: Some(1002) })
}

fn expired(earliest: i64) -> Change {
    Change::Expired { earliest }
}

/// Applies batches one after the other; the asset with the answer to the last.
fn apply_all(batches: &[Vec<Change>]) -> Applied {
    let mut asset = Asset::new(orders());
    let (last, before) = batches.split_last().unwrap();
    for (time, batch) in before.iter().enumerate() {
        asset = asset.apply(batch, time as i64).asset;
    }
    asset.apply(last, 100)
}

/// Where the asset stands and what became of the last batch, in one line.
fn shown(applied: &Applied) -> String {
    let place = |found: Option<(Position, &Version)>| {
        found.map_or("none".to_owned(), |(position, _)| position.to_string())
    };
    let asset = &applied.asset;
    let mut words = vec![format!("head {} data {}", place(asset.latest()), place(asset.latest_data()))];
    if let Some(hold) = &asset.hold {
        words.push(format!("hold {}@{}", hold.cause.code(), hold.since));
    }
    words.extend(applied.evidence.iter().map(|event| {
        let outcome = match event.outcome {
            Outcome::Ignored(reason) => reason.as_str(),
            Outcome::Applied => "applied",
            Outcome::Duplicate => "duplicate",
        };
        let position = event.position.map_or("nowhere".to_owned(), |position| position.to_string());
        format!("{} {position} {outcome}", event.event_type().as_str())
    }));
    if applied.duplicates > 0 {
        words.push(format!("{} there already", applied.duplicates));
    }
    if let Some(earliest) = applied.expired_below {
        words.push(format!("expired below {earliest}"));
    }
    words.push(if applied.changed { "changed" } else { "as it was" }.to_owned());
    words.join("; ")
}

#[test]
fn what_batches_do() {
    let broken = |cause| vec![Change::Broken(cause)];
    let history = || vec![advance(1), advance(2), rewrite(3)];
    for (name, batches, expected) in [
        ("empty table", vec![vec![]], "head none data none; as it was"),
        (
            "first read",
            vec![history()],
            "head 1:3 data 1:2; SNAPSHOT_COMMITTED 1:1 applied; SNAPSHOT_COMMITTED 1:2 applied; \
             SNAPSHOT_COMMITTED 1:3 MAINTENANCE_ONLY; changed",
        ),
        (
            "first read that begins with a compaction",
            vec![vec![rewrite(8), rewrite(9)]],
            "head 1:9 data 1:8; SNAPSHOT_COMMITTED 1:8 applied; SNAPSHOT_COMMITTED 1:9 MAINTENANCE_ONLY; changed",
        ),
        ("nothing", vec![history(), vec![]], "head 1:3 data 1:2; as it was"),
        (
            "compaction",
            vec![history(), vec![rewrite(4)]],
            "head 1:4 data 1:2; SNAPSHOT_COMMITTED 1:4 MAINTENANCE_ONLY; changed",
        ),
        (
            "gap, then a compaction",
            vec![history(), vec![gap(4, 6), rewrite(7), rewrite(8)]],
            "head 1:8 data 1:7; GAP_DETECTED 1:6 applied; SNAPSHOT_COMMITTED 1:7 applied; \
             SNAPSHOT_COMMITTED 1:8 MAINTENANCE_ONLY; changed",
        ),
        (
            "gap alone",
            vec![history(), vec![gap(4, 6)]],
            "head 1:3 data 1:2; GAP_DETECTED 1:6 applied; changed",
        ),
        ("all again", vec![history(), history()], "head 1:3 data 1:2; 3 there already; as it was"),
        (
            "one again, one new",
            vec![history(), vec![rewrite(3), advance(4)]],
            "head 1:4 data 1:4; SNAPSHOT_COMMITTED 1:4 applied; 1 there already; changed",
        ),
        ("expired", vec![history(), vec![expired(3)]], "head 1:3 data 1:2; expired below 3; changed"),
        (
            "expired twice, the further one counts",
            vec![history(), vec![expired(3), expired(2)]],
            "head 1:3 data 1:2; expired below 3; changed",
        ),
        (
            "rewound",
            vec![history(), vec![rewound()]],
            "head 1:3 data 1:2; hold REWOUND@100; ROLLED_BACK 1:3 applied; changed",
        ),
        (
            "recreated",
            vec![history(), broken(HistoryBreak::Recreated)],
            "head 1:3 data 1:2; hold RECREATED@100; ROLLED_BACK 1:3 applied; changed",
        ),
        (
            "dropped while it had no snapshot",
            vec![vec![], broken(HistoryBreak::Absent)],
            "head none data none; hold ABSENT@100; ROLLED_BACK nowhere applied; changed",
        ),
        (
            "rewound as before",
            vec![history(), vec![rewound()], vec![rewound()]],
            "head 1:3 data 1:2; hold REWOUND@1; as it was",
        ),
        (
            "rewound, then dropped",
            vec![history(), vec![rewound()], broken(HistoryBreak::Absent)],
            "head 1:3 data 1:2; hold ABSENT@100; ROLLED_BACK 1:3 applied; changed",
        ),
        ("mended", vec![history(), vec![rewound()], vec![Change::Mended]], "head 1:3 data 1:2; changed"),
        (
            "mended with news",
            vec![history(), vec![rewound()], vec![Change::Mended, advance(4)]],
            "head 1:4 data 1:4; SNAPSHOT_COMMITTED 1:4 applied; changed",
        ),
        ("mended what was whole", vec![history(), vec![Change::Mended]], "head 1:3 data 1:2; as it was"),
        (
            "late",
            vec![vec![advance(5)], vec![advance(4)]],
            "head 1:5 data 1:5; SNAPSHOT_COMMITTED 1:4 STALE; changed",
        ),
    ] {
        assert_eq!(shown(&apply_all(&batches)), expected, "{name}");
    }
}

#[test]
fn expiry_leaves_what_can_be_read() {
    let applied = apply_all(&[vec![advance(1), advance(2), rewrite(3)], vec![expired(3)]]);
    let readable: Vec<_> = applied.asset.log.versions().map(|(at, v)| (at.ordinal, v.readable)).collect();
    assert_eq!(readable, [(1, false), (2, false), (3, true)]);
    assert_eq!(applied.asset.log.readable_carrier(at(2)).unwrap().commit.commit_kind, "COMPACT");
}

#[test]
fn evidence_of_a_break_says_what_was_found() {
    let applied = apply_all(&[vec![advance(1)], vec![rewound()]]);
    let Fact::RolledBack(hold) = &applied.evidence[0].fact else { panic!("{:?}", applied.evidence) };
    assert_eq!(hold, applied.asset.hold.as_ref().unwrap());
    assert_eq!(applied.evidence[0].observed_at, 100);
}

#[test]
fn the_head_is_of_any_class_and_may_be_missing() {
    assert_eq!(asset(&orders(), &[]).head(), Floor::BelowAll);
    assert_eq!(asset(&orders(), &[gap(1, 2)]).head(), Floor::BelowAll);
    assert_eq!(asset(&orders(), &[advance(1), rewrite(2)]).head(), Floor::At(at(2)));
}

proptest! {
    #[test]
    fn a_compaction_never_moves_the_data_version(
        classes in vec(any::<bool>(), 0..8),
        compactions in 1..4_i64,
    ) {
        let mut changes = vec![advance(1)];
        for (index, is_advance) in classes.into_iter().enumerate() {
            let ordinal = index as i64 + 2;
            changes.push(if is_advance { advance(ordinal) } else { rewrite(ordinal) });
        }
        let before = asset(&orders(), &changes);
        let data = before.latest_data().unwrap().0;
        let head = before.latest().unwrap().0.ordinal;
        let more: Vec<_> = (1..=compactions).map(|step| rewrite(head + step)).collect();
        let after = before.apply(&more, 9).asset;
        prop_assert_eq!(after.latest_data().unwrap().0, data);
        prop_assert_eq!(after.head(), Floor::At(at(head + compactions)));
    }

    #[test]
    fn batches_are_split_at_will(
        kinds in vec((0..8_u8, proptest::option::of(0..9_i64)), 0..14),
        size in 1..6_usize,
    ) {
        let mut ordinal = 0;
        let changes: Vec<Change> = kinds
            .into_iter()
            .map(|(kind, watermark)| {
                ordinal += 1;
                match kind {
                    0..3 => committed(CommitClass::Advance, ordinal, watermark),
                    3..5 => committed(CommitClass::Rewrite, ordinal, watermark),
                    5 => gap(ordinal, ordinal),
                    6 => expired(ordinal - 2),
                    _ if ordinal % 2 == 0 => rewound(),
                    _ => Change::Mended,
                }
            })
            .collect();
        let whole = Asset::new(orders()).apply(&changes, 5);
        let mut asset = Asset::new(orders());
        let mut evidence = Vec::new();
        let mut expired_below = None;
        for batch in changes.chunks(size) {
            let applied = asset.apply(batch, 5);
            asset = applied.asset;
            evidence.extend(applied.evidence);
            expired_below = expired_below.max(applied.expired_below);
        }
        prop_assert_eq!(asset, whole.asset);
        prop_assert_eq!(evidence, whole.evidence);
        prop_assert_eq!(expired_below, whole.expired_below);
    }
}

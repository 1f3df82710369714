use proptest::{collection::vec, prelude::*};

use super::*;
use crate::{
    samples::{NATIVE, advance, asset, at, commit, committed, gap, orders, rewrite},
    version::{Commit, CommitClass, Floor},
};

/// A history that is not the known one: commits by ordinal, those with a mark are others than before.
fn history(cause: HistoryBreak, ordinals: &[(i64, bool)]) -> Change {
    let commits = ordinals.iter().map(|(ordinal, other)| {
        let mut commit = commit(*ordinal, "APPEND", None);
        if *other {
            commit.fingerprint.push('x');
        }
        Found { class: CommitClass::Advance, ordinal: *ordinal, commit }
    });
    Change::NewHistory { cause, commits: commits.collect() }
}

/// A commit that the table of before never had.
fn other(ordinal: i64) -> Change {
    let commit = Commit { fingerprint: format!("f{ordinal}x"), ..commit(ordinal, "APPEND", None) };
    Change::Committed { class: CommitClass::Advance, ordinal, commit }
}

fn rewound(ordinals: &[(i64, bool)]) -> Change {
    let found = ordinals.last().map(|(ordinal, _)| NATIVE + ordinal);
    history(HistoryBreak::Rewound { known: 1003, found }, ordinals)
}

fn recreated(ordinals: &[(i64, bool)]) -> Change {
    history(HistoryBreak::Recreated, ordinals)
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
    if let Some(since) = asset.gone_since {
        words.push(format!("gone since {since}"));
    }
    words.extend(applied.evidence.iter().map(|event| {
        let outcome = match event.outcome {
            Outcome::Ignored(reason) => reason.as_str(),
            Outcome::Applied => "applied",
            Outcome::Pending | Outcome::Duplicate => "duplicate",
        };
        let position = match event.position {
            Some(Position { generation, ordinal: i64::MIN }) => format!("{generation}:none"),
            position => position.map_or("nowhere".to_owned(), |position| position.to_string()),
        };
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
            "rolled back",
            vec![history(), vec![rewound(&[(1, false), (2, false)])]],
            "head 2:2 data 2:2; ROLLED_BACK 2:2 applied; changed",
        ),
        (
            "rolled back onto a compaction: it carries what it carried",
            vec![vec![advance(1), rewrite(2), advance(3)], vec![rewound(&[(1, false), (2, false)])]],
            "head 2:2 data 2:1; ROLLED_BACK 2:2 applied; changed",
        ),
        (
            "rolled back, and the first commits after it use the ids again",
            vec![history(), vec![rewound(&[(1, false), (2, true), (3, true)])]],
            "head 2:3 data 2:3; ROLLED_BACK 2:1 applied; SNAPSHOT_COMMITTED 2:2 applied; \
             SNAPSHOT_COMMITTED 2:3 applied; changed",
        ),
        (
            "rolled back, then commits of which the first ones expired",
            vec![history(), vec![rewound(&[(1, false), (5, true)])]],
            "head 2:5 data 2:5; ROLLED_BACK 2:1 applied; GAP_DETECTED 2:4 applied; \
             SNAPSHOT_COMMITTED 2:5 applied; changed",
        ),
        (
            "undone",
            vec![
                history(),
                vec![rewound(&[(1, false)])],
                vec![rewound(&[(1, false), (2, false), (3, false)])],
            ],
            "head 3:3 data 3:2; ROLLED_BACK 3:3 applied; changed",
        ),
        (
            "rolled back to before all that the log has",
            vec![vec![advance(8), advance(9)], vec![rewound(&[(4, false), (5, false)])]],
            "head 2:5 data 2:5; ROLLED_BACK 2:5 applied; changed",
        ),
        (
            "the same table with nothing that was known, all above what the log has",
            vec![vec![advance(1)], vec![rewound(&[(2, true), (3, true)])]],
            "head 2:3 data 2:3; ROLLED_BACK 2:none applied; SNAPSHOT_COMMITTED 2:2 applied; \
             SNAPSHOT_COMMITTED 2:3 applied; changed",
        ),
        (
            "rolled back to nothing",
            vec![history(), vec![rewound(&[])]],
            "head none data none; ROLLED_BACK 2:none applied; changed",
        ),
        (
            "recreated",
            vec![history(), vec![recreated(&[(1, true)])]],
            "head 2:1 data 2:1; ROLLED_BACK 2:none applied; SCHEMA_CHANGED 2:0 applied; SNAPSHOT_COMMITTED 2:1 applied; changed",
        ),
        (
            "recreated and empty",
            vec![history(), vec![recreated(&[])]],
            "head none data none; ROLLED_BACK 2:none applied; changed",
        ),
        (
            "recreated and empty, then a commit",
            vec![history(), vec![recreated(&[])], vec![other(1)]],
            "head 2:1 data 2:1; SCHEMA_CHANGED 2:0 applied; SNAPSHOT_COMMITTED 2:1 applied; changed",
        ),
        ("gone", vec![history(), vec![Change::Gone]], "head 1:3 data 1:2; gone since 100; changed"),
        (
            "still gone",
            vec![history(), vec![Change::Gone], vec![Change::Gone]],
            "head 1:3 data 1:2; gone since 1; as it was",
        ),
        ("back", vec![history(), vec![Change::Gone], vec![Change::Back]], "head 1:3 data 1:2; changed"),
        (
            "back with news",
            vec![history(), vec![Change::Gone], vec![Change::Back, advance(4)]],
            "head 1:4 data 1:4; SNAPSHOT_COMMITTED 1:4 applied; changed",
        ),
        (
            "gone, and another one comes",
            vec![history(), vec![Change::Gone], vec![recreated(&[(1, true)])]],
            "head 2:1 data 2:1; ROLLED_BACK 2:none applied; SCHEMA_CHANGED 2:0 applied; SNAPSHOT_COMMITTED 2:1 applied; changed",
        ),
        ("back though it never went", vec![history(), vec![Change::Back]], "head 1:3 data 1:2; as it was"),
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
fn a_position_is_carried_over_rollbacks() {
    let floor = |batches: &[Vec<Change>], ordinal| apply_all(batches).asset.log.carry(Floor::At(at(ordinal)));
    let second = |ordinal| Floor::At(Position { generation: 2, ordinal });
    let third = |ordinal| Floor::At(Position { generation: 3, ordinal });
    let begin = || vec![advance(1), advance(2), advance(3)];
    let back_to_1 = || vec![rewound(&[(1, false)])];
    // What was taken back is no news to whoever had seen it, and not again when it comes back.
    assert_eq!(floor(&[begin(), back_to_1()], 3), second(1));
    let undone = || vec![rewound(&[(1, false), (2, false), (3, false)])];
    assert_eq!(floor(&[begin(), back_to_1(), undone()], 3), third(3));
    assert_eq!(floor(&[begin(), back_to_1(), undone()], 2), third(2));
    // Nor when it comes back commit by commit, as what follows on the head.
    let again = || vec![advance(2), advance(3), advance(4)];
    assert_eq!(floor(&[begin(), back_to_1(), again()], 3), third(3));
    assert_eq!(
        shown(&apply_all(&[begin(), back_to_1(), again()])),
        "head 3:4 data 3:4; ROLLED_BACK 3:3 applied; \
         SNAPSHOT_COMMITTED 3:4 applied; changed"
    );
    // Nor when it is taken back once more, less far.
    let back_to_2 = || vec![rewound(&[(1, false), (2, false)])];
    let fourth = Floor::At(Position { generation: 4, ordinal: 2 });
    assert_eq!(floor(&[begin(), back_to_1(), undone(), back_to_2()], 3), fourth);
    // The first commit after a rollback counts, though its id was used before.
    let other_2 = || vec![rewound(&[(1, false), (2, true)])];
    assert_eq!(floor(&[begin(), other_2()], 2), second(1));
    // What was never seen still counts.
    assert_eq!(floor(&[begin(), other_2()], 1), second(1));
    // Seen in a history that was given up: what the old one has beyond their common part counts.
    let asset = apply_all(&[begin(), other_2(), undone()]).asset;
    assert_eq!(asset.log.carry(second(2)), third(1));
    // The smallest base since counts, not the last one.
    let further = || vec![rewound(&[(1, false), (2, true), (3, true), (4, true)])];
    assert_eq!(floor(&[begin(), back_to_1(), further()], 3), third(1));
    assert_eq!(floor(&[begin(), vec![recreated(&[(1, true)])]], 3), Floor::BelowAll);
    assert_eq!(floor(&[begin()], 3), Floor::At(at(3)));
}

/// Snapshots that a rollback took away do not come back with those above them.
#[test]
fn holes_in_a_history_that_comes_back_are_not_read_from() {
    let begin = || vec![advance(1), advance(2), rewrite(3)];
    let back_to_1 = || vec![rewound(&[(1, false)])];
    let at_once = Change::NewHistory {
        cause: HistoryBreak::Rewound { known: 1003, found: Some(1003) },
        commits: [(CommitClass::Advance, 1, "APPEND"), (CommitClass::Rewrite, 3, "COMPACT")]
            .map(|(class, ordinal, kind)| Found { class, ordinal, commit: commit(ordinal, kind, None) })
            .to_vec(),
    };
    for batches in [
        vec![begin(), vec![at_once]],
        // One by one, as what follows on the head.
        vec![begin(), back_to_1(), vec![gap(2, 2), rewrite(3)]],
        // What expired in the meantime can't be read either.
        vec![begin(), back_to_1(), vec![expired(2)], vec![gap(2, 2), rewrite(3)]],
    ] {
        let log = apply_all(&batches).asset.log;
        let (data, _) = log.latest_data().unwrap();
        assert_eq!(data.ordinal, 2, "{batches:?}");
        assert_eq!(log.readable_carrier(data).unwrap().commit.snapshot_id, NATIVE + 3, "{batches:?}");
        let gone = batches.len() == 4;
        assert_eq!(log.readable().into_iter().collect::<Vec<_>>(), if gone { vec![3] } else { vec![1, 3] });
    }
}

#[test]
fn what_is_kept_of_a_history_keeps_what_befell_it() {
    let gone = vec![expired(2)];
    let asset =
        apply_all(&[vec![advance(1), advance(2), advance(3)], gone, vec![rewound(&[(2, false)])]]).asset;
    let now: Vec<_> = asset
        .log
        .versions()
        .filter(|(at, _)| at.generation == 2)
        .map(|(at, version)| (at.ordinal, version.readable, version.observed_at))
        .collect();
    assert_eq!(now, [(1, false, 0), (2, true, 0)]);
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
                    _ if ordinal % 2 == 0 => Change::Gone,
                    _ => Change::Back,
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

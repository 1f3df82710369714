//! Statements about commits and assets: the log is the same in whatever order they come.

use super::*;
use crate::facts::{Backfill, BackfillStatus, SchemaDecision, Tag};

/// Few values, so that ties and repetitions are many.
fn statement<T: Clone + std::fmt::Debug + 'static>(
    values: Vec<T>,
) -> impl Strategy<Value = Statement<T>> + use<T> {
    (prop::sample::select(values), 0..4_i64, 0..3_u8).prop_map(|(value, at, key)| Statement {
        value,
        at,
        // What two events say may be equal but for the key.
        reporter: "r".to_owned(),
        key: format!("k{key}"),
    })
}

fn tag(ordinal: i64) -> Tag {
    Tag { ordinal, class: CommitClass::Advance, commit: commit(ordinal, "APPEND", None) }
}

fn fact() -> impl Strategy<Value = EventBody> {
    let print = || (1..6_i64).prop_map(|ordinal| format!("f{ordinal}"));
    let backfill = |status| Backfill { status, from: None, to: Some(9) };
    prop_oneof![
        (print(), statement(vec![Quality::Passed, Quality::Failed]))
            .prop_map(|(fingerprint, quality)| EventBody::Checked { fingerprint, quality }),
        (print(), 0..60_i64)
            .prop_map(|(fingerprint, watermark)| EventBody::Watermarked { fingerprint, watermark }),
        (prop::sample::select(vec!["a", "b"]), statement(vec![None, Some(tag(1)), Some(tag(4))]))
            .prop_map(|(name, tag)| EventBody::Tagged { name: name.to_owned(), tag }),
        (0..4_i64, any::<bool>()).prop_map(|(id, first)| EventBody::SchemaSeen { id, first }),
        (0..3_i64, statement(vec![SchemaDecision::Approved, SchemaDecision::Rejected]))
            .prop_map(|(id, decision)| EventBody::SchemaDecided { id, decision }),
        (
            prop::sample::select(vec!["x", "y"]),
            statement(vec![backfill(BackfillStatus::Running), backfill(BackfillStatus::Completed)])
        )
            .prop_map(|(id, backfill)| EventBody::Backfilled { id: id.to_owned(), backfill }),
    ]
}

fn any_events() -> impl Strategy<Value = Vec<StampedEvent>> {
    let commits = vec((any::<bool>(), option::weighted(0.4, 0..50_i64)), 0..6);
    (commits, vec(fact(), 0..12)).prop_map(|(commits, facts)| {
        let commits = commits.into_iter().enumerate().map(|(index, (advance, watermark))| {
            let class = if advance { CommitClass::Advance } else { CommitClass::Rewrite };
            stamped(&committed(class, index as i64 + 1, watermark), 1)
        });
        let facts = facts.into_iter().map(|body| StampedEvent {
            position: Position { generation: 1, ordinal: 0 },
            observed_at: OBSERVED_AT,
            body,
        });
        commits.chain(facts).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn in_any_order_and_repeated_the_log_is_the_same(
        events in any_events(),
        picks in vec(any::<Index>(), 0..40),
    ) {
        let log = folded(&events);
        let mut shuffled: Vec<StampedEvent> =
            if events.is_empty() { Vec::new() } else { picks.iter().map(|pick| pick.get(&events).clone()).collect() };
        shuffled.extend(events.iter().rev().cloned());
        prop_assert_eq!(folded(&shuffled), log);
    }

    /// A watermark is the commit's own, else what it inherits, raised to what was reported.
    #[test]
    fn reported_watermarks_raise_and_are_inherited(events in any_events()) {
        let log = folded(&events);
        let reported = |print: &str| {
            let of_print = events.iter().filter_map(|event| match &event.body {
                EventBody::Watermarked { fingerprint, watermark } if fingerprint == print => Some(*watermark),
                _ => None,
            });
            of_print.max()
        };
        let mut inherited = None;
        for (_, version) in log.versions() {
            let expected = version.commit.watermark.or(inherited).max(reported(&version.commit.fingerprint));
            prop_assert_eq!(version.effective_watermark, expected);
            inherited = expected;
        }
    }
}

#[test]
fn at_one_time_the_more_careful_statement_counts() {
    let said = |value, at, key: &str| Statement { value, at, reporter: String::new(), key: key.to_owned() };
    for (first, second, expected) in [
        (said(Quality::Passed, 1, "z"), said(Quality::Failed, 1, "a"), Quality::Failed),
        (said(Quality::Failed, 1, "z"), said(Quality::Passed, 2, "a"), Quality::Passed),
        (said(Quality::Passed, 2, "z"), said(Quality::Failed, 1, "a"), Quality::Passed),
    ] {
        for pair in [[&first, &second], [&second, &first]] {
            let mut place = None;
            for statement in pair {
                statement.put(&mut place);
            }
            assert_eq!(place.unwrap().value, expected);
        }
    }
}

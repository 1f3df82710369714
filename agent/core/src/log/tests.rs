mod facts;

use proptest::{collection::vec, option, prelude::*, sample::Index};

use super::*;
use crate::{
    change::Change,
    invariant::data_versions_are_ancestors,
    samples::{NATIVE, OBSERVED_AT, advance, at, commit, committed, gap, rewrite, stamped},
    version::CommitClass,
};

/// What follows in a history.
#[derive(Debug, Clone, Copy)]
enum Step {
    Advance(Option<i64>),
    Rewrite(Option<i64>),
    Gap(i64),
    NextGeneration,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let watermark = || option::weighted(0.4, 0..50_i64);
    let step = prop_oneof![
        4 => watermark().prop_map(Step::Advance),
        4 => watermark().prop_map(Step::Rewrite),
        2 => (1..4_i64).prop_map(Step::Gap),
        1 => Just(Step::NextGeneration),
    ];
    vec(step, 0..16)
}

/// The steps as events, each at the place where it belongs.
fn events(steps: &[Step]) -> Vec<StampedEvent> {
    let (mut generation, mut ordinal) = (1, 0);
    let mut events = Vec::new();
    for step in steps {
        let change = match *step {
            Step::Advance(watermark) => {
                ordinal += 1;
                committed(CommitClass::Advance, ordinal, watermark)
            }
            Step::Rewrite(watermark) => {
                ordinal += 1;
                committed(CommitClass::Rewrite, ordinal, watermark)
            }
            Step::Gap(missing) => {
                ordinal += missing;
                gap(ordinal - missing + 1, ordinal)
            }
            Step::NextGeneration => {
                let log = folded(&events);
                let here = |at: &Position| at.generation == generation;
                let base = log
                    .versions()
                    .map(|(at, _)| at)
                    .filter(here)
                    .map(|at| at.ordinal)
                    .rfind(|base| *base <= ordinal - 2);
                let kept = log.entries().filter(|(at, _)| here(at) && Some(at.ordinal) <= base);
                let kept = kept.map(|(at, entry)| (at.ordinal, entry.clone())).collect();
                generation += 1;
                ordinal = base.unwrap_or(0);
                events.push(StampedEvent {
                    position: Position { generation, ordinal: base.unwrap_or(i64::MIN) },
                    observed_at: OBSERVED_AT,
                    body: EventBody::Began {
                        origin: base.map(|ordinal| Position { generation: generation - 1, ordinal }),
                        kept,
                        another_table: false,
                    },
                });
                continue;
            }
        };
        events.push(stamped(&change, generation));
    }
    events
}

fn fold_all<'a>(log: VersionLog, events: impl IntoIterator<Item = &'a StampedEvent>) -> VersionLog {
    events.into_iter().fold(log, |log, event| log.fold(event).0)
}

fn folded(events: &[StampedEvent]) -> VersionLog {
    fold_all(VersionLog::default(), events)
}

/// A commit of the model: its place, the ordinal of its data, its effective watermark.
type Line = (Position, i64, Option<i64>);

/// Every history as a list of its own: what it took over from the one before, then its own events.
fn histories(events: &[StampedEvent]) -> Vec<Vec<StampedEvent>> {
    let mut histories = vec![Vec::new()];
    for event in events {
        let EventBody::Began { origin, .. } = &event.body else {
            histories.last_mut().unwrap().push(event.clone());
            continue;
        };
        let before = histories.last().unwrap().iter();
        let taken_over =
            before.filter(|older| Some(older.position.ordinal) <= origin.map(|at| at.ordinal)).map(|older| {
                let position = Position { generation: event.position.generation, ..older.position };
                StampedEvent { position, ..older.clone() }
            });
        let taken_over = taken_over.collect();
        histories.push(taken_over);
    }
    histories
}

/// Says of every commit what it carries by walking back through its history from it, where the fold
/// hands on from commit to commit.
fn model(events: &[StampedEvent]) -> Vec<Line> {
    histories(events).iter().flat_map(|history| model_of_one(history)).collect()
}

fn model_of_one(history: &[StampedEvent]) -> Vec<Line> {
    let mut lines = Vec::new();
    for (index, event) in history.iter().enumerate() {
        let EventBody::Committed { class, commit, .. } = &event.body else { continue };
        let ancestors: Vec<&StampedEvent> = history[..index].iter().rev().collect();

        let mut data = event.position.ordinal;
        if *class == CommitClass::Rewrite {
            for older in &ancestors {
                let EventBody::Committed { class, .. } = &older.body else { break };
                data = older.position.ordinal;
                if *class == CommitClass::Advance {
                    break;
                }
            }
        }
        let watermark = commit.watermark.or_else(|| {
            ancestors.iter().find_map(|older| match &older.body {
                EventBody::Committed { commit, .. } => commit.watermark,
                _ => None,
            })
        });
        lines.push((event.position, data, watermark));
    }
    lines
}

fn lines(log: &VersionLog) -> Vec<Line> {
    log.versions().map(|(at, version)| (at, version.data_ordinal, version.effective_watermark)).collect()
}

/// Events that may contradict each other: several kinds of events claim few places. What a commit's
/// class is follows from the commit.
fn quarrel() -> impl Strategy<Value = Vec<StampedEvent>> {
    let event = (1..6_i64, 0..3_i64, 0..4_i64, option::of(0..3_i64)).prop_map(|(ordinal, kind, id, mark)| {
        let change = match kind {
            0 => gap(ordinal - id, ordinal),
            1 => {
                let commit = Commit { snapshot_id: id, ..commit(ordinal, "APPEND", mark) };
                Change::Committed { class: CommitClass::Advance, ordinal, commit }
            }
            _ => {
                let commit = Commit { snapshot_id: id, ..commit(ordinal, "COMPACT", mark) };
                Change::Committed { class: CommitClass::Rewrite, ordinal, commit }
            }
        };
        stamped(&change, 1)
    });
    vec(event, 0..12)
}

proptest! {
    #[test]
    fn any_order_and_repetition_gives_the_log_of_the_history(
        (history, mixed) in (steps(), vec(any::<Index>(), 0..8)).prop_flat_map(|(steps, again)| {
            let history = events(&steps);
            let mut mixed = history.clone();
            if !history.is_empty() {
                mixed.extend(again.iter().map(|index| index.get(&history).clone()));
            }
            (Just(history), Just(mixed).prop_shuffle())
        })
    ) {
        let in_order = folded(&history);
        prop_assert_eq!(&folded(&mixed), &in_order);
        let expected = model(&history);
        prop_assert_eq!(lines(&in_order), expected.clone());
        let expected = model_of_one(histories(&history).last().unwrap());
        let newest = expected.last().map(|(at, data, _)| Position { ordinal: *data, ..*at });
        prop_assert_eq!(in_order.latest_data().map(|(at, _)| at), newest);
        prop_assert_eq!(in_order.latest().map(|(at, _)| at), expected.last().map(|(at, ..)| *at));
        prop_assert_eq!(data_versions_are_ancestors(&in_order), Ok(()));
    }

    #[test]
    fn contradictions_end_alike_in_any_order(
        (one, other) in quarrel().prop_flat_map(|events| {
            (Just(events.clone()), Just(events).prop_shuffle())
        })
    ) {
        prop_assert_eq!(folded(&one), folded(&other));
    }

    #[test]
    fn the_part_from_the_newest_data_version_on_is_enough(
        (history, cut, mixed) in (steps(), any::<Index>(), vec(any::<Index>(), 0..4))
            .prop_flat_map(|(steps, cut, again)| {
                let history = events(&steps);
                let cut = cut.index(history.len() + 1);
                let mut rest = history[cut..].to_vec();
                if let Some(newest) = history[..cut].last() {
                    // Of what is known only what the part still holds comes again: the store loads
                    // the whole log for anything below.
                    let generation = newest.position.generation;
                    let from = folded(&history[..cut]).latest_data().map(|(at, _)| at);
                    let known: Vec<_> = history[..cut]
                        .iter()
                        .filter(|e| e.position.generation == generation && Some(e.position) >= from)
                        .cloned()
                        .collect();
                    if !known.is_empty() {
                        rest.extend(again.iter().map(|index| index.get(&known).clone()));
                    }
                }
                (Just(history), Just(cut), Just(rest).prop_shuffle())
            })
    ) {
        let whole = folded(&history[..cut]);
        let mut part = whole.clone();
        part.keep_from_latest_data();
        prop_assert!(part.entries().count() <= whole.entries().count());
        let lowest = Position { generation: part.generation(), ordinal: i64::MIN };
        let oldest = part.entries().next().map_or(lowest, |(at, _)| at);

        let whole = fold_all(whole, &mixed);
        let part = fold_all(part, &mixed);
        prop_assert_eq!(part.latest(), whole.latest());
        prop_assert_eq!(part.latest_data(), whole.latest_data());
        let upper: Vec<_> = whole.entries().filter(|(at, _)| *at >= oldest).collect();
        prop_assert_eq!(part.entries().collect::<Vec<_>>(), upper);
    }

    #[test]
    fn carriers_are_readable_and_carry_the_data(
        steps in steps(),
        expired in vec((1..4_i64, 0..20_i64), 0..3),
    ) {
        let history = events(&steps);
        let mut log = folded(&history);
        let mut readable: Vec<(Line, bool)> = model(&history).into_iter().map(|line| (line, true)).collect();
        for (generation, earliest) in expired {
            let earliest = Position { generation, ordinal: earliest };
            let mut changed = false;
            for ((at, ..), open) in &mut readable {
                if at.generation == generation && at.ordinal < earliest.ordinal {
                    changed |= *open;
                    *open = false;
                }
            }
            prop_assert_eq!(log.expire_below(earliest), changed);
        }
        let flags: Vec<bool> = log.versions().map(|(_, version)| version.readable).collect();
        prop_assert_eq!(flags, readable.iter().map(|(_, open)| *open).collect::<Vec<_>>());

        for ((data, carried, _), own) in &readable {
            if *carried != data.ordinal {
                continue;
            }
            let newest = readable.iter().rev().find(|((at, carried, _), open)| {
                *open && at.generation == data.generation && *carried == data.ordinal
            });
            let expected = if *own { Some(data.ordinal) } else { newest.map(|((at, ..), _)| at.ordinal) };
            let carrier = log.readable_carrier(*data).map(|version| version.commit.snapshot_id - NATIVE);
            prop_assert_eq!(carrier, expected);
        }
    }
}

/// The log in one line: `A` and `R` with ordinal, `<` the data ordinal, `@` the effective watermark.
fn shown(log: &VersionLog) -> String {
    let words = log.entries().map(|(at, entry)| match entry {
        Entry::Commit(version) => {
            let class = match version.class {
                CommitClass::Advance => 'A',
                CommitClass::Rewrite => 'R',
            };
            let mark = version.effective_watermark.map_or(String::new(), |mark| format!("@{mark}"));
            format!("{class}{}<{}{mark}", at.ordinal, version.data_ordinal)
        }
        Entry::Gap { first, .. } => format!("gap{first}-{}", at.ordinal),
    });
    words.collect::<Vec<_>>().join(" ")
}

#[test]
fn what_becomes_of_an_event() {
    use Outcome::{Applied, Duplicate, Ignored};
    let maintenance = Ignored(IgnoredReason::MaintenanceOnly);
    let stale = Ignored(IgnoredReason::Stale);
    let marked = committed(CommitClass::Advance, 2, Some(5));
    for (name, changes, log, outcome) in [
        ("first", vec![advance(1)], "A1<1", Applied),
        ("again", vec![advance(1), advance(1)], "A1<1", Duplicate),
        ("maintenance", vec![advance(1), rewrite(2)], "A1<1 R2<1", maintenance),
        (
            "maintenance of maintenance",
            vec![advance(1), rewrite(2), rewrite(3)],
            "A1<1 R2<1 R3<1",
            maintenance,
        ),
        ("maintenance of unseen data", vec![rewrite(4)], "R4<4", Applied),
        ("behind a gap", vec![advance(1), gap(2, 3), rewrite(4)], "A1<1 gap2-3 R4<4", Applied),
        ("late, and older data", vec![advance(3), advance(1)], "A1<1 A3<3", stale),
        ("late maintenance", vec![advance(1), advance(3), rewrite(2)], "A1<1 R2<1 A3<3", stale),
        // The compaction at 3 counted as data while nothing was known below it.
        ("late data below its carrier", vec![rewrite(3), advance(2)], "A2<2 R3<2", Applied),
        ("late data under carried data", vec![advance(1), rewrite(3), advance(2)], "A1<1 A2<2 R3<2", Applied),
        ("late watermark", vec![advance(1), rewrite(3), marked.clone()], "A1<1 A2<2@5 R3<2@5", Applied),
        ("gap", vec![advance(1), gap(2, 3)], "A1<1 gap2-3", Applied),
        ("gap again", vec![gap(2, 3), gap(2, 3)], "gap2-3", Duplicate),
        ("smaller gap", vec![gap(2, 3), gap(3, 3)], "gap2-3", Duplicate),
        ("greater gap", vec![gap(3, 3), gap(2, 3)], "gap2-3", Applied),
        ("gap that was seen", vec![advance(3), gap(2, 3)], "A3<3", stale),
        ("gap that is seen after all", vec![gap(3, 3), advance(3)], "A3<3", Applied),
        ("late gap", vec![advance(1), rewrite(4), gap(2, 3)], "A1<1 gap2-3 R4<4", Applied),
    ] {
        let mut folded = VersionLog::default();
        let mut last = None;
        for change in &changes {
            let (log, outcome) = folded.fold(&stamped(change, 1));
            folded = log;
            last = Some(outcome);
        }
        assert_eq!((shown(&folded).as_str(), last), (log, Some(outcome)), "{name}");
    }
}

#[test]
fn a_history_without_a_base_inherits_nothing() {
    let history = [
        stamped(&committed(CommitClass::Advance, 1, Some(5)), 1),
        StampedEvent {
            position: Position { generation: 2, ordinal: i64::MIN },
            observed_at: OBSERVED_AT,
            body: EventBody::Began { origin: None, kept: Vec::new(), another_table: true },
        },
        stamped(&rewrite(2), 2),
        stamped(&rewrite(3), 2),
    ];
    let log = folded(&history);
    assert_eq!(shown(&log), "A1<1@5 R2<2 R3<2");
    assert_eq!(log.latest_data().unwrap().0, Position { generation: 2, ordinal: 2 });
    assert_eq!(log.readable_carrier(at(1)).unwrap().commit.snapshot_id, NATIVE + 1);
}

#[test]
fn only_a_gap_is_no_version() {
    let log = folded(&[stamped(&gap(1, 3), 1)]);
    assert_eq!((log.latest(), log.latest_data(), log.version(at(3))), (None, None, None));
}

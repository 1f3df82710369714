//! The evaluator against a plain reading of what the words mean.

use proptest::{collection::vec, option, prelude::*};

use super::*;
use crate::{
    change::Change,
    condition::{ConditionSpec, Since},
    invariant::pins_satisfy_one_group,
    samples::{NATIVE, advance, asset, check, committed, gap, group, key},
    version::CommitClass,
};

const KEYS: [&str; 3] = ["paimon://lake/ods/a", "paimon://lake/ods/b", "paimon://lake/ods/c"];

/// A table's life: what each ordinal from 1 on is, how much of it was there when the wait began, and
/// what befell it.
#[derive(Debug, Clone)]
struct Life {
    steps: Vec<char>,
    began: usize,
    earliest: i64,
    held: bool,
}

#[derive(Debug, Clone)]
enum Fact {
    Unknown,
    Absent,
    Known(Life),
}

fn fact() -> impl Strategy<Value = Fact> {
    let life =
        (vec(prop::sample::select(vec!['A', 'A', 'R', 'R', 'G']), 0..7), 0..8_usize, 0..7_i64, 0..8_u8);
    let life = life.prop_map(|(steps, began, earliest, held)| {
        Fact::Known(Life { began: began.min(steps.len()), steps, earliest, held: held == 0 })
    });
    prop_oneof![1 => Just(Fact::Unknown), 1 => Just(Fact::Absent), 8 => life]
}

fn changes(steps: &[char]) -> Vec<Change> {
    let change = |(index, step): (usize, &char)| {
        let ordinal = index as i64 + 1;
        match step {
            'A' => committed(CommitClass::Advance, ordinal, watermark(ordinal)),
            'R' => committed(CommitClass::Rewrite, ordinal, watermark(ordinal)),
            _ => gap(ordinal, ordinal),
        }
    };
    steps.iter().enumerate().map(change).collect()
}

/// The watermark that the commit at an ordinal has: not each has one, and they go back as well.
fn watermark(ordinal: i64) -> Option<i64> {
    (ordinal % 2 == 1).then_some(ordinal * 3 % 7)
}

/// The greatest watermark that a commit with the data of an ordinal has, from itself or an ancestor.
fn effective(steps: &[char], data: i64) -> Option<i64> {
    let of = |ordinal: i64| {
        let mut below = (1..=ordinal).rev().filter(|below| steps[*below as usize - 1] != 'G');
        below.find_map(watermark)
    };
    let carriers = (data..=steps.len() as i64).filter(|ordinal| {
        let index = *ordinal as usize - 1;
        steps[index] != 'G' && carried(steps, index) == data
    });
    carriers.filter_map(of).max()
}

fn specs() -> impl Strategy<Value = Vec<Vec<ConditionSpec>>> {
    let time = || option::weighted(0.2, 0..9_i64);
    let condition = (option::weighted(0.4, 0..7_i64), any::<bool>(), time(), time());
    let group = vec(option::weighted(0.6, condition), KEYS.len());
    let group = group.prop_filter_map("no condition", |conditions| {
        let conditions: Vec<ConditionSpec> = KEYS
            .iter()
            .zip(conditions)
            .filter_map(|(key, condition)| {
                let (min, registered, mark, commit) = condition?;
                Some(ConditionSpec {
                    asset_key: (*key).to_owned(),
                    min_snapshot_id: min.map(|min| NATIVE + min),
                    since: if registered { Since::Registered } else { Since::Exists },
                    watermark_gte: mark.map(|mark| mark.to_string()),
                    // Commits are ten milliseconds apart.
                    committed_after: commit.map(|ordinal| (ordinal * 10).to_string()),
                    ..ConditionSpec::default()
                })
            })
            .collect();
        (!conditions.is_empty()).then_some(conditions)
    });
    vec(group, 1..4)
}

/// Ordinal of the data that the commit at an index carries: its nearest Advance below, but never
/// across a gap or the beginning, where the oldest commit counts as data.
fn carried(steps: &[char], index: usize) -> i64 {
    let mut index = index;
    while steps[index] == 'R' && index > 0 && steps[index - 1] != 'G' {
        index -= 1;
    }
    index as i64 + 1
}

/// Data ordinal and ordinal to open of what a condition is ready on; `None` when it is blocked.
fn expected(spec: &ConditionSpec, fact: &Fact) -> Option<(i64, i64)> {
    let Fact::Known(life) = fact else { return None };
    let head = life.steps.iter().rposition(|step| *step != 'G')?;
    let data = carried(&life.steps, head);
    let new = |floor: Option<usize>| floor.is_none_or(|floor| data > floor as i64 + 1);
    let began = life.steps[..life.began].iter().rposition(|step| *step != 'G');
    let holds = !life.held
        && spec.min_snapshot_id.is_none_or(|min| NATIVE + data >= min)
        && (spec.since == Since::Exists || new(began))
        && spec.committed_after.as_ref().is_none_or(|at| data * 10 >= at.parse().unwrap())
        && spec.watermark_gte.as_ref().is_none_or(|mark| {
            effective(&life.steps, data).is_some_and(|found| found >= mark.parse().unwrap())
        });
    let carriers = (1..=life.steps.len() as i64).filter(|ordinal| {
        let index = *ordinal as usize - 1;
        life.steps[index] != 'G' && carried(&life.steps, index) == data && *ordinal >= life.earliest
    });
    let carriers: Vec<i64> = carriers.collect();
    let open = carriers.iter().find(|ordinal| **ordinal == data).or(carriers.last());
    if holds { open.map(|open| (data, *open)) } else { None }
}

fn worlds(facts: &[Fact]) -> (World, World) {
    let (mut began, mut now) = (World::new(), World::new());
    for (name, fact) in KEYS.iter().zip(facts) {
        let key = key(name);
        match fact {
            Fact::Unknown => {}
            Fact::Absent => {
                began.insert(key.clone(), None);
                now.insert(key, None);
            }
            Fact::Known(life) => {
                let then = asset(&key, &changes(&life.steps[..life.began]));
                let mut rest = changes(&life.steps)[life.began..].to_vec();
                rest.push(Change::Expired { earliest: life.earliest });
                if life.held {
                    rest.push(Change::Gone);
                }
                // As the store loads it: from the newest data version on.
                let mut later = then.clone().apply(&rest, 9).asset;
                later.log.keep_from_latest_data();
                began.insert(key.clone(), Some(then));
                now.insert(key, Some(later));
            }
        }
    }
    (began, now)
}

fn dependency(groups: &[Vec<ConditionSpec>]) -> Dependency {
    check(groups.iter().map(|conditions| group("", conditions.clone())).collect()).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn ready_names_one_version_that_satisfies_all(facts in vec(fact(), KEYS.len()), groups in specs()) {
        let dependency = dependency(&groups);
        let (began, now) = worlds(&facts);
        let baselines = Baselines::begin(&dependency, lookup(&began));
        let evaluation = evaluate(&dependency, &baselines, Releasing::On, NOW, lookup(&now));

        let mut first = None;
        for (specs, verdicts) in groups.iter().zip(&evaluation.groups) {
            let expected: Vec<_> = specs
                .iter()
                .map(|spec| {
                    let index = KEYS.iter().position(|key| *key == spec.asset_key).unwrap();
                    expected(spec, &facts[index])
                })
                .collect();
            let found: Vec<_> = verdicts
                .conditions
                .iter()
                .map(|condition| match &condition.verdict {
                    Verdict::Ready(pin) => Some((pin.position.ordinal, pin.snapshot_id - NATIVE)),
                    Verdict::Blocked(_) => None,
                })
                .collect();
            prop_assert_eq!(&found, &expected);
            prop_assert_eq!(verdicts.pins().is_some(), expected.iter().all(Option::is_some));
            if first.is_none() && expected.iter().all(Option::is_some) {
                first = verdicts.pins();
            }
        }
        let pins = evaluation.pins();
        prop_assert_eq!(pins.as_ref().map(|pins| pins.iter().collect::<Vec<_>>()), first);
        // The invariant looks at the opened snapshot, which is never older than the data.
        if let Some(pins) = &pins {
            prop_assert_eq!(pins_satisfy_one_group(&dependency, pins), Ok(()));
        }
    }

    #[test]
    fn a_paused_agent_releases_nothing(facts in vec(fact(), KEYS.len()), groups in specs()) {
        let dependency = dependency(&groups);
        let (began, now) = worlds(&facts);
        let baselines = Baselines::begin(&dependency, lookup(&began));
        let on = evaluate(&dependency, &baselines, Releasing::On, NOW, lookup(&now));
        let paused = evaluate(&dependency, &baselines, Releasing::Paused, NOW, lookup(&now));
        prop_assert_eq!(paused.pins(), None);
        let pairs = on.groups.iter().zip(&paused.groups);
        for (on, paused) in pairs.flat_map(|(on, paused)| on.conditions.iter().zip(&paused.conditions)) {
            match &on.verdict {
                Verdict::Ready(pin) => {
                    let reason = Reason::AgentPaused { found: pin.snapshot_id };
                    prop_assert_eq!(&paused.verdict, &Verdict::Blocked(reason));
                }
                blocked => prop_assert_eq!(&paused.verdict, blocked),
            }
        }
    }

    #[test]
    fn new_data_never_makes_a_wait_unready_but_by_its_watermark(facts in vec(fact(), KEYS.len()), groups in specs()) {
        let dependency = dependency(&groups);
        let (began, now) = worlds(&facts);
        let baselines = Baselines::begin(&dependency, lookup(&began));
        let ready = |world: &World| {
            evaluate(&dependency, &baselines, Releasing::On, NOW, lookup(world)).pins().is_some()
        };
        let asks_for_watermarks = groups.iter().flatten().any(|spec| spec.watermark_gte.is_some());
        let before = ready(&now) && !asks_for_watermarks;
        for (name, fact) in KEYS.iter().zip(&facts) {
            let Fact::Known(life) = fact else { continue };
            let mut next = now.clone();
            let asset = next.remove(&key(name)).flatten().unwrap();
            let asset = asset.apply(&[advance(life.steps.len() as i64 + 1)], 10).asset;
            next.insert(key(name), Some(asset));
            prop_assert!(!before || ready(&next));
        }
    }
}

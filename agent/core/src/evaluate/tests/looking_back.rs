//! Conditions on more than the head, against a plain reading of what the words mean.

use proptest::{collection::vec, option, prelude::*};

use super::*;
use crate::{
    asset::Source,
    change::{Change, Found},
    condition::ConditionSpec,
    facts::{Quality, SchemaStatus},
    report::{Report, ReportBody, VersionName},
    samples::{NATIVE, asset, commit, one, orders},
    version::CommitClass,
};

/// A commit of a table's life: all bring data.
#[derive(Debug, Clone)]
struct Step {
    watermark: i64,
    schema: i64,
    passed: Option<bool>,
    tagged: bool,
    readable: bool,
}

fn step() -> impl Strategy<Value = Step> {
    (0..6_i64, 0..2_i64, option::weighted(0.6, any::<bool>()), any::<bool>(), prop::bool::weighted(0.8))
        .prop_map(|(watermark, schema, passed, tagged, readable)| Step {
            watermark,
            schema,
            passed,
            tagged,
            readable,
        })
}

fn spec() -> impl Strategy<Value = ConditionSpec> {
    (
        option::weighted(0.5, 0..6_i64),
        option::weighted(0.5, prop::sample::select(vec![Quality::Passed, Quality::Failed])),
        any::<bool>(),
        any::<bool>(),
        any::<bool>(),
    )
        .prop_map(|(watermark, quality_status, schema, tag, newest)| ConditionSpec {
            asset_key: orders().to_string(),
            watermark_gte: watermark.map(|mark| mark.to_string()),
            quality_status,
            schema_status: schema.then_some(SchemaStatus::Compatible),
            tag: tag.then(|| "day-*".to_owned()),
            matching: if newest { Match::Newest } else { Match::Head },
            ..ConditionSpec::default()
        })
}

/// The table as sources and reports tell of it. Schema 0 was there at first sight.
fn table(life: &[Step]) -> Asset {
    let mut table = asset(&orders(), &[Change::Schema { id: 0 }]);
    for (index, step) in life.iter().enumerate() {
        let ordinal = index as i64 + 1;
        let mut commit = commit(ordinal, "APPEND", Some(step.watermark));
        commit.schema_id = Some(step.schema);
        let class = CommitClass::Advance;
        let mut changes = vec![Change::Committed { class, ordinal, commit: commit.clone() }];
        if step.tagged {
            let name = format!("day-{ordinal}");
            changes.push(Change::Tagged { name, found: Found { class, ordinal, commit } });
        }
        table = table.apply(&changes, 9).asset;
        if let Some(passed) = step.passed {
            let status = if passed { Quality::Passed } else { Quality::Failed };
            let version = VersionName { snapshot_id: NATIVE + ordinal, fingerprint: None };
            let report = Report {
                event_id: None,
                reporter: "r".into(),
                event_time: None,
                body: ReportBody::Quality { version, status, read_time: None },
            };
            table.take(&report, Source::Table, "k", 9).unwrap();
        }
    }
    // Expiry takes the oldest: a version is unreadable when a later one of the life says so.
    if let Some(last) = life.iter().rposition(|step| !step.readable) {
        table = table.apply(&[Change::Expired { earliest: last as i64 + 2 }], 9).asset;
    }
    table
}

/// Ordinal of the version that the condition is ready on.
fn expected(spec: &ConditionSpec, life: &[Step]) -> Option<i64> {
    let readable_from = life.iter().rposition(|step| !step.readable).map_or(0, |last| last + 1);
    let looked_at = |index: &usize| spec.tag.is_none() || life[*index].tagged;
    let mut candidates = (0..life.len()).rev().filter(looked_at);
    let holds = |index: &usize| {
        let step = &life[*index];
        spec.watermark_gte.as_ref().is_none_or(|mark| step.watermark >= mark.parse().unwrap())
            && spec.quality_status.is_none_or(|wanted| step.passed == Some(wanted == Quality::Passed))
            && spec.schema_status.is_none_or(|_| step.schema == 0)
            // A tag keeps what it names.
            && (*index >= readable_from || spec.tag.is_some())
    };
    let found = match spec.matching {
        Match::Head => candidates.next().filter(holds),
        Match::Newest => candidates.find(holds),
    };
    found.map(|index| index as i64 + 1)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn ready_names_the_version_that_the_words_mean(life in vec(step(), 0..7), spec in spec()) {
        let table = table(&life);
        let dependency = one(spec.clone());
        let world = World::from([(orders(), Some(table))]);
        let baselines = Baselines::begin(&dependency, lookup(&world));
        let evaluation = evaluate(&dependency, &baselines, Releasing::On, NOW, lookup(&world));
        let found = evaluation.pins().map(|pins| pins[0].position.ordinal);
        prop_assert_eq!(found, expected(&spec, &life), "{:?}", evaluation);
        if let Some(pins) = evaluation.pins() {
            prop_assert_eq!(pins[0].tag.is_some(), spec.tag.is_some());
        }
    }
}

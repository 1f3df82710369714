//! Rows of the evidence.

use asset_core::{
    asset::Asset,
    event::{Evidence, Fact, Outcome},
    report::{Report, ReportBody},
    version::Commit,
};

use crate::{
    StoreError,
    apply::Working,
    bulk::{Bulk, Column, OnConflict, Value},
    database::Tx,
    schema::{EVENT, PENDING, POLL, PUSH},
};

const COLUMNS: [Column; 25] = [
    Column::Text("event_id"),
    Column::Text("source_type"),
    Column::Text("asset_key"),
    Column::Text("event_type"),
    Column::Number("snapshot_id"),
    Column::Number("schema_id"),
    Column::Number("watermark"),
    Column::Text("commit_kind"),
    Column::Number("commit_time"),
    Column::Number("delta_record_count"),
    Column::Text("payload"),
    Column::Number("receive_time"),
    Column::Now("create_time"),
    Column::Text("dedupe_key"),
    Column::Number("generation"),
    Column::Number("ordinal"),
    Column::Number("first_ordinal"),
    Column::Text("fingerprint"),
    Column::Text("outcome"),
    Column::Text("outcome_reason"),
    Column::Number("revision"),
    Column::Text("reporter"),
    Column::Number("event_time"),
    Column::Text("content_digest"),
    Column::Text("tag"),
];

/// Writes the evidence; what is there already stays.
pub async fn events(tx: &mut Tx, changed: &[&mut Working]) -> Result<(), StoreError> {
    let mut rows = Bulk::new(EVENT, &COLUMNS, OnConflict::Keep(&["dedupe_key"]));
    for work in changed {
        for event in &work.evidence {
            rows.push(row(&work.asset, event));
        }
    }
    rows.write(tx).await
}

fn row<'a>(asset: &'a Asset, event: &'a Evidence) -> [Value<'a>; 24] {
    let dedupe_key = event.dedupe_key(&asset.key);
    let (outcome, reason) = outcome(event.outcome);
    let seen = Seen::of(&event.fact);
    // Below every ordinal: a history of which nothing was known.
    let ordinal = event.position.map(|p| p.ordinal).filter(|ordinal| *ordinal != i64::MIN);
    let report = match &event.fact {
        Fact::Reported { report, .. } => Some(report),
        _ => None,
    };
    let event_id = match report.and_then(|report| report.event_id.as_deref()) {
        Some(given) => given.into(),
        None => dedupe_key[..32].to_owned().into(),
    };
    [
        event_id,
        report.map_or(POLL, |_| PUSH).into(),
        asset.key.as_str().into(),
        event.event_type().as_str().into(),
        seen.snapshot_id.into(),
        seen.schema_id.into(),
        seen.watermark.into(),
        seen.commit_kind.into(),
        seen.commit_time.into(),
        seen.delta_record_count.into(),
        seen.payload.into(),
        event.observed_at.into(),
        dedupe_key.into(),
        event.position.map(|p| p.generation).into(),
        ordinal.into(),
        seen.first_ordinal.into(),
        seen.fingerprint.into(),
        outcome.into(),
        reason.into(),
        asset.revision.into(),
        report.map(|report| report.reporter.as_str()).into(),
        report.and_then(|report| report.event_time).into(),
        report.map(|report| report.content()).into(),
        seen.tag.into(),
    ]
}

/// An outcome as its two columns have it.
pub fn outcome(outcome: Outcome) -> (&'static str, Option<&'static str>) {
    match outcome {
        Outcome::Ignored(reason) => ("IGNORED", Some(reason.as_str())),
        Outcome::Pending => (PENDING, None),
        Outcome::Applied | Outcome::Duplicate => ("APPLIED", None),
    }
}

/// What the columns of an event have of what it says.
#[derive(Default)]
struct Seen<'a> {
    snapshot_id: Option<i64>,
    schema_id: Option<i64>,
    watermark: Option<i64>,
    commit_kind: Option<&'a str>,
    commit_time: Option<i64>,
    delta_record_count: Option<i64>,
    fingerprint: Option<&'a str>,
    first_ordinal: Option<i64>,
    tag: Option<&'a str>,
    payload: Option<String>,
}

impl<'a> Seen<'a> {
    fn of(fact: &'a Fact) -> Self {
        match fact {
            Fact::Committed(commit) => Self::commit(commit),
            Fact::Gap { first } => Self { first_ordinal: Some(*first), ..Self::default() },
            Fact::RolledBack { cause, .. } => Self { payload: Some(cause.sentence()), ..Self::default() },
            Fact::Tagged { name, tag } => Self { tag: Some(name), ..Self::commit(&tag.commit) },
            Fact::Untagged { name } => Self { tag: Some(name), ..Self::default() },
            Fact::SchemaChanged { id } => Self { schema_id: Some(*id), ..Self::default() },
            Fact::Reported { report, .. } => Self::report(report),
        }
    }

    fn commit(commit: &'a Commit) -> Self {
        Self {
            snapshot_id: Some(commit.snapshot_id),
            schema_id: commit.schema_id,
            watermark: commit.watermark,
            commit_kind: Some(&commit.commit_kind),
            commit_time: commit.commit_time,
            delta_record_count: commit.delta_record_count,
            fingerprint: Some(&commit.fingerprint),
            ..Self::default()
        }
    }

    fn report(report: &'a Report) -> Self {
        let version = report.version();
        let mut seen = Self {
            snapshot_id: version.map(|version| version.snapshot_id),
            fingerprint: version.and_then(|version| version.fingerprint.as_deref()),
            payload: serde_json::to_string(report).ok(),
            ..Self::default()
        };
        match &report.body {
            ReportBody::Snapshot {
                commit_time,
                commit_kind,
                schema_id,
                watermark,
                delta_record_count,
                ..
            } => {
                seen.commit_time = *commit_time;
                seen.commit_kind = commit_kind.as_deref();
                seen.schema_id = *schema_id;
                seen.watermark = *watermark;
                seen.delta_record_count = *delta_record_count;
            }
            ReportBody::Watermark { watermark, .. } => seen.watermark = Some(*watermark),
            ReportBody::CdcLagRecovered { watermark } => seen.watermark = *watermark,
            ReportBody::Schema { schema_id, .. } => seen.schema_id = Some(*schema_id),
            ReportBody::Tag { name, .. } => seen.tag = Some(name),
            ReportBody::Quality { .. } | ReportBody::Backfill { .. } => {}
        }
        seen
    }
}

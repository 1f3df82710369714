//! Rows of the evidence.

use asset_core::{
    asset::Asset,
    event::{Evidence, Fact, Outcome},
    report::{Report, ReportBody},
    version::Commit,
};
use sea_query::{Expr, InsertStatement, OnConflict, Query};

use crate::{
    StoreError,
    apply::Working,
    database::Tx,
    schema::{EVENT, PENDING, POLL, PUSH, ROWS_A_STATEMENT},
};

/// Writes the evidence; what is there already stays.
pub async fn events(tx: &mut Tx, changed: &[&mut Working]) -> Result<(), StoreError> {
    let events: Vec<(&Asset, &Evidence)> =
        changed.iter().flat_map(|work| work.evidence.iter().map(|event| (&work.asset, event))).collect();
    for chunk in events.chunks(ROWS_A_STATEMENT) {
        let mut insert = Query::insert();
        insert.into_table(EVENT).columns([
            "event_id",
            "source_type",
            "asset_key",
            "event_type",
            "snapshot_id",
            "schema_id",
            "watermark",
            "commit_kind",
            "commit_time",
            "delta_record_count",
            "payload",
            "receive_time",
            "create_time",
            "dedupe_key",
            "generation",
            "ordinal",
            "first_ordinal",
            "fingerprint",
            "outcome",
            "outcome_reason",
            "revision",
            "reporter",
            "event_time",
            "content_digest",
            "tag",
        ]);
        for (asset, event) in chunk {
            event_row(&mut insert, asset, event);
        }
        insert.on_conflict(OnConflict::column("dedupe_key").do_nothing().to_owned());
        tx.execute(&insert).await?;
    }
    Ok(())
}

fn event_row(insert: &mut InsertStatement, asset: &Asset, event: &Evidence) {
    let dedupe_key = event.dedupe_key(&asset.key);
    let (outcome, reason) = outcome(event.outcome);
    let seen = Seen::of(&event.fact);
    // Below every ordinal: a history of which nothing was known.
    let ordinal = event.position.map(|p| p.ordinal).filter(|ordinal| *ordinal != i64::MIN);
    let report = match &event.fact {
        Fact::Reported { report, .. } => Some(report),
        _ => None,
    };
    let event_id = report.and_then(|report| report.event_id.clone());
    insert.values_panic([
        event_id.unwrap_or_else(|| dedupe_key[..32].to_owned()).into(),
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
        Expr::current_timestamp(),
        dedupe_key.as_str().into(),
        event.position.map(|p| p.generation).into(),
        ordinal.into(),
        seen.first_ordinal.into(),
        seen.fingerprint.into(),
        outcome.into(),
        reason.into(),
        asset.revision.into(),
        report.map(|report| report.reporter.clone()).into(),
        report.and_then(|report| report.event_time).into(),
        report.map(|report| report.content()).into(),
        seen.tag.into(),
    ]);
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
struct Seen {
    snapshot_id: Option<i64>,
    schema_id: Option<i64>,
    watermark: Option<i64>,
    commit_kind: Option<String>,
    commit_time: Option<i64>,
    delta_record_count: Option<i64>,
    fingerprint: Option<String>,
    first_ordinal: Option<i64>,
    tag: Option<String>,
    payload: Option<String>,
}

impl Seen {
    fn of(fact: &Fact) -> Self {
        match fact {
            Fact::Committed(commit) => Self::commit(commit),
            Fact::Gap { first } => Self { first_ordinal: Some(*first), ..Self::default() },
            Fact::RolledBack { cause, .. } => Self { payload: Some(cause.sentence()), ..Self::default() },
            Fact::Tagged { name, tag } => Self { tag: Some(name.clone()), ..Self::commit(&tag.commit) },
            Fact::Untagged { name } => Self { tag: Some(name.clone()), ..Self::default() },
            Fact::SchemaChanged { id } => Self { schema_id: Some(*id), ..Self::default() },
            Fact::Reported { report, .. } => Self::report(report),
        }
    }

    fn commit(commit: &Commit) -> Self {
        Self {
            snapshot_id: Some(commit.snapshot_id),
            schema_id: commit.schema_id,
            watermark: commit.watermark,
            commit_kind: Some(commit.commit_kind.clone()),
            commit_time: commit.commit_time,
            delta_record_count: commit.delta_record_count,
            fingerprint: Some(commit.fingerprint.clone()),
            ..Self::default()
        }
    }

    fn report(report: &Report) -> Self {
        let version = report.version();
        let mut seen = Self {
            snapshot_id: version.map(|version| version.snapshot_id),
            fingerprint: version.and_then(|version| version.fingerprint.clone()),
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
                seen.commit_kind.clone_from(commit_kind);
                seen.schema_id = *schema_id;
                seen.watermark = *watermark;
                seen.delta_record_count = *delta_record_count;
            }
            ReportBody::Watermark { watermark, .. } => seen.watermark = Some(*watermark),
            ReportBody::CdcLagRecovered { watermark } => seen.watermark = *watermark,
            ReportBody::Schema { schema_id, .. } => seen.schema_id = Some(*schema_id),
            ReportBody::Tag { name, .. } => seen.tag = Some(name.clone()),
            ReportBody::Quality { .. } | ReportBody::Backfill { .. } => {}
        }
        seen
    }
}

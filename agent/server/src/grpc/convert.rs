//! What the engine says, as messages.

use asset_core::{
    asset::Asset,
    evaluate::{ConditionVerdict, Evaluation, Pin, Verdict},
    facts::{BackfillStatus, Quality, SchemaStatus},
    reason::BlockedBy,
    version::{Assurance, Millis, Position, Version},
    words::{Language, sentence},
};
use asset_engine::{SourceReport, Standing, WaitUpdate};
use asset_proto::v1::{self, resolve_dependency_response::Status};
use prost_types::Timestamp;

/// A time.
pub fn timestamp(millis: Millis) -> Timestamp {
    Timestamp { seconds: millis.div_euclid(1_000), nanos: (millis.rem_euclid(1_000) * 1_000_000) as i32 }
}

/// A verdict on a wait.
pub fn verdict(update: &WaitUpdate, language: Language) -> v1::ResolveDependencyResponse {
    let (status, pinned) = match &update.standing {
        Standing::Blocked => (Status::Blocked, Vec::new()),
        Standing::Ready(pins) => (Status::Ready, pins.iter().map(pin).collect()),
    };
    v1::ResolveDependencyResponse {
        revision: update.revision,
        wait_id: update.wait_id.as_deref().unwrap_or_default().to_owned(),
        resume_token: update.resume_token.to_string(),
        status: status.into(),
        groups: groups(&update.evaluation, language),
        pinned,
        evaluated_at: Some(timestamp(update.evaluated_at)),
        recheck_at: update.evaluation.recheck_at().map(timestamp),
    }
}

/// The end of a wait's stream at its deadline.
pub fn timed_out(
    last: Option<&WaitUpdate>,
    now: Millis,
    language: Language,
) -> v1::ResolveDependencyResponse {
    let mut response = last.map(|last| verdict(last, language)).unwrap_or_default();
    response.status = Status::Timeout.into();
    response.evaluated_at = Some(timestamp(now));
    response
}

/// A sign of life on a wait's stream.
pub fn heartbeat(revision: i64) -> v1::ResolveDependencyResponse {
    v1::ResolveDependencyResponse { revision, status: Status::Heartbeat.into(), ..Default::default() }
}

/// Every group's verdict.
pub fn groups(evaluation: &Evaluation, language: Language) -> Vec<v1::GroupVerdict> {
    let group = |group: &asset_core::evaluate::GroupVerdict| v1::GroupVerdict {
        name: group.name.clone(),
        ready: group.pins().is_some(),
        conditions: group.conditions.iter().map(|verdict| condition(verdict, language)).collect(),
    };
    evaluation.groups.iter().map(group).collect()
}

fn condition(verdict: &ConditionVerdict, language: Language) -> v1::ConditionVerdict {
    let asset = verdict.asset.as_str();
    let mut message = v1::ConditionVerdict {
        asset_key: asset.to_owned(),
        name: verdict.name.clone(),
        wanted: verdict.wanted.words(language),
        ..Default::default()
    };
    match &verdict.verdict {
        Verdict::Ready(pin) => {
            message.ready = true;
            message.found = format!("snapshot {}", pin.snapshot_id);
            message.sentence = sentence(asset, &verdict.wanted, Ok(pin.snapshot_id), language);
        }
        Verdict::Blocked(reason) => {
            let blocked_by = match reason.blocked_by() {
                BlockedBy::Snapshot => v1::BlockedBy::Snapshot,
                BlockedBy::Watermark => v1::BlockedBy::Watermark,
                BlockedBy::Quality => v1::BlockedBy::Quality,
                BlockedBy::Schema => v1::BlockedBy::Schema,
                BlockedBy::Tag => v1::BlockedBy::Tag,
                BlockedBy::Backfill => v1::BlockedBy::Backfill,
                BlockedBy::Assurance => v1::BlockedBy::Assurance,
                BlockedBy::UnknownAsset => v1::BlockedBy::UnknownAsset,
                BlockedBy::Paused => v1::BlockedBy::Paused,
            };
            message.blocked_by = blocked_by.into();
            message.reason = reason.code().to_owned();
            message.reason_args =
                reason.args().into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
            message.found = reason.found(language);
            message.missing = reason.missing(language);
            message.sentence = sentence(asset, &verdict.wanted, Err(reason), language);
        }
    }
    message
}

/// A pinned version.
pub fn pin(pin: &Pin) -> v1::PinnedVersion {
    v1::PinnedVersion {
        asset_key: pin.asset.clone(),
        name: pin.name.clone(),
        snapshot_id: pin.snapshot_id,
        generation: pin.position.generation,
        ordinal: pin.position.ordinal,
        fingerprint: pin.fingerprint.clone(),
        commit_time: pin.commit_time.map(timestamp),
        watermark: pin.watermark,
        schema_id: pin.schema_id,
        observed_at: Some(pin.observed_at).filter(|at| *at != 0).map(timestamp),
        tag: pin.tag.clone().unwrap_or_default(),
    }
}

/// The state of an asset.
pub fn state(asset: &Asset) -> v1::AssetState {
    let hold = asset.gone_since.map(|since| v1::AssetHold {
        reason: "ABSENT".to_owned(),
        sentence: "the table is gone from its catalog; nothing is released until it is back".to_owned(),
        since: Some(timestamp(since)),
    });
    v1::AssetState {
        asset_key: asset.key.to_string(),
        generation: asset.generation(),
        latest: asset.latest().map(version),
        latest_data: asset.latest_data().map(version),
        hold,
        revision: asset.revision,
        update_time: Some(timestamp(asset.update_time)),
        quality: asset.quality().map(|said| v1::QualityVerdict {
            status: quality(said.value).into(),
            checked_at: Some(timestamp(said.at)),
            reporter: said.reporter.clone(),
        }),
        schema_id: asset.log.facts().schemas.latest.map(|(_, id)| id),
        schema_status: asset.schema_status().map_or(v1::SchemaStatus::Unspecified, schema).into(),
        latest_tag: asset.latest_tag.clone().unwrap_or_default(),
        backfill_status: backfill(asset.log.facts().backfill_status()).into(),
        ordering: asset.ordering.map(|ordering| ordering.as_str().to_owned()).unwrap_or_default(),
    }
}

fn version((position, version): (Position, &Version)) -> v1::AssetVersion {
    v1::AssetVersion {
        snapshot_id: version.commit.snapshot_id,
        ordinal: position.ordinal,
        fingerprint: version.commit.fingerprint.clone(),
        commit_kind: version.commit.commit_kind.clone(),
        commit_time: version.commit.commit_time.map(timestamp),
        watermark: version.effective_watermark,
        schema_id: version.commit.schema_id,
        observed_at: Some(timestamp(version.observed_at)),
        assurance: match version.assurance {
            Assurance::Reported => v1::Assurance::Reported,
            Assurance::Verified => v1::Assurance::Verified,
        }
        .into(),
    }
}

fn quality(quality: Quality) -> v1::Quality {
    match quality {
        Quality::Passed => v1::Quality::Passed,
        Quality::Failed => v1::Quality::Failed,
    }
}

fn schema(status: SchemaStatus) -> v1::SchemaStatus {
    match status {
        SchemaStatus::Compatible => v1::SchemaStatus::Compatible,
        SchemaStatus::PendingApproval => v1::SchemaStatus::PendingApproval,
        SchemaStatus::Rejected => v1::SchemaStatus::Rejected,
    }
}

fn backfill(status: BackfillStatus) -> v1::BackfillStatus {
    match status {
        BackfillStatus::None => v1::BackfillStatus::None,
        BackfillStatus::Running => v1::BackfillStatus::Running,
        BackfillStatus::Completed => v1::BackfillStatus::Completed,
    }
}

/// How reading an asset's table goes.
pub fn source(report: SourceReport) -> v1::AssetSource {
    let (error, failing_since) = report.health.failing.unzip();
    v1::AssetSource {
        catalog: report.catalog,
        location: report.location,
        last_read: report.health.last_read.map(timestamp),
        error: error.unwrap_or_default(),
        failing_since: failing_since.map(timestamp),
    }
}

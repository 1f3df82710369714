//! Results as JSON: the contract's fields in camelCase, absent values left out.

use std::collections::BTreeMap;

use asset_proto::v1::{
    AssetHold, AssetSource, AssetState, AssetVersion, BlockedBy, ConditionVerdict, GroupVerdict,
    PinnedVersion, ResolveDependencyResponse,
};
use serde::Serialize;

use super::time::rfc3339;

/// The end of a wait.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Outcome<'a> {
    status: &'static str,
    #[serde(skip_serializing_if = "str::is_empty")]
    wait_id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    revision: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    evaluated_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pinned: Option<Vec<Pin<'a>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    groups: Option<Vec<Verdicts<'a>>>,
}

impl<'a> Outcome<'a> {
    pub fn ready(answer: &'a ResolveDependencyResponse) -> Self {
        Self {
            status: "READY",
            wait_id: &answer.wait_id,
            revision: Some(answer.revision),
            evaluated_at: rfc3339(answer.evaluated_at.as_ref()),
            pinned: Some(pins(&answer.pinned)),
            groups: None,
        }
    }

    pub fn timed_out(last: Option<&'a ResolveDependencyResponse>) -> Self {
        Self {
            status: "TIMEOUT",
            wait_id: last.map_or("", |last| &last.wait_id),
            revision: last.map(|last| last.revision),
            evaluated_at: last.and_then(|last| rfc3339(last.evaluated_at.as_ref())),
            pinned: None,
            groups: Some(
                last.map(|last| last.groups.iter().map(Verdicts::new).collect()).unwrap_or_default(),
            ),
        }
    }
}

pub fn pins(pinned: &[PinnedVersion]) -> Vec<Pin<'_>> {
    pinned.iter().map(Pin::new).collect()
}

/// A pinned version.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Pin<'a> {
    asset_key: &'a str,
    name: &'a str,
    snapshot_id: i64,
    generation: i64,
    ordinal: i64,
    #[serde(skip_serializing_if = "str::is_empty")]
    fingerprint: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    commit_time: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    watermark: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    schema_id: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    observed_at: Option<String>,
    #[serde(skip_serializing_if = "str::is_empty")]
    tag: &'a str,
}

impl<'a> Pin<'a> {
    fn new(pin: &'a PinnedVersion) -> Self {
        Self {
            asset_key: &pin.asset_key,
            name: &pin.name,
            snapshot_id: pin.snapshot_id,
            generation: pin.generation,
            ordinal: pin.ordinal,
            fingerprint: &pin.fingerprint,
            commit_time: rfc3339(pin.commit_time.as_ref()),
            watermark: pin.watermark,
            schema_id: pin.schema_id,
            observed_at: rfc3339(pin.observed_at.as_ref()),
            tag: &pin.tag,
        }
    }
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Verdicts<'a> {
    name: &'a str,
    ready: bool,
    conditions: Vec<Verdict<'a>>,
}

impl<'a> Verdicts<'a> {
    fn new(group: &'a GroupVerdict) -> Self {
        Self {
            name: &group.name,
            ready: group.ready,
            conditions: group.conditions.iter().map(Verdict::new).collect(),
        }
    }
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Verdict<'a> {
    asset_key: &'a str,
    name: &'a str,
    ready: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    blocked_by: Option<&'static str>,
    #[serde(skip_serializing_if = "str::is_empty")]
    reason: &'a str,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    reason_args: BTreeMap<&'a str, &'a str>,
    #[serde(skip_serializing_if = "str::is_empty")]
    wanted: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    found: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    missing: &'a str,
    sentence: &'a str,
}

impl<'a> Verdict<'a> {
    fn new(verdict: &'a ConditionVerdict) -> Self {
        let blocked_by = match verdict.blocked_by() {
            BlockedBy::Unspecified => None,
            blocked_by => Some(blocked_by.as_str_name()),
        };
        Self {
            asset_key: &verdict.asset_key,
            name: &verdict.name,
            ready: verdict.ready,
            blocked_by,
            reason: &verdict.reason,
            reason_args: verdict
                .reason_args
                .iter()
                .map(|(name, value)| (name.as_str(), value.as_str()))
                .collect(),
            wanted: &verdict.wanted,
            found: &verdict.found,
            missing: &verdict.missing,
            sentence: &verdict.sentence,
        }
    }
}

/// The state of an asset.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct State<'a> {
    asset_key: &'a str,
    generation: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    latest: Option<Version<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    latest_data: Option<Version<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hold: Option<Hold<'a>>,
    revision: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    update_time: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    quality: Option<Quality<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    schema_id: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    schema_status: Option<&'static str>,
    #[serde(skip_serializing_if = "str::is_empty")]
    latest_tag: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    backfill_status: Option<&'static str>,
    #[serde(skip_serializing_if = "str::is_empty")]
    ordering: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<Source<'a>>,
}

/// What the latest check said.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Quality<'a> {
    status: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    checked_at: Option<String>,
    reporter: &'a str,
}

/// The word of an enum's name behind its prefix; none for its zero.
pub fn word(name: &'static str, prefix: &str) -> Option<&'static str> {
    name.strip_prefix(prefix).filter(|word| *word != "UNSPECIFIED")
}

impl<'a> State<'a> {
    pub fn new(state: &'a AssetState, source: Option<&'a AssetSource>) -> Self {
        Self {
            asset_key: &state.asset_key,
            generation: state.generation,
            latest: state.latest.as_ref().map(Version::new),
            latest_data: state.latest_data.as_ref().map(Version::new),
            hold: state.hold.as_ref().map(Hold::new),
            revision: state.revision,
            update_time: rfc3339(state.update_time.as_ref()),
            quality: state.quality.as_ref().map(|said| Quality {
                status: word(said.status().as_str_name(), "QUALITY_").unwrap_or("UNKNOWN"),
                checked_at: rfc3339(said.checked_at.as_ref()),
                reporter: &said.reporter,
            }),
            schema_id: state.schema_id,
            schema_status: word(state.schema_status().as_str_name(), "SCHEMA_STATUS_"),
            latest_tag: &state.latest_tag,
            backfill_status: word(state.backfill_status().as_str_name(), "BACKFILL_STATUS_")
                .filter(|word| *word != "NONE"),
            ordering: &state.ordering,
            source: source.map(Source::new),
        }
    }
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Version<'a> {
    snapshot_id: i64,
    ordinal: i64,
    #[serde(skip_serializing_if = "str::is_empty")]
    fingerprint: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    commit_kind: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    commit_time: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    watermark: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    schema_id: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    observed_at: Option<String>,
    /// Where it is a report only.
    #[serde(skip_serializing_if = "Option::is_none")]
    assurance: Option<&'static str>,
}

impl<'a> Version<'a> {
    fn new(version: &'a AssetVersion) -> Self {
        Self {
            snapshot_id: version.snapshot_id,
            ordinal: version.ordinal,
            fingerprint: &version.fingerprint,
            commit_kind: &version.commit_kind,
            commit_time: rfc3339(version.commit_time.as_ref()),
            watermark: version.watermark,
            schema_id: version.schema_id,
            observed_at: rfc3339(version.observed_at.as_ref()),
            assurance: word(version.assurance().as_str_name(), "ASSURANCE_").filter(|how| *how == "REPORTED"),
        }
    }
}

#[derive(Debug, Serialize)]
struct Hold<'a> {
    reason: &'a str,
    sentence: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    since: Option<String>,
}

impl<'a> Hold<'a> {
    fn new(hold: &'a AssetHold) -> Self {
        Self { reason: &hold.reason, sentence: &hold.sentence, since: rfc3339(hold.since.as_ref()) }
    }
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Source<'a> {
    catalog: &'a str,
    location: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_read: Option<String>,
    #[serde(skip_serializing_if = "str::is_empty")]
    error: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    failing_since: Option<String>,
}

impl<'a> Source<'a> {
    fn new(source: &'a AssetSource) -> Self {
        Self {
            catalog: &source.catalog,
            location: &source.location,
            last_read: rfc3339(source.last_read.as_ref()),
            error: &source.error,
            failing_since: rfc3339(source.failing_since.as_ref()),
        }
    }
}

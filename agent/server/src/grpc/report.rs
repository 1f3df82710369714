//! Reads events that are reported: everything that is wrong with one is found before it is refused.

use asset_core::{
    condition::Violation,
    event::EventType,
    facts::{BackfillStatus, Quality, SchemaDecision},
    key::AssetKey,
    report::{Report, ReportBody, VersionName},
    version::Millis,
};
use asset_engine::EventQuery;
use asset_proto::v1::{self, event_outcome::Outcome};
use prost_types::Timestamp;

use super::{
    events,
    request::{self, Refused, violation},
};

/// Longest texts, in characters, as their columns have them.
const MAX_ID_CHARS: usize = 128;
const MAX_FINGERPRINT_CHARS: usize = 200;
const MAX_KIND_CHARS: usize = 32;

/// A kind as messages have it.
pub fn kind(kind: EventType) -> v1::EventType {
    match kind {
        EventType::SnapshotCommitted => v1::EventType::SnapshotCommitted,
        EventType::WatermarkAdvanced => v1::EventType::WatermarkAdvanced,
        EventType::TagCreated => v1::EventType::TagCreated,
        EventType::TagDeleted => v1::EventType::TagDeleted,
        EventType::QualityCheckPassed => v1::EventType::QualityCheckPassed,
        EventType::QualityCheckFailed => v1::EventType::QualityCheckFailed,
        EventType::SchemaChanged => v1::EventType::SchemaChanged,
        EventType::SchemaChangeApproved => v1::EventType::SchemaChangeApproved,
        EventType::SchemaChangeRejected => v1::EventType::SchemaChangeRejected,
        EventType::BackfillStarted => v1::EventType::BackfillStarted,
        EventType::BackfillCompleted => v1::EventType::BackfillCompleted,
        EventType::CdcLagRecovered => v1::EventType::CdcLagRecovered,
        EventType::RolledBack => v1::EventType::RolledBack,
        EventType::GapDetected => v1::EventType::GapDetected,
    }
}

/// Checks an event.
pub fn event(
    event: v1::ReportedEvent,
    default_catalog: impl Fn(&str) -> Option<String>,
) -> Result<(AssetKey, Report), Refused> {
    let mut checker = Checker(Vec::new());
    let key = request::key(&event.asset_key, default_catalog);
    let key = key.map_err(|mut found| checker.0.append(&mut found)).ok();
    checker.chars("event_id", &event.event_id, MAX_ID_CHARS);
    checker.chars("reporter", &event.reporter, MAX_ID_CHARS);
    let event_time = checker.time("event_time", event.event_time);
    let body = checker.body(&event);
    let reporter = Some(event.reporter).filter(|name| !name.is_empty());
    let report = body.map(|body| Report {
        event_id: Some(event.event_id).filter(|id| !id.is_empty()),
        reporter: reporter.unwrap_or_else(|| "unnamed".to_owned()),
        event_time,
        body,
    });
    if report.as_ref().is_some_and(|report| report.needs_event_id() && report.event_id.is_none()) {
        let text = "is required for this kind: it tells a repeated report from a second one";
        checker.wrong("event_id", text);
    }
    match (key, report) {
        (Some(key), Some(report)) if checker.0.is_empty() => Ok((key, report)),
        _ => Err(checker.0),
    }
}

struct Checker(Vec<Violation>);

impl Checker {
    fn wrong(&mut self, field: &str, text: impl Into<String>) {
        self.0.push(violation(field, text));
    }

    fn chars(&mut self, field: &str, text: &str, most: usize) {
        if text.chars().count() > most {
            self.wrong(field, format!("at most {most} characters are allowed"));
        }
        if text.chars().any(char::is_control) {
            self.wrong(field, "control characters are not allowed");
        }
    }

    fn time(&mut self, field: &str, time: Option<Timestamp>) -> Option<Millis> {
        match request::millis(time?) {
            Ok(millis) => Some(millis),
            Err(reason) => {
                self.wrong(field, reason);
                None
            }
        }
    }

    /// A text that must be there.
    fn named(&mut self, field: &str, text: &str) -> Option<String> {
        self.chars(field, text, MAX_ID_CHARS);
        if text.is_empty() {
            self.wrong(field, "is required for this kind");
            return None;
        }
        Some(text.to_owned())
    }

    fn number(&mut self, field: &str, number: Option<i64>) -> Option<i64> {
        match number {
            None => self.wrong(field, "is required for this kind"),
            Some(number) if number < 0 => {
                self.wrong(field, format!("must be between 0 and {}, is {number}", i64::MAX));
            }
            Some(_) => return number,
        }
        None
    }

    /// A version that must be named.
    fn version(&mut self, event: &v1::ReportedEvent) -> Option<VersionName> {
        let snapshot_id = self.number("snapshot_id", event.snapshot_id);
        self.chars("fingerprint", &event.fingerprint, MAX_FINGERPRINT_CHARS);
        let fingerprint = Some(event.fingerprint.clone()).filter(|text| !text.is_empty());
        Some(VersionName { snapshot_id: snapshot_id?, fingerprint })
    }

    fn body(&mut self, event: &v1::ReportedEvent) -> Option<ReportBody> {
        use v1::EventType as Kind;
        match Kind::try_from(event.event_type) {
            Ok(Kind::SnapshotCommitted) => self.snapshot(event),
            Ok(Kind::WatermarkAdvanced) => {
                let version = match event.snapshot_id {
                    Some(_) => Some(self.version(event)?),
                    None => None,
                };
                let watermark = self.watermark(event);
                Some(ReportBody::Watermark { watermark: watermark?, version })
            }
            Ok(Kind::TagCreated) => {
                let (name, version) = (self.named("tag", &event.tag), self.version(event));
                Some(ReportBody::Tag { name: name?, version: Some(version?) })
            }
            Ok(Kind::TagDeleted) => {
                Some(ReportBody::Tag { name: self.named("tag", &event.tag)?, version: None })
            }
            Ok(Kind::QualityCheckPassed) => self.quality(event, Quality::Passed),
            Ok(Kind::QualityCheckFailed) => self.quality(event, Quality::Failed),
            Ok(Kind::SchemaChanged) => self.schema(event, None),
            Ok(Kind::SchemaChangeApproved) => self.schema(event, Some(SchemaDecision::Approved)),
            Ok(Kind::SchemaChangeRejected) => self.schema(event, Some(SchemaDecision::Rejected)),
            Ok(Kind::BackfillStarted) => self.backfill(event, BackfillStatus::Running),
            Ok(Kind::BackfillCompleted) => self.backfill(event, BackfillStatus::Completed),
            Ok(Kind::CdcLagRecovered) => Some(ReportBody::CdcLagRecovered { watermark: event.watermark }),
            Ok(Kind::RolledBack | Kind::GapDetected) => {
                self.wrong("event_type", "only the agent itself says so");
                None
            }
            Ok(Kind::Unspecified) => {
                self.wrong("event_type", "is required, such as SNAPSHOT_COMMITTED");
                None
            }
            Err(_) => {
                self.wrong("event_type", format!("{} is none that this version knows", event.event_type));
                None
            }
        }
    }

    fn snapshot(&mut self, event: &v1::ReportedEvent) -> Option<ReportBody> {
        let version = self.version(event);
        self.chars("commit_kind", &event.commit_kind, MAX_KIND_CHARS);
        if event.sequence.is_some_and(|sequence| sequence < 0) {
            self.wrong("sequence", "must not be negative");
        }
        if event.schema_id.is_some_and(|id| id < 0) {
            self.wrong("schema_id", "must not be negative");
        }
        let commit_time = self.time("commit_time", event.commit_time);
        Some(ReportBody::Snapshot {
            version: version?,
            sequence: event.sequence,
            commit_time,
            commit_kind: Some(event.commit_kind.clone()).filter(|kind| !kind.is_empty()),
            schema_id: event.schema_id,
            watermark: event.watermark,
            delta_record_count: event.delta_record_count,
        })
    }

    fn watermark(&mut self, event: &v1::ReportedEvent) -> Option<Millis> {
        if event.watermark.is_none() {
            self.wrong("watermark", "is required for this kind, in epoch milliseconds");
        }
        event.watermark
    }

    fn quality(&mut self, event: &v1::ReportedEvent, status: Quality) -> Option<ReportBody> {
        let version = self.version(event);
        let read_time = self.time("read_time", event.read_time);
        Some(ReportBody::Quality { version: version?, status, read_time })
    }

    fn schema(&mut self, event: &v1::ReportedEvent, decision: Option<SchemaDecision>) -> Option<ReportBody> {
        let schema_id = self.number("schema_id", event.schema_id)?;
        Some(ReportBody::Schema { schema_id, decision })
    }

    fn backfill(&mut self, event: &v1::ReportedEvent, status: BackfillStatus) -> Option<ReportBody> {
        let id = self.named("backfill_id", &event.backfill_id);
        let from = self.time("backfill_from", event.backfill_from);
        let to = self.time("backfill_to", event.backfill_to);
        if let (Some(from), Some(to)) = (from, to)
            && to < from
        {
            self.wrong("backfill_to", "must not be before `backfill_from`");
        }
        Some(ReportBody::Backfill { id: id?, status, from, to })
    }
}

/// Checks a query for events.
pub fn query(
    request: v1::ListEventsRequest,
    default_catalog: impl Fn(&str) -> Option<String>,
) -> Result<EventQuery, Refused> {
    let mut violations = Vec::new();
    let mut keep = |found: Refused| violations.extend(found);
    let asset_key = match request.asset_key.as_str() {
        "" => None,
        key => request::key(key, default_catalog).map_err(&mut keep).ok().map(|key| key.to_string()),
    };
    let limit = request::page_size(request.page_size).map_err(&mut keep).unwrap_or_default();
    let event_type = match v1::EventType::try_from(request.event_type) {
        Ok(v1::EventType::Unspecified) => None,
        Ok(wanted) => Some(wanted.as_str_name().to_owned()),
        Err(_) => {
            let text = format!("{} is none that this version knows", request.event_type);
            keep(vec![violation("event_type", text)]);
            None
        }
    };
    let outcome = match Outcome::try_from(request.outcome) {
        Ok(Outcome::Unspecified) => None,
        Ok(wanted @ (Outcome::Applied | Outcome::Pending | Outcome::Ignored)) => {
            Some(wanted.as_str_name().to_owned())
        }
        _ => {
            keep(vec![violation("outcome", "events are kept as APPLIED, PENDING or IGNORED")]);
            None
        }
    };
    let since = request.received_since.map(request::millis).transpose();
    let since = since.map_err(|reason| keep(vec![violation("received_since", reason)])).unwrap_or_default();
    let query = EventQuery { asset_key, event_type, outcome, since, before: None, limit };
    let query = events::after(query, &request.page_token).map_err(|()| {
        let text = "pass on `next_page_token` of the page before, or none";
        keep(vec![violation("page_token", text)]);
    });
    match query {
        Ok(query) if violations.is_empty() => Ok(query),
        _ => Err(violations),
    }
}

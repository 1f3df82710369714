//! `EventService`.

use std::sync::Arc;

use asset_core::{
    event::{EventType, Outcome},
    key::AssetKey,
    report::Report,
};
use asset_engine::{Engine, EventQuery, ReportOutcome, StoredEvent};
use asset_proto::v1::{self, event_outcome::Outcome as Told, event_service_server::EventService};
use tonic::{Request, Response, Status};

use super::{convert, refuse, report, request};

/// Most bytes of one call.
pub const MAX_CALL_BYTES: usize = 16 * 1024 * 1024;

/// Most events of one call.
const MAX_EVENTS: usize = 10_000;

/// The service.
pub struct Events {
    engine: Arc<Engine>,
}

impl Events {
    /// The service over an engine.
    pub fn new(engine: Arc<Engine>) -> Self {
        Self { engine }
    }
}

#[tonic::async_trait]
impl EventService for Events {
    async fn report_events(
        &self,
        request: Request<v1::ReportEventsRequest>,
    ) -> Result<Response<v1::ReportEventsResponse>, Status> {
        let events = request.into_inner().events;
        let count = events.len();
        if !(1..=MAX_EVENTS).contains(&count) {
            let text = format!("between 1 and {MAX_EVENTS} events are taken in one call, these are {count}");
            return Err(refuse::invalid(&[request::violation("events", text)]));
        }
        let catalog = |format: &str| self.engine.default_catalog(format);
        // What is wrong is told in its place; the rest is stored.
        let mut told = Vec::with_capacity(count);
        let mut valid: Vec<(AssetKey, Report)> = Vec::with_capacity(count);
        for event in events {
            let event_id = event.event_id.clone();
            match report::event(event, catalog) {
                Ok(checked) => {
                    valid.push(checked);
                    told.push(None);
                }
                Err(violations) => told.push(Some(v1::EventOutcome {
                    event_id,
                    outcome: Told::Refused.into(),
                    reason: "INVALID_FIELDS".to_owned(),
                    message: refuse::sentences(&violations),
                })),
            }
        }
        let keys: Vec<AssetKey> = valid.iter().map(|(key, _)| key.clone()).collect();
        let outcomes = match valid.is_empty() {
            true => Vec::new(),
            false => self.engine.report(valid).await.map_err(refuse::failed)?,
        };
        let mut stored = keys.iter().zip(outcomes).map(|(key, outcome)| outcome_of(key, outcome));
        let outcomes = told.into_iter().map(|told| told.or_else(|| stored.next()).unwrap_or_default());
        Ok(Response::new(v1::ReportEventsResponse { outcomes: outcomes.collect() }))
    }

    async fn list_events(
        &self,
        request: Request<v1::ListEventsRequest>,
    ) -> Result<Response<v1::ListEventsResponse>, Status> {
        let catalog = |format: &str| self.engine.default_catalog(format);
        let query = report::query(request.into_inner(), catalog)
            .map_err(|violations| refuse::invalid(&violations))?;
        let page = self.engine.events(&query).await.map_err(refuse::failed)?;
        let last = page.events.last().filter(|_| page.more);
        Ok(Response::new(v1::ListEventsResponse {
            next_page_token: last.map(|event| event.number.to_string()).unwrap_or_default(),
            events: page.events.into_iter().map(event).collect(),
        }))
    }
}

fn outcome_of(key: &AssetKey, outcome: ReportOutcome) -> v1::EventOutcome {
    let (event_id, outcome, reason, message) = match outcome {
        ReportOutcome::Stored { event_id, outcome } => {
            let (told, reason, message) = match outcome {
                Outcome::Applied | Outcome::Duplicate => (Told::Applied, "", ""),
                Outcome::Pending => (
                    Told::Pending,
                    "NOT_SEEN_YET",
                    "what it speaks of was not seen yet; it is taken up when it is, within a day",
                ),
                Outcome::Ignored(reason) => (Told::Ignored, reason.as_str(), reason.sentence()),
            };
            (event_id, told, reason, message.to_owned())
        }
        ReportOutcome::Duplicate { event_id } => (event_id, Told::Duplicate, "", String::new()),
        ReportOutcome::Conflict { event_id } => {
            let text = format!(
                "event `{event_id}` is there already and says something else; give a new event another id"
            );
            (event_id, Told::Conflict, "OTHER_CONTENT", text)
        }
        ReportOutcome::Refused(refused) => {
            (String::new(), Told::Refused, "DOES_NOT_FIT", refused.to_string())
        }
        ReportOutcome::NoSuchAsset => {
            let text = format!(
                "no asset has the key {key}, and no catalog of the agent has its table; register it first \
                 (asset-sensor assets register), or set `push-receiver.register-unknown: true`"
            );
            (String::new(), Told::NotFound, "NO_SUCH_ASSET", text)
        }
    };
    v1::EventOutcome { event_id, outcome: outcome.into(), reason: reason.to_owned(), message }
}

fn event(event: StoredEvent) -> v1::AssetEvent {
    let kind = EventType::from_name(&event.event_type);
    let outcome = match event.outcome.as_str() {
        "APPLIED" => Told::Applied,
        "PENDING" => Told::Pending,
        "IGNORED" => Told::Ignored,
        _ => Told::Unspecified,
    };
    v1::AssetEvent {
        event_id: event.event_id,
        asset_key: event.asset_key,
        event_type: kind.map_or(v1::EventType::Unspecified, report::kind).into(),
        source: event.source,
        reporter: event.reporter.unwrap_or_default(),
        event_time: event.event_time.map(convert::timestamp),
        receive_time: Some(convert::timestamp(event.receive_time)),
        outcome: outcome.into(),
        reason: event.outcome_reason.unwrap_or_default(),
        snapshot_id: event.snapshot_id,
        fingerprint: event.fingerprint.unwrap_or_default(),
        generation: event.position.map(|(generation, _)| generation),
        ordinal: event.position.map(|(_, ordinal)| ordinal),
        first_ordinal: event.first_ordinal,
        schema_id: event.schema_id,
        watermark: event.watermark,
        commit_kind: event.commit_kind.unwrap_or_default(),
        commit_time: event.commit_time.map(convert::timestamp),
        tag: event.tag.unwrap_or_default(),
        payload: event.payload.unwrap_or_default(),
    }
}

/// The query of a page token.
pub fn after(query: EventQuery, token: &str) -> Result<EventQuery, ()> {
    if token.is_empty() {
        return Ok(query);
    }
    let before = token.parse().map_err(|_| ())?;
    Ok(EventQuery { before: Some(before), ..query })
}

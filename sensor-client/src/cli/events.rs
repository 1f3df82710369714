//! `asset-sensor events`: what the agent learned, and what became of it.

use std::io::{self, Write};

use asset_proto::v1::{AssetEvent, EventType, ListEventsRequest, event_outcome::Outcome};
use asset_sensor::Client;
use serde::Serialize;
use unicode_width::UnicodeWidthStr;

use super::{
    Output,
    failure::Failure,
    live::plain,
    report::tell_troubles,
    time::{self, rfc3339},
    write_json,
};

#[derive(Debug, clap::Subcommand)]
pub enum Command {
    /// Shows events, the newest first
    List {
        /// Of this asset only
        #[arg(long, value_name = "KEY")]
        asset: Option<String>,
        /// Of this kind only, such as SNAPSHOT_COMMITTED
        #[arg(long = "type", value_name = "KIND", value_parser = kind)]
        kind: Option<EventType>,
        /// With this outcome only: APPLIED, PENDING or IGNORED
        #[arg(long, value_name = "OUTCOME", value_parser = outcome)]
        outcome: Option<Outcome>,
        /// That came at this time or later
        #[arg(long, value_name = "T", value_parser = time::millis)]
        since: Option<i64>,
        /// So many at most
        #[arg(long, value_name = "N", default_value_t = 100)]
        limit: usize,
    },
}

fn kind(text: &str) -> Result<EventType, String> {
    let found = EventType::from_str_name(&text.to_ascii_uppercase());
    found.filter(|kind| *kind != EventType::Unspecified).ok_or_else(|| {
        "no kind of event, such as SNAPSHOT_COMMITTED, QUALITY_CHECK_PASSED or ROLLED_BACK".to_owned()
    })
}

fn outcome(text: &str) -> Result<Outcome, String> {
    match Outcome::from_str_name(&text.to_ascii_uppercase()) {
        Some(outcome @ (Outcome::Applied | Outcome::Pending | Outcome::Ignored)) => Ok(outcome),
        _ => Err("expected APPLIED, PENDING or IGNORED".to_owned()),
    }
}

/// Asks and prints.
pub async fn run(
    client: Client,
    command: Command,
    output: Output,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let Command::List { asset, kind, outcome, since, limit } = command;
    let request = ListEventsRequest {
        asset_key: asset.unwrap_or_default(),
        event_type: kind.unwrap_or(EventType::Unspecified).into(),
        outcome: outcome.unwrap_or(Outcome::Unspecified).into(),
        received_since: since.map(time::timestamp),
        ..ListEventsRequest::default()
    };
    let events = tell_troubles(client).list_events(request, limit).await?;
    if output == Output::Json {
        for event in &events {
            write_json(out, &View::of(event))?;
        }
        return Ok(());
    }
    table(out, &events)?;
    Ok(out.flush()?)
}

const HEADS: [&str; 7] = ["RECEIVED", "TYPE", "ASSET", "SNAPSHOT", "OUTCOME", "FROM", "WHAT"];

fn table(out: &mut dyn Write, events: &[AssetEvent]) -> io::Result<()> {
    let mut rows = vec![HEADS.map(str::to_owned)];
    rows.extend(events.iter().map(|event| {
        let mut outcome = event.outcome().as_str_name().to_owned();
        if !event.reason.is_empty() {
            outcome += &format!(" {}", plain(&event.reason));
        }
        let from = if event.reporter.is_empty() { &event.source } else { &event.reporter };
        [
            rfc3339(event.receive_time.as_ref()).unwrap_or("-".to_owned()),
            event.event_type().as_str_name().to_owned(),
            plain(&event.asset_key),
            event.snapshot_id.map_or("-".to_owned(), |id| id.to_string()),
            outcome,
            plain(from),
            what(event),
        ]
    }));
    let widths: [usize; HEADS.len()] =
        std::array::from_fn(|column| rows.iter().map(|row| row[column].width()).max().unwrap_or(0));
    for row in &rows {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(widths) {
            line += cell;
            line += &" ".repeat(width - cell.width() + 2);
        }
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(())
}

fn what(event: &AssetEvent) -> String {
    match event.event_type() {
        EventType::SnapshotCommitted => plain(&event.commit_kind),
        EventType::WatermarkAdvanced => event.watermark.map(time::of_millis).unwrap_or_default(),
        EventType::TagCreated | EventType::TagDeleted => plain(&event.tag),
        EventType::SchemaChanged | EventType::SchemaChangeApproved | EventType::SchemaChangeRejected => {
            event.schema_id.map(|id| format!("schema {id}")).unwrap_or_default()
        }
        EventType::GapDetected => match (event.first_ordinal, event.ordinal) {
            (Some(first), Some(last)) => format!("{first} to {last} expired unseen"),
            _ => String::new(),
        },
        EventType::RolledBack => plain(&event.payload),
        _ => String::new(),
    }
}

/// An event as JSON.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct View<'a> {
    event_id: &'a str,
    asset_key: &'a str,
    event_type: &'static str,
    source: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    reporter: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    event_time: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    receive_time: Option<String>,
    outcome: &'static str,
    #[serde(skip_serializing_if = "str::is_empty")]
    reason: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    snapshot_id: Option<i64>,
    #[serde(skip_serializing_if = "str::is_empty")]
    fingerprint: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    generation: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ordinal: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    first_ordinal: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    schema_id: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    watermark: Option<i64>,
    #[serde(skip_serializing_if = "str::is_empty")]
    commit_kind: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    commit_time: Option<String>,
    #[serde(skip_serializing_if = "str::is_empty")]
    tag: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    payload: &'a str,
}

impl<'a> View<'a> {
    fn of(event: &'a AssetEvent) -> Self {
        Self {
            event_id: &event.event_id,
            asset_key: &event.asset_key,
            event_type: event.event_type().as_str_name(),
            source: &event.source,
            reporter: &event.reporter,
            event_time: rfc3339(event.event_time.as_ref()),
            receive_time: rfc3339(event.receive_time.as_ref()),
            outcome: event.outcome().as_str_name(),
            reason: &event.reason,
            snapshot_id: event.snapshot_id,
            fingerprint: &event.fingerprint,
            generation: event.generation,
            ordinal: event.ordinal,
            first_ordinal: event.first_ordinal,
            schema_id: event.schema_id,
            watermark: event.watermark,
            commit_kind: &event.commit_kind,
            commit_time: rfc3339(event.commit_time.as_ref()),
            tag: &event.tag,
            payload: &event.payload,
        }
    }
}

//! `asset-sensor report`: tells the agent what happened.

mod file;

use std::{io::Write, path::PathBuf, time::SystemTime};

use asset_proto::v1::{EventOutcome, EventType, ReportedEvent, event_outcome::Outcome};
use asset_sensor::Client;
use clap::ValueEnum;
use serde::Serialize;

use super::{
    Output, conditions,
    failure::Failure,
    live::{Live, plain},
    time,
    troubles::Troubles,
    write_json,
};

/// Events of one call.
const AT_ONCE: usize = 500;

#[derive(Debug, clap::Subcommand)]
pub enum Command {
    /// A version was committed
    Snapshot {
        #[command(flatten)]
        common: Common,
        /// Its native snapshot id
        #[arg(long, value_name = "N", value_parser = conditions::snapshot, allow_hyphen_values = true)]
        snapshot: i64,
        /// Up to where its data is complete
        #[arg(long, value_name = "T", value_parser = time::millis, allow_hyphen_values = true)]
        watermark: Option<i64>,
        /// When it was committed
        #[arg(long, value_name = "T", value_parser = time::millis)]
        commit_time: Option<i64>,
        /// The format's word for what it did; COMPACT brings no data
        #[arg(long, value_name = "KIND")]
        commit_kind: Option<String>,
        /// Schema that it was written with
        #[arg(long, value_name = "N")]
        schema: Option<i64>,
        /// Its number, for assets that are ordered by one
        #[arg(long, value_name = "N")]
        sequence: Option<i64>,
    },
    /// Data is complete up to a time
    Watermark {
        #[command(flatten)]
        common: Common,
        /// Up to where
        #[arg(long, value_name = "T", value_parser = time::millis, allow_hyphen_values = true)]
        watermark: i64,
        /// In which version [default: the newest with data]
        #[arg(long, value_name = "N", value_parser = conditions::snapshot, allow_hyphen_values = true)]
        snapshot: Option<i64>,
    },
    /// A check of a version passed or failed
    Quality {
        #[command(flatten)]
        common: Common,
        /// Native snapshot id of the version
        #[arg(long, value_name = "N", value_parser = conditions::snapshot, allow_hyphen_values = true)]
        snapshot: i64,
        /// What the check says
        #[arg(long, value_enum, ignore_case = true)]
        status: Checked,
        /// When the check read the table: tells which version it saw where an id came again
        #[arg(long, value_name = "T", value_parser = time::millis)]
        read_time: Option<i64>,
    },
    /// A schema is new, or somebody decided about it
    Schema {
        #[command(flatten)]
        common: Common,
        /// Id of the schema
        #[arg(long, value_name = "N")]
        schema: i64,
        /// What was decided [default: nothing, it is new]
        #[arg(long, value_enum, ignore_case = true)]
        status: Option<Decided>,
    },
    /// A tag was made, moved or deleted
    Tag {
        #[command(flatten)]
        common: Common,
        /// Its name
        #[arg(long, value_name = "NAME")]
        tag: String,
        /// Native snapshot id that it names [default: none, it was deleted]
        #[arg(long, value_name = "N", value_parser = conditions::snapshot, allow_hyphen_values = true)]
        snapshot: Option<i64>,
        /// It was deleted
        #[arg(long, conflicts_with = "snapshot", required_unless_present = "snapshot")]
        deleted: bool,
    },
    /// A backfill started or is done
    Backfill {
        #[command(flatten)]
        common: Common,
        /// Its id
        #[arg(long, value_name = "ID")]
        id: String,
        /// Where it stands
        #[arg(long, value_enum, ignore_case = true)]
        status: Backfill,
        /// First moment of the data that it writes
        #[arg(long, value_name = "T", value_parser = time::millis)]
        from: Option<i64>,
        /// End of that data
        #[arg(long, value_name = "T", value_parser = time::millis)]
        to: Option<i64>,
    },
    /// Events of a file: one JSON object a line
    File {
        /// The file, `-` for standard input
        file: PathBuf,
    },
}

/// What every report has.
#[derive(Debug, clap::Args)]
pub struct Common {
    /// The asset, such as paimon://ods/orders
    #[arg(long, value_name = "KEY")]
    asset: String,
    /// Tells a repeated report from a second one; give the same to report the same again [default: a new one]
    #[arg(long, value_name = "ID")]
    event_id: Option<String>,
    /// When it happened [default: now]
    #[arg(long, value_name = "T", value_parser = time::millis)]
    event_time: Option<i64>,
    /// Who reports
    #[arg(long, value_name = "NAME", default_value = "asset-sensor")]
    reporter: String,
    /// What tells the version from another with the same id
    #[arg(long, value_name = "TEXT")]
    fingerprint: Option<String>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
#[value(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Checked {
    Passed,
    Failed,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
#[value(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Decided {
    Approved,
    Rejected,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
#[value(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Backfill {
    Started,
    Completed,
}

impl Common {
    fn event(self, kind: EventType, now: SystemTime) -> ReportedEvent {
        ReportedEvent {
            asset_key: self.asset,
            event_type: kind.into(),
            // Kept over all retries, since the event is made once.
            event_id: self.event_id.unwrap_or_else(new_id),
            reporter: self.reporter,
            event_time: Some(self.event_time.map_or_else(|| now.into(), time::timestamp)),
            fingerprint: self.fingerprint.unwrap_or_default(),
            ..ReportedEvent::default()
        }
    }
}

fn new_id() -> String {
    format!("{:032x}", fastrand::u128(..))
}

impl Command {
    /// The events that the arguments speak of.
    pub fn events(self, now: SystemTime) -> Result<Vec<ReportedEvent>, Failure> {
        Ok(vec![match self {
            Self::File { file } => return file::load(&file),
            Self::Snapshot { common, snapshot, watermark, commit_time, commit_kind, schema, sequence } => {
                ReportedEvent {
                    snapshot_id: Some(snapshot),
                    watermark,
                    commit_time: commit_time.map(time::timestamp),
                    commit_kind: commit_kind.unwrap_or_default(),
                    schema_id: schema,
                    sequence,
                    ..common.event(EventType::SnapshotCommitted, now)
                }
            }
            Self::Watermark { common, watermark, snapshot } => ReportedEvent {
                watermark: Some(watermark),
                snapshot_id: snapshot,
                ..common.event(EventType::WatermarkAdvanced, now)
            },
            Self::Quality { common, snapshot, status, read_time } => {
                let kind = match status {
                    Checked::Passed => EventType::QualityCheckPassed,
                    Checked::Failed => EventType::QualityCheckFailed,
                };
                let read_time = read_time.map(time::timestamp);
                ReportedEvent { snapshot_id: Some(snapshot), read_time, ..common.event(kind, now) }
            }
            Self::Schema { common, schema, status } => {
                let kind = match status {
                    None => EventType::SchemaChanged,
                    Some(Decided::Approved) => EventType::SchemaChangeApproved,
                    Some(Decided::Rejected) => EventType::SchemaChangeRejected,
                };
                ReportedEvent { schema_id: Some(schema), ..common.event(kind, now) }
            }
            Self::Tag { common, tag, snapshot, deleted: _ } => {
                let kind = match snapshot {
                    Some(_) => EventType::TagCreated,
                    None => EventType::TagDeleted,
                };
                ReportedEvent { tag, snapshot_id: snapshot, ..common.event(kind, now) }
            }
            Self::Backfill { common, id, status, from, to } => {
                let kind = match status {
                    Backfill::Started => EventType::BackfillStarted,
                    Backfill::Completed => EventType::BackfillCompleted,
                };
                ReportedEvent {
                    backfill_id: id,
                    backfill_from: from.map(time::timestamp),
                    backfill_to: to.map(time::timestamp),
                    ..common.event(kind, now)
                }
            }
        }])
    }
}

/// Reports events and prints what became of each.
pub async fn run(
    client: Client,
    events: Vec<ReportedEvent>,
    output: Output,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let client = tell_troubles(client);
    let (mut refused, total) = (0, events.len());
    let mut first = None;
    let mut events = events.into_iter().peekable();
    while events.peek().is_some() {
        let call: Vec<ReportedEvent> = events.by_ref().take(AT_ONCE).collect();
        for outcome in client.report_events(call).await? {
            if is_refused(&outcome) {
                refused += 1;
                first.get_or_insert_with(|| plain(&outcome.message));
            }
            print(&outcome, output, out)?;
        }
        out.flush()?;
    }
    match first {
        None => Ok(()),
        Some(message) if total == 1 => Err(Failure::SomeRefused(message)),
        Some(message) => Err(Failure::SomeRefused(format!("{refused} of {total} refused: {message}"))),
    }
}

/// Says on stderr when agents fail.
pub fn tell_troubles(client: Client) -> Client {
    let said = std::sync::Mutex::new((Live::stderr(), Troubles::default()));
    client.on_trouble(move |trouble| {
        if let Ok(mut said) = said.lock()
            && let Some(news) = said.1.lost(trouble)
        {
            said.0.happened(&news);
        }
    })
}

fn is_refused(outcome: &EventOutcome) -> bool {
    matches!(
        outcome.outcome(),
        Outcome::Conflict | Outcome::Refused | Outcome::NotFound | Outcome::Unspecified
    )
}

fn print(outcome: &EventOutcome, output: Output, out: &mut dyn Write) -> Result<(), Failure> {
    if output == Output::Json {
        return write_json(out, &View::of(outcome));
    }
    let mut line = outcome.outcome().as_str_name().to_owned();
    if !outcome.reason.is_empty() {
        line += &format!(" {}", plain(&outcome.reason));
    }
    if !outcome.event_id.is_empty() {
        line += &format!(" {}", plain(&outcome.event_id));
    }
    if !outcome.message.is_empty() {
        line += &format!(": {}", plain(&outcome.message));
    }
    Ok(writeln!(out, "{line}")?)
}

/// What became of an event, as JSON.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct View<'a> {
    outcome: &'static str,
    #[serde(skip_serializing_if = "str::is_empty")]
    event_id: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    reason: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    message: &'a str,
}

impl<'a> View<'a> {
    fn of(outcome: &'a EventOutcome) -> Self {
        Self {
            outcome: outcome.outcome().as_str_name(),
            event_id: &outcome.event_id,
            reason: &outcome.reason,
            message: &outcome.message,
        }
    }
}

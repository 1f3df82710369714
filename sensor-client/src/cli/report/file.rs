//! Events of a file, one JSON object a line, with the RFC's field names.

use std::{
    fs::File,
    io::{self, BufRead, BufReader},
    path::Path,
};

use asset_proto::v1::{EventType, ReportedEvent};
use serde::{Deserialize, Deserializer, de::Error};

use super::super::{failure::Failure, time};

/// Longest line: more than an event can have.
const LONGEST: usize = 1024 * 1024;

/// Reads a file, or standard input when it is `-`. One bad line refuses all of it: nothing was reported.
pub fn load(file: &Path) -> Result<Vec<ReportedEvent>, Failure> {
    let is_stdin = file.as_os_str() == "-";
    let name = if is_stdin { "standard input".to_owned() } else { file.display().to_string() };
    let read = match is_stdin {
        true => lines(io::stdin().lock()),
        false => File::open(file).and_then(|file| lines(BufReader::new(file))),
    };
    let lines = read.map_err(|error| Failure::usage(format!("cannot read {name}: {error}")))?;
    let mut events = Vec::with_capacity(lines.len());
    for (number, line) in lines {
        let event =
            parse(&line).map_err(|error| Failure::usage(format!("{name}, line {number}: {error}")))?;
        events.push(event);
    }
    if events.is_empty() {
        return Err(Failure::usage(format!("there is no event in {name}")));
    }
    Ok(events)
}

/// Lines that are not empty, each with its number.
fn lines(reader: impl BufRead) -> io::Result<Vec<(usize, String)>> {
    let mut found = Vec::new();
    for (index, line) in reader.lines().enumerate() {
        let line = line?;
        if line.len() > LONGEST {
            return Err(io::Error::other(format!("line {} is longer than 1 MiB", index + 1)));
        }
        if !line.trim().is_empty() {
            found.push((index + 1, line));
        }
    }
    Ok(found)
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Line {
    asset_key: String,
    event_type: Kind,
    #[serde(default)]
    event_id: String,
    #[serde(default)]
    reporter: String,
    #[serde(default)]
    event_time: Option<Moment>,
    #[serde(default)]
    snapshot_id: Option<i64>,
    #[serde(default)]
    fingerprint: String,
    #[serde(default)]
    watermark: Option<Moment>,
    #[serde(default)]
    sequence: Option<i64>,
    #[serde(default)]
    commit_time: Option<Moment>,
    #[serde(default)]
    commit_kind: String,
    #[serde(default)]
    schema_id: Option<i64>,
    #[serde(default)]
    delta_record_count: Option<i64>,
    #[serde(default)]
    read_time: Option<Moment>,
    #[serde(default)]
    tag: String,
    #[serde(default)]
    backfill_id: String,
    #[serde(default)]
    backfill_from: Option<Moment>,
    #[serde(default)]
    backfill_to: Option<Moment>,
}

struct Kind(EventType);

impl<'de> Deserialize<'de> for Kind {
    fn deserialize<D: Deserializer<'de>>(json: D) -> Result<Self, D::Error> {
        let name = String::deserialize(json)?;
        EventType::from_str_name(&name).filter(|kind| *kind != EventType::Unspecified).map(Self).ok_or_else(
            || D::Error::custom(format!("`{name}` is no kind of event, such as SNAPSHOT_COMMITTED")),
        )
    }
}

/// Epoch milliseconds, as a number or as a text that is a time.
struct Moment(i64);

impl<'de> Deserialize<'de> for Moment {
    fn deserialize<D: Deserializer<'de>>(json: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged, expecting = "expected a time: epoch milliseconds or RFC 3339")]
        enum Either {
            Number(i64),
            Text(String),
        }
        match Either::deserialize(json)? {
            Either::Number(millis) => Ok(Self(millis)),
            Either::Text(text) => time::millis(&text).map(Self).map_err(D::Error::custom),
        }
    }
}

fn parse(line: &str) -> Result<ReportedEvent, String> {
    let line: Line = serde_json::from_str(line).map_err(|error| error.to_string())?;
    let time = |moment: Option<Moment>| moment.map(|Moment(millis)| time::timestamp(millis));
    Ok(ReportedEvent {
        asset_key: line.asset_key,
        event_type: line.event_type.0.into(),
        event_id: line.event_id,
        reporter: line.reporter,
        event_time: time(line.event_time),
        snapshot_id: line.snapshot_id,
        fingerprint: line.fingerprint,
        watermark: line.watermark.map(|Moment(millis)| millis),
        sequence: line.sequence,
        commit_time: time(line.commit_time),
        commit_kind: line.commit_kind,
        schema_id: line.schema_id,
        delta_record_count: line.delta_record_count,
        read_time: time(line.read_time),
        tag: line.tag,
        backfill_id: line.backfill_id,
        backfill_from: time(line.backfill_from),
        backfill_to: time(line.backfill_to),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_read() {
        let event = parse(
            r#"{"assetKey":"paimon://ods/orders","eventType":"QUALITY_CHECK_PASSED","eventId":"c-7",
                "snapshotId":7,"readTime":"2026-11-30T16:00:00Z","eventTime":1500,"reporter":"soda"}"#,
        )
        .expect("an event");
        assert_eq!(event.event_type(), EventType::QualityCheckPassed);
        assert_eq!(
            (event.snapshot_id, event.reporter.as_str(), event.event_id.as_str()),
            (Some(7), "soda", "c-7")
        );
        // 2026-11-30T16:00:00Z is 1,796,054,400 s after 1970.
        assert_eq!(event.read_time.map(|at| (at.seconds, at.nanos)), Some((1_796_054_400, 0)));
        assert_eq!(event.event_time.map(|at| (at.seconds, at.nanos)), Some((1, 500_000_000)));
    }

    #[test]
    fn what_is_wrong_with_a_line_is_named() {
        for (line, part) in [
            ("{", "EOF"),
            (r#"{"eventType":"TAG_CREATED"}"#, "missing field `assetKey`"),
            (r#"{"assetKey":"a","eventType":"COMMIT"}"#, "`COMMIT` is no kind of event"),
            (r#"{"assetKey":"a","eventType":"TAG_DELETED","snapshotID":1}"#, "unknown field `snapshotID`"),
            (r#"{"assetKey":"a","eventType":"TAG_DELETED","eventTime":"noon"}"#, "`noon` is no time"),
            (r#"{"assetKey":"a","eventType":"TAG_DELETED","eventTime":[]}"#, "expected a time"),
        ] {
            let error = parse(line).expect_err(line);
            assert!(error.contains(part), "{part} in {error}");
        }
    }
}

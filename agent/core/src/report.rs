//! Reports: events that a job or a person pushes.

use serde::{Deserialize, Serialize};

use crate::{
    event::EventType,
    facts::{BackfillStatus, Quality, SchemaDecision},
    key::{AssetKey, digest},
    version::Millis,
};

/// What orders the versions of an asset that no catalog has. Fixed at its first event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Ordering {
    /// Their native ids.
    Id,
    /// A number that their reporter counts up.
    Sequence,
    /// When they were committed.
    CommitTime,
    /// Their watermarks: nothing but watermarks is reported.
    Watermark,
}

impl Ordering {
    /// Every kind.
    pub const ALL: [Self; 4] = [Self::Id, Self::Sequence, Self::CommitTime, Self::Watermark];

    /// Such as `COMMIT_TIME`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Id => "ID",
            Self::Sequence => "SEQUENCE",
            Self::CommitTime => "COMMIT_TIME",
            Self::Watermark => "WATERMARK",
        }
    }

    /// Reads a name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == name)
    }
}

/// A report, checked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// What the reporter calls it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event_id: Option<String>,
    /// Who reports.
    pub reporter: String,
    /// When it happened, by the reporter's clock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event_time: Option<Millis>,
    /// What.
    pub body: ReportBody,
}

/// A version as a reporter names it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct VersionName {
    /// Native snapshot id.
    pub snapshot_id: i64,
    /// What tells it from another commit with that id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fingerprint: Option<String>,
}

/// What is reported.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "SCREAMING_SNAKE_CASE")]
pub enum ReportBody {
    /// A commit.
    Snapshot {
        /// Which.
        version: VersionName,
        /// Its number, for assets that are ordered by it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        sequence: Option<i64>,
        /// When it was committed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        commit_time: Option<Millis>,
        /// The format's word for it; `COMPACT` is maintenance.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        commit_kind: Option<String>,
        /// Schema that it was written with.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        schema_id: Option<i64>,
        /// Its watermark.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        watermark: Option<Millis>,
        /// Rows added less rows removed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        delta_record_count: Option<i64>,
    },
    /// A watermark, of a version or of the newest data version.
    Watermark {
        /// Up to where the data is complete.
        watermark: Millis,
        /// Which version; `None`: the newest with data.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        version: Option<VersionName>,
    },
    /// What a check said of a version.
    Quality {
        /// Which.
        version: VersionName,
        /// What.
        status: Quality,
        /// When the check read the table.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        read_time: Option<Millis>,
    },
    /// A schema is there, or somebody decided about it.
    Schema {
        /// Its id.
        schema_id: i64,
        /// What was decided; `None`: it is new.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        decision: Option<SchemaDecision>,
    },
    /// A tag was made, moved or deleted.
    Tag {
        /// Its name.
        name: String,
        /// What it names; `None`: it was deleted.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        version: Option<VersionName>,
    },
    /// A backfill started or is done.
    Backfill {
        /// Its id.
        id: String,
        /// `RUNNING` or `COMPLETED`.
        status: BackfillStatus,
        /// First moment of the data that it writes.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        from: Option<Millis>,
        /// End of that data.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        to: Option<Millis>,
    },
    /// A change stream caught up with its source.
    CdcLagRecovered {
        /// Up to where the data is complete.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        watermark: Option<Millis>,
    },
}

impl Report {
    /// Its kind.
    pub fn event_type(&self) -> EventType {
        match &self.body {
            ReportBody::Snapshot { .. } => EventType::SnapshotCommitted,
            ReportBody::Watermark { .. } => EventType::WatermarkAdvanced,
            ReportBody::Quality { status: Quality::Passed, .. } => EventType::QualityCheckPassed,
            ReportBody::Quality { status: Quality::Failed, .. } => EventType::QualityCheckFailed,
            ReportBody::Schema { decision: None, .. } => EventType::SchemaChanged,
            ReportBody::Schema { decision: Some(SchemaDecision::Approved), .. } => {
                EventType::SchemaChangeApproved
            }
            ReportBody::Schema { decision: Some(SchemaDecision::Rejected), .. } => {
                EventType::SchemaChangeRejected
            }
            ReportBody::Tag { version: Some(_), .. } => EventType::TagCreated,
            ReportBody::Tag { version: None, .. } => EventType::TagDeleted,
            ReportBody::Backfill { status: BackfillStatus::Completed, .. } => EventType::BackfillCompleted,
            ReportBody::Backfill { .. } => EventType::BackfillStarted,
            ReportBody::CdcLagRecovered { .. } => EventType::CdcLagRecovered,
        }
    }

    /// Whether only the reporter's own id tells two of them apart.
    pub fn needs_event_id(&self) -> bool {
        match &self.body {
            ReportBody::Snapshot { .. } | ReportBody::Watermark { .. } => false,
            ReportBody::Schema { decision, .. } => decision.is_some(),
            ReportBody::Tag { .. } => self.event_time.is_none(),
            _ => true,
        }
    }

    /// The version that it names.
    pub fn version(&self) -> Option<&VersionName> {
        match &self.body {
            ReportBody::Snapshot { version, .. } | ReportBody::Quality { version, .. } => Some(version),
            ReportBody::Watermark { version, .. } | ReportBody::Tag { version, .. } => version.as_ref(),
            _ => None,
        }
    }

    /// When it happened: as reported, else when it came.
    pub fn at(&self, received: Millis) -> Millis {
        self.event_time.unwrap_or(received)
    }

    /// Hexadecimal SHA-256 over what makes two reports the same one, never empty. `generation` is the
    /// asset's history of now.
    pub fn dedupe_key(&self, asset: &AssetKey, generation: i64) -> String {
        let version = |version: &VersionName| {
            let VersionName { snapshot_id, fingerprint } = version;
            format!("{generation}:{snapshot_id}:{}", fingerprint.as_deref().unwrap_or_default())
        };
        let id = self.event_id.clone().unwrap_or_default();
        let time = self.event_time.map(|at| at.to_string()).unwrap_or_default();
        let parts: [String; 3] = match &self.body {
            ReportBody::Snapshot { version: name, .. } => [version(name), String::new(), String::new()],
            ReportBody::Watermark { watermark, version: Some(name) } => {
                [watermark.to_string(), version(name), String::new()]
            }
            // Of the newest data version, whichever that is: an id of its own tells two of them apart.
            ReportBody::Watermark { watermark, version: None } => {
                [watermark.to_string(), id, generation.to_string()]
            }
            ReportBody::Schema { schema_id, decision: None } => {
                [format!("{generation}:{schema_id}"), String::new(), String::new()]
            }
            ReportBody::Tag { name, version: tagged } => {
                let target = tagged.as_ref().map(version).unwrap_or_default();
                // The reporter's id tells one time from another; without one, when it happened.
                let which = if id.is_empty() { time } else { format!("{}/{id}", self.reporter) };
                [name.clone(), target, which]
            }
            _ => [self.reporter.clone(), id, String::new()],
        };
        let [one, two, three] = &parts;
        digest(["REPORT", asset.as_str(), self.event_type().as_str(), one, two, three])
    }

    /// Hexadecimal SHA-256 over what it says: of two with one dedupe key it tells a duplicate from a
    /// conflict. A snapshot is the same whoever reports it.
    pub fn content(&self) -> String {
        let body = serde_json::to_string(&self.body).unwrap_or_default();
        digest([body.as_str()])
    }
}

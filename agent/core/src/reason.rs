//! Why a condition does not hold, as a code with arguments. [`crate::words`] says it to people.

use crate::{
    asset::Unread,
    condition::{Match, TagGlob},
    facts::{BackfillStatus, Quality, SchemaStatus},
    version::{Assurance, Millis},
};

/// What blocks a condition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BlockedBy {
    /// No data version that is new enough.
    Snapshot,
    /// The watermark is behind.
    Watermark,
    /// No check said what is wanted.
    Quality,
    /// The schema does not stand where it must.
    Schema,
    /// No tag that fits.
    Tag,
    /// Backfills don't stand where they must, or made the only version.
    Backfill,
    /// The version was only reported.
    Assurance,
    /// No asset under that key.
    UnknownAsset,
    /// The agent releases nothing.
    Paused,
}

impl BlockedBy {
    /// The word of the metrics: `snapshot`, `unknown_asset`.
    pub fn as_label(self) -> &'static str {
        match self {
            Self::Snapshot => "snapshot",
            Self::Watermark => "watermark",
            Self::Quality => "quality",
            Self::Schema => "schema",
            Self::Tag => "tag",
            Self::Backfill => "backfill",
            Self::Assurance => "assurance",
            Self::UnknownAsset => "unknown_asset",
            Self::Paused => "paused",
        }
    }
}

/// What a condition wants.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Wanted {
    /// Native id to be reached.
    pub min_snapshot_id: Option<i64>,
    /// Set for `since: registered`: newer than this native id, where it is known.
    pub newer_than: Option<Option<i64>>,
    /// When it must have been committed or later.
    pub committed_after: Option<Millis>,
    /// What the watermark must have reached.
    pub watermark_gte: Option<Millis>,
    /// How far the watermark may lie behind, in seconds.
    pub max_watermark_lag_seconds: Option<i64>,
    /// What a check must have said.
    pub quality: Option<Quality>,
    /// Where the schema must stand.
    pub schema: Option<SchemaStatus>,
    /// The tag that it must have.
    pub tag: Option<TagGlob>,
    /// Where backfills must stand.
    pub backfill: Option<BackfillStatus>,
    /// Whether versions of backfills don't count.
    pub ignore_backfill: bool,
    /// How it must be known.
    pub assurance: Option<Assurance>,
    /// Which data version is looked at.
    pub matching: Match,
}

/// Why a condition does not hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reason {
    /// Nothing is known of it.
    Unread(Unread),
    /// Its catalog was read and has no such table.
    TableAbsent,
    /// The table has no snapshot yet.
    NoSnapshot,
    /// The newest data version is too old.
    BelowMinSnapshot {
        /// Native id to be reached.
        wanted: i64,
        /// Native id of the newest data version.
        found: i64,
        /// Native id of the newest commit, where that one brought no data.
        head: Option<i64>,
    },
    /// Nothing new since the wait began.
    NotNewer {
        /// Native id of the newest data version.
        found: i64,
        /// Native id of the newest commit, where that one brought no data.
        head: Option<i64>,
    },
    /// The newest data version was committed too early.
    CommittedEarly {
        /// Native id of the newest data version.
        found: i64,
        /// When it must have been committed or later.
        wanted: Millis,
        /// When it was; `None` where the format does not say.
        committed: Option<Millis>,
    },
    /// The watermark of the newest data version is behind.
    BelowWatermark {
        /// Native id of the newest data version.
        found: i64,
        /// What must have been reached.
        wanted: Millis,
        /// What was; `None`: no version had one yet.
        watermark: Option<Millis>,
    },
    /// The watermark of the newest data version lies too far behind the time of now.
    WatermarkLags {
        /// Native id of the newest data version.
        found: i64,
        /// How far it may lie behind, in seconds.
        max_seconds: i64,
        /// What was reached; `None`: no version had one yet.
        watermark: Option<Millis>,
        /// The time of now.
        now: Millis,
    },
    /// No check said of the data version what is wanted.
    OtherQuality {
        /// Its native id.
        found: i64,
        /// What is wanted.
        wanted: Quality,
        /// What was said of it last, when and by whom.
        said: Option<(Quality, Millis, String)>,
    },
    /// The schema of the data version stands elsewhere.
    OtherSchemaStatus {
        /// Its native id.
        found: i64,
        /// Where it must stand.
        wanted: SchemaStatus,
        /// Id of the schema; `None` where nobody says.
        schema: Option<i64>,
        /// Where that stands.
        status: Option<SchemaStatus>,
    },
    /// No version has a tag that fits.
    NoTag {
        /// The tag that is wanted.
        wanted: String,
        /// The tag that was made last.
        latest: Option<String>,
    },
    /// Backfills stand elsewhere.
    OtherBackfillStatus {
        /// Where they must stand.
        wanted: BackfillStatus,
        /// Where they do.
        found: BackfillStatus,
    },
    /// Every data version that could count was committed during a backfill.
    DuringBackfill {
        /// Native id of the newest of them.
        found: i64,
        /// Id of its backfill.
        backfill: String,
    },
    /// The data version was reported, and nobody read it in the table.
    OnlyReported {
        /// Its native id.
        found: i64,
        /// How it must be known.
        wanted: Assurance,
    },
    /// The newest data version and all that carry its data have expired.
    NotReadable {
        /// Its native id.
        found: i64,
    },
    /// The table is gone from its catalog.
    TableGone {
        /// Since when.
        since: Millis,
    },
    /// The condition holds, but the agent is switched off.
    AgentPaused {
        /// Native id of the version that holds it.
        found: i64,
    },
}

impl Reason {
    /// What blocks.
    pub fn blocked_by(&self) -> BlockedBy {
        match self {
            Self::Unread(_) | Self::TableAbsent | Self::TableGone { .. } => BlockedBy::UnknownAsset,
            Self::AgentPaused { .. } => BlockedBy::Paused,
            Self::BelowWatermark { .. } | Self::WatermarkLags { .. } => BlockedBy::Watermark,
            Self::OtherQuality { .. } => BlockedBy::Quality,
            Self::OtherSchemaStatus { .. } => BlockedBy::Schema,
            Self::NoTag { .. } => BlockedBy::Tag,
            Self::OtherBackfillStatus { .. } | Self::DuringBackfill { .. } => BlockedBy::Backfill,
            Self::OnlyReported { .. } => BlockedBy::Assurance,
            Self::NoSnapshot
            | Self::BelowMinSnapshot { .. }
            | Self::NotNewer { .. }
            | Self::CommittedEarly { .. }
            | Self::NotReadable { .. } => BlockedBy::Snapshot,
        }
    }

    /// Stable code, such as `BELOW_MIN_SNAPSHOT`.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Unread(Unread::NoCatalog) => "UNKNOWN_ASSET",
            Self::Unread(Unread::NotListed) => "TABLE_NOT_LISTED",
            Self::Unread(Unread::PollingOff) => "POLLING_OFF",
            Self::Unread(Unread::NotYet) => "TABLE_NOT_READ_YET",
            Self::Unread(Unread::Failing(_)) => "TABLE_NEVER_READ",
            Self::TableAbsent => "TABLE_ABSENT",
            Self::NoSnapshot => "NO_SNAPSHOT",
            Self::BelowMinSnapshot { .. } => "BELOW_MIN_SNAPSHOT",
            Self::NotNewer { .. } => "NOT_NEWER",
            Self::CommittedEarly { .. } => "COMMITTED_EARLY",
            Self::BelowWatermark { .. } => "BELOW_WATERMARK",
            Self::WatermarkLags { .. } => "WATERMARK_LAGS",
            Self::OtherQuality { said: None, .. } => "NOT_CHECKED",
            Self::OtherQuality { .. } => "OTHER_QUALITY",
            Self::OtherSchemaStatus { schema: None, .. } => "SCHEMA_UNKNOWN",
            Self::OtherSchemaStatus { .. } => "OTHER_SCHEMA_STATUS",
            Self::NoTag { .. } => "NO_TAG",
            Self::OtherBackfillStatus { .. } => "OTHER_BACKFILL_STATUS",
            Self::DuringBackfill { .. } => "DURING_BACKFILL",
            Self::OnlyReported { .. } => "ONLY_REPORTED",
            Self::NotReadable { .. } => "NOT_READABLE",
            Self::TableGone { .. } => "TABLE_GONE",
            Self::AgentPaused { .. } => "AGENT_PAUSED",
        }
    }

    /// The values that the code speaks of.
    pub fn args(&self) -> Vec<(&'static str, String)> {
        let id = |found: &i64| ("found_snapshot_id", found.to_string());
        match self {
            Self::Unread(Unread::Failing(error)) => vec![("error", error.clone())],
            Self::Unread(_) | Self::TableAbsent | Self::NoSnapshot => Vec::new(),
            Self::BelowMinSnapshot { wanted, found, head } => {
                let mut args = vec![
                    ("wanted_snapshot_id", wanted.to_string()),
                    id(found),
                    ("behind", wanted.saturating_sub(*found).to_string()),
                ];
                args.extend(head.map(|head| ("head_snapshot_id", head.to_string())));
                args
            }
            Self::NotNewer { found, head } => {
                let mut args = vec![id(found)];
                args.extend(head.map(|head| ("head_snapshot_id", head.to_string())));
                args
            }
            Self::CommittedEarly { found, wanted, committed } => {
                let mut args = vec![id(found), ("wanted_commit_millis", wanted.to_string())];
                args.extend(committed.map(|at| ("found_commit_millis", at.to_string())));
                args
            }
            Self::BelowWatermark { found, wanted, watermark } => {
                let mut args = vec![id(found), ("wanted_watermark", wanted.to_string())];
                args.extend(watermark.map(|mark| ("found_watermark", mark.to_string())));
                args
            }
            Self::WatermarkLags { found, max_seconds, watermark, now } => {
                let mut args =
                    vec![id(found), ("max_lag_seconds", max_seconds.to_string()), ("now", now.to_string())];
                args.extend(watermark.map(|mark| ("found_watermark", mark.to_string())));
                args
            }
            Self::OtherQuality { found, wanted, said } => {
                let mut args = vec![id(found), ("wanted_quality", wanted.as_str().to_owned())];
                if let Some((quality, at, reporter)) = said {
                    args.push(("found_quality", quality.as_str().to_owned()));
                    args.push(("checked_millis", at.to_string()));
                    args.push(("reporter", reporter.clone()));
                }
                args
            }
            Self::OtherSchemaStatus { found, wanted, schema, status } => {
                let mut args = vec![id(found), ("wanted_schema_status", wanted.as_str().to_owned())];
                args.extend(schema.map(|schema| ("found_schema_id", schema.to_string())));
                args.extend(status.map(|status| ("found_schema_status", status.as_str().to_owned())));
                args
            }
            Self::NoTag { wanted, latest } => {
                let mut args = vec![("wanted_tag", wanted.clone())];
                args.extend(latest.clone().map(|latest| ("latest_tag", latest)));
                args
            }
            Self::OtherBackfillStatus { wanted, found } => vec![
                ("wanted_backfill_status", wanted.as_str().to_owned()),
                ("found_backfill_status", found.as_str().to_owned()),
            ],
            Self::DuringBackfill { found, backfill } => vec![id(found), ("backfill_id", backfill.clone())],
            Self::OnlyReported { found, wanted } => {
                vec![id(found), ("wanted_assurance", wanted.as_str().to_owned())]
            }
            Self::NotReadable { found } | Self::AgentPaused { found } => vec![id(found)],
            Self::TableGone { since } => vec![("since_millis", since.to_string())],
        }
    }
}

//! Why a condition does not hold, as a code with arguments, and how that reads in English.

use crate::{
    asset::Unread,
    time::{show_distance, show_moment},
    version::Millis,
};

/// What blocks a condition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BlockedBy {
    /// No data version that is new enough.
    Snapshot,
    /// The watermark is behind.
    Watermark,
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
            Self::UnknownAsset => "unknown_asset",
            Self::Paused => "paused",
        }
    }
}

/// What a condition wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wanted {
    /// Native id to be reached.
    pub min_snapshot_id: Option<i64>,
    /// Set for `since: registered`: newer than this native id, where it is known.
    pub newer_than: Option<Option<i64>>,
    /// When it must have been committed or later.
    pub committed_after: Option<Millis>,
    /// What the watermark must have reached.
    pub watermark_gte: Option<Millis>,
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
            Self::BelowWatermark { .. } => BlockedBy::Watermark,
            _ => BlockedBy::Snapshot,
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
            Self::NotReadable { .. } => "NOT_READABLE",
            Self::TableGone { .. } => "TABLE_GONE",
            Self::AgentPaused { .. } => "AGENT_PAUSED",
        }
    }

    /// The values that the code speaks of.
    pub fn args(&self) -> Vec<(&'static str, String)> {
        match self {
            Self::Unread(Unread::Failing(error)) => vec![("error", error.clone())],
            Self::Unread(_) | Self::TableAbsent | Self::NoSnapshot => Vec::new(),
            Self::BelowMinSnapshot { wanted, found, head } => {
                let mut args = vec![
                    ("wanted_snapshot_id", wanted.to_string()),
                    ("found_snapshot_id", found.to_string()),
                    ("behind", wanted.saturating_sub(*found).to_string()),
                ];
                args.extend(head.map(|head| ("head_snapshot_id", head.to_string())));
                args
            }
            Self::NotNewer { found, head } => {
                let mut args = vec![("found_snapshot_id", found.to_string())];
                args.extend(head.map(|head| ("head_snapshot_id", head.to_string())));
                args
            }
            Self::CommittedEarly { found, wanted, committed } => {
                let mut args = vec![
                    ("found_snapshot_id", found.to_string()),
                    ("wanted_commit_millis", wanted.to_string()),
                ];
                args.extend(committed.map(|at| ("found_commit_millis", at.to_string())));
                args
            }
            Self::BelowWatermark { found, wanted, watermark } => {
                let mut args =
                    vec![("found_snapshot_id", found.to_string()), ("wanted_watermark", wanted.to_string())];
                args.extend(watermark.map(|mark| ("found_watermark", mark.to_string())));
                args
            }
            Self::NotReadable { found } | Self::AgentPaused { found } => {
                vec![("found_snapshot_id", found.to_string())]
            }
            Self::TableGone { since } => vec![("since_millis", since.to_string())],
        }
    }

    /// What the asset has.
    pub fn found(&self) -> String {
        match self {
            Self::Unread(Unread::NoCatalog | Unread::NotListed) => "no asset of this key".to_owned(),
            Self::Unread(Unread::PollingOff | Unread::NotYet) => "a table that was not read yet".to_owned(),
            Self::Unread(Unread::Failing(error)) => format!("a table that can't be read ({error})"),
            Self::TableAbsent => "no such table in its catalog".to_owned(),
            Self::NoSnapshot => "a table without a snapshot".to_owned(),
            Self::BelowMinSnapshot { found, head: Some(head), .. }
            | Self::NotNewer { found, head: Some(head) } => {
                format!("data snapshot {found} (newer ones up to {head} brought no data)")
            }
            Self::BelowMinSnapshot { found, .. }
            | Self::NotNewer { found, .. }
            | Self::AgentPaused { found } => format!("snapshot {found}"),
            Self::CommittedEarly { found, committed, .. } => match committed {
                Some(at) => format!("snapshot {found}, committed {}", show_moment(*at)),
                None => format!("snapshot {found} without a commit time"),
            },
            Self::BelowWatermark { found, watermark, .. } => match watermark {
                Some(mark) => format!("snapshot {found} with watermark {}", show_moment(*mark)),
                None => format!("snapshot {found} without a watermark"),
            },
            Self::NotReadable { found } => format!("snapshot {found}, which has expired"),
            Self::TableGone { .. } => "a table that is gone from its catalog".to_owned(),
        }
    }

    /// What is missing for the condition to hold.
    pub fn missing(&self) -> String {
        match self {
            Self::Unread(Unread::NoCatalog) => {
                "a catalog of the agent's configuration that has this table".to_owned()
            }
            Self::Unread(Unread::NotListed) => {
                "this table in `tables` of its catalog, or `discover: true` there".to_owned()
            }
            Self::Unread(Unread::PollingOff) => {
                "an agent that reads tables: its configuration has `paimon-polling.enabled: false`".to_owned()
            }
            Self::Unread(Unread::NotYet) => "the table's first read, which is due".to_owned(),
            Self::Unread(Unread::Failing(_)) => "a table that can be read".to_owned(),
            Self::TableAbsent => "the table and its first snapshot".to_owned(),
            Self::NoSnapshot => "the first snapshot".to_owned(),
            Self::BelowMinSnapshot { wanted, found, .. } => {
                format!("{} behind", wanted.saturating_sub(*found))
            }
            Self::NotNewer { .. } => "a newer snapshot with data".to_owned(),
            Self::CommittedEarly { wanted, committed: Some(at), .. } => {
                format!("a later commit, this one was {} too early", show_distance(*at, *wanted))
            }
            Self::CommittedEarly { committed: None, .. } => "a commit that says when it was made".to_owned(),
            Self::BelowWatermark { wanted, watermark: Some(mark), .. } => {
                format!("{} behind", show_distance(*mark, *wanted))
            }
            Self::BelowWatermark { watermark: None, .. } => {
                "a first watermark: does the job that writes this table set one?".to_owned()
            }
            Self::NotReadable { .. } => "a snapshot that can be read".to_owned(),
            Self::TableGone { .. } => "the table, back in its catalog".to_owned(),
            Self::AgentPaused { .. } => {
                "an agent that releases: its configuration has `enabled: false`".to_owned()
            }
        }
    }
}

impl Wanted {
    /// What is wanted, in a few words.
    pub fn words(&self) -> String {
        let newer = self.newer_than.map(|id| match id {
            Some(id) => format!("newer than {id}, the head when the wait began"),
            None => "newer than the head when the wait began".to_owned(),
        });
        let subject = match self.min_snapshot_id {
            Some(min) => format!("snapshot >= {min}"),
            None => "a snapshot".to_owned(),
        };
        let committed = self.committed_after.map(|at| format!("committed at {} or later", show_moment(at)));
        let watermark = self.watermark_gte.map(|mark| format!("with watermark >= {}", show_moment(mark)));
        let rest: Vec<String> = [newer, committed, watermark].into_iter().flatten().collect();
        match (self.min_snapshot_id, rest.is_empty()) {
            (_, true) => subject,
            (None, false) => format!("{subject} {}", rest.join(" and ")),
            (Some(_), false) => format!("{subject} and {}", rest.join(" and ")),
        }
    }
}

/// One condition's verdict in one sentence.
pub fn sentence(asset: &str, wanted: &Wanted, verdict: Result<i64, &Reason>) -> String {
    match verdict {
        Ok(pinned) => format!("{asset}: needs {}, has snapshot {pinned}", wanted.words()),
        Err(reason) => format!(
            "{asset}: needs {}, has {}; missing: {}",
            wanted.words(),
            reason.found(),
            reason.missing()
        ),
    }
}

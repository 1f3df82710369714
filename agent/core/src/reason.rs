//! Why a condition does not hold, as a code with arguments, and how that reads in English.

use crate::change::Hold;

/// What blocks a condition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BlockedBy {
    /// No data version that is new enough, or a history on hold.
    Snapshot,
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
}

/// Why a condition does not hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reason {
    /// No catalog has been asked for that table, and nobody registered it.
    UnknownAsset,
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
    },
    /// Nothing new since the wait began.
    NotNewer {
        /// Native id of the newest data version.
        found: i64,
    },
    /// The newest data version and all that carry its data have expired.
    NotReadable {
        /// Its native id.
        found: i64,
    },
    /// The table is not on its known history.
    HistoryOnHold(Hold),
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
            Self::UnknownAsset | Self::TableAbsent => BlockedBy::UnknownAsset,
            Self::AgentPaused { .. } => BlockedBy::Paused,
            _ => BlockedBy::Snapshot,
        }
    }

    /// Stable code, such as `BELOW_MIN_SNAPSHOT`.
    pub fn code(&self) -> &'static str {
        match self {
            Self::UnknownAsset => "UNKNOWN_ASSET",
            Self::TableAbsent => "TABLE_ABSENT",
            Self::NoSnapshot => "NO_SNAPSHOT",
            Self::BelowMinSnapshot { .. } => "BELOW_MIN_SNAPSHOT",
            Self::NotNewer { .. } => "NOT_NEWER",
            Self::NotReadable { .. } => "NOT_READABLE",
            Self::HistoryOnHold(_) => "HISTORY_ON_HOLD",
            Self::AgentPaused { .. } => "AGENT_PAUSED",
        }
    }

    /// The values that the code speaks of.
    pub fn args(&self) -> Vec<(&'static str, String)> {
        match self {
            Self::UnknownAsset | Self::TableAbsent | Self::NoSnapshot => Vec::new(),
            Self::BelowMinSnapshot { wanted, found } => vec![
                ("wanted_snapshot_id", wanted.to_string()),
                ("found_snapshot_id", found.to_string()),
                ("behind", wanted.saturating_sub(*found).to_string()),
            ],
            Self::NotNewer { found } | Self::NotReadable { found } | Self::AgentPaused { found } => {
                vec![("found_snapshot_id", found.to_string())]
            }
            Self::HistoryOnHold(hold) => {
                vec![("cause", hold.cause.code().to_owned()), ("since_millis", hold.since.to_string())]
            }
        }
    }

    /// What the asset has.
    pub fn found(&self) -> String {
        match self {
            Self::UnknownAsset => "no asset of this key".to_owned(),
            Self::TableAbsent => "no such table in its catalog".to_owned(),
            Self::NoSnapshot => "a table without a snapshot".to_owned(),
            Self::BelowMinSnapshot { found, .. } | Self::NotNewer { found } | Self::AgentPaused { found } => {
                format!("snapshot {found}")
            }
            Self::NotReadable { found } => format!("snapshot {found}, which has expired"),
            Self::HistoryOnHold(hold) => hold.sentence(),
        }
    }

    /// What is missing for the condition to hold.
    pub fn missing(&self) -> String {
        match self {
            Self::UnknownAsset => "a catalog of the agent's configuration that has this table".to_owned(),
            Self::TableAbsent => "the table and its first snapshot".to_owned(),
            Self::NoSnapshot => "the first snapshot".to_owned(),
            Self::BelowMinSnapshot { wanted, found } => {
                format!("{} behind", wanted.saturating_sub(*found))
            }
            Self::NotNewer { .. } => "a newer snapshot with data".to_owned(),
            Self::NotReadable { .. } => "a snapshot that can be read".to_owned(),
            Self::HistoryOnHold(_) => "a history that can be compared with the known one".to_owned(),
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
        match (self.min_snapshot_id, newer) {
            (None, None) => "a snapshot".to_owned(),
            (Some(min), None) => format!("snapshot >= {min}"),
            (None, Some(newer)) => format!("a snapshot {newer}"),
            (Some(min), Some(newer)) => format!("snapshot >= {min} and {newer}"),
        }
    }
}

/// One condition's verdict in one sentence.
pub fn sentence(asset: &str, wanted: &Wanted, verdict: Result<i64, &Reason>) -> String {
    match verdict {
        Ok(pinned) => format!("{asset}: snapshot {pinned} is {}", wanted.words()),
        Err(reason) => format!(
            "{asset}: needs {}, has {}; missing: {}",
            wanted.words(),
            reason.found(),
            reason.missing()
        ),
    }
}

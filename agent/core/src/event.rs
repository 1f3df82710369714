//! Events: the evidence that the fold works on.

use crate::{
    change::HistoryBreak,
    key::{AssetKey, digest},
    log::Entry,
    version::{Commit, CommitClass, Millis, Position},
};

/// Kind of an event, by its name in the store and in every interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EventType {
    /// A commit.
    SnapshotCommitted,
    /// Commits that expired unseen.
    GapDetected,
    /// The table left its known history.
    RolledBack,
}

impl EventType {
    /// The name, such as `SNAPSHOT_COMMITTED`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::SnapshotCommitted => "SNAPSHOT_COMMITTED",
            Self::GapDetected => "GAP_DETECTED",
            Self::RolledBack => "ROLLED_BACK",
        }
    }
}

/// An event that has its place: ready to be folded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StampedEvent {
    /// Where it belongs: for a gap the last missing place, for a history the one that it begins at.
    pub position: Position,
    /// When the agent learned of it.
    pub observed_at: Millis,
    /// What it says.
    pub body: EventBody,
}

/// What a stamped event says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EventBody {
    /// A commit stands at the position.
    Committed {
        /// Whether it brought data.
        class: CommitClass,
        /// What the format wrote.
        commit: Commit,
    },
    /// The commits from ordinal `first` up to the position expired unseen.
    Gap {
        /// First missing ordinal.
        first: i64,
    },
    /// A history begins, in the generation of the position.
    Began {
        /// Its base, where that stood before: the newest of its commits that was known. `None`: none was.
        origin: Option<Position>,
        /// What it holds up to there.
        kept: Vec<(i64, Entry)>,
    },
}

/// What became of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// It moved the state.
    Applied,
    /// It was noted and moved nothing that anybody waits for.
    Ignored(IgnoredReason),
    /// The same event is there already; it is not stored again.
    Duplicate,
}

/// Why an event moved nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum IgnoredReason {
    /// A newer version is known.
    Stale,
    /// A compaction or the like: no new data.
    MaintenanceOnly,
}

impl IgnoredReason {
    /// Stable code, such as `MAINTENANCE_ONLY`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Stale => "STALE",
            Self::MaintenanceOnly => "MAINTENANCE_ONLY",
        }
    }
}

/// An event as it is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Evidence {
    /// What it says.
    pub fact: Fact,
    /// Where it was put; for a rollback the base of the history that it began.
    pub position: Option<Position>,
    /// When the agent learned of it.
    pub observed_at: Millis,
    /// What became of it.
    pub outcome: Outcome,
}

/// What a kept event says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fact {
    /// A commit.
    Committed(Commit),
    /// The commits from ordinal `first` up to the position expired unseen.
    Gap {
        /// First missing ordinal.
        first: i64,
    },
    /// The table left its known history, and another one began.
    RolledBack {
        /// How.
        cause: HistoryBreak,
        /// Ordinal of the newest commit of the new history that was known before.
        base: Option<i64>,
    },
}

impl Evidence {
    /// Its kind.
    pub fn event_type(&self) -> EventType {
        match self.fact {
            Fact::Committed(_) => EventType::SnapshotCommitted,
            Fact::Gap { .. } => EventType::GapDetected,
            Fact::RolledBack { .. } => EventType::RolledBack,
        }
    }

    /// Hexadecimal SHA-256 over what makes two events the same one: 64 characters, never empty.
    pub fn dedupe_key(&self, asset: &AssetKey) -> String {
        let generation = self.position.map_or(0, |position| position.generation);
        let ordinal = self.position.map_or(0, |position| position.ordinal);
        let (one, two) = match &self.fact {
            Fact::Committed(commit) => (commit.snapshot_id.to_string(), commit.fingerprint.clone()),
            Fact::Gap { first } => (first.to_string(), ordinal.to_string()),
            Fact::RolledBack { cause, .. } => (break_name(cause), String::new()),
        };
        digest([asset.as_str(), self.event_type().as_str(), &generation.to_string(), &one, &two])
    }
}

fn break_name(cause: &HistoryBreak) -> String {
    match cause {
        HistoryBreak::Rewound { known, found } => {
            let found = found.map_or("none".to_owned(), |id| id.to_string());
            format!("{}:{known}:{found}", cause.code())
        }
        HistoryBreak::Recreated => cause.code().to_owned(),
    }
}

#[cfg(test)]
mod tests;

//! Events: the evidence that the fold works on.

use crate::{
    change::HistoryBreak,
    facts::{Backfill, Quality, SchemaDecision, Tag},
    key::{AssetKey, digest},
    log::Entry,
    report::Report,
    statement::Statement,
    version::{Assurance, Commit, CommitClass, Millis, Position},
};

/// Kind of an event, by its name in the store and in every interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EventType {
    /// A commit.
    SnapshotCommitted,
    /// The watermark of a version moved.
    WatermarkAdvanced,
    /// A tag was made or moved.
    TagCreated,
    /// A tag is gone.
    TagDeleted,
    /// A check of a version passed.
    QualityCheckPassed,
    /// A check of a version failed.
    QualityCheckFailed,
    /// A new schema.
    SchemaChanged,
    /// Somebody approved a schema.
    SchemaChangeApproved,
    /// Somebody rejected a schema.
    SchemaChangeRejected,
    /// Data of the past is being written again.
    BackfillStarted,
    /// That is done.
    BackfillCompleted,
    /// A change stream caught up with its source.
    CdcLagRecovered,
    /// The table left its known history.
    RolledBack,
    /// Commits that expired unseen.
    GapDetected,
}

impl EventType {
    /// The name, such as `SNAPSHOT_COMMITTED`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::SnapshotCommitted => "SNAPSHOT_COMMITTED",
            Self::WatermarkAdvanced => "WATERMARK_ADVANCED",
            Self::TagCreated => "TAG_CREATED",
            Self::TagDeleted => "TAG_DELETED",
            Self::QualityCheckPassed => "QUALITY_CHECK_PASSED",
            Self::QualityCheckFailed => "QUALITY_CHECK_FAILED",
            Self::SchemaChanged => "SCHEMA_CHANGED",
            Self::SchemaChangeApproved => "SCHEMA_CHANGE_APPROVED",
            Self::SchemaChangeRejected => "SCHEMA_CHANGE_REJECTED",
            Self::BackfillStarted => "BACKFILL_STARTED",
            Self::BackfillCompleted => "BACKFILL_COMPLETED",
            Self::CdcLagRecovered => "CDC_LAG_RECOVERED",
            Self::RolledBack => "ROLLED_BACK",
            Self::GapDetected => "GAP_DETECTED",
        }
    }

    /// Every kind.
    pub const ALL: [Self; 14] = [
        Self::SnapshotCommitted,
        Self::WatermarkAdvanced,
        Self::TagCreated,
        Self::TagDeleted,
        Self::QualityCheckPassed,
        Self::QualityCheckFailed,
        Self::SchemaChanged,
        Self::SchemaChangeApproved,
        Self::SchemaChangeRejected,
        Self::BackfillStarted,
        Self::BackfillCompleted,
        Self::CdcLagRecovered,
        Self::RolledBack,
        Self::GapDetected,
    ];

    /// Reads a name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == name)
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
        /// How it is known.
        assurance: Assurance,
    },
    /// The commits from ordinal `first` up to the position expired unseen.
    Gap {
        /// First missing ordinal.
        first: i64,
    },
    /// A check spoke about the commit of a fingerprint.
    Checked {
        /// Which.
        fingerprint: String,
        /// What it said.
        quality: Statement<Quality>,
    },
    /// The commit of a fingerprint holds all data up to a watermark.
    Watermarked {
        /// Which.
        fingerprint: String,
        /// Up to where.
        watermark: Millis,
    },
    /// A tag was made, moved or deleted.
    Tagged {
        /// Its name.
        name: String,
        /// What it names now.
        tag: Statement<Option<Tag>>,
    },
    /// A schema was seen, of the table that began with the generation of the position.
    SchemaSeen {
        /// Its id.
        id: i64,
        /// Whether it is the newest at first sight.
        first: bool,
    },
    /// Somebody decided about a schema, of the table that began with the generation of the position.
    SchemaDecided {
        /// Its id.
        id: i64,
        /// What.
        decision: Statement<SchemaDecision>,
    },
    /// Something was said of a backfill.
    Backfilled {
        /// Its id.
        id: String,
        /// What.
        backfill: Statement<Backfill>,
    },
    /// A history begins, in the generation of the position.
    Began {
        /// Its base, where that stood before: the newest of its commits that was known. `None`: none was.
        origin: Option<Position>,
        /// What it holds up to there.
        kept: Vec<(i64, Entry)>,
        /// Whether it is that of another table.
        another_table: bool,
    },
}

/// What became of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// It moved the state.
    Applied,
    /// It was noted and moved nothing that anybody waits for.
    Ignored(IgnoredReason),
    /// What it speaks of was not seen yet: it is kept and taken up then.
    Pending,
    /// The same event is there already; it is not stored again.
    Duplicate,
}

/// Why an event moved nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum IgnoredReason {
    /// A newer version, or a later statement, is known.
    Stale,
    /// A compaction or the like: no new data.
    MaintenanceOnly,
    /// The version that it speaks of expired unseen, or did not come within a day.
    UnknownVersion,
    /// Several commits had the id that it names, and it does not say which it means.
    AmbiguousVersion,
    /// It changes no state, as its kind says.
    NoState,
}

impl IgnoredReason {
    /// Stable code, such as `MAINTENANCE_ONLY`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Stale => "STALE",
            Self::MaintenanceOnly => "MAINTENANCE_ONLY",
            Self::UnknownVersion => "UNKNOWN_VERSION",
            Self::AmbiguousVersion => "AMBIGUOUS_VERSION",
            Self::NoState => "NO_STATE",
        }
    }

    /// What that means, in one sentence.
    pub fn sentence(self) -> &'static str {
        match self {
            Self::Stale => "something newer is known already",
            Self::MaintenanceOnly => "it brought no data",
            Self::UnknownVersion => "the version that it speaks of expired unseen, or never was",
            Self::AmbiguousVersion => {
                "several commits had this id: name the fingerprint, or when the check read the table"
            }
            Self::NoState => "it is noted, and its kind changes no state",
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
    /// A tag was made or moved.
    Tagged {
        /// Its name.
        name: String,
        /// What it names.
        tag: Tag,
    },
    /// A tag is gone.
    Untagged {
        /// Its name.
        name: String,
    },
    /// A new schema.
    SchemaChanged {
        /// Its id.
        id: i64,
    },
    /// Somebody reported it.
    Reported {
        /// What was reported.
        report: Box<Report>,
        /// Key by which it is told from others.
        key: String,
    },
}

impl Evidence {
    /// Its kind.
    pub fn event_type(&self) -> EventType {
        match &self.fact {
            Fact::Committed(_) => EventType::SnapshotCommitted,
            Fact::Gap { .. } => EventType::GapDetected,
            Fact::RolledBack { .. } => EventType::RolledBack,
            Fact::Tagged { .. } => EventType::TagCreated,
            Fact::Untagged { .. } => EventType::TagDeleted,
            Fact::SchemaChanged { .. } => EventType::SchemaChanged,
            Fact::Reported { report, .. } => report.event_type(),
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
            // The same tag may come and go: when it was seen tells one time from another.
            Fact::Tagged { name, tag } => {
                (format!("{}:{}", tag.commit.fingerprint, self.observed_at), name.clone())
            }
            Fact::Untagged { name } => (self.observed_at.to_string(), name.clone()),
            Fact::SchemaChanged { id } => (id.to_string(), String::new()),
            Fact::Reported { key, .. } => return key.clone(),
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
        HistoryBreak::ByHand { known, to, .. } => format!("{}:{known}:{to}", cause.code()),
        HistoryBreak::Recreated => cause.code().to_owned(),
    }
}

#[cfg(test)]
mod tests;

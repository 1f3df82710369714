//! Versions: what a commit of an asset is, and what orders commits.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Milliseconds since the Unix epoch, as every time that is compared.
pub type Millis = i64;

/// Generation of an asset's first history.
pub const FIRST_GENERATION: i64 = 1;

/// Place of a commit: its history, then its ordinal inside. The only thing that orders commits;
/// native ids come again after a rollback and are never compared across generations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Position {
    /// History; a rewind begins the next.
    pub generation: i64,
    /// Place inside the history.
    pub ordinal: i64,
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.generation, self.ordinal)
    }
}

/// A point that versions are newer than.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Floor {
    /// Below every version: the asset had none.
    BelowAll,
    /// At this version.
    At(Position),
}

impl Floor {
    /// Whether a version at `position` lies above this floor.
    pub fn is_below(self, position: Position) -> bool {
        self < Self::At(position)
    }
}

/// What the format wrote about one commit. The same facts under the same fingerprint for ever.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Commit {
    /// Native snapshot id.
    pub snapshot_id: i64,
    /// What tells this commit from another with the same native id.
    pub fingerprint: String,
    /// The format's own word, such as `APPEND`.
    pub commit_kind: String,
    /// When it was committed, by the writer's clock.
    pub commit_time: Option<Millis>,
    /// Schema that it was written with.
    pub schema_id: Option<i64>,
    /// Its own watermark; `None` when it carries none.
    pub watermark: Option<Millis>,
    /// Physical rows added less rows removed, as the format counts them.
    pub delta_record_count: Option<i64>,
}

/// Whether a commit brought data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CommitClass {
    /// New data: a data version.
    Advance,
    /// Maintenance, such as a compaction: carries the data of an earlier version.
    Rewrite,
}

/// How a commit is known. Verified counts more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Assurance {
    /// Somebody reported it.
    Reported,
    /// The agent read it in the table itself.
    Verified,
}

impl Assurance {
    /// `REPORTED` or `VERIFIED`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Reported => "REPORTED",
            Self::Verified => "VERIFIED",
        }
    }
}

/// One commit in the version log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Version {
    /// What the format wrote.
    pub commit: Commit,
    /// Whether it brought data.
    pub class: CommitClass,
    /// Ordinal of the data version whose data it carries; its own for an Advance.
    pub data_ordinal: i64,
    /// Its own watermark, else that of the nearest ancestor that has one.
    pub effective_watermark: Option<Millis>,
    /// Whether a reader can still open it.
    pub readable: bool,
    /// When the agent learned of it.
    pub observed_at: Millis,
    /// How it is known.
    pub assurance: Assurance,
}

impl Version {
    /// A commit that can be read. What it inherits is derived by the log.
    pub fn of(class: CommitClass, ordinal: i64, commit: Commit, observed_at: Millis) -> Self {
        Self {
            class,
            data_ordinal: ordinal,
            effective_watermark: commit.watermark,
            readable: true,
            observed_at,
            assurance: Assurance::Verified,
            commit,
        }
    }
}

//! Changes: what a source found when it compared a table with the cursor of its last read.

use crate::version::{Commit, CommitClass};

/// One difference between a table and the cursor, oldest first in a batch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// A commit that was not there, with the ordinal that the format gives it.
    Committed {
        /// Whether it brought data: Advance or Rewrite.
        class: CommitClass,
        /// Its place inside the history.
        ordinal: i64,
        /// What the format wrote.
        commit: Commit,
    },
    /// Commits `first..=last` (ordinals) expired before they were seen. What they did is unknown, so
    /// the next commit counts as new data whatever it is.
    Gap {
        /// First missing ordinal.
        first: i64,
        /// Last missing ordinal.
        last: i64,
    },
    /// Commits below `earliest` (an ordinal) can no longer be read.
    Expired {
        /// Smallest ordinal that can still be read.
        earliest: i64,
    },
    /// The table's history is not the one that the cursor knew: these commits are what it holds now.
    NewHistory {
        /// How it came to that.
        cause: HistoryBreak,
        /// All that can be read, oldest first. Which of them were known already is for the log to say.
        commits: Vec<Found>,
    },
    /// A tag was made, or moved to another commit.
    Tagged {
        /// Its name.
        name: String,
        /// The commit that it names.
        found: Found,
    },
    /// A tag is gone.
    Untagged {
        /// Its name.
        name: String,
    },
    /// The newest schema.
    Schema {
        /// Its id.
        id: i64,
    },
    /// The table is gone from its catalog.
    Gone,
    /// The table that was gone is back, with the history that was known.
    Back,
}

/// A commit that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// Whether it brought data.
    pub class: CommitClass,
    /// Its place inside the history.
    pub ordinal: i64,
    /// What the format wrote.
    pub commit: Commit,
}

/// How a table left its known history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HistoryBreak {
    /// Rolled back, fast-forwarded, or the same id with other content.
    Rewound {
        /// Native id of the head that was known.
        known: i64,
        /// Native id of the head that was found; `None` when no snapshot is left.
        found: Option<i64>,
    },
    /// Another table under the same name.
    Recreated,
    /// A person said so, of an asset that lives by reports.
    ByHand {
        /// Native id of the head that was known.
        known: i64,
        /// Native id of the head from now on.
        to: i64,
        /// Why.
        reason: String,
    },
}

impl HistoryBreak {
    /// Stable code: `REWOUND`, `RECREATED` or `BY_HAND`.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Rewound { .. } => "REWOUND",
            Self::Recreated => "RECREATED",
            Self::ByHand { .. } => "BY_HAND",
        }
    }

    /// What was found, in one sentence.
    pub fn sentence(&self) -> String {
        match self {
            Self::Rewound { known, found } => {
                let found = found.map_or("no snapshot".to_owned(), |id| format!("snapshot {id}"));
                format!("the table left its known history: snapshot {known} was its head, now {found} is")
            }
            Self::ByHand { known, to, reason } => {
                format!("rewound by hand from snapshot {known} to {to}: {reason}")
            }
            Self::Recreated => {
                "another table stands under this name: it was dropped and created again".to_owned()
            }
        }
    }
}

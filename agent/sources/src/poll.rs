//! What a poll is asked and what it answers, for every format.

use asset_core::change::{Change, HistoryBreak};

/// What a poll is given.
#[derive(Debug, Clone)]
pub struct PollRequest<'a> {
    /// Cursor of the last answer that carried one; `None` for a table that was never read.
    pub cursor: Option<&'a str>,
    /// How far to look.
    pub depth: Depth,
    /// What the poll before answered with, if that was [`Poll::Suspect`].
    pub suspicion: Option<Suspicion>,
}

/// How far a poll looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// One request where nothing happened. Does not see a table that went back or was replaced.
    Fast,
    /// The listing and the known head: sees everything.
    Strict,
}

/// What a poll found.
#[derive(Debug, Clone, PartialEq)]
pub enum Poll {
    /// Nothing that the cursor did not know.
    Unchanged,
    /// The catalog was read and has no such table, and the cursor knew none either.
    Absent {
        /// Says so, to be kept.
        cursor: String,
    },
    /// Differences to the cursor, oldest first. They may be none, where only the cursor moved: an
    /// empty table was found.
    Changed {
        /// The differences.
        changes: Vec<Change>,
        /// To be kept in one transaction with them.
        cursor: String,
        /// The batch was cut: poll again at once.
        more: bool,
    },
    /// It looks like a break of history. Poll again soon and pass this on: a break is published only
    /// when two reads agree.
    Suspect(Suspicion),
}

/// What a read saw that looks like a break of history. Opaque to callers.
#[derive(Debug, Clone, PartialEq)]
pub struct Suspicion {
    pub(crate) cause: Cause,
    /// Fingerprint of what stands where the known head was.
    pub(crate) at_head: Option<String>,
    /// Identity of the table that was found.
    pub(crate) identity: Option<String>,
    /// Newest native id that was found.
    pub(crate) newest: Option<i64>,
}

/// What a suspicion is about.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Cause {
    /// Another history.
    NewHistory(HistoryBreak),
    /// No table.
    Gone,
}

impl Cause {
    fn same_kind(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::NewHistory(one), Self::NewHistory(other)) => one.code() == other.code(),
            (Self::Gone, Self::Gone) => true,
            _ => false,
        }
    }
}

impl Suspicion {
    /// Whether this read, the later one, confirms what `earlier` saw. A head that still sinks is a
    /// rollback at work, so it confirms nothing; one that rises is a writer that went on, and waiting
    /// for it to rest might take for ever.
    pub(crate) fn confirms(&self, earlier: &Self) -> bool {
        self.cause.same_kind(&earlier.cause)
            && self.at_head == earlier.at_head
            && self.identity == earlier.identity
            && self.newest >= earlier.newest
    }
}

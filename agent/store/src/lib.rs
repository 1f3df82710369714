//! What the agent keeps: evidence, version logs, states, cursors, waits and marks, in one database.
//!
//! Everything that is written is written in groups: the callers hand in many requests at once, and
//! one transaction with multi-row statements takes them all. A call that returned `Ok` is on disk.

mod admin;
mod apply;
mod asset;
mod bulk;
mod database;
mod error;
mod facts;
mod lock;
mod pending;
mod report;
mod revision;
mod rows;
mod schema;
mod trim;
mod wait;
mod write;

pub use admin::{NewAsset, Registered};
pub use apply::{BatchOutcome, Committed, SourceBatch};
pub use asset::{AssetPage, Loaded, StoredCursor};
pub use database::place;
pub use error::StoreError;
pub use report::{EventPage, EventQuery, ReportOutcome, ReportRequest, Reported, Role, StoredEvent};
pub use trim::Retention;
pub use wait::{Decision, DecisionOutcome, Identity, Registration, StoredWait, WaitStatus};

use database::Database;
use lock::FileLock;

/// The store. Cheap to share behind an `Arc`.
pub struct Store {
    database: Database,
    /// Held for as long as the store is open.
    _lock: Option<FileLock>,
}

impl Store {
    /// Opens the database of a URL, brings its tables up to date and takes it for this agent alone
    /// where it is a file. A missing file is created, a missing folder is not.
    pub async fn open(url: &str) -> Result<Self, StoreError> {
        let (database, lock) = Database::open(url).await?;
        database.migrate().await?;
        Ok(Self { database, _lock: lock })
    }

    /// Whether other agents may write to the same database.
    pub fn is_shared(&self) -> bool {
        self.database.is_shared()
    }

    /// Whether the database answers.
    pub async fn ping(&self) -> Result<(), StoreError> {
        self.database.ping().await
    }

    /// Closes the database; what was written is checkpointed.
    pub async fn close(&self) {
        self.database.close().await;
    }
}

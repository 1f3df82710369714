//! The flow: tables are polled, what changed is stored, what depends on it is evaluated, and whoever
//! waits is told.
//!
//! ```text
//! poll ─▶ ingest ─▶ store        (one transaction)
//!                └▶ hub ─▶ wait and watch streams
//!                    └▶ decide ─▶ store
//! ```
//! No protocol, no file parsing and no SQL text lives here.

mod catalogs;
mod clock;
mod decide;
mod engine;
mod follow;
mod gather;
mod hub;
mod ingest;
mod interest;
mod loader;
mod observer;
mod poll;
mod readings;
mod reports;
mod stream;
mod sweep;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;

pub use catalogs::{CatalogEntry, Catalogs};
pub use clock::{Chance, Clock, SystemClock};
pub use engine::{
    AssetReport, Engine, EngineConfig, EngineError, EngineParts, Evaluated, SourceReport, Waiting,
};
pub use hub::{Standing, WaitUpdate};
pub use observer::{NoObserver, Observer, PollResult};
pub use poll::{PollConfig, SourceHealth};
pub use stream::{WaitEvent, WaitStream, WatchEvent, WatchStream};

pub use asset_store::{EventPage, EventQuery, Identity, ReportOutcome, StoredEvent};

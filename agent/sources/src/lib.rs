//! Table metadata read as changes: what a lakehouse table did since the cursor of its last read.
//!
//! One folder a format. In each the diff is pure (cursor and what was read give the answer) and the
//! reading apart; storage is a handful of bytes by path. Nothing here is remembered between polls:
//! the caller keeps the cursor, and the suspicion between two reads of a break.

mod catalog;
mod error;
pub mod paimon;
mod poll;
mod storage;

pub use catalog::{Catalog, CatalogConfig};
pub use error::SourceError;
pub use poll::{Depth, Poll, PollRequest, Suspicion};

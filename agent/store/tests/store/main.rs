//! The store on a real SQLite file.

#![allow(clippy::unwrap_used)]

mod applying;
mod histories;
mod month;
mod opening;
mod reporting;
mod samples;
mod trimming;
mod waiting;

use asset_store::Store;
use tempfile::TempDir;

use samples::{advance, apply, batch, commit, committed, key, newer, reached, rewrite};

/// A database file in a folder that goes with it.
struct File(TempDir);

impl File {
    fn new() -> Self {
        Self(TempDir::new().unwrap())
    }

    fn url(&self) -> String {
        format!("sqlite://{}", self.0.path().join("agent.db").display())
    }

    async fn open(&self) -> Store {
        Store::open(&self.url()).await.unwrap()
    }
}

//! How reading every table goes.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
};

use asset_core::{key::AssetKey, version::Millis};
use tokio::sync::watch;
use tracing::{info, warn};

/// How reading a table goes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SourceHealth {
    /// When it was last read.
    pub last_read: Option<Millis>,
    /// When it was last read so that everything was seen.
    pub last_strict: Option<Millis>,
    /// Why it can't be read, and since when.
    pub failing: Option<(String, Millis)>,
}

/// A poll that ended.
#[derive(Debug, Clone, Copy)]
pub struct Read {
    /// When it began.
    pub began: Millis,
    /// Whether it saw everything.
    pub strict: bool,
}

/// The health of every table that this agent reads.
#[derive(Clone)]
pub struct HealthBoard {
    tables: Arc<Mutex<HashMap<AssetKey, SourceHealth>>>,
    ticks: Arc<watch::Sender<u64>>,
}

impl HealthBoard {
    /// A board with nothing on it.
    pub fn new() -> Self {
        Self { tables: Arc::default(), ticks: Arc::new(watch::Sender::new(0)) }
    }

    /// The health of one table; `None` while it was never polled.
    pub fn of(&self, key: &AssetKey) -> Option<SourceHealth> {
        self.tables().get(key).cloned()
    }

    /// How many tables are read, and how many of them can't be.
    pub fn counts(&self) -> (usize, usize) {
        let tables = self.tables();
        let failing = tables.values().filter(|health| health.failing.is_some());
        (tables.len(), failing.count())
    }

    /// Waits until a poll of the table that began at or after `since` saw everything up to its head, or
    /// the table can't be read.
    pub async fn read_since(&self, key: &AssetKey, since: Millis) {
        let mut ticks = self.ticks.subscribe();
        loop {
            let fresh = self
                .of(key)
                .is_some_and(|health| health.failing.is_some() || health.last_strict >= Some(since));
            if fresh || ticks.changed().await.is_err() {
                return;
            }
        }
    }

    /// Takes the end of a poll. Answers whether what the board says of the table is another thing now.
    pub(super) fn record(&self, key: &AssetKey, read: Read, error: Option<String>) -> bool {
        let mut tables = self.tables();
        let health = tables.entry(key.clone()).or_default();
        let before = health.failing.as_ref().map(|(known, _)| known.clone());
        let changed = before != error;
        match error {
            None => {
                if health.failing.take().is_some() {
                    info!(assetKey = %key, "the table can be read again");
                }
                health.last_read = Some(read.began);
                if read.strict {
                    health.last_strict = Some(read.began);
                }
            }
            Some(error) => {
                if changed {
                    warn!(assetKey = %key, reason = %error, "the table can't be read");
                }
                let since = health.failing.take().map_or(read.began, |(_, since)| since);
                health.failing = Some((error, since));
            }
        }
        drop(tables);
        self.ticks.send_modify(|tick| *tick = tick.wrapping_add(1));
        changed
    }

    fn tables(&self) -> std::sync::MutexGuard<'_, HashMap<AssetKey, SourceHealth>> {
        self.tables.lock().unwrap_or_else(|broken| broken.into_inner())
    }
}

//! Polling: reads tables and hands what changed to ingest.
//!
//! Promises: a table is read by one poll at a time, however many wait for it. A table that somebody
//! depends on or watches is read at least once an interval; one that just changed sooner, and less
//! often again as it calms down. Pauses are jittered so that tables don't move in step. A table that
//! can't be read stops no other.

mod health;
mod schedule;
mod table;

use std::{
    collections::{BTreeMap, HashSet},
    sync::Arc,
    time::Duration,
};

use asset_core::key::AssetKey;
use asset_store::Store;
use tokio::{task::JoinSet, time::Instant};
use tokio_util::sync::CancellationToken;
use tracing::warn;

use crate::{
    catalogs::Catalogs,
    clock::{Chance, Clock},
    hub::HubHandle,
    ingest::Ingest,
    interest::Interest,
    observer::Observer,
};

pub use health::{HealthBoard, SourceHealth};
use schedule::{Pace, Schedule};
use table::TablePoll;

/// How polling goes about its work.
#[derive(Debug, Clone)]
pub struct PollConfig {
    /// Longest pause between two polls of a table that somebody depends on or watches.
    pub interval: Duration,
    /// Longest pause between two polls of any other table.
    pub idle_interval: Duration,
    /// Pause between two looks for new tables in a catalog.
    pub discover_interval: Duration,
    /// A read that sees everything, not only new snapshots, is made every so many polls.
    pub strict_every: u32,
    /// Most polls at one time.
    pub concurrency: usize,
}

impl Default for PollConfig {
    fn default() -> Self {
        Self {
            interval: Duration::from_secs(30),
            idle_interval: Duration::from_secs(60),
            discover_interval: Duration::from_secs(30),
            strict_every: 10,
            concurrency: 32,
        }
    }
}

/// What polls share.
pub(crate) struct PollContext {
    pub catalogs: Arc<Catalogs>,
    pub store: Arc<Store>,
    pub ingest: Ingest,
    pub clock: Arc<dyn Clock>,
    pub observer: Arc<dyn Observer>,
    pub health: HealthBoard,
    pub hub: HubHandle,
    pub strict_every: u32,
}

/// The task that polls.
pub struct Poller {
    config: PollConfig,
    context: Arc<PollContext>,
    interest: Arc<Interest>,
    chance: Arc<Chance>,
    schedule: Schedule,
    running: JoinSet<TablePoll>,
    /// Idle tables: those running are in `running`.
    tables: BTreeMap<AssetKey, TablePoll>,
    /// Tables whose next poll sees everything.
    strict: HashSet<AssetKey>,
}

/// What [`Poller`] is made of.
pub struct PollerParts {
    /// How it goes about its work.
    pub config: PollConfig,
    /// Where tables are read.
    pub catalogs: Arc<Catalogs>,
    /// Where cursors are.
    pub store: Arc<Store>,
    /// Where findings go.
    pub ingest: Ingest,
    /// Where the tables' health is shown.
    pub health: HealthBoard,
    /// Who is told that a table's health changed.
    pub hub: HubHandle,
    /// Who wants what.
    pub interest: Arc<Interest>,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// For jitter.
    pub chance: Arc<Chance>,
    /// Who counts.
    pub observer: Arc<dyn Observer>,
}

impl Poller {
    /// A poller, not yet running.
    pub fn new(parts: PollerParts) -> Self {
        let context = PollContext {
            catalogs: parts.catalogs,
            store: parts.store,
            ingest: parts.ingest,
            clock: parts.clock,
            observer: parts.observer,
            health: parts.health,
            hub: parts.hub,
            strict_every: parts.config.strict_every.max(1),
        };
        Self {
            config: parts.config,
            context: Arc::new(context),
            interest: parts.interest,
            chance: parts.chance,
            schedule: Schedule::default(),
            running: JoinSet::new(),
            tables: BTreeMap::new(),
            strict: HashSet::new(),
        }
    }

    /// Polls until it is cancelled; polls that run then are finished.
    pub async fn run(mut self, stop: CancellationToken) {
        self.add_known_tables().await;
        let mut discoveries = JoinSet::new();
        let catalogs = self.context.catalogs.clone();
        for key in catalogs.iter().flat_map(|entry| &entry.tables) {
            self.add(key.clone());
        }
        let mut next_discovery = Instant::now();
        loop {
            if discoveries.is_empty() && next_discovery <= Instant::now() {
                let catalogs = self.context.catalogs.clone();
                discoveries.spawn(async move { discover(&catalogs).await });
            }
            self.start_due();
            let next_poll = self.next_poll();
            tokio::select! {
                () = stop.cancelled() => break,
                Some(found) = discoveries.join_next() => {
                    for key in found.unwrap_or_else(|panic| std::panic::resume_unwind(panic.into_panic())) {
                        self.add(key);
                    }
                    next_discovery = Instant::now() + self.jittered(self.config.discover_interval);
                }
                Some(done) = self.running.join_next() => {
                    let done = done.unwrap_or_else(|panic| std::panic::resume_unwind(panic.into_panic()));
                    self.finish(done);
                }
                () = self.interest.changed() => self.take_interest(),
                () = tokio::time::sleep_until(next_poll) => {}
                () = tokio::time::sleep_until(next_discovery), if discoveries.is_empty() => {}
            }
        }
        while self.running.join_next().await.is_some() {}
    }

    /// Tables that were there before this agent started: read them even if nobody asks.
    async fn add_known_tables(&mut self) {
        match self.context.store.present_keys().await {
            Ok(keys) => keys.into_iter().for_each(|key| self.add(key)),
            Err(error) => warn!(reason = %error, "the known tables can't be listed; discovery finds them"),
        }
    }

    fn add(&mut self, key: AssetKey) {
        if self.schedule.knows(&key) || self.context.catalogs.of(&key).is_none() {
            return;
        }
        self.tables.insert(key.clone(), TablePoll::new(key.clone()));
        self.schedule.insert(key, Instant::now());
    }

    fn take_interest(&mut self) {
        let now = Instant::now();
        let news = self.interest.take_news();
        self.strict.extend(news.strict);
        for key in news.urgent {
            self.add(key.clone());
            self.schedule.hurry(&key, now);
        }
        if !news.watchers {
            return;
        }
        // A watcher names tables by glob: whatever it looks at is due within one interval from now.
        let soon = now + self.config.interval;
        for key in self.tables.keys() {
            if self.schedule.due(key).is_some_and(|due| due > soon) && self.interest.has(key) {
                self.schedule.hurry(key, now);
            }
        }
    }

    fn start_due(&mut self) {
        let now = Instant::now();
        while self.running.len() < self.config.concurrency {
            let Some(key) = self.schedule.take_due(now) else {
                return;
            };
            if let Some(mut table) = self.tables.remove(&key) {
                if self.strict.remove(&key) {
                    table.next_is_strict();
                }
                let context = self.context.clone();
                self.running.spawn(async move { table.poll(&context).await });
            }
        }
    }

    fn next_poll(&self) -> Instant {
        let far = Instant::now() + Duration::from_secs(3_600);
        if self.running.len() >= self.config.concurrency {
            return far;
        }
        self.schedule.next().unwrap_or(far)
    }

    fn finish(&mut self, table: TablePoll) {
        let key = table.key().clone();
        let longest = if self.interest.has(&key) { self.config.interval } else { self.config.idle_interval };
        let pause = match table.pace() {
            Pace::AtOnce => Duration::ZERO,
            Pace::Soon => schedule::confirming(longest),
            Pace::Calm(quiet) => self.jittered(schedule::pause(longest, quiet)),
        };
        self.schedule.put_back(&key, Instant::now() + pause);
        self.tables.insert(key, table);
    }

    /// Up to a tenth shorter, never longer.
    fn jittered(&self, pause: Duration) -> Duration {
        pause.mul_f64(1.0 - 0.1 * self.chance.fraction())
    }
}

async fn discover(catalogs: &Catalogs) -> Vec<AssetKey> {
    let mut found = Vec::new();
    for entry in catalogs.iter().filter(|entry| entry.discover) {
        match entry.catalog.discover().await {
            Ok(keys) => found.extend(keys),
            Err(error) => {
                warn!(catalog = entry.catalog.name(), reason = %error, "the catalog can't be listed");
            }
        }
    }
    found
}

#[cfg(test)]
mod tests;

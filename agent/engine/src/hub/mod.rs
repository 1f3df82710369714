//! The hub: one task owns every wait and every watcher, and what is known of the assets that they
//! look at.
//!
//! Promises, named as in the semantics:
//! * **First**: a wait or watcher is answered as soon as its assets are loaded.
//! * **Monotonic**: no revision on a stream goes back.
//! * **Final**: the last verdict or state always arrives; what lies between may be left out for a slow
//!   reader.
//! * **Unique**: a verdict is sent once.
//! * **Isolated**: a reader that doesn't read holds one slot of its own and nobody else up.
//!
//! Nothing here waits for the database: loads and decisions are done by tasks of their own, one
//! request each at a time, and what comes up meanwhile is gathered into the next.

mod aftermath;
mod answer;
mod question;
mod views;
mod wait;
mod waits;
mod watcher;

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use asset_core::{evaluate::Releasing, key::AssetKey};
use asset_store::{Loaded, StoredWait};
use tokio::{
    sync::{mpsc, oneshot, watch},
    time::{Duration, Instant, MissedTickBehavior},
};
use tokio_util::sync::CancellationToken;

pub use answer::{Standing, WaitUpdate};
pub use watcher::{NewWatcher, StateFeed};

use crate::{
    clock::Clock, decide::DeciderPort, interest::Interest, loader::LoaderPort, observer::Observer,
    readings::Readings,
};
use views::{Views, WaitNumber};
use waits::Waits;
use watcher::Watchers;

/// Commands that wait for the hub; a full queue holds its senders up.
const QUEUE: usize = 1_024;

/// Pause between two looks for readers that left.
const TIDY_INTERVAL: Duration = Duration::from_secs(2);

/// Longest sleep until a verdict is due, in milliseconds: clocks are set.
const LONGEST_SLEEP: u64 = 60_000;

/// A table whose state moved, as committed.
#[derive(Debug)]
pub struct Moved {
    /// The table.
    pub key: AssetKey,
    /// What is known of it now.
    pub now: Loaded,
    /// When the poll handed it to ingest.
    pub handed_over: Instant,
}

/// Where the verdicts of one reader go: the newest one replaces what was not read yet.
pub type VerdictSlot = watch::Sender<Option<Arc<WaitUpdate>>>;

/// A wait as it comes to the hub.
pub enum NewWait {
    /// Nobody in particular; the baselines travel with the caller.
    Anonymous {
        /// What it waits for.
        dependency: asset_core::condition::Dependency,
        /// Of a wait that goes on; `None`: it begins now.
        baselines: Option<asset_core::baseline::Baselines>,
    },
    /// With identity, as the store has it. A wait that is here already is joined.
    Stored(Box<StoredWait>),
}

pub(crate) enum Command {
    Wait {
        wait: NewWait,
        slot: Option<VerdictSlot>,
    },
    Watch {
        request: NewWatcher,
        reply: oneshot::Sender<StateFeed>,
    },
    Moved(Vec<Moved>),
    Loaded {
        found: BTreeMap<AssetKey, Loaded>,
        revision: i64,
    },
    Decided(crate::decide::Decided),
    /// Reading a table goes another way than before.
    ReadDifferently(AssetKey),
    /// Open waits with marks that no notice has taken away.
    Sweep(Vec<StoredWait>),
}

/// Speaks to the hub. Every call waits while the hub's queue is full.
#[derive(Clone)]
pub struct HubHandle(mpsc::Sender<Command>);

/// The hub stopped: the agent is leaving.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the agent is stopping")]
pub struct Stopped;

impl HubHandle {
    /// Tells what moved. After this call returns the hub will handle it before anything sent later.
    pub async fn moved(&self, moved: Vec<Moved>) {
        // A hub that stopped has no readers left.
        let _ = self.0.send(Command::Moved(moved)).await;
    }

    /// Tells that a table can't be read any more, or again, or for another reason.
    pub async fn read_differently(&self, key: AssetKey) {
        self.send(Command::ReadDifferently(key)).await;
    }

    /// Adds a wait; verdicts go to `slot`.
    pub async fn wait(&self, wait: NewWait, slot: Option<VerdictSlot>) -> Result<(), Stopped> {
        let sent = self.0.send(Command::Wait { wait, slot }).await;
        sent.map_err(|_| Stopped)
    }

    /// Adds a watcher.
    pub async fn watch(&self, request: NewWatcher) -> Result<StateFeed, Stopped> {
        let (reply, feed) = oneshot::channel();
        let sent = self.0.send(Command::Watch { request, reply }).await;
        sent.map_err(|_| Stopped)?;
        feed.await.map_err(|_| Stopped)
    }

    pub(crate) async fn send(&self, command: Command) {
        // As in `moved`.
        let _ = self.0.send(command).await;
    }
}

/// What the hub is made of.
pub struct HubParts {
    /// Whether what holds is released.
    pub releasing: Releasing,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// Who wants what read.
    pub interest: Arc<Interest>,
    /// How reading tables goes.
    pub readings: Readings,
    /// Who counts.
    pub observer: Arc<dyn Observer>,
    /// Where states are loaded.
    pub loader: LoaderPort,
    /// Where decisions are written.
    pub decider: DeciderPort,
    /// The store's revision as of now.
    pub revision: i64,
}

/// The task.
pub struct Hub {
    commands: mpsc::Receiver<Command>,
    views: Views,
    waits: Waits,
    watchers: Watchers,
    observer: Arc<dyn Observer>,
    /// Greatest revision that has come by.
    revision: i64,
    /// When polls handed over what moved, until its readers are told.
    handed_over: Vec<Instant>,
}

impl Hub {
    /// Ways to speak to a hub, before there is one: ingest, loader and decider need it first.
    pub fn channel() -> (HubHandle, HubInbox) {
        let (sender, receiver) = mpsc::channel(QUEUE);
        (HubHandle(sender), HubInbox(receiver))
    }

    /// A hub, not yet running.
    pub fn new(inbox: HubInbox, parts: HubParts) -> Self {
        Self {
            commands: inbox.0,
            views: Views::new(parts.interest.clone(), parts.readings, parts.loader),
            waits: Waits::new(parts.releasing, parts.clock, parts.decider),
            watchers: Watchers::new(parts.interest),
            observer: parts.observer,
            revision: parts.revision,
            handed_over: Vec::new(),
        }
    }

    /// Runs until it is cancelled; then every stream ends.
    pub async fn run(mut self, stop: CancellationToken) {
        let mut tidy = tokio::time::interval(TIDY_INTERVAL);
        tidy.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let clock = self.waits.clock();
        loop {
            tokio::select! {
                () = stop.cancelled() => return,
                command = self.commands.recv() => match command {
                    Some(command) => self.handle(command),
                    None => return,
                },
                () = sleep_until(&*clock, self.waits.next_recheck()) => {
                    self.waits.recheck(&mut self.views, self.revision);
                }
                _ = tidy.tick() => {
                    self.waits.tidy(&mut self.views);
                    self.watchers.tidy();
                }
            }
            let some_are_over = self.waits.announce();
            self.told();
            if some_are_over {
                // Those who were told go first, clearing up behind them can wait.
                tokio::task::yield_now().await;
            }
            self.waits.settle(&mut self.views, &*self.observer);
            self.observer.streams(self.waits.streams(), self.watchers.len());
        }
    }

    fn handle(&mut self, command: Command) {
        match command {
            Command::Wait { wait, slot } => {
                self.waits.add(wait, slot, &mut self.views, self.revision);
            }
            Command::Watch { request, reply } => {
                let feed = self.watchers.add(request);
                // A caller that left meanwhile is tidied away like any other.
                let _ = reply.send(feed);
            }
            Command::Moved(moved) => self.take_moved(moved),
            Command::Loaded { found, revision } => {
                self.revision = self.revision.max(revision);
                let mut concerned = BTreeSet::new();
                for (key, loaded) in found {
                    if self.views.learn_loaded(&key, loaded) {
                        concerned.extend(self.views.waits(&key));
                    }
                }
                self.views.loaded();
                self.evaluate(concerned);
            }
            Command::Decided(decided) => {
                let mut concerned = BTreeSet::new();
                for (key, loaded) in decided.reloaded {
                    if self.views.learn(&key, loaded) {
                        concerned.extend(self.views.waits(&key));
                    }
                }
                self.waits.take_decided(decided.outcomes, &mut self.views, self.revision);
                self.evaluate(concerned);
            }
            Command::ReadDifferently(key) => {
                if self.views.reread(&key) {
                    self.evaluate(self.views.waits(&key));
                }
            }
            Command::Sweep(marked) => {
                self.observer.swept(marked.len());
                self.waits.take_up(marked, &mut self.views, self.revision);
            }
        }
    }

    fn evaluate(&mut self, concerned: impl IntoIterator<Item = WaitNumber>) {
        let mut round = self.waits.round();
        for number in concerned {
            self.waits.evaluate(number, &mut self.views, self.revision, &mut round);
        }
    }

    /// Every wait is evaluated once, on all that moved together.
    fn take_moved(&mut self, moved: Vec<Moved>) {
        let mut concerned = BTreeSet::new();
        for change in moved {
            if let Loaded::Known(asset) = &change.now {
                self.revision = self.revision.max(asset.revision);
                self.watchers.send(asset);
            }
            // Also where a load brought the state before this notice: the marks are still there.
            self.views.learn(&change.key, change.now);
            concerned.extend(self.views.waits(&change.key));
            self.handed_over.push(change.handed_over);
        }
        let mut round = self.waits.round();
        for number in concerned {
            self.waits.asset_moved(number, &mut self.views, self.revision, &mut round);
        }
    }

    /// Every reader's stream has what was handed over by now.
    fn told(&mut self) {
        for since in self.handed_over.drain(..) {
            self.observer.published(since.elapsed());
        }
    }
}

/// Sleeps until a time of a clock; for ever where there is none.
async fn sleep_until(clock: &dyn Clock, at: Option<i64>) {
    match at {
        None => std::future::pending().await,
        Some(at) => {
            let millis = u64::try_from(at.saturating_sub(clock.now())).unwrap_or(0);
            tokio::time::sleep(Duration::from_millis(millis.min(LONGEST_SLEEP))).await;
        }
    }
}

/// The hub's end of its queue.
pub struct HubInbox(mpsc::Receiver<Command>);

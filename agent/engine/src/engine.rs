//! The engine: what the servers call, and the tasks behind it.

mod reporting;

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use asset_core::{
    asset::{Asset, Knowledge, Unread},
    baseline::Baselines,
    condition::{Condition, Dependency, Since},
    evaluate::{Evaluation, Releasing, evaluate},
    key::AssetKey,
    version::Millis,
};
use asset_store::{AssetPage, Identity, Loaded, Registration, Store, StoreError, StoredWait, WaitStatus};
use globset::GlobSet;
use tokio::{sync::watch, task::JoinSet};
use tokio_util::sync::CancellationToken;

use crate::{
    catalogs::Catalogs,
    clock::{Chance, Clock},
    decide::DeciderPort,
    follow::{Follower, FollowerPort},
    gather::{Gather, GatherError, Groups},
    hub::{Hub, HubHandle, HubParts, NewWait, NewWatcher, Standing, Stopped, WaitUpdate},
    ingest::Ingest,
    interest::Interest,
    loader::LoaderPort,
    observer::Observer,
    poll::{HealthBoard, PollConfig, Poller, PollerParts, SourceHealth},
    readings::{self, Readings},
    reports::Reports,
    stream::{WaitStream, WatchStream},
    sweep,
};

/// How the engine goes about its work.
#[derive(Debug, Clone)]
pub struct EngineConfig {
    /// Whether what holds is released.
    pub releasing: Releasing,
    /// Whether catalogs are polled.
    pub polling: bool,
    /// How.
    pub poll: PollConfig,
    /// Pause between two looks for marks that no notice has taken away; `None`: never.
    pub sweep_interval: Option<Duration>,
    /// Marks that one look takes up at most.
    pub sweep_batch: usize,
    /// Whether reports are taken.
    pub take_reports: bool,
    /// Whether the first report on an asset that nobody knows registers it.
    pub register_unknown: bool,
    /// Longest time that a new wait is held up for a fresh read of its tables.
    pub resolve_timeout: Duration,
}

/// What an engine is made of.
pub struct EngineParts {
    /// How it goes about its work.
    pub config: EngineConfig,
    /// What it keeps things in.
    pub store: Arc<Store>,
    /// What it reads.
    pub catalogs: Arc<Catalogs>,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// For jitter and ids.
    pub chance: Arc<Chance>,
    /// Who counts.
    pub observer: Arc<dyn Observer>,
}

/// Why the engine did not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// The agent is leaving: ask another, or this one later.
    #[error("the agent is stopping; connect again")]
    Stopping,
    /// The store failed: ask again.
    #[error("the store can't be reached: {0}; ask again")]
    Store(String),
    /// The agent takes no reports.
    #[error("this agent takes no reports: its configuration has `push-receiver.enabled: false`")]
    ReportsOff,
    /// No wait has this id.
    #[error("no wait has the id `{0}`")]
    NoSuchWait(String),
    /// The wait is not READY, so there is nothing to acknowledge.
    #[error("the wait `{0}` is not READY")]
    NotReady(String),
    /// The asset's table is read from a catalog.
    #[error(
        "{key} is read from catalog `{catalog}`: its versions are what lies there, and it needs no registration"
    )]
    ReadHere {
        /// The asset.
        key: AssetKey,
        /// The catalog.
        catalog: String,
    },
    /// The versions of the asset have another order.
    #[error("the versions of {key} are ordered by {known} already; register another asset")]
    OtherOrdering {
        /// The asset.
        key: AssetKey,
        /// Its order.
        known: &'static str,
    },
    /// The asset has no such snapshot.
    #[error(
        "{key} has no snapshot {snapshot_id} in its history of now; `asset-sensor events list` shows what was reported"
    )]
    NoSuchVersion {
        /// The asset.
        key: AssetKey,
        /// The snapshot.
        snapshot_id: i64,
    },
    /// No asset has this key.
    #[error("no asset has the key {0}")]
    NoSuchAsset(AssetKey),
    /// The asset's table was never read with success.
    #[error("nothing is known of {key} yet, since its table can't be read: {reason}")]
    NeverRead {
        /// The asset.
        key: AssetKey,
        /// Why, and the way out.
        reason: String,
    },
}

/// Who asks for a verdict.
pub enum Waiting {
    /// Nobody in particular.
    Anonymous {
        /// From the resume token of a wait that goes on.
        baselines: Option<Baselines>,
    },
    /// A task.
    Identified {
        /// Who.
        identity: Identity,
        /// Id of the wait that goes on.
        wait_id: Option<String>,
    },
}

/// A dependency, evaluated as of now.
#[derive(Debug)]
pub struct Evaluated {
    /// Every condition's verdict.
    pub evaluation: Evaluation,
    /// Revision that it rests on.
    pub revision: i64,
    /// When.
    pub at: Millis,
}

/// An asset with how reading it goes.
#[derive(Debug)]
pub struct AssetReport {
    /// Its state.
    pub asset: Asset,
    /// Catalog and place that it is read from, and how that goes; `None`: not read here.
    pub source: Option<SourceReport>,
}

/// How reading a table goes.
#[derive(Debug)]
pub struct SourceReport {
    /// Name of the catalog.
    pub catalog: String,
    /// Where the table lies.
    pub location: String,
    /// How it goes.
    pub health: SourceHealth,
}

/// A running engine.
pub struct Engine {
    config: EngineConfig,
    store: Arc<Store>,
    catalogs: Arc<Catalogs>,
    clock: Arc<dyn Clock>,
    chance: Arc<Chance>,
    interest: Arc<Interest>,
    readings: Readings,
    pub(crate) hub: HubHandle,
    reports: Reports,
    register: Gather<Registration, StoredWait>,
    acknowledge: Gather<String, Option<bool>>,
}

impl Engine {
    /// Starts the engine's tasks in `tasks`: they end when `stop` is cancelled, and none ends before
    /// unless it panics. Waits that were open when an agent left are open again.
    pub async fn start(
        parts: EngineParts,
        tasks: &mut JoinSet<()>,
        stop: &CancellationToken,
    ) -> Result<Arc<Self>, StoreError> {
        let EngineParts { config, store, catalogs, clock, chance, observer } = parts;
        let open_waits = store.open_waits().await?;
        let (_, revision) = store.load(&[]).await?;
        let interest = Arc::new(Interest::default());
        let (hub, inbox) = Hub::channel();
        let (loader_port, loader) = LoaderPort::new(store.clone(), hub.clone());
        let (decider_port, decider) = DeciderPort::new(store.clone(), hub.clone());
        let readings =
            Readings { catalogs: catalogs.clone(), health: HealthBoard::new(), polling: config.polling };
        let hub_task = Hub::new(
            inbox,
            HubParts {
                releasing: config.releasing,
                clock: clock.clone(),
                interest: interest.clone(),
                readings: readings.clone(),
                observer: observer.clone(),
                loader: loader_port,
                decider: decider_port,
                revision,
            },
        );
        let follower = store.is_shared().then(FollowerPort::default);
        let (ingest, ingest_task) =
            Ingest::new(store.clone(), hub.clone(), follower.clone(), observer.clone());
        let poller = Poller::new(PollerParts {
            config: config.poll.clone(),
            catalogs: catalogs.clone(),
            store: store.clone(),
            ingest,
            health: readings.health.clone(),
            hub: hub.clone(),
            interest: interest.clone(),
            clock: clock.clone(),
            chance: chance.clone(),
            observer: observer.clone(),
        });
        let (register, registrations) = Gather::new();
        let (acknowledge, acknowledgements) = Gather::new();

        let (reports, report_task) = Reports::new(
            store.clone(),
            hub.clone(),
            follower.clone(),
            observer.clone(),
            catalogs.clone(),
            interest.clone(),
            config.register_unknown,
        );

        tasks.spawn(report_task.run());
        tasks.spawn(hub_task.run(stop.clone()));
        tasks.spawn(loader.run());
        tasks.spawn(decider.run());
        tasks.spawn(write_registrations(store.clone(), registrations));
        tasks.spawn(write_acknowledgements(store.clone(), clock.clone(), acknowledgements));
        for wait in open_waits {
            let wait = NewWait::Stored(Box::new(wait));
            // The hub can't have stopped yet.
            let _ = hub.wait(wait, None).await;
        }
        if let Some(port) = follower {
            let follower =
                Follower { store: store.clone(), hub: hub.clone(), chance: chance.clone(), port, revision };
            tasks.spawn(follower.run(stop.clone()));
        }
        if config.polling {
            // Only the poller hands anything in: without it ingest would end at once.
            tasks.spawn(ingest_task.run());
            tasks.spawn(poller.run(stop.clone()));
        }
        if let Some(interval) = config.sweep_interval {
            let sweeper = sweep::Sweeper {
                store: store.clone(),
                hub: hub.clone(),
                clock: clock.clone(),
                chance: chance.clone(),
                interval,
                batch: config.sweep_batch,
            };
            tasks.spawn(sweeper.run(stop.clone()));
        }
        Ok(Arc::new(Self {
            config,
            store,
            catalogs,
            clock,
            chance,
            interest,
            readings,
            hub,
            reports,
            register,
            acknowledge,
        }))
    }

    /// Name of a format's default catalog.
    pub fn default_catalog(&self, format: &str) -> Option<String> {
        self.catalogs.default_of(format)
    }

    /// The time, by the engine's clock.
    pub fn now(&self) -> Millis {
        self.clock.now()
    }

    /// Opens a stream of verdicts.
    pub async fn resolve(
        &self,
        dependency: Dependency,
        waiting: Waiting,
        deadline: Option<Millis>,
    ) -> Result<WaitStream, EngineError> {
        let (slot, reader) = watch::channel(None);
        let now = self.clock.now();
        let stream = WaitStream::new(reader, deadline, now);
        let wait = match waiting {
            Waiting::Anonymous { baselines } => {
                if baselines.is_none() {
                    self.read_fresh(&dependency, now).await;
                }
                NewWait::Anonymous { dependency, baselines }
            }
            Waiting::Identified { identity, wait_id } => {
                if wait_id.is_none() {
                    self.read_fresh(&dependency, now).await;
                }
                let registration = Registration {
                    identity,
                    wait_id,
                    new_wait_id: self.chance.uuid(),
                    dependency,
                    deadline,
                    now,
                };
                let wait = self.register.ask(registration).await?;
                if let WaitStatus::Ready { pins, revision, at } = wait.status {
                    slot.send_replace(Some(Arc::new(WaitUpdate {
                        revision,
                        evaluated_at: at,
                        wait_id: Some(wait.wait_id.into()),
                        resume_token: "".into(),
                        evaluation: Arc::new(Evaluation { groups: Vec::new() }),
                        standing: Standing::Ready(pins.into()),
                    })));
                    return Ok(stream);
                }
                NewWait::Stored(Box::new(wait))
            }
        };
        self.hub.wait(wait, Some(slot)).await?;
        Ok(stream)
    }

    /// A wait for what is newer than the head must not begin with a head that is older than the wait:
    /// tables that nobody asked for lately are read first. What can't be read in time is taken as it
    /// is known.
    async fn read_fresh(&self, dependency: &Dependency, now: Millis) {
        let keys: Vec<AssetKey> = dependency
            .conditions()
            .filter(|condition| condition.since == Since::Registered)
            .map(|condition| condition.asset.clone())
            .filter(|key| self.config.polling && self.catalogs.of(key).is_some())
            .collect();
        for key in &keys {
            self.interest.hurry(key);
        }
        let reads = async {
            for key in &keys {
                self.readings.health.read_since(key, now).await;
            }
        };
        // One limit for all: a caller takes a stream without a first message for dead. Running out of
        // time is no error here.
        let _ = tokio::time::timeout(self.config.resolve_timeout, reads).await;
    }

    /// Stores that READY of a wait was received.
    pub async fn acknowledge(&self, wait_id: &str) -> Result<(), EngineError> {
        match self.acknowledge.ask(wait_id.to_owned()).await? {
            Some(true) => Ok(()),
            Some(false) => Err(EngineError::NotReady(wait_id.to_owned())),
            None => Err(EngineError::NoSuchWait(wait_id.to_owned())),
        }
    }

    /// Evaluates as of now.
    pub async fn evaluate(&self, dependency: &Dependency) -> Result<Evaluated, EngineError> {
        let keys: Vec<AssetKey> = dependency.assets().into_iter().collect();
        let looks_back = dependency.conditions().any(Condition::looks_back);
        let (loaded, revision) =
            if looks_back { self.store.load_deep(&keys).await? } else { self.store.load(&keys).await? };
        let unread: BTreeMap<&AssetKey, Unread> =
            keys.iter().map(|key| (key, self.readings.unread(key))).collect();
        let lookup = |key: &AssetKey| match (loaded.get(key), unread.get(key)) {
            (Some(loaded), Some(unread)) => readings::knowledge(loaded, unread),
            _ => Knowledge::Unknown,
        };
        let baselines = Baselines::begin(dependency, lookup);
        let at = self.clock.now();
        let evaluation = evaluate(dependency, &baselines, self.config.releasing, at, lookup);
        Ok(Evaluated { evaluation, revision, at })
    }

    /// Opens a stream of states, those after a revision first. A revision that the store has not
    /// reached asks for all of them.
    pub async fn watch(&self, globs: GlobSet, after: i64) -> Result<WatchStream, EngineError> {
        // The feed comes first: what commits from now on is in it, what did before is in the store.
        let feed = self.hub.watch(NewWatcher { globs: globs.clone() }).await?;
        let (_, revision) = self.store.load(&[]).await?;
        let after = if after > revision { 0 } else { after };
        Ok(WatchStream::new(self.store.clone(), globs, feed, after))
    }

    /// One asset.
    pub async fn asset(&self, key: &AssetKey) -> Result<AssetReport, EngineError> {
        let (mut loaded, _) = self.store.load(std::slice::from_ref(key)).await?;
        match loaded.remove(key) {
            Some(Loaded::Known(asset)) => Ok(AssetReport { asset: *asset, source: self.source(key) }),
            _ => Err(match self.source(key).and_then(|source| source.health.failing) {
                Some((reason, _)) => EngineError::NeverRead { key: key.clone(), reason },
                None => EngineError::NoSuchAsset(key.clone()),
            }),
        }
    }

    /// A page of all assets.
    pub async fn assets(&self, after: Option<&str>, size: usize) -> Result<AssetPage, EngineError> {
        Ok(self.store.page(after, size).await?)
    }

    /// Whether the store answers.
    pub async fn ready(&self) -> Result<(), EngineError> {
        Ok(self.store.ping().await?)
    }

    /// How many tables are read, and how many of them can't be.
    pub fn tables(&self) -> (usize, usize) {
        self.readings.health.counts()
    }

    fn source(&self, key: &AssetKey) -> Option<SourceReport> {
        let catalog = self.catalogs.of(key)?;
        Some(SourceReport {
            catalog: catalog.name().to_owned(),
            location: catalog.location(key),
            health: self.readings.health.of(key).unwrap_or_default(),
        })
    }
}

async fn write_registrations(store: Arc<Store>, mut groups: Groups<Registration, StoredWait>) {
    while let Some((group, callers)) = groups.next().await {
        callers.answer(store.register(group).await);
    }
}

async fn write_acknowledgements(
    store: Arc<Store>,
    clock: Arc<dyn Clock>,
    mut groups: Groups<String, Option<bool>>,
) {
    while let Some((group, callers)) = groups.next().await {
        callers.answer(store.acknowledge(&group, clock.now()).await);
    }
}

impl From<GatherError> for EngineError {
    fn from(error: GatherError) -> Self {
        match error {
            GatherError::Stopping => Self::Stopping,
            GatherError::Store(reason) => Self::Store(reason),
        }
    }
}

impl From<StoreError> for EngineError {
    fn from(error: StoreError) -> Self {
        Self::Store(error.to_string())
    }
}

impl From<Stopped> for EngineError {
    fn from(_: Stopped) -> Self {
        Self::Stopping
    }
}

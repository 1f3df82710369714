//! A running engine. Nothing polls unless a test says so: findings are handed in.

use std::{sync::Arc, time::Duration};

use asset_core::{
    change::Change,
    condition::Dependency,
    evaluate::Releasing,
    version::{Commit, CommitClass},
};
use asset_store::{BatchOutcome, Committed, Registration, SourceBatch, Store, StoredWait};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::{Counts, Lake, TestClock, soon};
use crate::{
    Catalogs, Chance, Engine, EngineConfig, EngineParts, Identity, PollConfig, WaitStream, Waiting,
    ingest::Ingest,
};

pub struct Rig {
    pub engine: Arc<Engine>,
    pub store: Arc<Store>,
    pub ingest: Ingest,
    pub counts: Arc<Counts>,
    pub tasks: JoinSet<()>,
    stop: CancellationToken,
}

impl Rig {
    pub async fn start(lake: &Lake) -> Self {
        Self::start_with(lake, lake.catalogs(&[], 500), |_| {}).await
    }

    pub async fn start_with(
        lake: &Lake,
        catalogs: Arc<Catalogs>,
        change: impl FnOnce(&mut EngineConfig),
    ) -> Self {
        let store = lake.store().await;
        let counts = Arc::new(Counts::default());
        let mut config = EngineConfig {
            releasing: Releasing::On,
            polling: false,
            poll: PollConfig::default(),
            sweep_interval: None,
            sweep_batch: 100,
            take_reports: true,
            register_unknown: false,
            resolve_timeout: Duration::from_secs(5),
        };
        change(&mut config);
        let (mut tasks, stop) = (JoinSet::new(), CancellationToken::new());
        let parts = EngineParts {
            config,
            store: store.clone(),
            catalogs,
            clock: Arc::new(TestClock::new()),
            chance: Arc::new(Chance::new(7)),
            observer: counts.clone(),
        };
        let engine = Engine::start(parts, &mut tasks, &stop).await.unwrap();
        let (ingest, door) = Ingest::new(store.clone(), engine.hub.clone(), None, counts.clone());
        tokio::spawn(door.run());
        Self { engine, store, ingest, counts, tasks, stop }
    }

    /// Stops as the agent does. A task that does not end fails the test.
    pub async fn stop(self) {
        let Self { engine, store, ingest, mut tasks, stop, .. } = self;
        stop.cancel();
        drop((engine, ingest));
        soon("every task of the engine ends", async {
            while let Some(ended) = tasks.join_next().await {
                ended.unwrap();
            }
        })
        .await;
        store.close().await;
    }

    /// A batch with changes of a table, compared with what is stored now.
    pub async fn batch(&self, table: &str, changes: Vec<Change>) -> SourceBatch {
        let key = Lake::key(table);
        let cursor = self.store.cursor(&key).await.unwrap();
        SourceBatch {
            key,
            read_lock: cursor.map(|cursor| cursor.lock_version),
            cursor: "{}".to_owned(),
            present: true,
            changes,
            observed_at: 1,
        }
    }

    /// Commits a snapshot the usual way: the hub is told.
    pub async fn commit(&self, table: &str, id: i64) -> Committed {
        let batch = self.batch(table, vec![advance(id)]).await;
        committed(self.ingest.apply(batch).await.unwrap())
    }

    /// Changes a table in the store alone, as one does who is killed before the hub is told.
    pub async fn store_only(&self, table: &str, changes: Vec<Change>) -> Committed {
        let batch = self.batch(table, changes).await;
        committed(self.store.apply(vec![batch]).await.unwrap().remove(0))
    }

    pub async fn anonymous(&self, dependency: Dependency) -> WaitStream {
        self.resolve(dependency, Waiting::Anonymous { baselines: None }).await
    }

    pub async fn identified(&self, number: i64, dependency: Dependency) -> WaitStream {
        let waiting = Waiting::Identified { identity: identity(number), wait_id: None };
        self.resolve(dependency, waiting).await
    }

    pub async fn resolve(&self, dependency: Dependency, waiting: Waiting) -> WaitStream {
        soon("a wait is taken in", self.engine.resolve(dependency, waiting, None)).await.unwrap()
    }

    /// Registers a wait in the store alone, as a caller does that leaves before the hub is told.
    pub async fn registered_only(&self, number: i64, dependency: Dependency) -> StoredWait {
        let registration = Registration {
            identity: identity(number),
            wait_id: None,
            new_wait_id: format!("wait-{number}"),
            dependency,
            deadline: None,
            now: 1,
        };
        self.store.register(vec![registration]).await.unwrap().remove(0)
    }

    /// A wait as it is stored.
    pub async fn stored(&self, wait_id: &str) -> StoredWait {
        self.store.waits(&[wait_id.to_owned()]).await.unwrap().remove(0)
    }

    pub async fn marks(&self) -> Vec<String> {
        self.store.marked(i64::MAX, 1_000).await.unwrap()
    }
}

pub fn identity(number: i64) -> Identity {
    Identity {
        scheduler: "default".into(),
        project_code: 1,
        workflow_definition_code: 2,
        task_definition_code: 3,
        workflow_instance_id: number,
        task_name: "t".into(),
    }
}

/// A snapshot with new data.
pub fn advance(id: i64) -> Change {
    let commit = Commit {
        snapshot_id: id,
        fingerprint: format!("f{id}"),
        commit_kind: "APPEND".into(),
        commit_time: Some(id),
        schema_id: Some(0),
        watermark: None,
        delta_record_count: Some(1),
    };
    Change::Committed { class: CommitClass::Advance, ordinal: id, commit }
}

fn committed(outcome: BatchOutcome) -> Committed {
    match outcome {
        BatchOutcome::Committed(committed) => committed,
        BatchOutcome::Stale => panic!("somebody else moved the cursor"),
    }
}

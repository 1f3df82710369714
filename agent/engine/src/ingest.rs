//! Ingest: the one door through which findings reach the store, and from there the hub.

use std::sync::Arc;

use asset_store::{BatchOutcome, Loaded, SourceBatch, Store};
use tokio::time::Instant;
use tracing::{error, info};

use crate::{
    follow::FollowerPort,
    gather::{Gather, GatherError, Groups},
    hub::{HubHandle, Moved},
    observer::Observer,
};

struct Finding {
    batch: SourceBatch,
    handed_over: Instant,
}

/// Hands batches in.
#[derive(Clone)]
pub struct Ingest(Gather<Finding, BatchOutcome>);

/// The task behind [`Ingest`].
pub struct IngestTask {
    findings: Groups<Finding, BatchOutcome>,
    store: Arc<Store>,
    hub: HubHandle,
    /// Where the store is shared: the hub hears through it, in the order of revisions.
    follower: Option<FollowerPort>,
    observer: Arc<dyn Observer>,
}

impl Ingest {
    /// A door and the task that stands behind it.
    pub fn new(
        store: Arc<Store>,
        hub: HubHandle,
        follower: Option<FollowerPort>,
        observer: Arc<dyn Observer>,
    ) -> (Self, IngestTask) {
        let (gather, findings) = Gather::new();
        (Self(gather), IngestTask { findings, store, hub, follower, observer })
    }

    /// Stores a batch; answers when it is on disk and the hub knows of it.
    pub async fn apply(&self, batch: SourceBatch) -> Result<BatchOutcome, GatherError> {
        self.0.ask(Finding { batch, handed_over: Instant::now() }).await
    }
}

impl IngestTask {
    /// Runs until every [`Ingest`] is gone; what was handed in by then is stored.
    pub async fn run(self) {
        let Self { mut findings, store, hub, follower, observer } = self;
        while let Some((group, callers)) = findings.next().await {
            let batches = group.iter().map(|finding| finding.batch.clone()).collect();
            let outcomes = store.apply(batches).await;
            match &outcomes {
                Ok(outcomes) => {
                    let mut moved = moved(&group, outcomes, &*observer);
                    if let Some(follower) = &follower {
                        // An absent table has no revision, so the follower would not find it.
                        moved.retain(|moved| !matches!(moved.now, Loaded::Known(_)));
                        follower.wake();
                    }
                    if !moved.is_empty() {
                        hub.moved(moved).await;
                    }
                }
                Err(failure) => {
                    error!(status = "FAILED", reason = %failure, "a group of findings could not be stored");
                }
            }
            callers.answer(outcomes);
        }
    }
}

/// Counts and logs what was written, and gathers what the hub has to know.
fn moved(group: &[Finding], outcomes: &[BatchOutcome], observer: &dyn Observer) -> Vec<Moved> {
    let mut moved = Vec::new();
    for (finding, outcome) in group.iter().zip(outcomes) {
        let BatchOutcome::Committed(committed) = outcome else {
            continue;
        };
        let key = &finding.batch.key;
        observer.received(key, committed.events, committed.duplicates);
        if !committed.changed {
            continue;
        }
        if let Loaded::Known(asset) = &committed.now {
            observer.state(asset);
            let latest = asset.latest().map(|(_, version)| version);
            info!(
                assetKey = %key,
                snapshotId = latest.map(|version| version.commit.snapshot_id),
                schemaId = latest.and_then(|version| version.commit.schema_id),
                watermark = latest.and_then(|version| version.effective_watermark),
                revision = asset.revision,
                events = committed.events,
                generation = asset.generation(),
                goneSince = asset.gone_since,
                "asset moved"
            );
        }
        moved.push(Moved { key: key.clone(), now: committed.now.clone(), handed_over: finding.handed_over });
    }
    moved
}

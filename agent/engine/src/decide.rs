//! Writes the hub's decisions on stored waits, one group at a time.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use asset_core::key::AssetKey;
use asset_store::{Decision, DecisionOutcome, Loaded, Store, StoreError, StoredWait};
use tokio::sync::mpsc;
use tracing::warn;

use crate::hub::{Command, HubHandle};

/// Pause before a group that failed is tried again.
const RETRY_PAUSE: Duration = Duration::from_millis(500);

/// Hands decisions to the task. The hub has one group under way at most.
pub struct DeciderPort(mpsc::Sender<Vec<Decision>>);

/// The task behind [`DeciderPort`].
pub struct Decider {
    requests: mpsc::Receiver<Vec<Decision>>,
    store: Arc<Store>,
    hub: HubHandle,
}

/// What became of a group of decisions.
pub(crate) struct Decided {
    pub outcomes: Vec<(Decision, Written)>,
    /// Fresh states of the assets under decisions that were stale.
    pub reloaded: BTreeMap<AssetKey, Loaded>,
}

/// What became of one decision.
pub(crate) enum Written {
    /// It is on disk.
    Yes,
    /// It was stale; this is the wait as it is stored, unless there is none.
    Stale(Option<Box<StoredWait>>),
}

impl DeciderPort {
    /// A port and its task.
    pub fn new(store: Arc<Store>, hub: HubHandle) -> (Self, Decider) {
        let (sender, requests) = mpsc::channel(1);
        let task = Decider { requests, store, hub };
        (Self(sender), task)
    }

    pub(crate) fn decide(&self, group: Vec<Decision>) {
        // Full is impossible (one at a time); closed means that the agent is leaving.
        let _ = self.0.try_send(group);
    }
}

impl Decider {
    /// Runs until the hub is gone.
    pub async fn run(mut self) {
        while let Some(group) = self.requests.recv().await {
            let decided = loop {
                match self.write(&group).await {
                    Ok(decided) => break decided,
                    Err(error) => {
                        warn!(reason = %error, "decisions can't be written, trying again");
                        tokio::time::sleep(RETRY_PAUSE).await;
                    }
                }
                if self.requests.is_closed() {
                    return;
                }
            };
            self.hub.send(Command::Decided(decided)).await;
        }
    }

    /// Writes a group. A commit whose answer was lost makes the second try stale, and the stored wait
    /// then tells what was decided.
    async fn write(&self, group: &[Decision]) -> Result<Decided, StoreError> {
        let outcomes = self.store.decide(group.to_vec()).await?;
        let stale: Vec<&Decision> = group
            .iter()
            .zip(&outcomes)
            .filter(|(_, outcome)| **outcome == DecisionOutcome::Stale)
            .map(|(decision, _)| decision)
            .collect();
        let mut waits = BTreeMap::new();
        let mut reloaded = BTreeMap::new();
        if !stale.is_empty() {
            let ids: Vec<String> = stale.iter().map(|d| d.wait_id.clone()).collect();
            for wait in self.store.waits(&ids).await? {
                waits.insert(wait.wait_id.clone(), wait);
            }
            let keys: Vec<AssetKey> =
                stale.iter().flat_map(|d| d.asset_locks.iter().map(|(key, _)| key.clone())).collect();
            reloaded = self.store.load(&keys).await?.0;
        }
        let outcomes = group.iter().cloned().zip(outcomes).map(|(decision, outcome)| {
            let written = match outcome {
                DecisionOutcome::Written => Written::Yes,
                DecisionOutcome::Stale => Written::Stale(waits.remove(&decision.wait_id).map(Box::new)),
            };
            (decision, written)
        });
        Ok(Decided { outcomes: outcomes.collect(), reloaded })
    }
}

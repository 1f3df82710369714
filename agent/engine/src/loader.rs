//! Loads states for the hub, one request at a time.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use asset_core::key::AssetKey;
use asset_store::Store;
use tokio::sync::mpsc;
use tracing::warn;

use crate::hub::{Command, HubHandle};

/// Pause before a load that failed is tried again.
const RETRY_PAUSE: Duration = Duration::from_millis(500);

/// Asks for loads. The hub has one under way at most, so there is always room for it.
pub struct LoaderPort(mpsc::Sender<BTreeSet<AssetKey>>);

/// The task behind [`LoaderPort`].
pub struct Loader {
    requests: mpsc::Receiver<BTreeSet<AssetKey>>,
    store: Arc<Store>,
    hub: HubHandle,
}

impl LoaderPort {
    /// A port and its task.
    pub fn new(store: Arc<Store>, hub: HubHandle) -> (Self, Loader) {
        let (sender, requests) = mpsc::channel(1);
        let task = Loader { requests, store, hub };
        (Self(sender), task)
    }

    pub(crate) fn load(&self, keys: BTreeSet<AssetKey>) {
        // Full is impossible (one at a time); closed means that the agent is leaving.
        let _ = self.0.try_send(keys);
    }
}

impl Loader {
    /// Runs until the hub is gone. A database that is away is asked again until it answers: the
    /// streams stay open meanwhile.
    pub async fn run(mut self) {
        while let Some(keys) = self.requests.recv().await {
            let keys: Vec<AssetKey> = keys.into_iter().collect();
            let (found, revision) = loop {
                match self.store.load(&keys).await {
                    Ok(loaded) => break loaded,
                    Err(error) => {
                        warn!(reason = %error, "states can't be loaded, trying again");
                        tokio::time::sleep(RETRY_PAUSE).await;
                    }
                }
                if self.requests.is_closed() {
                    return;
                }
            };
            self.hub.send(Command::Loaded { found, revision }).await;
        }
    }
}

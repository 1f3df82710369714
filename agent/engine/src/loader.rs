//! Loads states for the hub, one request at a time.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use asset_core::key::AssetKey;
use asset_store::{Loaded, Store, StoreError};
use tokio::sync::mpsc;
use tracing::warn;

use crate::hub::{Command, HubHandle};

/// Pause before a load that failed is tried again.
const RETRY_PAUSE: Duration = Duration::from_millis(500);

/// How much of an asset is loaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Depth {
    /// From its newest data version on.
    Head,
    /// What conditions need that look back.
    Back,
}

/// What to load, each asset as deep as somebody looks.
pub type Keys = BTreeMap<AssetKey, Depth>;

/// Asks for loads. The hub has one under way at most, so there is always room for it.
pub struct LoaderPort(mpsc::Sender<Keys>);

/// The task behind [`LoaderPort`].
pub struct Loader {
    requests: mpsc::Receiver<Keys>,
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

    pub(crate) fn load(&self, keys: Keys) {
        // Full is impossible (one at a time); closed means that the agent is leaving.
        let _ = self.0.try_send(keys);
    }
}

impl Loader {
    /// Runs until the hub is gone. A database that is away is asked again until it answers: the
    /// streams stay open meanwhile.
    pub async fn run(mut self) {
        while let Some(keys) = self.requests.recv().await {
            let (found, revision) = loop {
                match self.read(&keys).await {
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

    async fn read(&self, keys: &Keys) -> Result<(BTreeMap<AssetKey, Loaded>, i64), StoreError> {
        let of = |depth| -> Vec<AssetKey> {
            keys.iter().filter(|(_, wanted)| **wanted == depth).map(|(key, _)| key.clone()).collect()
        };
        let (mut found, mut revision) = self.store.load(&of(Depth::Head)).await?;
        let back = of(Depth::Back);
        if !back.is_empty() {
            let (deep, later) = self.store.load_deep(&back).await?;
            found.extend(deep);
            revision = revision.max(later);
        }
        Ok((found, revision))
    }
}

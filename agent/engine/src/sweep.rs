//! The sweep: finds marks that a lost notice left behind.

use std::{sync::Arc, time::Duration};

use asset_store::Store;
use tokio_util::sync::CancellationToken;
use tracing::warn;

use crate::{
    clock::Chance,
    hub::{Command, HubHandle},
};

/// The task.
pub(crate) struct Sweeper {
    pub store: Arc<Store>,
    pub hub: HubHandle,
    pub chance: Arc<Chance>,
    pub interval: Duration,
    pub batch: usize,
}

impl Sweeper {
    /// Sweeps until it is cancelled. A mark is handed to the hub only when it was there at the sweep
    /// before: one that is being worked on is gone by then.
    pub async fn run(self, stop: CancellationToken) {
        let mut before: Vec<String> = Vec::new();
        loop {
            let pause = self.interval.mul_f64(0.9 + 0.2 * self.chance.fraction());
            tokio::select! {
                () = stop.cancelled() => return,
                () = tokio::time::sleep(pause) => {}
            }
            let marked = match self.store.marked(i64::MAX, self.batch).await {
                Ok(marked) => marked,
                Err(error) => {
                    warn!(reason = %error, "marks can't be read");
                    continue;
                }
            };
            let stuck: Vec<String> = marked.iter().filter(|id| before.contains(id)).cloned().collect();
            if !stuck.is_empty() {
                self.hub.send(Command::Sweep(stuck)).await;
            }
            before = marked;
        }
    }
}

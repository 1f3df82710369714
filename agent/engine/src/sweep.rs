//! The sweep: finds marks that a lost notice left behind, gives up reports on what never came, and keeps
//! version logs bounded.

use std::{sync::Arc, time::Duration};

use asset_store::{Retention, Store, StoreError, WaitStatus};
use tokio_util::sync::CancellationToken;
use tracing::{debug, warn};

use crate::{
    clock::{Chance, Clock},
    hub::{Command, HubHandle},
};

/// Lines of a version log that are kept however old they are.
const NEWEST_VERSIONS: usize = 1_000;

/// Lines of a version log that are younger are kept however many they are: a verdict may still come.
const VERSION_AGE: Duration = Duration::from_hours(24);

/// Reports wait so long for what they speak of.
const PENDING_AGE: Duration = Duration::from_hours(24);

/// The task.
pub(crate) struct Sweeper {
    pub store: Arc<Store>,
    pub hub: HubHandle,
    pub clock: Arc<dyn Clock>,
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
            match self.sweep(&before).await {
                Ok(marked) => before = marked,
                Err(error) => warn!(reason = %error, "marks can't be read"),
            }
            self.trim().await;
            self.give_up_pending().await;
        }
    }

    async fn give_up_pending(&self) {
        let before = self.clock.now().saturating_sub(PENDING_AGE.as_millis() as i64);
        match self.store.give_up_pending(before).await {
            Ok(0) => {}
            Ok(reports) => warn!(reports, "reports given up: what they speak of did not come within a day"),
            Err(error) => warn!(reason = %error, "waiting reports can't be looked through"),
        }
    }

    async fn trim(&self) {
        let age = VERSION_AGE.as_millis() as i64;
        let retention = Retention { newest: NEWEST_VERSIONS, since: self.clock.now().saturating_sub(age) };
        match self.store.trim(retention).await {
            Ok(0) => {}
            Ok(removed) => debug!(removed, "old lines of version logs removed"),
            Err(error) => warn!(reason = %error, "version logs can't be trimmed"),
        }
    }

    /// Hands over what is still marked; answers all that is marked now.
    async fn sweep(&self, before: &[String]) -> Result<Vec<String>, StoreError> {
        let marked = self.store.marked(i64::MAX, self.batch).await?;
        let stuck: Vec<String> = marked.iter().filter(|id| before.contains(id)).cloned().collect();
        if !stuck.is_empty() {
            let mut waits = self.store.waits(&stuck).await?;
            waits.retain(|wait| wait.status == WaitStatus::Open);
            self.hub.send(Command::Sweep(waits)).await;
        }
        Ok(marked)
    }
}

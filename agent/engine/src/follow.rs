//! Follows what is written to a database that several agents share.
//!
//! Promises: every change, of this agent and of others, comes to the hub in the order of revisions, none
//! is left out, and a newer state is never followed by an older one. What another agent wrote comes at
//! most one interval later.

use std::{sync::Arc, time::Duration};

use asset_store::{Loaded, Store, StoreError};
use tokio::{sync::Notify, time::Instant};
use tokio_util::sync::CancellationToken;
use tracing::warn;

use crate::{
    clock::Chance,
    hub::{HubHandle, Moved},
};

/// Longest pause between two looks.
const INTERVAL: Duration = Duration::from_millis(500);

/// Most changes that are read at one time.
const PAGE: usize = 500;

/// Says that there is something to follow. A lost word is made up for by the next look.
#[derive(Clone, Default)]
pub struct FollowerPort(Arc<Notify>);

impl FollowerPort {
    /// Something was written.
    pub fn wake(&self) {
        self.0.notify_one();
    }
}

/// The task.
pub(crate) struct Follower {
    pub store: Arc<Store>,
    pub hub: HubHandle,
    pub chance: Arc<Chance>,
    pub port: FollowerPort,
    /// What is at or below it was followed.
    pub revision: i64,
}

impl Follower {
    /// Follows until it is cancelled.
    pub async fn run(mut self, stop: CancellationToken) {
        let mut away = false;
        loop {
            tokio::select! {
                () = stop.cancelled() => return,
                () = self.port.0.notified() => {}
                () = tokio::time::sleep(INTERVAL.mul_f64(0.8 + 0.2 * self.chance.fraction())) => {}
            }
            match self.follow().await {
                Ok(()) => away = false,
                // Once is enough: other tasks tell of a database that is away as well.
                Err(error) if !away => {
                    away = true;
                    warn!(reason = %error, "what was written can't be followed, trying again");
                }
                Err(_) => {}
            }
        }
    }

    async fn follow(&mut self) -> Result<(), StoreError> {
        let handed_over = Instant::now();
        if self.store.revision().await? <= self.revision {
            return Ok(());
        }
        loop {
            let changed = self.store.changed_after(self.revision, PAGE).await?;
            let Some(newest) = changed.last() else {
                return Ok(());
            };
            self.revision = newest.revision;
            let more = changed.len() == PAGE;
            let moved = changed.into_iter().map(|asset| Moved {
                key: asset.key.clone(),
                now: Loaded::Known(Box::new(asset)),
                handed_over,
            });
            self.hub.moved(moved.collect()).await;
            if !more {
                return Ok(());
            }
        }
    }
}

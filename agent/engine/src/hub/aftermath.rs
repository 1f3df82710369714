//! What is counted and logged once every reader was told: nobody waits for the log.

use std::{collections::BTreeMap, sync::Arc};

use asset_core::{key::AssetKey, reason::BlockedBy};
use tracing::info;

use super::{Standing, WaitUpdate};
use crate::observer::Observer;

/// Gathers releases and counts of one round of verdicts.
#[derive(Default)]
pub struct Aftermath {
    stored: Vec<Release>,
    /// Anonymous waits that were released on the same versions are one line of the log.
    anonymous: BTreeMap<Vec<(String, i64)>, Release>,
    ready: BTreeMap<(AssetKey, i64, String), u64>,
    blocked: BTreeMap<(AssetKey, i64, BlockedBy), i64>,
}

struct Release {
    update: Arc<WaitUpdate>,
    workflow_code: i64,
    waits: usize,
    readers: usize,
}

impl Aftermath {
    /// A wait was released.
    pub fn released(&mut self, update: Arc<WaitUpdate>, workflow_code: i64, readers: usize) {
        let Standing::Ready(pins) = &update.standing else {
            return;
        };
        if let Some(group) = update.evaluation.groups.iter().find(|group| group.pins().is_some()) {
            for condition in &group.conditions {
                let by = (condition.asset.clone(), workflow_code, group.name.clone());
                *self.ready.entry(by).or_default() += 1;
            }
        }
        let versions = pins.iter().map(|pin| (pin.asset.clone(), pin.snapshot_id)).collect();
        let release = Release { update: update.clone(), workflow_code, waits: 0, readers: 0 };
        let release = if update.wait_id.is_some() {
            self.stored.push(release);
            self.stored.last_mut()
        } else {
            Some(self.anonymous.entry(versions).or_insert(release))
        };
        if let Some(release) = release {
            release.waits += 1;
            release.readers += readers;
        }
    }

    /// So many more (or fewer) open waits are blocked by this.
    pub fn blocked(&mut self, key: &AssetKey, workflow_code: i64, by: BlockedBy, change: i64) {
        *self.blocked.entry((key.clone(), workflow_code, by)).or_default() += change;
    }

    /// Counts and logs all that was gathered.
    pub fn tell(&mut self, observer: &dyn Observer) {
        let Self { stored, anonymous, ready, blocked } = std::mem::take(self);
        for ((key, workflow_code, group), waits) in ready {
            observer.ready(&key, workflow_code, &group, waits);
        }
        for ((key, workflow_code, by), change) in blocked.into_iter().filter(|(_, change)| *change != 0) {
            observer.blocked(&key, workflow_code, by, change);
        }
        for release in stored.into_iter().chain(anonymous.into_values()) {
            release.log();
        }
    }
}

impl Release {
    fn log(&self) {
        let update = &self.update;
        let Standing::Ready(pins) = &update.standing else {
            return;
        };
        for pin in pins.iter() {
            info!(
                status = "READY",
                assetKey = pin.asset,
                snapshotId = pin.snapshot_id,
                watermark = pin.watermark,
                workflowDefinitionCode = (self.workflow_code != 0).then_some(self.workflow_code),
                waitId = update.wait_id.as_deref(),
                revision = update.revision,
                waits = self.waits,
                readers = self.readers,
                "wait released"
            );
        }
    }
}

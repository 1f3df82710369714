//! Watchers: whoever looks at the states of assets.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Arc, Mutex, Weak},
};

use asset_core::asset::Asset;
use globset::GlobSet;
use tokio::sync::Notify;

use crate::interest::Interest;

/// A watcher as it comes to the hub.
pub struct NewWatcher {
    /// What it looks at.
    pub globs: GlobSet,
}

/// All watchers.
pub struct Watchers {
    watchers: HashMap<u64, Watcher>,
    next_number: u64,
    interest: Arc<Interest>,
}

struct Watcher {
    globs: GlobSet,
    slot: Weak<Slot>,
}

/// What a watcher has not read yet: the newest state of each asset, so never more than there are
/// assets.
#[derive(Default)]
struct Slot {
    pending: Mutex<Pending>,
    news: Notify,
}

#[derive(Default)]
struct Pending {
    /// In the order of their revisions, which is the order to send them in.
    by_revision: BTreeMap<i64, Arc<Asset>>,
    revision_of: HashMap<asset_core::key::AssetKey, i64>,
    closed: bool,
}

/// The reading end.
pub struct StateFeed {
    slot: Arc<Slot>,
}

impl Watchers {
    pub fn new(interest: Arc<Interest>) -> Self {
        Self { watchers: HashMap::new(), next_number: 0, interest }
    }

    pub fn len(&self) -> usize {
        self.watchers.len()
    }

    pub fn add(&mut self, request: NewWatcher) -> StateFeed {
        let slot = Arc::new(Slot::default());
        let number = self.next_number;
        self.next_number += 1;
        self.interest.watch(number, request.globs.clone());
        let watcher = Watcher { globs: request.globs, slot: Arc::downgrade(&slot) };
        self.watchers.insert(number, watcher);
        StateFeed { slot }
    }

    pub fn send(&self, asset: &Asset) {
        let mut shared = None;
        for watcher in self.watchers.values() {
            if !watcher.globs.is_match(asset.key.as_str()) {
                continue;
            }
            if let Some(slot) = watcher.slot.upgrade() {
                let asset = shared.get_or_insert_with(|| Arc::new(asset.clone()));
                slot.put(asset.clone());
            }
        }
    }

    pub fn tidy(&mut self) {
        let interest = &self.interest;
        self.watchers.retain(|number, watcher| {
            let here = watcher.slot.strong_count() > 0;
            if !here {
                interest.unwatch(*number);
            }
            here
        });
    }
}

impl Drop for Watchers {
    fn drop(&mut self) {
        for slot in self.watchers.values().filter_map(|w| w.slot.upgrade()) {
            slot.pending().closed = true;
            slot.news.notify_one();
        }
    }
}

impl Slot {
    fn put(&self, asset: Arc<Asset>) {
        let mut pending = self.pending();
        let revision = asset.revision;
        if let Some(older) = pending.revision_of.insert(asset.key.clone(), revision) {
            pending.by_revision.remove(&older);
        }
        pending.by_revision.insert(revision, asset);
        drop(pending);
        self.news.notify_one();
    }

    fn pending(&self) -> std::sync::MutexGuard<'_, Pending> {
        self.pending.lock().unwrap_or_else(|broken| broken.into_inner())
    }
}

impl StateFeed {
    /// The next state, oldest first; `None` when the hub is gone.
    pub async fn next(&mut self) -> Option<Arc<Asset>> {
        loop {
            {
                let mut pending = self.slot.pending();
                if let Some((_, asset)) = pending.by_revision.pop_first() {
                    pending.revision_of.remove(&asset.key);
                    return Some(asset);
                }
                if pending.closed {
                    return None;
                }
            }
            self.slot.news.notified().await;
        }
    }
}

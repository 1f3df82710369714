//! What the hub knows of the assets that waits look at: the newest committed state of each.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use asset_core::{
    asset::{Knowledge, Unread},
    key::AssetKey,
};
use asset_store::Loaded;

use crate::{
    interest::Interest,
    loader::{Depth, Keys, LoaderPort},
    readings::{self, Readings},
};

/// Number of a wait inside the hub.
pub type WaitNumber = u64;

/// The views. An asset has one exactly while some wait looks at it.
pub struct Views {
    views: HashMap<AssetKey, View>,
    interest: Arc<Interest>,
    readings: Readings,
    loader: LoaderPort,
    /// Keys for the next load; one load runs at a time.
    to_load: Keys,
    loading: bool,
}

struct View {
    /// `None` until it is loaded.
    state: Option<Loaded>,
    /// Why there is nothing in the store, where there is nothing.
    unread: Unread,
    waits: HashSet<WaitNumber>,
    /// As deep as any of them has looked.
    depth: Depth,
}

impl Views {
    pub fn new(interest: Arc<Interest>, readings: Readings, loader: LoaderPort) -> Self {
        Self { views: HashMap::new(), interest, readings, loader, to_load: Keys::new(), loading: false }
    }

    /// From now on the wait looks at the asset.
    pub fn attach(&mut self, key: &AssetKey, wait: WaitNumber, depth: Depth) {
        let interest = &self.interest;
        let to_load = &mut self.to_load;
        let readings = &self.readings;
        let view = self.views.entry(key.clone()).or_insert_with(|| {
            interest.want(key);
            to_load.insert(key.clone(), depth);
            View { state: None, unread: readings.unread(key), waits: HashSet::new(), depth }
        });
        view.waits.insert(wait);
        if view.depth < depth {
            view.depth = depth;
            view.state = None;
            to_load.insert(key.clone(), depth);
        }
        self.load();
    }

    /// The wait looks at the asset no more.
    pub fn detach(&mut self, key: &AssetKey, wait: WaitNumber) {
        let Some(view) = self.views.get_mut(key) else {
            return;
        };
        view.waits.remove(&wait);
        if view.waits.is_empty() {
            self.views.remove(key);
            self.interest.release(key);
        }
    }

    /// The waits that look at an asset.
    pub fn waits(&self, key: &AssetKey) -> Vec<WaitNumber> {
        self.views.get(key).map_or_else(Vec::new, |view| view.waits.iter().copied().collect())
    }

    /// Whether every one of the assets is loaded.
    pub fn all_loaded(&self, keys: &[AssetKey]) -> bool {
        keys.iter().all(|key| self.state(key).is_some())
    }

    /// Lock version of an asset; `None` where there is no such asset.
    pub fn lock_version(&self, key: &AssetKey) -> Option<i64> {
        match self.knowledge(key) {
            Knowledge::Known(asset) => Some(asset.lock_version),
            _ => None,
        }
    }

    /// What is known of an asset.
    pub fn knowledge(&self, key: &AssetKey) -> Knowledge<'_> {
        let view = self.views.get(key);
        let loaded = view.and_then(|view| Some((view.state.as_ref()?, &view.unread)));
        loaded.map_or(Knowledge::Unknown, |(state, unread)| readings::knowledge(state, unread))
    }

    /// Looks again why nothing is known of an asset. Answers whether that is another thing now.
    pub fn reread(&mut self, key: &AssetKey) -> bool {
        let Some(view) = self.views.get_mut(key) else {
            return false;
        };
        let before = std::mem::replace(&mut view.unread, self.readings.unread(key));
        before != view.unread && matches!(view.state, Some(Loaded::Unknown))
    }

    fn state(&self, key: &AssetKey) -> Option<&Loaded> {
        self.views.get(key)?.state.as_ref()
    }

    /// Takes what was read or committed, unless something newer is known. Answers whether anything
    /// is to be evaluated again.
    pub fn learn(&mut self, key: &AssetKey, loaded: Loaded) -> bool {
        let Some(view) = self.views.get_mut(key) else {
            return false;
        };
        let newer = match &view.state {
            None => true,
            Some(known) => age(&loaded) > age(known),
        };
        if newer && view.depth == Depth::Back && matches!(loaded, Loaded::Known(_)) {
            // What comes by is the head: who looks back waits for more.
            view.state = None;
            self.to_load.insert(key.clone(), Depth::Back);
            self.load();
            return false;
        }
        if newer {
            view.state = Some(loaded);
        }
        newer
    }

    /// Takes the answer to a load. A key that was asked for again meanwhile waits for its own load:
    /// this one may have read a state that is older than the wait.
    pub fn learn_loaded(&mut self, key: &AssetKey, loaded: Loaded) -> bool {
        if self.to_load.contains_key(key) {
            return false;
        }
        let Some(view) = self.views.get_mut(key) else {
            return false;
        };
        let newer = view.state.as_ref().is_none_or(|known| age(&loaded) > age(known));
        if newer {
            view.state = Some(loaded);
        }
        newer
    }

    /// A load was answered: the next one can go.
    pub fn loaded(&mut self) {
        self.loading = false;
        self.load();
    }

    fn load(&mut self) {
        if self.loading || self.to_load.is_empty() {
            return;
        }
        self.loading = true;
        self.loader.load(std::mem::take(&mut self.to_load));
    }
}

/// Orders what can be known of one asset: a table that was read is never forgotten again.
fn age(loaded: &Loaded) -> (u8, i64) {
    match loaded {
        Loaded::Unknown => (0, 0),
        Loaded::Absent => (1, 0),
        Loaded::Known(asset) => (2, asset.revision),
    }
}

#[cfg(test)]
mod tests;

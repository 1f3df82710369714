//! Why nothing is known of an asset.

use std::sync::Arc;

use asset_core::{
    asset::{Knowledge, Unread},
    key::AssetKey,
};
use asset_store::Loaded;

use crate::{catalogs::Catalogs, poll::HealthBoard};

/// Tells a table that nobody reads from one that could not be read yet.
#[derive(Clone)]
pub struct Readings {
    /// Where tables are read.
    pub catalogs: Arc<Catalogs>,
    /// How that goes.
    pub health: HealthBoard,
    /// Whether this agent reads tables at all.
    pub polling: bool,
}

impl Readings {
    /// Why nothing is known of an asset that the store does not have.
    pub fn unread(&self, key: &AssetKey) -> Unread {
        if self.catalogs.of(key).is_none() {
            return if self.catalogs.named(key).is_some() { Unread::NotListed } else { Unread::NoCatalog };
        }
        if !self.polling {
            return Unread::PollingOff;
        }
        match self.health.of(key).and_then(|health| health.failing) {
            Some((reason, _)) => Unread::Failing(reason),
            None => Unread::NotYet,
        }
    }
}

/// What is known of an asset, `unread` being why where the store has nothing.
pub fn knowledge<'a>(loaded: &'a Loaded, unread: &'a Unread) -> Knowledge<'a> {
    match loaded.knowledge() {
        Knowledge::Unknown => Knowledge::Unread(unread),
        known => known,
    }
}

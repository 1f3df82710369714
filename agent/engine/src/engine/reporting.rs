//! What jobs and people report, and the assets that live by it.

use asset_core::{
    asset::Asset,
    key::AssetKey,
    report::{Ordering, Report},
};
use asset_store::{EventPage, EventQuery, Loaded, NewAsset, Registered, ReportOutcome};
use tokio::time::Instant;

use super::{Engine, EngineError};
use crate::hub::Moved;

impl Engine {
    /// Stores reports; answers in their order when they are on disk.
    pub async fn report(&self, reports: Vec<(AssetKey, Report)>) -> Result<Vec<ReportOutcome>, EngineError> {
        if !self.config.take_reports {
            return Err(EngineError::ReportsOff);
        }
        Ok(self.reports.report(reports, self.clock.now()).await?)
    }

    /// Registers an asset that no catalog has. Answers it, and whether it was not there before.
    pub async fn register_asset(
        &self,
        key: AssetKey,
        ordering: Option<Ordering>,
        description: Option<String>,
    ) -> Result<(Asset, bool), EngineError> {
        self.refuse_read(&key)?;
        let new = NewAsset { key: key.clone(), ordering, description, now: self.clock.now() };
        match self.store.register_asset(new).await? {
            Registered::OtherOrdering(known) => {
                Err(EngineError::OtherOrdering { key, known: known.as_str() })
            }
            Registered::Done { asset, created } => {
                self.tell_moved(key, Loaded::Known(asset.clone())).await;
                Ok((*asset, created))
            }
        }
    }

    /// Takes an asset that lives by reports back to one of its snapshots.
    pub async fn rewind_asset(&self, key: AssetKey, to: i64, reason: &str) -> Result<Asset, EngineError> {
        self.refuse_read(&key)?;
        match self.store.rewind_asset(&key, to, reason, self.clock.now()).await? {
            Some(Loaded::Known(asset)) => {
                self.tell_moved(key, Loaded::Known(asset.clone())).await;
                Ok(*asset)
            }
            _ => Err(EngineError::NoSuchVersion { key, snapshot_id: to }),
        }
    }

    fn refuse_read(&self, key: &AssetKey) -> Result<(), EngineError> {
        match self.catalogs.of(key) {
            Some(catalog) => {
                Err(EngineError::ReadHere { key: key.clone(), catalog: catalog.name().to_owned() })
            }
            None => Ok(()),
        }
    }

    /// Tells whoever depends on an asset; on a shared store the follower does.
    async fn tell_moved(&self, key: AssetKey, now: Loaded) {
        if !self.store.is_shared() {
            self.hub.moved(vec![Moved { key, now, handed_over: Instant::now() }]).await;
        }
    }

    /// Events, the newest first.
    pub async fn events(&self, query: &EventQuery) -> Result<EventPage, EngineError> {
        Ok(self.store.events(query).await?)
    }
}

//! What people do to assets that live by reports.

use asset_core::{asset::Asset, key::AssetKey, report::Ordering, version::Millis};
use sea_query::{Expr, ExprTrait, Query};

use crate::{
    Loaded, Store, StoreError,
    apply::{self, Working},
    schema::ASSET,
    write,
};

/// An asset to be registered.
#[derive(Debug, Clone)]
pub struct NewAsset {
    /// Its key.
    pub key: AssetKey,
    /// What orders its versions; `None`: its first event says so.
    pub ordering: Option<Ordering>,
    /// What it is, for people; `None`: as it was.
    pub description: Option<String>,
    /// The time of now.
    pub now: Millis,
}

/// What became of a registration.
#[derive(Debug)]
pub enum Registered {
    /// It is registered, as it stands now.
    Done {
        /// The asset.
        asset: Box<Asset>,
        /// Whether it was not there before.
        created: bool,
    },
    /// Its versions are ordered by something else already.
    OtherOrdering(Ordering),
}

impl Store {
    /// Registers an asset. Doing it again changes its description and its ordering, while that is open.
    pub async fn register_asset(&self, new: NewAsset) -> Result<Registered, StoreError> {
        let mut tx = self.database.begin().await?;
        let mut revision = tx.lock_revision().await?;
        let reserved_from = revision;
        let mut known = apply::known(&mut tx, std::slice::from_ref(&new.key)).await?;
        let created = known.is_empty();
        let mut work = known.remove(&new.key).unwrap_or_else(|| Working::new(new.key.clone()));
        if let (Some(known), Some(wanted)) = (work.asset.ordering, new.ordering)
            && known != wanted
        {
            return Ok(Registered::OtherOrdering(known));
        }
        let ordering = work.asset.ordering.or(new.ordering);
        if created || ordering != work.asset.ordering {
            work.asset.ordering = ordering;
            work.moved(&mut revision, new.now);
            write::all(&mut tx, &mut [&mut work]).await?;
        }
        if let Some(description) = &new.description {
            let mut update = Query::update();
            update
                .table(ASSET)
                .value("description", description.as_str())
                .and_where(Expr::col("asset_key").eq(new.key.as_str()));
            tx.execute(&update).await?;
        }
        if revision != reserved_from {
            tx.set_revision(revision).await?;
        }
        tx.commit().await?;
        Ok(Registered::Done { asset: Box::new(work.asset), created })
    }

    /// Begins the next history of an asset at a commit of the one of now; answers the asset, or `None` where
    /// it or the commit is not there.
    pub async fn rewind_asset(
        &self,
        key: &AssetKey,
        to: i64,
        reason: &str,
        now: Millis,
    ) -> Result<Option<Loaded>, StoreError> {
        let mut tx = self.database.begin().await?;
        let mut revision = tx.lock_revision().await?;
        let Some(mut work) = apply::known(&mut tx, std::slice::from_ref(key)).await?.remove(key) else {
            return Ok(None);
        };
        if let Some(id) = work.id {
            let lines = apply::entries(&mut tx, id, None).await?;
            work.add(&mut tx, lines).await?;
        }
        let Some(evidence) = work.asset.rewind(to, reason, now) else {
            return Ok(None);
        };
        work.evidence.push(evidence);
        work.moved(&mut revision, now);
        write::all(&mut tx, &mut [&mut work]).await?;
        tx.set_revision(revision).await?;
        tx.commit().await?;
        Ok(Some(work.head()))
    }
}

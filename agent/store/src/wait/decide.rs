//! Deciding waits and acknowledging them.

use std::collections::{BTreeMap, BTreeSet};

use asset_core::{key::AssetKey, version::Millis};
use sea_query::{Expr, ExprTrait, Query};

use super::{ACKNOWLEDGED, Decision, DecisionOutcome, OPEN, READY};
use crate::{
    Store, StoreError,
    database::Tx,
    rows,
    schema::{MARK, ROWS_A_STATEMENT, STATE, WAIT, WAIT_ASSET},
};

impl Store {
    /// Writes decisions in one transaction; answers are in their order. A decision is written only
    /// where the wait and every asset under its pins are still what was evaluated.
    pub async fn decide(&self, decisions: Vec<Decision>) -> Result<Vec<DecisionOutcome>, StoreError> {
        let mut tx = self.database.begin().await?;
        tx.lock_revision().await?;
        let waits = wait_locks(&mut tx, &decisions).await?;
        let assets = asset_locks(&mut tx, &decisions).await?;
        let mut outcomes = Vec::with_capacity(decisions.len());
        let mut ready: BTreeMap<(String, i64, Millis), Vec<&str>> = BTreeMap::new();
        let mut released = BTreeSet::new();
        let mut blocked: BTreeMap<i64, Vec<&str>> = BTreeMap::new();
        for decision in &decisions {
            let wait = decision.wait_id.as_str();
            let holds = waits.get(wait) == Some(&decision.wait_lock)
                && decision.asset_locks.iter().all(|(key, lock)| assets.get(key) == lock.as_ref())
                && !released.contains(wait);
            match &decision.ready {
                Some(pins) if holds => {
                    let pins = serde_json::to_string(pins).unwrap_or_default();
                    let key = (pins, decision.revision, decision.at);
                    ready.entry(key).or_default().push(wait);
                    released.insert(wait);
                }
                None if holds => blocked.entry(decision.revision).or_default().push(wait),
                _ => {
                    outcomes.push(DecisionOutcome::Stale);
                    continue;
                }
            }
            outcomes.push(DecisionOutcome::Written);
        }
        for ((pins, revision, at), ids) in &ready {
            for chunk in ids.chunks(ROWS_A_STATEMENT) {
                release(&mut tx, chunk, pins, *revision, *at).await?;
            }
        }
        for (revision, ids) in &blocked {
            for chunk in ids.chunks(ROWS_A_STATEMENT) {
                let mut delete = Query::delete();
                delete
                    .from_table(MARK)
                    .and_where(Expr::col("wait_id").is_in(chunk.iter().copied()))
                    .and_where(Expr::col("revision").lte(*revision));
                tx.execute(&delete).await?;
            }
        }
        tx.commit().await?;
        Ok(outcomes)
    }

    /// Stores acknowledgements; answers for each whether there was such a wait and it was READY:
    /// `None` no such wait, `Some(false)` not READY.
    pub async fn acknowledge(
        &self,
        wait_ids: &[String],
        now: Millis,
    ) -> Result<Vec<Option<bool>>, StoreError> {
        let mut tx = self.database.begin().await?;
        tx.lock_revision().await?;
        let mut known = BTreeMap::new();
        for chunk in wait_ids.chunks(ROWS_A_STATEMENT) {
            let mut query = Query::select();
            query
                .columns(["wait_id", "status"])
                .from(WAIT)
                .and_where(Expr::col("wait_id").is_in(chunk.iter().map(String::as_str)));
            for row in tx.rows(&query).await? {
                known.insert(row.text("wait_id")?, row.text("status")? != OPEN);
            }
            let mut update = Query::update();
            update
                .table(WAIT)
                .value("status", ACKNOWLEDGED)
                .value("acknowledged_at", now)
                .value("lock_version", Expr::col("lock_version").add(1))
                .value("update_time", Expr::current_timestamp())
                .and_where(Expr::col("status").eq(READY))
                .and_where(Expr::col("wait_id").is_in(chunk.iter().map(String::as_str)));
            tx.execute(&update).await?;
        }
        tx.commit().await?;
        Ok(wait_ids.iter().map(|id| known.get(id).copied()).collect())
    }
}

async fn release(
    tx: &mut Tx,
    wait_ids: &[&str],
    pins: &str,
    revision: i64,
    at: Millis,
) -> Result<(), StoreError> {
    let ids = || wait_ids.iter().copied();
    let mut update = Query::update();
    update
        .table(WAIT)
        .value("status", READY)
        .value("pinned", pins)
        .value("ready_revision", revision)
        .value("ready_at", at)
        .value("lock_version", Expr::col("lock_version").add(1))
        .value("update_time", Expr::current_timestamp())
        .and_where(Expr::col("wait_id").is_in(ids()));
    tx.execute(&update).await?;
    for table in [MARK, WAIT_ASSET] {
        let mut delete = Query::delete();
        delete.from_table(table).and_where(Expr::col("wait_id").is_in(ids()));
        tx.execute(&delete).await?;
    }
    Ok(())
}

async fn wait_locks(tx: &mut Tx, decisions: &[Decision]) -> Result<BTreeMap<String, i64>, StoreError> {
    let mut locks = BTreeMap::new();
    for chunk in decisions.chunks(ROWS_A_STATEMENT) {
        let mut query = Query::select();
        query
            .columns(["wait_id", "lock_version"])
            .from(WAIT)
            .and_where(Expr::col("status").eq(OPEN))
            .and_where(Expr::col("wait_id").is_in(chunk.iter().map(|d| d.wait_id.as_str())));
        for row in tx.rows(&query).await? {
            locks.insert(row.text("wait_id")?, row.i64("lock_version")?);
        }
    }
    Ok(locks)
}

async fn asset_locks(tx: &mut Tx, decisions: &[Decision]) -> Result<BTreeMap<AssetKey, i64>, StoreError> {
    let keys: BTreeSet<&AssetKey> =
        decisions.iter().flat_map(|decision| decision.asset_locks.iter().map(|(key, _)| key)).collect();
    let keys: Vec<&AssetKey> = keys.into_iter().collect();
    let mut locks = BTreeMap::new();
    for chunk in keys.chunks(ROWS_A_STATEMENT) {
        let mut query = Query::select();
        query
            .columns(["asset_key", "version"])
            .from(STATE)
            .and_where(Expr::col("asset_key").is_in(chunk.iter().map(|key| key.as_str())));
        for row in tx.rows(&query).await? {
            locks.insert(rows::key(&row, STATE)?, row.i64("version")?);
        }
    }
    Ok(locks)
}

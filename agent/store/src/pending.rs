//! Reports that wait for what they speak of: taken up when the asset moved, given up after a day.

use std::collections::BTreeMap;

use asset_core::{
    asset::Source,
    event::{IgnoredReason, Outcome},
    key::AssetKey,
    report::Report,
    version::Millis,
};
use sea_query::{Expr, ExprTrait, Order, Query};

use crate::{
    Store, StoreError,
    apply::Working,
    database::Tx,
    rows,
    schema::{EVENT, PENDING},
    write,
};

/// Waiting reports that one transaction takes up at most; the next change of the asset takes more.
const AT_ONCE: u64 = 5_000;

/// Takes up waiting reports on the assets of a transaction that changed in it.
pub async fn take_up(
    tx: &mut Tx,
    working: &mut BTreeMap<AssetKey, Working>,
    source: impl Fn(&AssetKey) -> Source,
    now: Millis,
    revision: &mut i64,
) -> Result<(), StoreError> {
    let keys: Vec<&str> =
        working.iter().filter(|(_, work)| work.changed).map(|(key, _)| key.as_str()).collect();
    if keys.is_empty() {
        return Ok(());
    }
    let mut query = Query::select();
    query
        .columns(["id", "asset_key", "payload", "dedupe_key", "receive_time"])
        .from(EVENT)
        // As the partial index has it: a bound value would not be recognised.
        .and_where(Expr::cust("outcome = 'PENDING'"))
        .and_where(tx.among("asset_key", keys))
        // The newest: what waited through many changes hardly ever comes. Not by the index of all events.
        .order_by_expr(Expr::cust("id + 0"), Order::Desc)
        .limit(AT_ONCE);
    let mut done: BTreeMap<Outcomes, Vec<i64>> = BTreeMap::new();
    for row in tx.rows(&query).await? {
        let key = rows::key(&row, EVENT)?;
        let (id, dedupe_key) = (row.i64("id")?, row.text("dedupe_key")?);
        let Some(work) = working.get_mut(&key) else {
            continue;
        };
        let outcome = match serde_json::from_str::<Report>(&row.text("payload")?) {
            Err(error) => {
                let reason = format!("payload of event {id}: {error}");
                return Err(StoreError::Corrupt { table: EVENT, reason });
            }
            Ok(report) => {
                let received = row.i64("receive_time")?;
                match work.asset.take(&report, source(&key), &dedupe_key, received) {
                    Ok(folded) => {
                        if folded.changed {
                            work.moved(revision, now);
                        }
                        folded.outcome
                    }
                    // It was accepted while the asset was unknown; what it says does not fit.
                    Err(_) => Outcome::Ignored(IgnoredReason::UnknownVersion),
                }
            }
        };
        if outcome != Outcome::Pending {
            let at = work.asset.revision;
            let (outcome, reason) = write::outcome(outcome);
            done.entry((outcome, reason, at)).or_default().push(id);
        }
    }
    for ((outcome, reason, at), ids) in done {
        let mut update = Query::update();
        update
            .table(EVENT)
            .value("outcome", outcome)
            .value("outcome_reason", reason)
            .value("revision", at)
            .and_where(tx.among_numbers("id", ids));
        tx.execute(&update).await?;
    }
    Ok(())
}

/// Outcome, reason and revision that several events share.
type Outcomes = (&'static str, Option<&'static str>, i64);

impl Store {
    /// Gives up reports that came before a time and still wait: what they speak of is unknown. Answers how
    /// many.
    pub async fn give_up_pending(&self, before: Millis) -> Result<u64, StoreError> {
        let mut tx = self.database.begin().await?;
        tx.lock_revision().await?;
        let (outcome, reason) = write::outcome(Outcome::Ignored(IgnoredReason::UnknownVersion));
        let mut update = Query::update();
        update
            .table(EVENT)
            .value("outcome", outcome)
            .value("outcome_reason", reason)
            .and_where(Expr::cust(format!("outcome = '{PENDING}'")))
            .and_where(Expr::col("receive_time").lt(before));
        let given_up = tx.execute(&update).await?;
        tx.commit().await?;
        Ok(given_up)
    }
}

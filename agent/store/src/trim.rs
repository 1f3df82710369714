//! Keeps version logs bounded.

use std::collections::{BTreeMap, BTreeSet};

use asset_core::{evaluate::Pin, version::Millis};
use sea_query::{Cond, Expr, ExprTrait, Order, Query};

use crate::{
    Store, StoreError,
    database::Tx,
    rows,
    schema::{QUALITY, REPORTED_WATERMARK, ROWS_A_STATEMENT, STATE, TAG, VERSION, WAIT},
    wait::READY,
};

/// What a version log keeps in any case.
#[derive(Debug, Clone, Copy)]
pub struct Retention {
    /// So many of its newest lines.
    pub newest: usize,
    /// Lines that were observed at this time or later.
    pub since: Millis,
}

/// Lines that one call removes of one log at most: writers wait for it.
const ROWS_A_CALL: usize = 5_000;

impl Store {
    /// Removes lines of version logs that nobody needs any more: neither young nor among the newest, not
    /// the newest data version or above it, and not pinned by a READY that was never acknowledged. What
    /// stays has its inherited values. Answers how many lines went.
    pub async fn trim(&self, retention: Retention) -> Result<usize, StoreError> {
        let mut removed = 0;
        for asset in self.long_logs(retention.newest).await? {
            let mut tx = self.database.begin().await?;
            tx.lock_revision().await?;
            removed += trim_one(&mut tx, &asset, retention).await?;
            tx.commit().await?;
        }
        Ok(removed)
    }

    /// Assets whose log has more lines than that.
    async fn long_logs(&self, lines: usize) -> Result<Vec<LongLog>, StoreError> {
        let mut tx = self.database.snapshot().await?;
        let mut long = Query::select();
        long.column("asset_id")
            .from(VERSION)
            .group_by_col("asset_id")
            .and_having(Expr::col("asset_id").count().gt(rows::limit(lines) as i64));
        let mut query = Query::select();
        query
            .columns(["asset_id", "asset_key", "generation"])
            .from(STATE)
            .and_where(Expr::col("asset_id").in_subquery(long));
        let found = tx.rows(&query).await?;
        let log = |row: &crate::database::Row| {
            Ok(LongLog {
                id: row.i64("asset_id")?,
                key: row.text("asset_key")?,
                generation: row.i64("generation")?,
            })
        };
        found.iter().map(log).collect()
    }
}

struct LongLog {
    id: i64,
    key: String,
    generation: i64,
}

async fn trim_one(tx: &mut Tx, log: &LongLog, retention: Retention) -> Result<usize, StoreError> {
    // Read under the lock: nothing is pinned or moves meanwhile.
    let kept = pinned(tx, &log.key).await?;
    let mut state = Query::select();
    state.columns(["generation", "data_ordinal"]).from(STATE).and_where(Expr::col("asset_id").eq(log.id));
    let data = match tx.rows(&state).await?.first() {
        Some(row) if row.i64("generation")? == log.generation => row.opt_i64("data_ordinal")?,
        // A history began meanwhile: next time.
        _ => return Ok(0),
    };
    let mut oldest = Query::select();
    oldest
        .columns(["generation", "ordinal"])
        .from(VERSION)
        .and_where(Expr::col("asset_id").eq(log.id))
        .order_by("generation", Order::Desc)
        .order_by("ordinal", Order::Desc)
        .offset(rows::limit(retention.newest.saturating_sub(1)))
        .limit(1);
    let Some(row) = tx.rows(&oldest).await?.into_iter().next() else {
        return Ok(0);
    };
    let (generation, ordinal) = (row.i64("generation")?, row.i64("ordinal")?);
    let below = |generation: i64, ordinal: i64| {
        let here =
            Cond::all().add(Expr::col("generation").eq(generation)).add(Expr::col("ordinal").lt(ordinal));
        Cond::any().add(Expr::col("generation").lt(generation)).add(here)
    };
    let mut query = Query::select();
    query
        .columns(["generation", "ordinal", "snapshot_id", "fingerprint"])
        .from(VERSION)
        .and_where(Expr::col("asset_id").eq(log.id))
        .and_where(Expr::col("observed_at").lt(retention.since))
        .cond_where(below(generation, ordinal))
        .order_by("generation", Order::Asc)
        .order_by("ordinal", Order::Asc)
        .limit(rows::limit(ROWS_A_CALL));
    if let Some(data) = data {
        query.cond_where(below(log.generation, data));
    }
    let mut unneeded: BTreeMap<i64, Vec<i64>> = BTreeMap::new();
    for row in tx.rows(&query).await? {
        let needed = kept.iter().any(|pin| {
            row.opt_text("fingerprint").is_ok_and(|text| text.as_deref() == Some(&pin.fingerprint))
                || row.opt_i64("snapshot_id").is_ok_and(|id| id == Some(pin.snapshot_id))
        });
        if !needed {
            unneeded.entry(row.i64("generation")?).or_default().push(row.i64("ordinal")?);
        }
    }
    let mut removed = 0;
    for (generation, ordinals) in unneeded {
        for chunk in ordinals.chunks(ROWS_A_STATEMENT) {
            let mut delete = Query::delete();
            delete
                .from_table(VERSION)
                .and_where(Expr::col("asset_id").eq(log.id))
                .and_where(Expr::col("generation").eq(generation))
                .and_where(Expr::col("ordinal").is_in(chunk.iter().copied()));
            removed += tx.execute(&delete).await? as usize;
        }
    }
    if removed > 0 {
        forget_reports(tx, log.id).await?;
    }
    Ok(removed)
}

/// Removes what was reported of commits that neither the log nor a tag has any more.
async fn forget_reports(tx: &mut Tx, id: i64) -> Result<(), StoreError> {
    for table in [QUALITY, REPORTED_WATERMARK] {
        let mut prints = Query::select();
        prints
            .column("fingerprint")
            .from(VERSION)
            .and_where(Expr::col("asset_id").eq(id))
            .and_where(Expr::col("fingerprint").is_not_null());
        let mut tagged = Query::select();
        tagged
            .column("fingerprint")
            .from(TAG)
            .and_where(Expr::col("asset_id").eq(id))
            .and_where(Expr::col("fingerprint").is_not_null());
        let mut delete = Query::delete();
        delete
            .from_table(table)
            .and_where(Expr::col("asset_id").eq(id))
            .and_where(Expr::col("fingerprint").not_in_subquery(prints))
            .and_where(Expr::col("fingerprint").not_in_subquery(tagged));
        tx.execute(&delete).await?;
    }
    Ok(())
}

/// Pins of READYs on an asset that were never acknowledged.
async fn pinned(tx: &mut Tx, key: &str) -> Result<Vec<Pin>, StoreError> {
    let mut query = Query::select();
    query.distinct().column("pinned").from(WAIT).and_where(Expr::col("status").eq(READY));
    let texts = tx.rows(&query).await?;
    let texts: BTreeSet<String> =
        texts.iter().filter_map(|row| row.opt_text("pinned").transpose()).collect::<Result<_, _>>()?;
    let mut pins = Vec::new();
    for text in texts {
        let read: Vec<Pin> = serde_json::from_str(&text)
            .map_err(|error| StoreError::Corrupt { table: WAIT, reason: format!("pinned: {error}") })?;
        pins.extend(read.into_iter().filter(|pin| pin.asset == key));
    }
    Ok(pins)
}

//! Reading events back.

use sea_query::{Expr, ExprTrait, Order, Query};

use asset_core::version::Millis;

use crate::{Store, StoreError, database::Row, rows, schema::EVENT};

/// An event as it is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredEvent {
    /// Number of the row: greater ones came later.
    pub number: i64,
    /// Its id.
    pub event_id: String,
    /// `POLL` or `PUSH`.
    pub source: String,
    /// The asset.
    pub asset_key: String,
    /// Such as `SNAPSHOT_COMMITTED`.
    pub event_type: String,
    /// Native id of the version that it speaks of.
    pub snapshot_id: Option<i64>,
    /// What tells that version from another with this id.
    pub fingerprint: Option<String>,
    /// Where it was put.
    pub position: Option<(i64, i64)>,
    /// Schema that it speaks of.
    pub schema_id: Option<i64>,
    /// Watermark that it brings.
    pub watermark: Option<Millis>,
    /// The format's word for a commit.
    pub commit_kind: Option<String>,
    /// When the commit was made.
    pub commit_time: Option<Millis>,
    /// First missing ordinal of a gap.
    pub first_ordinal: Option<i64>,
    /// Tag that it speaks of.
    pub tag: Option<String>,
    /// Who reported it.
    pub reporter: Option<String>,
    /// When it happened, as reported.
    pub event_time: Option<Millis>,
    /// When the agent learned of it.
    pub receive_time: Millis,
    /// `APPLIED`, `PENDING` or `IGNORED`.
    pub outcome: String,
    /// Why it was ignored.
    pub outcome_reason: Option<String>,
    /// What it says beyond the fields: of a report all of it as JSON, of a rollback a sentence.
    pub payload: Option<String>,
}

/// Which events are wanted.
#[derive(Debug, Clone, Default)]
pub struct EventQuery {
    /// Of this asset only.
    pub asset_key: Option<String>,
    /// Of this kind only.
    pub event_type: Option<String>,
    /// With this outcome only.
    pub outcome: Option<String>,
    /// Received at this time or later.
    pub since: Option<Millis>,
    /// That came before this number.
    pub before: Option<i64>,
    /// So many at most.
    pub limit: usize,
}

/// A page of events, the newest first.
#[derive(Debug)]
pub struct EventPage {
    /// The events.
    pub events: Vec<StoredEvent>,
    /// Whether older ones follow.
    pub more: bool,
}

const COLUMNS: [&str; 21] = [
    "id",
    "event_id",
    "source_type",
    "asset_key",
    "event_type",
    "snapshot_id",
    "fingerprint",
    "generation",
    "ordinal",
    "schema_id",
    "watermark",
    "commit_kind",
    "commit_time",
    "first_ordinal",
    "tag",
    "reporter",
    "event_time",
    "receive_time",
    "outcome",
    "outcome_reason",
    "payload",
];

impl Store {
    /// Reads events, the newest first.
    pub async fn events(&self, wanted: &EventQuery) -> Result<EventPage, StoreError> {
        let mut tx = self.database.snapshot().await?;
        let mut query = Query::select();
        query
            .columns(COLUMNS)
            .from(EVENT)
            .order_by("id", Order::Desc)
            .limit(rows::limit(wanted.limit.saturating_add(1)));
        for (column, value) in [
            ("asset_key", &wanted.asset_key),
            ("event_type", &wanted.event_type),
            ("outcome", &wanted.outcome),
        ] {
            if let Some(value) = value {
                query.and_where(Expr::col(column).eq(value.as_str()));
            }
        }
        if let Some(since) = wanted.since {
            query.and_where(Expr::col("receive_time").gte(since));
        }
        if let Some(before) = wanted.before {
            query.and_where(Expr::col("id").lt(before));
        }
        let mut events = tx.rows(&query).await?.iter().map(event).collect::<Result<Vec<_>, _>>()?;
        let more = events.len() > wanted.limit;
        events.truncate(wanted.limit);
        Ok(EventPage { events, more })
    }
}

fn event(row: &Row) -> Result<StoredEvent, StoreError> {
    let position = match (row.opt_i64("generation")?, row.opt_i64("ordinal")?) {
        (Some(generation), Some(ordinal)) => Some((generation, ordinal)),
        _ => None,
    };
    Ok(StoredEvent {
        number: row.i64("id")?,
        event_id: row.text("event_id")?,
        source: row.text("source_type")?,
        asset_key: row.text("asset_key")?,
        event_type: row.text("event_type")?,
        snapshot_id: row.opt_i64("snapshot_id")?,
        fingerprint: row.opt_text("fingerprint")?,
        position,
        schema_id: row.opt_i64("schema_id")?,
        watermark: row.opt_i64("watermark")?,
        commit_kind: row.opt_text("commit_kind")?,
        commit_time: row.opt_i64("commit_time")?,
        first_ordinal: row.opt_i64("first_ordinal")?,
        tag: row.opt_text("tag")?,
        reporter: row.opt_text("reporter")?,
        event_time: row.opt_i64("event_time")?,
        receive_time: row.i64("receive_time")?,
        outcome: row.text("outcome")?,
        outcome_reason: row.opt_text("outcome_reason")?,
        payload: row.opt_text("payload")?,
    })
}

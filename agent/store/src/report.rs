//! Reports: stored, stamped and folded in one transaction, many at a time.

mod read;

use std::collections::{BTreeMap, BTreeSet};

use asset_core::{
    asset::{Asset, Folded, Refused, Source},
    event::{Evidence, Fact, Outcome},
    key::AssetKey,
    log::Entry,
    report::{Report, ReportBody},
    version::{Millis, Position},
};
use sea_query::{Expr, ExprTrait, Query};

use crate::{
    Loaded, Store, StoreError,
    apply::{self, Working},
    database::Tx,
    pending,
    rows::{self, version_names},
    schema::{EVENT, VERSION},
    write,
};

pub use read::{EventPage, EventQuery, StoredEvent};

/// What the reported asset is to this agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// It reads the table: a report of a commit is a hint.
    Read,
    /// It does not, and reports count.
    Reported {
        /// Whether an asset that nobody knows is registered by its first report.
        register: bool,
    },
}

/// A report to be stored.
#[derive(Debug, Clone)]
pub struct ReportRequest {
    /// The asset.
    pub key: AssetKey,
    /// What it is to this agent.
    pub role: Role,
    /// The report.
    pub report: Report,
    /// When it came.
    pub received: Millis,
}

/// What became of a report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReportOutcome {
    /// It is on disk, under this id.
    Stored {
        /// The event's id.
        event_id: String,
        /// What it did.
        outcome: Outcome,
    },
    /// The same one is there already.
    Duplicate {
        /// Id of that one.
        event_id: String,
    },
    /// Another one with the same key is there, and says something else.
    Conflict {
        /// Id of that one.
        event_id: String,
    },
    /// It does not fit the asset.
    Refused(Refused),
    /// No asset has this key.
    NoSuchAsset,
}

/// A group of reports that is on disk.
#[derive(Debug)]
pub struct Reported {
    /// What became of each, in order.
    pub outcomes: Vec<ReportOutcome>,
    /// Assets that moved, as they are now.
    pub moved: Vec<(AssetKey, Loaded)>,
}

impl Store {
    /// Stores reports in one transaction; answers are in their order. What is refused leaves no trace; all
    /// else is on disk when this returns.
    pub async fn report(&self, requests: Vec<ReportRequest>) -> Result<Reported, StoreError> {
        let mut tx = self.database.begin().await?;
        let mut revision = tx.lock_revision().await?;
        let reserved_from = revision;
        let now = requests.iter().map(|request| request.received).max().unwrap_or_default();
        let roles: BTreeMap<AssetKey, Role> =
            requests.iter().map(|request| (request.key.clone(), request.role)).collect();
        let keys: Vec<AssetKey> = roles.keys().cloned().collect();
        let mut working = apply::known(&mut tx, &keys).await?;
        let known: BTreeSet<AssetKey> = working.keys().cloned().collect();

        let dedupe_keys: Vec<String> = requests
            .iter()
            .map(|request| {
                let generation = working.get(&request.key).map_or(1, |work| work.asset.generation());
                request.report.dedupe_key(&request.key, generation)
            })
            .collect();
        let mut stored = stored(&mut tx, &dedupe_keys).await?;
        let fresh = requests.iter().zip(&dedupe_keys).filter(|(_, key)| !stored.contains_key(*key));
        load_named(&mut tx, &mut working, fresh.map(|(request, _)| request)).await?;

        let mut outcomes = Vec::with_capacity(requests.len());
        for (request, dedupe_key) in requests.into_iter().zip(dedupe_keys) {
            let content = request.report.content();
            if let Some(same) = stored.get(&dedupe_key) {
                let event_id = same.event_id.clone();
                outcomes.push(if same.content.as_ref() == Some(&content) {
                    ReportOutcome::Duplicate { event_id }
                } else {
                    ReportOutcome::Conflict { event_id }
                });
                continue;
            }
            if !known.contains(&request.key) && request.role == (Role::Reported { register: false }) {
                outcomes.push(ReportOutcome::NoSuchAsset);
                continue;
            }
            let entry = working.entry(request.key.clone());
            let work = entry.or_insert_with(|| Working::new(request.key.clone()));
            let event_id = request.report.event_id.clone().unwrap_or_else(|| dedupe_key[..32].to_owned());
            match take(work, &request, &dedupe_key, known.contains(&request.key)) {
                Err(refused) => {
                    outcomes.push(ReportOutcome::Refused(refused));
                    continue;
                }
                Ok(folded) => {
                    if folded.changed {
                        work.moved(&mut revision, request.received);
                    }
                    work.evidence.push(Evidence {
                        fact: Fact::Reported { report: Box::new(request.report), key: dedupe_key.clone() },
                        position: folded.position,
                        observed_at: request.received,
                        outcome: folded.outcome,
                    });
                    outcomes
                        .push(ReportOutcome::Stored { event_id: event_id.clone(), outcome: folded.outcome });
                }
            }
            stored.insert(dedupe_key, Same { event_id, content: Some(content) });
        }

        let source = |key: &AssetKey| roles.get(key).map_or(Source::Reports, |role| role.source());
        pending::take_up(&mut tx, &mut working, source, now, &mut revision).await?;
        let (mut changed, still): (Vec<&mut Working>, Vec<&mut Working>) =
            working.values_mut().partition(|work| work.changed);
        write::all(&mut tx, &mut changed).await?;
        write::events(&mut tx, &still).await?;
        if revision != reserved_from {
            tx.set_revision(revision).await?;
        }
        let moved = changed.iter().map(|work| (work.asset.key.clone(), work.head())).collect();
        tx.commit().await?;
        Ok(Reported { outcomes, moved })
    }
}

impl Role {
    fn source(self) -> Source {
        match self {
            Self::Read => Source::Table,
            Self::Reported { .. } => Source::Reports,
        }
    }
}

/// Folds a report. A table that was never read has no asset yet: its reports wait.
fn take(
    work: &mut Working,
    request: &ReportRequest,
    dedupe_key: &str,
    known: bool,
) -> Result<Folded, Refused> {
    if !known && request.role == Role::Read {
        return Ok(Folded { outcome: Outcome::Pending, position: None, changed: false });
    }
    work.asset.take(&request.report, request.role.source(), dedupe_key, request.received)
}

/// A stored event.
struct Same {
    event_id: String,
    content: Option<String>,
}

/// Events that have these keys.
async fn stored(tx: &mut Tx, dedupe_keys: &[String]) -> Result<BTreeMap<String, Same>, StoreError> {
    let mut query = Query::select();
    query
        .columns(["dedupe_key", "event_id", "content_digest"])
        .from(EVENT)
        .and_where(tx.among("dedupe_key", dedupe_keys.iter().map(String::as_str)));
    let mut found = BTreeMap::new();
    for row in tx.rows(&query).await? {
        let same = Same { event_id: row.text("event_id")?, content: row.opt_text("content_digest")? };
        found.insert(row.text("dedupe_key")?, same);
    }
    Ok(found)
}

/// Loads what folding the reports needs beside the newest data version: commits of the ids that they name,
/// in every history, and gaps; the whole history where something belongs below its newest data version;
/// tags where tags are reported.
async fn load_named<'a>(
    tx: &mut Tx,
    working: &mut BTreeMap<AssetKey, Working>,
    requests: impl Iterator<Item = &'a ReportRequest>,
) -> Result<(), StoreError> {
    let mut needs: BTreeMap<AssetKey, Needs> = BTreeMap::new();
    for request in requests {
        if let Some(work) = working.get(&request.key) {
            needs.entry(request.key.clone()).or_default().of(request, &work.asset);
        }
    }
    for (key, needs) in needs {
        let Some(work) = working.get_mut(&key) else {
            continue;
        };
        let Some(id) = work.id else { continue };
        let generation = work.asset.generation();
        let mut lines = Vec::new();
        if needs.history {
            lines.extend(apply::entries(tx, id, Some(generation)).await?);
        }
        let ids: Vec<i64> = needs.ids.into_iter().collect();
        if !ids.is_empty() {
            lines.extend(of_ids(tx, id, &ids).await?);
            lines.extend(gaps(tx, id, generation, ids[0]).await?);
        }
        work.add(tx, lines).await?;
        if needs.tags {
            work.add_tags(tx).await?;
        }
    }
    Ok(())
}

/// What folding reports on one asset needs.
#[derive(Default)]
struct Needs {
    /// Commits of these native ids.
    ids: BTreeSet<i64>,
    /// All of the history of now.
    history: bool,
    /// Tags.
    tags: bool,
}

impl Needs {
    fn of(&mut self, request: &ReportRequest, asset: &Asset) {
        let oldest = asset.log.entries().next().map(|(at, _)| at.ordinal);
        let known = |id: i64| asset.log.versions().any(|(_, version)| version.commit.snapshot_id == id);
        match &request.report.body {
            ReportBody::Snapshot { version, .. } => match request.role {
                Role::Read => {
                    self.ids.insert(version.snapshot_id);
                }
                // What it inherits is in the loaded part, unless it belongs below that.
                Role::Reported { .. } => {
                    let place = asset.reported_ordinal(&request.report);
                    self.history |= place.is_some_and(|place| Some(place) <= oldest);
                }
            },
            ReportBody::Watermark { version: Some(version), .. } => {
                self.ids.insert(version.snapshot_id);
                self.history |= !known(version.snapshot_id);
            }
            ReportBody::Quality { version, .. } => {
                self.ids.insert(version.snapshot_id);
            }
            ReportBody::Tag { version, .. } => {
                self.ids.extend(version.as_ref().map(|version| version.snapshot_id));
                self.tags = true;
            }
            _ => {}
        }
    }
}

/// Commits of native ids, in every history.
async fn of_ids(tx: &mut Tx, id: i64, ids: &[i64]) -> Result<Vec<(Position, Entry)>, StoreError> {
    let mut query = Query::select();
    query
        .columns(version_names())
        .from(VERSION)
        .and_where(Expr::col("asset_id").eq(id))
        .and_where(tx.among_numbers("snapshot_id", ids.iter().copied()));
    tx.rows(&query).await?.iter().map(rows::entry).collect()
}

/// Gaps of a history that end at an ordinal or above it.
async fn gaps(
    tx: &mut Tx,
    id: i64,
    generation: i64,
    from: i64,
) -> Result<Vec<(Position, Entry)>, StoreError> {
    let mut query = Query::select();
    query
        .columns(version_names())
        .from(VERSION)
        .and_where(Expr::col("asset_id").eq(id))
        .and_where(Expr::col("generation").eq(generation))
        .and_where(Expr::col("ordinal").gte(from))
        .and_where(Expr::col("class").eq(rows::GAP));
    tx.rows(&query).await?.iter().map(rows::entry).collect()
}

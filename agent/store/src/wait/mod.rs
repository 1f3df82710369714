//! Waits with identity: what is stored of them. How they come in is in [`register`], how they end
//! in [`decide`].

mod decide;
mod register;

use asset_core::{
    baseline::Baselines,
    condition::{Defaults, Dependency, GroupSpec},
    evaluate::Pin,
    key::{AssetKey, digest},
    version::Millis,
};
use sea_query::{Expr, ExprTrait, Order, Query};
use serde::de::DeserializeOwned;

use crate::{
    Store, StoreError,
    database::Row,
    rows,
    schema::{MARK, ROWS_A_STATEMENT, WAIT},
};

/// Who waits, in DolphinScheduler's terms. Never the task instance id, which changes at failover.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Identity {
    /// Name of the DolphinScheduler.
    pub scheduler: String,
    /// Project code.
    pub project_code: i64,
    /// Workflow definition code.
    pub workflow_definition_code: i64,
    /// Task definition code.
    pub task_definition_code: i64,
    /// Workflow instance id.
    pub workflow_instance_id: i64,
    /// Task name.
    pub task_name: String,
}

/// Asks to register a wait, or to take one up again.
#[derive(Debug, Clone)]
pub struct Registration {
    /// Who waits.
    pub identity: Identity,
    /// Id of the wait to take up, where the caller has one.
    pub wait_id: Option<String>,
    /// Id for the wait if it is a new one.
    pub new_wait_id: String,
    /// What it waits for.
    pub dependency: Dependency,
    /// When the caller gives up.
    pub deadline: Option<Millis>,
    /// Now.
    pub now: Millis,
}

/// Where a wait stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WaitStatus {
    /// Not decided.
    Open,
    /// Decided, with its pins; what was acknowledged is repeated to its own wait id all the same.
    Ready {
        /// The versions that it was released on.
        pins: Vec<Pin>,
        /// Revision that the decision rested on.
        revision: i64,
        /// When it was decided.
        at: Millis,
    },
}

/// A wait as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredWait {
    /// Its id.
    pub wait_id: String,
    /// Workflow definition that its task belongs to.
    pub workflow_code: i64,
    /// What it waits for.
    pub dependency: Dependency,
    /// From where on versions count for it.
    pub baselines: Baselines,
    /// Where it stands.
    pub status: WaitStatus,
    /// Counts its changes; a decision that rests on an older one is not written.
    pub lock_version: i64,
}

/// A verdict on an open wait, to be written.
#[derive(Debug, Clone)]
pub struct Decision {
    /// The wait.
    pub wait_id: String,
    /// Lock version of the wait that was evaluated.
    pub wait_lock: i64,
    /// Lock versions of the assets that were evaluated; `None`: there was no such asset.
    pub asset_locks: Vec<(AssetKey, Option<i64>)>,
    /// The pins of a READY; `None`: still blocked, only the mark is taken away.
    pub ready: Option<Vec<Pin>>,
    /// Revision that the verdict rests on: a newer mark stays.
    pub revision: i64,
    /// When it was reached.
    pub at: Millis,
}

/// What became of a decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DecisionOutcome {
    /// It is on disk.
    Written,
    /// The wait or an asset moved meanwhile: evaluate again.
    Stale,
}

const COLUMNS: [&str; 11] = [
    "wait_id",
    "workflow_definition_code",
    "identity_digest",
    "condition_json",
    "condition_digest",
    "baselines",
    "status",
    "pinned",
    "ready_revision",
    "ready_at",
    "lock_version",
];

const OPEN: &str = "OPEN";
pub const READY: &str = "READY";
const ACKNOWLEDGED: &str = "ACKNOWLEDGED";

impl Identity {
    fn digest(&self) -> String {
        digest([
            self.scheduler.as_str(),
            &self.project_code.to_string(),
            &self.workflow_definition_code.to_string(),
            &self.task_definition_code.to_string(),
            &self.workflow_instance_id.to_string(),
            &self.task_name,
        ])
    }
}

impl Store {
    /// Reads all open waits.
    pub async fn open_waits(&self) -> Result<Vec<StoredWait>, StoreError> {
        let mut tx = self.database.snapshot().await?;
        let mut query = Query::select();
        query.columns(COLUMNS).from(WAIT).and_where(Expr::col("status").eq(OPEN));
        let rows = tx.rows(&query).await?;
        rows.iter().map(read).collect()
    }

    /// Reads waits by id; those that are gone are left out.
    pub async fn waits(&self, ids: &[String]) -> Result<Vec<StoredWait>, StoreError> {
        let mut tx = self.database.snapshot().await?;
        let mut waits = Vec::new();
        for chunk in ids.chunks(ROWS_A_STATEMENT) {
            let mut query = Query::select();
            query
                .columns(COLUMNS)
                .from(WAIT)
                .and_where(Expr::col("wait_id").is_in(chunk.iter().map(String::as_str)));
            for row in tx.rows(&query).await? {
                waits.push(read(&row)?);
            }
        }
        Ok(waits)
    }

    /// Reads the ids of waits with a mark that is not newer than `revision`, oldest first.
    pub async fn marked(&self, revision: i64, limit: usize) -> Result<Vec<String>, StoreError> {
        let mut tx = self.database.snapshot().await?;
        let mut query = Query::select();
        query
            .column("wait_id")
            .from(MARK)
            .and_where(Expr::col("revision").lte(revision))
            .order_by("revision", Order::Asc)
            .limit(rows::limit(limit));
        let rows = tx.rows(&query).await?;
        rows.iter().map(|row| row.text("wait_id")).collect()
    }
}

fn read(row: &Row) -> Result<StoredWait, StoreError> {
    let specs: Vec<GroupSpec> = parse(&row.text("condition_json")?, "condition_json")?;
    let dependency = Dependency::check(specs, &Defaults::NONE)
        .map_err(|violations| corrupt(format!("condition_json: {violations:?}")))?;
    let status = match row.text("status")?.as_str() {
        OPEN => WaitStatus::Open,
        _ => WaitStatus::Ready {
            pins: parse(&row.text("pinned")?, "pinned")?,
            revision: row.i64("ready_revision")?,
            at: row.i64("ready_at")?,
        },
    };
    Ok(StoredWait {
        wait_id: row.text("wait_id")?,
        workflow_code: row.i64("workflow_definition_code")?,
        dependency,
        baselines: parse(&row.text("baselines")?, "baselines")?,
        status,
        lock_version: row.i64("lock_version")?,
    })
}

fn parse<T: DeserializeOwned>(text: &str, column: &str) -> Result<T, StoreError> {
    serde_json::from_str(text).map_err(|error| corrupt(format!("{column}: {error}")))
}

fn corrupt(reason: String) -> StoreError {
    StoreError::Corrupt { table: WAIT, reason }
}

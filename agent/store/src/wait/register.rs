//! Registering waits.

use asset_core::{
    asset::Knowledge,
    baseline::Baselines,
    condition::Dependency,
    evaluate::Pin,
    key::{AssetKey, digest},
};
use sea_query::{Expr, ExprTrait, JoinType, Order, Query};

use super::{COLUMNS, OPEN, READY, Registration, StoredWait, WaitStatus, read};
use crate::{
    Store, StoreError,
    asset::{Loaded, load},
    database::{Row, Tx},
    schema::{STATE, VERSION, WAIT, WAIT_ASSET},
};

impl Store {
    /// Registers waits in one transaction; answers are in the order of the registrations.
    ///
    /// A registration with the id of a wait takes that one up, READY or not. Without, it joins the
    /// wait of the same identity and conditions that is open or was not acknowledged. Else it is a
    /// new wait, and its baselines are taken in this transaction.
    pub async fn register(&self, registrations: Vec<Registration>) -> Result<Vec<StoredWait>, StoreError> {
        let mut tx = self.database.begin().await?;
        tx.lock_revision().await?;
        let mut registered = Vec::with_capacity(registrations.len());
        for registration in registrations {
            let wait = match find(&mut tx, &registration).await? {
                Some(wait) => take_up(&mut tx, wait, &registration).await?,
                None => insert(&mut tx, &registration).await?,
            };
            registered.push(wait);
        }
        tx.commit().await?;
        Ok(registered)
    }
}

async fn find(tx: &mut Tx, registration: &Registration) -> Result<Option<Row>, StoreError> {
    let identity = registration.identity.digest();
    let conditions = digest([registration.dependency.to_json().as_str()]);
    if let Some(id) = &registration.wait_id {
        let mut query = Query::select();
        query
            .columns(COLUMNS)
            .from(WAIT)
            .and_where(Expr::col("wait_id").eq(id.as_str()))
            .and_where(Expr::col("identity_digest").eq(identity.as_str()))
            .and_where(Expr::col("condition_digest").eq(conditions.as_str()));
        if let Some(row) = tx.rows(&query).await?.into_iter().next() {
            return Ok(Some(row));
        }
    }
    let mut query = Query::select();
    query
        .columns(COLUMNS)
        .from(WAIT)
        .and_where(Expr::col("identity_digest").eq(identity))
        .and_where(Expr::col("condition_digest").eq(conditions))
        .and_where(Expr::col("status").is_in([OPEN, READY]))
        .order_by("registered_at", Order::Desc)
        .limit(1);
    Ok(tx.rows(&query).await?.into_iter().next())
}

/// Takes a stored wait up again. A READY whose pins can't be read any more is opened again.
async fn take_up(tx: &mut Tx, row: Row, registration: &Registration) -> Result<StoredWait, StoreError> {
    let mut wait = read(&row)?;
    let mut update = Query::update();
    update
        .table(WAIT)
        .value("last_seen_at", registration.now)
        .value("deadline", registration.deadline)
        .value("update_time", Expr::current_timestamp())
        .and_where(Expr::col("wait_id").eq(wait.wait_id.as_str()));
    if let WaitStatus::Ready { pins, .. } = &wait.status
        && !readable(tx, pins).await?
    {
        wait.status = WaitStatus::Open;
        wait.lock_version += 1;
        update
            .value("status", OPEN)
            .value("pinned", Option::<String>::None)
            .value("ready_revision", Option::<i64>::None)
            .value("ready_at", Option::<i64>::None)
            .value("lock_version", wait.lock_version);
        link(tx, &wait.wait_id, &wait.dependency).await?;
    }
    tx.execute(&update).await?;
    Ok(wait)
}

async fn insert(tx: &mut Tx, registration: &Registration) -> Result<StoredWait, StoreError> {
    let identity = &registration.identity;
    let dependency = &registration.dependency;
    let assets: Vec<AssetKey> = dependency.assets().into_iter().collect();
    let loaded = load(tx, &assets).await?;
    let baselines =
        Baselines::begin(dependency, |key| loaded.get(key).map_or(Knowledge::Unknown, Loaded::knowledge));
    let json = dependency.to_json();
    let mut insert = Query::insert();
    insert
        .into_table(WAIT)
        .columns([
            "wait_id",
            "scheduler_name",
            "project_code",
            "workflow_definition_code",
            "task_definition_code",
            "workflow_instance_id",
            "task_name",
            "identity_digest",
            "condition_json",
            "condition_digest",
            "baselines",
            "status",
            "deadline",
            "registered_at",
            "last_seen_at",
            "lock_version",
            "create_time",
            "update_time",
        ])
        .values_panic([
            registration.new_wait_id.as_str().into(),
            identity.scheduler.as_str().into(),
            identity.project_code.into(),
            identity.workflow_definition_code.into(),
            identity.task_definition_code.into(),
            identity.workflow_instance_id.into(),
            identity.task_name.as_str().into(),
            identity.digest().into(),
            json.as_str().into(),
            digest([json.as_str()]).into(),
            serde_json::to_string(&baselines).unwrap_or_default().into(),
            OPEN.into(),
            registration.deadline.into(),
            registration.now.into(),
            registration.now.into(),
            0.into(),
            Expr::current_timestamp(),
            Expr::current_timestamp(),
        ]);
    tx.execute(&insert).await?;
    link(tx, &registration.new_wait_id, dependency).await?;
    Ok(StoredWait {
        wait_id: registration.new_wait_id.clone(),
        workflow_code: identity.workflow_definition_code,
        dependency: dependency.clone(),
        baselines,
        status: WaitStatus::Open,
        lock_version: 0,
    })
}

/// Notes which assets an open wait looks at.
async fn link(tx: &mut Tx, wait_id: &str, dependency: &Dependency) -> Result<(), StoreError> {
    let mut insert = Query::insert();
    insert.into_table(WAIT_ASSET).columns(["asset_digest", "wait_id"]);
    for asset in dependency.assets() {
        insert.values_panic([asset.digest().into(), wait_id.into()]);
    }
    tx.execute(&insert).await?;
    Ok(())
}

/// Whether every pin stands in the history of now and its snapshot can still be read, as far as the log
/// knows. Of a table that is gone nobody knows.
async fn readable(tx: &mut Tx, pins: &[Pin]) -> Result<bool, StoreError> {
    for pin in pins {
        let of = |version: &'static str| {
            Expr::col(("s", "asset_id"))
                .equals((version, "asset_id"))
                .and(Expr::col(("s", "generation")).equals((version, "generation")))
        };
        // The pinned data version, and the snapshot that carries it: a rollback gives places and ids to
        // other commits, so the fingerprint is looked for.
        let carries = Expr::col(("carrier", "data_ordinal")).equals(("data", "ordinal"));
        let mut query = Query::select();
        query
            .column(("carrier", "ordinal"))
            .from_as(STATE, "s")
            .join_as(JoinType::InnerJoin, VERSION, "data", of("data"))
            .join_as(JoinType::InnerJoin, VERSION, "carrier", of("carrier").and(carries))
            .and_where(Expr::col(("s", "asset_key")).eq(pin.asset.as_str()))
            .and_where(Expr::col(("s", "hold_reason")).is_null())
            .and_where(Expr::col(("data", "fingerprint")).eq(pin.fingerprint.as_str()))
            .and_where(Expr::col(("carrier", "snapshot_id")).eq(pin.snapshot_id))
            .and_where(Expr::col(("carrier", "readable")).eq(1));
        if tx.rows(&query).await?.is_empty() {
            return Ok(false);
        }
    }
    Ok(true)
}

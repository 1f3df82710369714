//! Databases on the PostgreSQL of the tests.

use std::sync::atomic::{AtomicU32, Ordering};

use anyhow::{Context, Result};
use sqlx::{AssertSqlSafe, Connection, PgConnection};

static NUMBER: AtomicU32 = AtomicU32::new(0);

/// Makes a database and answers its URL. The server is what `ASSET_TEST_POSTGRES` names, as
/// `scripts/with-postgres` sets it, and goes with all its databases.
pub async fn database() -> Result<String> {
    let server = std::env::var("ASSET_TEST_POSTGRES").context(
        "ASSET_TEST_POSTGRES is not set: run `make test`, or scripts/with-postgres before cargo test",
    )?;
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let name = format!("agents_{}_{number}", std::process::id());
    let mut connection = PgConnection::connect(&format!("{server}/postgres")).await?;
    sqlx::query(AssertSqlSafe(format!("CREATE DATABASE {name}"))).execute(&mut connection).await?;
    connection.close().await?;
    Ok(format!("{server}/{name}"))
}

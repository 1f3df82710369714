//! The store on a real PostgreSQL, by the same tests as on a SQLite file.
//!
//! `ASSET_TEST_POSTGRES` says where, as `scripts/with-postgres` sets it: a URL of a server without a
//! database, whose user may create some.

#![allow(clippy::unwrap_used)]

#[path = "../store/applying.rs"]
mod applying;
#[path = "../store/histories.rs"]
mod histories;
mod opening;
#[path = "../store/reporting.rs"]
mod reporting;
#[path = "../store/samples.rs"]
mod samples;
#[path = "../store/trimming.rs"]
mod trimming;
#[path = "../store/waiting.rs"]
mod waiting;

use std::sync::atomic::{AtomicU32, Ordering};

use asset_store::Store;
use sqlx::{AssertSqlSafe, Connection, PgConnection};
use tokio::sync::OnceCell;

use samples::{advance, apply, batch, commit, committed, key, newer, reached, rewrite};

static NUMBER: AtomicU32 = AtomicU32::new(0);

/// A database of its own on the server of the tests.
struct File {
    name: String,
    created: OnceCell<()>,
}

impl File {
    fn new() -> Self {
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        Self { name: format!("test_{}_{number}", std::process::id()), created: OnceCell::new() }
    }

    fn server() -> String {
        let server = std::env::var("ASSET_TEST_POSTGRES");
        server.expect(
            "ASSET_TEST_POSTGRES is not set: run `make test`, or scripts/with-postgres before cargo test",
        )
    }

    async fn open(&self) -> Store {
        self.created.get_or_init(|| self.create()).await;
        Store::open(&self.url()).await.unwrap()
    }

    fn url(&self) -> String {
        format!("{}/{}", Self::server(), self.name)
    }

    async fn create(&self) {
        let mut server = PgConnection::connect(&format!("{}/postgres", Self::server())).await.unwrap();
        let create = format!("CREATE DATABASE {}", self.name);
        sqlx::query(AssertSqlSafe(create)).execute(&mut server).await.unwrap();
        server.close().await.unwrap();
    }
}

//! The store-wide revision.

use sea_query::{Expr, ExprTrait, LockType, Query};

use crate::{StoreError, database::Tx, schema::REVISION};

impl Tx {
    /// Locks the revision row and reads it: the first thing that a writing transaction does, so that
    /// what it reads next can't move. On SQLite the transaction itself is that lock.
    pub async fn lock_revision(&mut self) -> Result<i64, StoreError> {
        match self {
            Self::Sqlite(_) => self.revision().await,
            Self::Postgres(_) => self.read_revision(Some(LockType::Update)).await,
        }
    }

    /// Reads the revision.
    pub async fn revision(&mut self) -> Result<i64, StoreError> {
        self.read_revision(None).await
    }

    async fn read_revision(&mut self, lock: Option<LockType>) -> Result<i64, StoreError> {
        let mut query = Query::select();
        query.column("revision").from(REVISION).and_where(Expr::col("id").eq(1));
        if let Some(lock) = lock {
            query.lock(lock);
        }
        let rows = self.rows(&query).await?;
        match rows.first() {
            Some(row) => row.i64("revision"),
            None => {
                Err(StoreError::Corrupt { table: REVISION, reason: "its only row is missing".to_owned() })
            }
        }
    }

    /// Stores the revision that the locking transaction reached.
    pub async fn set_revision(&mut self, revision: i64) -> Result<(), StoreError> {
        let mut update = Query::update();
        update.table(REVISION).value("revision", revision).and_where(Expr::col("id").eq(1));
        self.execute(&update).await?;
        Ok(())
    }
}

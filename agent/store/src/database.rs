//! The databases behind one type. Statements are built once, with sea-query, and rendered for the
//! database at hand; a room above never sees which one it is.

use std::{path::Path, str::FromStr, time::Duration};

use sea_query::{
    Expr, ExprTrait, IntoColumnRef, PostgresQueryBuilder, SqliteQueryBuilder, extension::postgres::PgFunc,
};
use sea_query_sqlx::SqlxBinder;
use sqlx::{
    AssertSqlSafe, PgPool, Postgres, Row as _, Sqlite, SqlitePool, Transaction,
    migrate::Migrator,
    postgres::{PgConnectOptions, PgPoolOptions, PgRow},
    sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteRow, SqliteSynchronous},
};

use crate::{StoreError, lock::FileLock};

static SQLITE: Migrator = sqlx::migrate!("migrations/sqlite");
static POSTGRES: Migrator = sqlx::migrate!("migrations/postgres");

/// Own name, so that the tables can stand inside DolphinScheduler's schema.
const MIGRATION_TABLE: &str = "t_ds_asset_migration";

/// Readers of one agent: evaluation reads little and often.
const READERS: u32 = 4;

/// Connections of one agent to a server: its readers, and its writers, which queue at the revision row.
const CONNECTIONS: u32 = READERS + 4;

/// Pages of one SQLite connection in memory, filled as they are needed.
const CACHE_KIB: u32 = 32_768;

/// SQLite's log is folded into its file when it has grown by so many pages of 4 KiB: seldom enough that a
/// page which many commits touch is written once.
const CHECKPOINT_PAGES: u32 = 8_192;

/// What is left of SQLite's log afterwards.
const JOURNAL_BYTES: u32 = CHECKPOINT_PAGES * 4_096;

/// Longest time that a connection is waited for.
const CONNECT: Duration = Duration::from_secs(10);

/// A database.
pub enum Database {
    /// A SQLite file: one writer, several readers.
    Sqlite {
        /// One connection, so that transactions queue here instead of failing as busy.
        writer: SqlitePool,
        /// Readers see the last commit and never wait for the writer (WAL).
        readers: SqlitePool,
    },
    /// A PostgreSQL server, which several agents may share.
    Postgres(PgPool),
}

/// A transaction.
pub enum Tx {
    /// On SQLite.
    Sqlite(Transaction<'static, Sqlite>),
    /// On PostgreSQL.
    Postgres(Transaction<'static, Postgres>),
}

/// A row of an answer.
pub enum Row {
    /// From SQLite.
    Sqlite(SqliteRow),
    /// From PostgreSQL.
    Postgres(PgRow),
}

/// Where the database of a URL is, for people: without user and password.
pub fn place(url: &str) -> String {
    match url.split_once("://") {
        Some((scheme, rest)) if scheme.starts_with("postgres") => {
            let rest = rest.split_once('@').map_or(rest, |(_, rest)| rest);
            format!("{scheme}://{}", rest.split('?').next().unwrap_or_default())
        }
        _ => url.to_owned(),
    }
}

impl Database {
    /// Opens the database of a URL.
    pub async fn open(url: &str) -> Result<(Self, Option<FileLock>), StoreError> {
        if url.starts_with("postgres:") || url.starts_with("postgresql:") {
            return Ok((Self::open_postgres(url).await?, None));
        }
        let bad = |reason| StoreError::Url { url: url.to_owned(), reason };
        if !url.starts_with("sqlite:") {
            // What stands in it may be a password.
            let scheme = url.split(':').next().unwrap_or_default().to_owned();
            return Err(StoreError::Url { url: scheme, reason: "this version opens SQLite and PostgreSQL" });
        }
        // `mode=memory` would lose what was acknowledged, `mode=ro` refuse to write it.
        if url.contains('?') {
            return Err(bad("parameters behind `?` are not taken"));
        }
        let options = SqliteConnectOptions::from_str(url).map_err(|_| bad("not a SQLite URL"))?;
        let path = options.get_filename().to_owned();
        if path.as_os_str().is_empty() || url.contains(":memory:") {
            return Err(bad("what is acknowledged must be on disk"));
        }
        refuse_misplaced(&path)?;
        let lock = FileLock::take(&path)?;
        refuse_read_only(&path)?;

        let options = options
            .create_if_missing(true)
            .journal_mode(SqliteJournalMode::Wal)
            .synchronous(SqliteSynchronous::Full)
            .foreign_keys(true)
            .busy_timeout(Duration::from_secs(10))
            .pragma("cache_size", format!("-{CACHE_KIB}"))
            .pragma("wal_autocheckpoint", CHECKPOINT_PAGES.to_string())
            .pragma("journal_size_limit", JOURNAL_BYTES.to_string());
        let writer = SqlitePoolOptions::new().max_connections(1).connect_with(options.clone()).await?;
        let readers = SqlitePoolOptions::new()
            .max_connections(READERS)
            .connect_lazy_with(options.read_only(true).create_if_missing(false));
        Ok((Self::Sqlite { writer, readers }, Some(lock)))
    }

    async fn open_postgres(url: &str) -> Result<Self, StoreError> {
        let bad = |reason| StoreError::Url { url: "postgres://…".to_owned(), reason };
        let options = PgConnectOptions::from_str(url).map_err(|_| bad("not a PostgreSQL URL"))?;
        // A plan that was made while a table was small would be kept when it has grown.
        let options = options.options([("plan_cache_mode", "force_custom_plan")]);
        let at = format!("{}:{}", options.get_host(), options.get_port());
        let pool = PgPoolOptions::new()
            .max_connections(CONNECTIONS)
            .acquire_timeout(CONNECT)
            .connect_with(options)
            .await
            .map_err(|source| StoreError::Unreachable { at, source })?;
        Ok(Self::Postgres(pool))
    }

    /// Brings the tables up to date. Safe to run twice, and by two agents at once.
    pub async fn migrate(&self) -> Result<(), StoreError> {
        let named = |migrations: &Migrator| {
            let mut migrator = Migrator { migrations: migrations.migrations.clone(), ..Migrator::DEFAULT };
            migrator.dangerous_set_table_name(MIGRATION_TABLE);
            migrator
        };
        match self {
            Self::Sqlite { writer, .. } => Ok(named(&SQLITE).run(writer).await?),
            Self::Postgres(pool) => Ok(named(&POSTGRES).run(pool).await?),
        }
    }

    /// Begins a transaction that writes. Whoever comes second waits here.
    pub async fn begin(&self) -> Result<Tx, StoreError> {
        match self {
            Self::Sqlite { writer, .. } => Ok(Tx::Sqlite(writer.begin_with("BEGIN IMMEDIATE").await?)),
            // Each statement sees what was committed before it: what is read behind the locked revision
            // row is the newest there is.
            Self::Postgres(pool) => {
                Ok(Tx::Postgres(pool.begin_with("BEGIN ISOLATION LEVEL READ COMMITTED").await?))
            }
        }
    }

    /// Begins a transaction that reads one consistent state.
    pub async fn snapshot(&self) -> Result<Tx, StoreError> {
        match self {
            Self::Sqlite { readers, .. } => Ok(Tx::Sqlite(readers.begin().await?)),
            Self::Postgres(pool) => {
                let begin = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";
                Ok(Tx::Postgres(pool.begin_with(begin).await?))
            }
        }
    }

    /// Whether other agents may write to it.
    pub fn is_shared(&self) -> bool {
        match self {
            Self::Sqlite { .. } => false,
            Self::Postgres(_) => true,
        }
    }

    /// Whether the database answers.
    pub async fn ping(&self) -> Result<(), StoreError> {
        match self {
            Self::Sqlite { readers, .. } => {
                sqlx::query("SELECT 1").execute(readers).await?;
            }
            Self::Postgres(pool) => {
                sqlx::query("SELECT 1").execute(pool).await?;
            }
        }
        Ok(())
    }

    /// Closes all connections.
    pub async fn close(&self) {
        match self {
            Self::Sqlite { writer, readers } => {
                readers.close().await;
                writer.close().await;
            }
            Self::Postgres(pool) => pool.close().await,
        }
    }
}

impl Tx {
    /// Runs a statement; answers the number of affected rows.
    pub async fn execute(&mut self, statement: &impl SqlxBinder) -> Result<u64, StoreError> {
        match self {
            Self::Sqlite(tx) => {
                let (sql, values) = statement.build_sqlx(SqliteQueryBuilder);
                let done = sqlx::query_with(AssertSqlSafe(sql), values).execute(&mut **tx).await?;
                Ok(done.rows_affected())
            }
            Self::Postgres(tx) => {
                let (sql, values) = statement.build_sqlx(PostgresQueryBuilder);
                let done = sqlx::query_with(AssertSqlSafe(sql), values).execute(&mut **tx).await?;
                Ok(done.rows_affected())
            }
        }
    }

    /// Runs a query.
    pub async fn rows(&mut self, statement: &impl SqlxBinder) -> Result<Vec<Row>, StoreError> {
        match self {
            Self::Sqlite(tx) => {
                let (sql, values) = statement.build_sqlx(SqliteQueryBuilder);
                let rows = sqlx::query_with(AssertSqlSafe(sql), values).fetch_all(&mut **tx).await?;
                Ok(rows.into_iter().map(Row::Sqlite).collect())
            }
            Self::Postgres(tx) => {
                let (sql, values) = statement.build_sqlx(PostgresQueryBuilder);
                let rows = sqlx::query_with(AssertSqlSafe(sql), values).fetch_all(&mut **tx).await?;
                Ok(rows.into_iter().map(Row::Postgres).collect())
            }
        }
    }

    /// That a column has one of these texts. However many there are, the statement is the same one.
    pub fn among<'v>(&self, column: impl IntoColumnRef, texts: impl IntoIterator<Item = &'v str>) -> Expr {
        match self {
            Self::Sqlite(_) => listed(column, serde_json::to_string(&texts.into_iter().collect::<Vec<_>>())),
            Self::Postgres(_) => {
                let texts: Vec<String> = texts.into_iter().map(str::to_owned).collect();
                Expr::col(column).eq(PgFunc::any(texts))
            }
        }
    }

    /// The same for numbers.
    pub fn among_numbers(&self, column: impl IntoColumnRef, numbers: impl IntoIterator<Item = i64>) -> Expr {
        let numbers: Vec<i64> = numbers.into_iter().collect();
        match self {
            Self::Sqlite(_) => listed(column, serde_json::to_string(&numbers)),
            Self::Postgres(_) => Expr::col(column).eq(PgFunc::any(numbers)),
        }
    }

    /// Commits. An error leaves it open whether the commit happened.
    pub async fn commit(self) -> Result<(), StoreError> {
        match self {
            Self::Sqlite(tx) => Ok(tx.commit().await?),
            Self::Postgres(tx) => Ok(tx.commit().await?),
        }
    }
}

impl Row {
    /// A number that is never null.
    pub fn i64(&self, column: &str) -> Result<i64, StoreError> {
        match self {
            Self::Sqlite(row) => Ok(row.try_get(column)?),
            Self::Postgres(row) => Ok(row.try_get(column)?),
        }
    }

    /// A number or null.
    pub fn opt_i64(&self, column: &str) -> Result<Option<i64>, StoreError> {
        match self {
            Self::Sqlite(row) => Ok(row.try_get(column)?),
            Self::Postgres(row) => Ok(row.try_get(column)?),
        }
    }

    /// A text that is never null.
    pub fn text(&self, column: &str) -> Result<String, StoreError> {
        match self {
            Self::Sqlite(row) => Ok(row.try_get(column)?),
            Self::Postgres(row) => Ok(row.try_get(column)?),
        }
    }

    /// A text or null.
    pub fn opt_text(&self, column: &str) -> Result<Option<String>, StoreError> {
        match self {
            Self::Sqlite(row) => Ok(row.try_get(column)?),
            Self::Postgres(row) => Ok(row.try_get(column)?),
        }
    }
}

/// That a column of a SQLite table has one of the values of a JSON array.
fn listed(column: impl IntoColumnRef, json: Result<String, serde_json::Error>) -> Expr {
    // A list of texts or numbers has a JSON form.
    let json = json.unwrap_or_default();
    Expr::cust_with_exprs("? IN (SELECT value FROM json_each(?))", [Expr::col(column), Expr::val(json)])
}

/// Says what stands where the file or its folder should be.
fn refuse_misplaced(path: &Path) -> Result<(), StoreError> {
    if path.is_dir() {
        return Err(StoreError::IsFolder { path: path.to_owned() });
    }
    let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) else {
        return Ok(());
    };
    if folder.is_dir() {
        return Ok(());
    }
    Err(match folder.ancestors().find(|above| above.exists() && !above.is_dir()) {
        Some(file) => StoreError::BelowFile { path: path.to_owned(), file: file.to_owned() },
        None => StoreError::NoFolder { folder: folder.to_owned() },
    })
}

/// SQLite would open a read-only file and fail at the first write; this says so before.
fn refuse_read_only(path: &Path) -> Result<(), StoreError> {
    if !path.exists() {
        return Ok(());
    }
    let open = std::fs::OpenOptions::new().append(true).open(path);
    open.map(drop).map_err(|source| StoreError::NotWritable { path: path.to_owned(), source })
}

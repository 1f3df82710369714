//! Reports until they are on disk. The baseline is the least that keeping them costs: one connection that
//! inserts as many rows as plain multi-row statements into the same kind of database.

use std::time::Instant;

use anyhow::{Context, Result, bail};
use asset_integration::{agent::Agent, ports, postgres};
use asset_proto::v1::{
    EventType, ReportEventsRequest, ReportedEvent, event_outcome::Outcome,
    event_service_client::EventServiceClient,
};
use sqlx::{
    AssertSqlSafe, ConnectOptions, Connection, PgConnection, SqliteConnection,
    sqlite::{SqliteConnectOptions, SqliteJournalMode, SqliteSynchronous},
};
use tempfile::TempDir;
use tokio::task::JoinSet;
use tonic::transport::Channel;

use crate::{figures::say, rig::PATIENCE};

const BATCH: i64 = 500;
const CALLERS: i64 = 4;
const BATCHES: i64 = 60;
const ASSETS: i64 = 50;
const SINGLE_CALLERS: i64 = 64;
const SINGLES: i64 = 100;

const AIM_RATE: f64 = 20_000.0;
const AIM_SINGLES: f64 = 3_000.0;
const AIM_SHARE: f64 = 0.3;

pub async fn run() -> Result<()> {
    let folder = TempDir::new()?;
    let file = folder.path().join("agent.db");
    measure("SQLite", &format!("sqlite://{}", file.display()), &folder).await?;
    match postgres::database().await {
        Ok(url) => measure("PostgreSQL", &url, &TempDir::new()?).await,
        Err(_) => {
            say("\nPostgreSQL is left out: run this under scripts/with-postgres");
            Ok(())
        }
    }
}

async fn measure(database: &str, url: &str, folder: &TempDir) -> Result<()> {
    let rows = CALLERS * BATCHES * BATCH;
    say(&format!(
        "\nreports on disk, {database}: {rows} of {ASSETS} assets, {BATCH} a call, {CALLERS} callers; then \
         {} one by one, {SINGLE_CALLERS} callers",
        SINGLE_CALLERS * SINGLES
    ));
    let bare = baseline(url, folder, rows).await?;
    let address = ports::free()?;
    let config = format!(
        "server: {{listen: {address}}}\n\
         database: {{url: \"{url}\"}}\n\
         log: {{level: warn}}\n\
         dolphinscheduler: {{asset-event-scheduling: {{event-source: {{push-receiver: {{register-unknown: true}}}}}}}}\n"
    );
    let mut agent = Agent::start(folder.path(), &config, address)?;
    agent.wait_ready(PATIENCE).await?;
    let channel = Channel::from_shared(format!("http://{address}"))?.connect().await?;

    let began = Instant::now();
    report(&channel, CALLERS, BATCHES, BATCH, 0).await?;
    let rate = rows as f64 / began.elapsed().as_secs_f64();
    let began = Instant::now();
    report(&channel, SINGLE_CALLERS, SINGLES, 1, 1_000_000).await?;
    let singles = (SINGLE_CALLERS * SINGLES) as f64 / began.elapsed().as_secs_f64();
    say(&format!("  baseline: {bare:.0} rows/s"));
    at_least("batches", rate, AIM_RATE, "events/s");
    at_least("batches / baseline", rate / bare, AIM_SHARE, "");
    at_least("one by one", singles, AIM_SINGLES, "events/s");
    Ok(())
}

fn at_least(what: &str, found: f64, aim: f64, unit: &str) {
    // Judged the other way round: the greater the better.
    let verdict = if found >= aim { "met" } else { "missed" };
    say(&format!("  {what}: {found:.2} {unit} (aim >= {aim}: {verdict})"));
}

/// Every caller reports its batches one after another; commits of each asset are numbered on.
async fn report(channel: &Channel, callers: i64, batches: i64, batch: i64, from: i64) -> Result<()> {
    let mut running = JoinSet::new();
    for caller in 0..callers {
        let mut client = EventServiceClient::new(channel.clone());
        running.spawn(async move {
            for number in 0..batches {
                let events = (0..batch).map(|index| event(caller, from + number * batch + index)).collect();
                let answer = client.report_events(ReportEventsRequest { events }).await?.into_inner();
                if let Some(other) = answer.outcomes.iter().find(|told| told.outcome() != Outcome::Applied) {
                    bail!("an event was not applied: {other:?}");
                }
            }
            Ok(())
        });
    }
    while let Some(done) = running.join_next().await {
        done??;
    }
    Ok(())
}

fn event(caller: i64, number: i64) -> ReportedEvent {
    ReportedEvent {
        asset_key: format!("kafka://bench/c{caller}/t{}", number % ASSETS),
        event_type: EventType::SnapshotCommitted.into(),
        reporter: "bench".to_owned(),
        snapshot_id: Some(number),
        watermark: Some(1_795_968_000_000 + number),
        commit_kind: "APPEND".to_owned(),
        ..ReportedEvent::default()
    }
}

/// Rows a second.
async fn baseline(url: &str, folder: &TempDir, rows: i64) -> Result<f64> {
    const CREATE: &str = "CREATE TABLE bare (event_id VARCHAR(128) NOT NULL, asset_key VARCHAR(512) NOT NULL, \
        event_type VARCHAR(32) NOT NULL, snapshot_id BIGINT, watermark BIGINT, payload TEXT, \
        receive_time BIGINT NOT NULL, dedupe_key VARCHAR(64) NOT NULL UNIQUE)";
    let statements: Vec<String> = (0..rows / BATCH).map(|batch| insert(batch * BATCH)).collect();
    let began;
    if url.starts_with("sqlite") {
        let options = SqliteConnectOptions::new()
            .filename(folder.path().join("bare.db"))
            .create_if_missing(true)
            .journal_mode(SqliteJournalMode::Wal)
            .synchronous(SqliteSynchronous::Full);
        let mut connection: SqliteConnection = options.connect().await?;
        sqlx::query(CREATE).execute(&mut connection).await?;
        began = Instant::now();
        for statement in statements {
            sqlx::raw_sql(AssertSqlSafe(statement)).execute(&mut connection).await?;
        }
    } else {
        let mut connection = PgConnection::connect(url).await.context("the baseline's connection")?;
        sqlx::query(CREATE).execute(&mut connection).await?;
        began = Instant::now();
        for statement in statements {
            sqlx::raw_sql(AssertSqlSafe(statement)).execute(&mut connection).await?;
        }
    }
    Ok(rows as f64 / began.elapsed().as_secs_f64())
}

fn insert(from: i64) -> String {
    let payload = "a payload of about the size of a report ".repeat(5);
    let row = |number: i64| {
        // As random as a digest.
        let key = format!("{:016x}{:048x}", (number as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15), number);
        format!(
            "('{}', 'kafka://bench/c0/t{}', 'SNAPSHOT_COMMITTED', {number}, {number}, '{payload}', 1, '{key}')",
            &key[..32],
            number % ASSETS
        )
    };
    let values: Vec<String> = (from..from + BATCH).map(row).collect();
    format!("INSERT INTO bare VALUES {}", values.join(", "))
}

//! A commit on disk until READY is at the client, at a 1 s scan. The baseline is the least that a scan
//! can do: for each table a task that looks for the next snapshot file once a second.

use std::{path::PathBuf, time::Duration};

use anyhow::{Context, Result};
use tokio::task::JoinSet;

use crate::{
    client::{self, Waiting},
    figures::{Samples, judge, say},
    rig::{self, Rig},
};

const TABLES: usize = 100;
const ROUNDS: usize = 10;
const SCAN: Duration = Duration::from_secs(1);
/// Between two commits, so that a round's commits fall on every moment of several scans.
const PAUSE: Duration = Duration::from_millis(37);
const AIM_MS: f64 = 1_050.0;

pub async fn run() -> Result<()> {
    say(&format!(
        "\ncommit on disk -> READY at the client: {TABLES} tables, 1 s scan, {ROUNDS} commits a table"
    ));
    let rig = Rig::start(TABLES).await?;
    let mut client = client::connect(rig.address).await?;
    let mut agent = Samples::default();
    let mut bare = Samples::default();
    for round in 0..ROUNDS {
        let mut waits = JoinSet::new();
        let mut looks = JoinSet::new();
        let next = round as i64 + 2;
        for (number, table) in rig.tables.iter().enumerate() {
            let waiting = Waiting::begin(&mut client, &rig::key(table)).await?;
            waits.spawn(async move { anyhow::Ok((number, waiting.ready().await?)) });
            let file = rig.snapshot_file(table, next);
            // Looks at any moment of the scan, like tables of an agent that runs for long.
            let phase = SCAN.mul_f64(number as f64 / TABLES as f64);
            looks.spawn(look(number, file, phase));
        }
        for table in &rig.tables {
            rig.writer.append(table, 1).await?;
            tokio::time::sleep(PAUSE).await;
        }
        while let Some(done) = waits.join_next().await {
            let (number, (ready, at)) = done??;
            let pin = ready.pinned.first().context("READY without a pin")?;
            anyhow::ensure!(pin.snapshot_id == next, "READY on snapshot {}, not {next}", pin.snapshot_id);
            agent.push(at - committed(&rig, number, next)?);
        }
        while let Some(done) = looks.join_next().await {
            let (number, at) = done?;
            bare.push(at - committed(&rig, number, next)?);
        }
    }
    bare.show("baseline: a bare look once a second");
    agent.show("agent");
    judge("p99", agent.percentile(0.99), AIM_MS, "ms");
    Ok(())
}

/// When the snapshot's file was written.
fn committed(rig: &Rig, table: usize, snapshot: i64) -> Result<f64> {
    let file = rig.snapshot_file(&rig.tables[table], snapshot);
    Ok(client::millis(std::fs::metadata(&file)?.modified()?))
}

async fn look(number: usize, file: PathBuf, phase: Duration) -> (usize, f64) {
    tokio::time::sleep(phase).await;
    loop {
        if tokio::fs::try_exists(&file).await.unwrap_or(false) {
            return (number, client::now());
        }
        tokio::time::sleep(SCAN).await;
    }
}

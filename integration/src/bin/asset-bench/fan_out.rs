//! From a poll's hand-over to ingest until 1,000 waiting clients have READY. The baseline is the least
//! that a server can do that keeps what it says: one synced insert, then a bare broadcast over tonic.

use anyhow::{Context, Result};
use tokio::task::JoinSet;

use crate::{
    baseline::Baseline,
    client::{self, Client, Waiting},
    figures::{Samples, judge, say},
    rig::{self, Rig},
};

const WAITS: usize = 1_000;
const ROUNDS: usize = 20;
const AIM_MS: f64 = 25.0;
const AIM_RATIO: f64 = 2.0;

pub async fn run() -> Result<()> {
    say(&format!(
        "\nhand-over -> READY at {WAITS} anonymous waits on one asset, one connection, {ROUNDS} rounds"
    ));
    let rig = Rig::start(1).await?;
    let table = rig.tables.first().context("no table")?;
    let baseline = Baseline::start().await?;
    let mut to_agent = client::connect(rig.address).await?;
    let mut to_baseline = client::connect(baseline.address).await?;
    let mut agent = Samples::default();
    let mut bare = Samples::default();
    for _ in 0..ROUNDS {
        let waits = begin(&mut to_baseline, "paimon://any/table").await?;
        baseline.trigger().await?;
        bare.extend(receive(waits, |ready| client::of_timestamp(ready.evaluated_at)).await?);

        let waits = begin(&mut to_agent, &rig::key(table)).await?;
        rig.writer.append(table, 1).await?;
        let handed_over = |ready: &asset_proto::v1::ResolveDependencyResponse| {
            client::of_timestamp(ready.pinned.first().and_then(|pin| pin.observed_at))
        };
        agent.extend(receive(waits, handed_over).await?);
    }
    bare.show("baseline: one synced insert, bare broadcast");
    agent.show("agent");
    judge("p99", agent.percentile(0.99), AIM_MS, "ms");
    judge("p99 / baseline's p99", agent.percentile(0.99) / bare.percentile(0.99), AIM_RATIO, "x");
    histogram(&rig).await
}

async fn begin(client: &mut Client, key: &str) -> Result<Vec<Waiting>> {
    let mut waits = Vec::with_capacity(WAITS);
    for _ in 0..WAITS {
        waits.push(Waiting::begin(client, key).await?);
    }
    Ok(waits)
}

/// How long each wait's READY took since `began`, which the message tells, in milliseconds.
async fn receive(
    waits: Vec<Waiting>,
    began: impl Fn(&asset_proto::v1::ResolveDependencyResponse) -> f64,
) -> Result<Vec<f64>> {
    let mut readies = JoinSet::new();
    for waiting in waits {
        readies.spawn(waiting.ready());
    }
    let mut took = Vec::with_capacity(WAITS);
    while let Some(done) = readies.join_next().await {
        let (ready, at) = done??;
        took.push(at - began(&ready));
    }
    Ok(took)
}

/// The agent's own figure, up to its last reader's stream.
async fn histogram(rig: &Rig) -> Result<()> {
    let page = rig.agent.http().get("/metrics").await?;
    let figure = |name: &str| -> Option<f64> {
        page.body.lines().find_map(|line| line.strip_prefix(name)?.trim().parse().ok())
    };
    let sum = figure("lakehouse_asset_publish_seconds_sum").context("no lakehouse_asset_publish_seconds")?;
    let count = figure("lakehouse_asset_publish_seconds_count").context("no count")?;
    say(&format!(
        "  the agent's lakehouse_asset_publish_seconds (hand-over -> every stream filled): n {count}, mean {:.2} ms",
        sum / count * 1_000.0
    ));
    Ok(())
}

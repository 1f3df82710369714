//! How an engine starts, and how a wait begins.

use std::time::Duration;

use asset_core::{
    baseline::{Baseline, Baselines},
    condition::Since,
    version::Floor,
};
use tokio::time::Instant;

use crate::{
    PollConfig, Waiting,
    testing::{Lake, Rig, all_of, condition, newer, reached, ready, until, verdict},
};

#[tokio::test]
async fn an_engine_that_reads_nothing_runs_on() {
    let lake = Lake::new();
    let mut rig = Rig::start(&lake).await;
    let wait = verdict(&mut rig.identified(1, reached("orders", 1)).await).await;
    rig.engine.acknowledge(wait.wait_id.as_deref().unwrap()).await.unwrap_err();
    // Whoever runs the engine takes a task that ends for a failure.
    assert!(rig.tasks.try_join_next().is_none());
    rig.stop().await;
}

/// However many tables of a wait can't be read in time, it is answered: its caller would take the stream
/// for dead.
#[tokio::test]
async fn all_fresh_reads_of_a_wait_together_have_one_limit() {
    const TABLES: [&str; 8] = ["a", "b", "c", "d", "e", "f", "g", "h"];
    const LIMIT: Duration = Duration::from_millis(400);
    let lake = Lake::new();
    let rig = Rig::start_with(&lake, lake.catalogs(&TABLES, 500), |config| {
        config.polling = true;
        config.resolve_timeout = LIMIT;
        // No read ever begins.
        config.poll = PollConfig { concurrency: 0, ..PollConfig::default() };
    })
    .await;
    let conditions = TABLES.map(|table| condition(table, None, Since::Registered));
    let begun = Instant::now();
    verdict(&mut rig.anonymous(all_of(conditions.to_vec())).await).await;
    let took = begun.elapsed();
    assert!((LIMIT..LIMIT * 4).contains(&took), "{took:?}");
    rig.stop().await;
}

/// A read that was cut short has not come to the head, and the rest of what was there is no news.
#[tokio::test]
async fn a_wait_for_what_is_new_begins_behind_all_that_is_there() {
    const HEAD: i64 = 40;
    let lake = Lake::new();
    lake.create("orders");
    lake.append("orders", [1]);
    let rig = Rig::start_with(&lake, lake.catalogs(&["orders"], 1), |config| {
        config.polling = true;
        // Nobody looks at it unless somebody asks.
        config.poll.idle_interval = Duration::from_secs(3_600);
    })
    .await;
    let key = Lake::key("orders");
    until("the table is known", async || rig.engine.asset(&key).await.is_ok()).await;

    lake.append("orders", 2..=HEAD);
    let mut wait = rig.anonymous(newer("orders")).await;
    let first = verdict(&mut wait).await;
    let baseline = Baselines::from_token(&first.resume_token).unwrap().of(&key);
    let Baseline::Above(Floor::At(position)) = baseline else {
        panic!("{baseline:?}");
    };
    assert_eq!(position.ordinal, HEAD);

    rig.stop().await;
    let rig = Rig::start(&lake).await;
    rig.commit("orders", HEAD + 1).await;
    // Who comes back with that baseline is released by the next commit.
    let baselines = Baselines::from_token(&first.resume_token).ok();
    let mut again = rig.resolve(newer("orders"), Waiting::Anonymous { baselines }).await;
    ready(&mut again).await;
    rig.stop().await;
}

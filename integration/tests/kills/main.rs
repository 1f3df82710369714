//! The agent is killed at moments that nobody chose, while tables are written and fifty waits are open.
//! Nothing that it promised may be lost, doubled or contradicted afterwards.
//!
//! `ASSET_TEST_SEED` replays a run; the seed of each run is printed.

#![allow(clippy::unwrap_used)]
// These tests run in real time.
#![allow(clippy::disallowed_methods)]

mod evidence;
mod log;
mod waiting;

use std::env;
use std::sync::Arc;
use std::time::Duration;

use asset_integration::deadline;
use asset_integration::scene::{SOON, Scene};
use asset_integration::writer::{NewTable, Writer};
use asset_sensor::{Client, Endpoints, Settings, WatchEvent};
use tokio::task::JoinSet;
use tokio::time::sleep;

use evidence::Evidence;
use waiting::{Course, Plan};

const ORDERS: &str = "ods.orders";
const RETURNS: &str = "ods.returns";
const KILLS: u32 = 20;
const WAITS: usize = 50;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_lost_when_the_agent_is_killed() {
    let seed =
        env::var("ASSET_TEST_SEED").ok().map_or_else(|| fastrand::u64(..), |seed| seed.parse().unwrap());
    eprintln!("ASSET_TEST_SEED={seed}");
    let mut rng = fastrand::Rng::with_seed(seed);

    let mut scene = Scene::start_with(|config| {
        config["dolphinscheduler"]["asset-event-scheduling"]["compensation-scanner"]["interval-seconds"] =
            1.into();
    })
    .await
    .unwrap();
    let writer = Writer::pypaimon(&scene.warehouse).await.unwrap();
    let course = Arc::new(Course::new());
    for table in [ORDERS, RETURNS] {
        writer.create_table(NewTable::append_only(table)).await.unwrap();
        commit(&writer, &course, table).await;
    }
    let client = client(&scene, seed);
    let mut waits = JoinSet::new();
    for number in 0..WAITS {
        waits.spawn(waiting::wait(Plan::of(number), client.clone(), course.clone()));
    }
    let watch = tokio::spawn(watch(client.clone()));
    course.all_settled("every wait is open", WAITS).await;

    for kill in 1..=KILLS {
        kill_once(&mut scene, &writer, &course, &mut rng, kill).await;
        course.killed(kill);
    }

    scene.agent.wait_ready(SOON).await.unwrap();
    // Chance decides how many commits there were: all of the ids that somebody waits for come to be.
    while commit(&writer, &course, RETURNS).await < waiting::LAST_OF_RETURNS {}
    course.drain();
    course.all_settled("every wait that is left has heard a first verdict", WAITS).await;
    // What is open now is released by this one: no later commit may be needed to find it.
    let last = (commit(&writer, &course, ORDERS).await, commit(&writer, &course, RETURNS).await);
    let mut evidence = Evidence::default();
    let drained = deadline::until("every wait is released", SOON, async || {
        while let Some(ended) = waits.try_join_next() {
            evidence.extend(ended.unwrap());
        }
        waits.is_empty().then_some(())
    });
    if let Err(late) = drained.await {
        panic!("{late}: {:?}\n{}", course.open(), scene.agent.server.log());
    }
    for (table, head) in [(ORDERS, last.0), (RETURNS, last.1)] {
        scene.latest_is(&waiting::key(table), head).await.unwrap();
    }
    watch.abort();
    assert!(watch.await.unwrap_err().is_cancelled(), "the watcher saw a revision go back");

    let orders = writer.snapshots(ORDERS).await.unwrap();
    let returns = writer.snapshots(RETURNS).await.unwrap();
    let reported = [(waiting::key(ORDERS), orders), (waiting::key(RETURNS), returns)].into();
    evidence.check(&reported);
    assert!(evidence.len() >= WAITS, "{}", evidence.len());
    eprintln!("{} releases over {KILLS} kills and {} commits", evidence.len(), last.0 + last.1);

    scene.agent.server.terminate(SOON).await.unwrap();
    log::check(&scene.database, &reported).await;
}

/// Commits, and kills the agent some time after it was started or after a commit. Half of the commits
/// are made while no agent runs.
async fn kill_once(scene: &mut Scene, writer: &Writer, course: &Course, rng: &mut fastrand::Rng, kill: u32) {
    let server_runs = kill.is_multiple_of(2);
    let moment = if server_runs {
        scene.agent.wait_ready(SOON).await.unwrap();
        Duration::from_micros(rng.u64(0..60_000))
    } else {
        scene.agent.server.kill().await.unwrap();
        // Early moments are as likely as late ones: 2 ms to 1 s, evenly over the orders of magnitude.
        Duration::from_secs_f64(0.002 * 500_f64.powf(rng.f64()))
    };
    for _ in 0..2 {
        commit(writer, course, ORDERS).await;
    }
    if rng.bool() {
        commit(writer, course, RETURNS).await;
    }
    if !server_runs {
        scene.agent.server.start_again().unwrap();
    }
    sleep(moment).await;
    scene.agent.server.kill().await.unwrap();
    scene.agent.server.start_again().unwrap();
}

async fn commit(writer: &Writer, course: &Course, table: &str) -> i64 {
    let snapshot = writer.append(table, 1).await.unwrap().snapshot_id;
    course.committed(table, snapshot);
    snapshot
}

/// One client, and so one connection, for all waits; it comes back quickly.
fn client(scene: &Scene, seed: u64) -> Client {
    let settings = Settings {
        connect_timeout: Duration::from_secs(120),
        min_pause: Duration::from_millis(10),
        max_pause: Duration::from_millis(200),
        seed: Some(seed),
        ..Settings::default()
    };
    let endpoints: Endpoints = scene.address().to_string().parse().unwrap();
    Client::new(&endpoints, settings)
}

/// Watches all assets, and ends with a panic when a revision goes back.
async fn watch(client: Client) {
    let mut watch = client.watch(Vec::new());
    let mut revisions = Vec::new();
    while let Some(event) = watch.next().await.unwrap() {
        if let WatchEvent::State(state) = event {
            revisions.push(state.revision);
            asset_core::invariant::no_revision_goes_back(&revisions).unwrap();
        }
    }
}

//! When tables are read, and what becomes of the answers.

use std::time::Duration;

use asset_core::{
    facts::Quality,
    report::{Report, ReportBody, VersionName},
};
use asset_store::{BatchOutcome, EventQuery, ReportOutcome, ReportRequest, Role};
use tokio::{
    task::yield_now,
    time::{Instant, advance},
};

use super::*;
use crate::testing::{Counts, Lake, Rig, TestClock, reached};

const INTERVAL: Duration = Duration::from_secs(8);
const IDLE: Duration = Duration::from_secs(80);

/// Time stands still, and does not run on by itself either while the database or the disk works: only
/// the test moves it.
struct StoppedTime(std::sync::mpsc::Sender<()>);

impl StoppedTime {
    fn new() -> Self {
        tokio::time::pause();
        let (sender, receiver) = std::sync::mpsc::channel::<()>();
        // A blocking task keeps tokio from skipping to the next timer.
        tokio::task::spawn_blocking(move || receiver.recv());
        Self(sender)
    }

    /// Lets go, so that the runtime can end.
    fn release(self) {
        drop(self.0);
    }
}

/// Waits for a number of polls, in real time.
#[allow(clippy::disallowed_methods)] // Tokio's time stands still.
async fn polled(counts: &Counts, key: &AssetKey, polls: usize) -> Instant {
    let begun = std::time::Instant::now();
    loop {
        let seen = counts.polls(key);
        assert!(seen.len() <= polls, "poll {} came before its time", seen.len());
        if seen.len() == polls {
            // Whoever polled puts the table back on the schedule.
            settle().await;
            return seen[polls - 1];
        }
        assert!(begun.elapsed() < crate::testing::SOON, "poll {polls} does not come");
        yield_now().await;
    }
}

async fn settle() {
    for _ in 0..50 {
        yield_now().await;
    }
}

/// The next poll comes between nine tenths of a pause and the whole of it.
async fn comes_within(counts: &Counts, key: &AssetKey, polls: usize, pause: Duration) {
    settle().await;
    let before = counts.polls(key).len();
    assert_eq!(before, polls - 1);
    advance(pause.mul_f64(0.89)).await;
    settle().await;
    assert_eq!(counts.polls(key).len(), before, "poll {polls} came sooner than {pause:?}");
    advance(pause.mul_f64(0.11) + Duration::from_millis(1)).await;
    polled(counts, key, polls).await;
}

#[tokio::test]
async fn a_table_that_somebody_waits_for_is_read_once_an_interval_and_sooner_after_a_change() {
    let time = StoppedTime::new();
    let lake = Lake::new();
    lake.create("orders");
    lake.append("orders", [1]);
    let rig = Rig::start_with(&lake, lake.catalogs(&["orders"], 500), |config| {
        config.polling = true;
        config.poll = PollConfig { interval: INTERVAL, idle_interval: IDLE, ..PollConfig::default() };
    })
    .await;
    let (counts, key) = (rig.counts.clone(), Lake::key("orders"));
    polled(&counts, &key, 1).await;

    // Nobody depends on it: idle pauses, from an eighth up to the whole.
    for (polls, eighths) in [(2, 1), (3, 2), (4, 4), (5, 8), (6, 8)] {
        comes_within(&counts, &key, polls, IDLE / 8 * eighths).await;
    }
    // Somebody comes: read at once, and then by the shorter interval.
    let wait = rig.anonymous(reached("orders", 9)).await;
    polled(&counts, &key, 7).await;
    comes_within(&counts, &key, 8, INTERVAL).await;
    comes_within(&counts, &key, 9, INTERVAL).await;
    // A change: sooner, and slower again as it calms down.
    lake.append("orders", [2]);
    comes_within(&counts, &key, 10, INTERVAL).await;
    for (polls, eighths) in [(11, 1), (12, 2), (13, 4), (14, 8), (15, 8)] {
        comes_within(&counts, &key, polls, INTERVAL / 8 * eighths).await;
    }
    // The last one leaves; the pause that was begun is not made longer.
    drop(wait);
    comes_within(&counts, &key, 16, INTERVAL).await;
    comes_within(&counts, &key, 17, IDLE).await;
    time.release();
    tokio::time::resume();
    rig.stop().await;
}

struct Bench {
    lake: Lake,
    context: PollContext,
    store: Arc<Store>,
}

impl Bench {
    /// One table, of which each poll sees everything.
    async fn new() -> Self {
        let lake = Lake::new();
        lake.create("orders");
        lake.append("orders", 1..=3);
        let store = lake.store().await;
        let (hub, inbox) = crate::hub::Hub::channel();
        // Nobody waits: what moved is told to nobody.
        drop(inbox);
        let counts = Arc::new(Counts::default());
        let (ingest, door) = Ingest::new(store.clone(), hub.clone(), None, counts.clone());
        tokio::spawn(door.run());
        let context = PollContext {
            catalogs: lake.catalogs(&["orders"], 500),
            store: store.clone(),
            ingest,
            clock: Arc::new(TestClock::new()),
            observer: counts,
            health: HealthBoard::new(),
            hub,
            strict_every: 1,
        };
        Self { lake, context, store }
    }

    /// Has a poller poll.
    async fn turn(&self, poller: &mut TablePoll) {
        let rested = std::mem::replace(poller, TablePoll::new(Lake::key("orders")));
        *poller = rested.poll(&self.context).await;
    }

    async fn head(&self) -> (Option<i64>, Option<&'static str>) {
        let key = Lake::key("orders");
        let (found, _) = self.store.load(std::slice::from_ref(&key)).await.unwrap();
        match &found[&key] {
            asset_store::Loaded::Known(asset) => {
                let latest = asset.latest().map(|(position, _)| position.ordinal);
                (latest, asset.gone_since.map(|_| "GONE"))
            }
            _ => (None, None),
        }
    }
}

#[tokio::test]
async fn a_batch_that_is_stale_is_read_again_at_once_and_does_not_count_as_a_read() {
    let bench = Bench::new().await;
    let key = Lake::key("orders");
    let table = TablePoll::new(key.clone()).poll(&bench.context).await;
    assert_eq!(bench.head().await, (Some(3), None));
    let read = bench.context.health.of(&key).unwrap().last_read.unwrap();

    // Another poller has moved the cursor meanwhile, to where it was.
    let cursor = bench.store.cursor(&key).await.unwrap().unwrap();
    let other = asset_store::SourceBatch {
        key: key.clone(),
        read_lock: Some(cursor.lock_version),
        cursor: cursor.cursor,
        present: true,
        changes: Vec::new(),
        observed_at: 1,
    };
    let outcome = bench.store.apply(vec![other]).await.unwrap().remove(0);
    assert!(matches!(outcome, BatchOutcome::Committed(_)));

    bench.lake.append("orders", [4]);
    tokio::time::sleep(Duration::from_millis(2)).await;
    let table = table.poll(&bench.context).await;
    assert_eq!(table.pace(), Pace::AtOnce);
    assert_eq!(bench.head().await, (Some(3), None), "nothing of it was written");
    assert_eq!(bench.context.health.of(&key).unwrap().last_read, Some(read), "a wait must not begin on it");

    let table = table.poll(&bench.context).await;
    assert_eq!(table.pace(), Pace::Calm(0));
    assert_eq!(bench.head().await, (Some(4), None));
    assert!(bench.context.health.of(&key).unwrap().last_read > Some(read));
}

#[tokio::test]
async fn a_break_of_history_counts_when_two_reads_saw_it() {
    let bench = Bench::new().await;
    let table = TablePoll::new(Lake::key("orders")).poll(&bench.context).await;
    let read = bench.context.health.of(&Lake::key("orders")).unwrap().last_read;
    tokio::time::sleep(Duration::from_millis(2)).await;
    bench.lake.remove("orders", 3);
    let table = table.poll(&bench.context).await;
    assert_eq!(bench.head().await, (Some(3), None), "one read is a suspicion");
    assert_eq!(table.pace(), Pace::Soon);
    let known = bench.context.health.of(&Lake::key("orders")).unwrap().last_read;
    assert_eq!(known, read, "a wait must not begin on a head that is in doubt");

    // It was nothing: the snapshot is there again.
    bench.lake.append("orders", [3]);
    let table = table.poll(&bench.context).await;
    assert_eq!(bench.head().await, (Some(3), None));

    // Now it is: a suspicion of before counts no more, so it takes two reads again.
    bench.lake.remove("orders", 3);
    let table = table.poll(&bench.context).await;
    assert_eq!(bench.head().await, (Some(3), None));
    table.poll(&bench.context).await;
    assert_eq!(bench.head().await, (Some(2), None));
}

#[tokio::test]
async fn a_table_that_cannot_be_read_says_why_and_stops_no_other() {
    let bench = Bench::new().await;
    let bad = Lake::key("items");
    bench.lake.create("items");
    let table = TablePoll::new(bad.clone()).poll(&bench.context).await;
    let health = bench.context.health.of(&bad).unwrap();
    let (reason, _) = health.failing.expect("the catalog does not have it");
    assert!(reason.contains("catalog"), "{reason}");
    assert_eq!(bench.context.health.counts(), (1, 1));
    // Whoever waits for a fresh read is not kept.
    let waited = bench.context.health.read_since(&bad, i64::MAX);
    crate::testing::soon("a table that can't be read is not waited for", waited).await;

    let orders = TablePoll::new(Lake::key("orders")).poll(&bench.context).await;
    assert_eq!((bench.context.health.counts(), orders.pace()), ((2, 1), Pace::Calm(0)));
    assert_ne!(table.pace(), Pace::AtOnce, "it is tried at the usual pace");
}

/// Two pollers of one table that know nothing of each other, as two agents on one database are: each
/// rollback makes one generation, and the log is what lies in the table.
#[tokio::test]
async fn two_pollers_of_one_table_agree() {
    for seed in 0..30 {
        let mut rng = fastrand::Rng::with_seed(seed);
        let bench = Bench::new().await;
        let mut history: Vec<(i64, String)> = (1..=3).map(|id| (id, format!("orders-{id}"))).collect();
        let mut pollers = [TablePoll::new(Lake::key("orders")), TablePoll::new(Lake::key("orders"))];
        let mut rollbacks = 0;
        for step in 0..80 {
            match rng.u32(0..10) {
                0..4 => {
                    let (id, uuid) = (history.len() as i64 + 1, format!("{seed}-{step}"));
                    bench.lake.commit("orders", id, &uuid);
                    history.push((id, uuid));
                }
                4 if history.len() > 1 => {
                    rollbacks += 1;
                    for _ in 0..rng.usize(1..history.len()) {
                        let (id, _) = history.pop().unwrap();
                        bench.lake.remove("orders", id);
                    }
                }
                _ => bench.turn(&mut pollers[rng.usize(0..2)]).await,
            }
        }
        for turn in 0..6 {
            bench.turn(&mut pollers[turn % 2]).await;
        }
        let key = Lake::key("orders");
        let (found, _) = bench.store.load(std::slice::from_ref(&key)).await.unwrap();
        let asset_store::Loaded::Known(asset) = &found[&key] else { panic!("{found:?}") };
        let head = asset.latest().map(|(at, version)| (at.ordinal, version.commit.fingerprint.clone()));
        assert_eq!(head.as_ref(), history.last(), "seed {seed}");
        assert!(asset.generation() <= 1 + rollbacks, "seed {seed}: {rollbacks} made {}", asset.generation());
    }
}

/// Verdicts that are pushed a hundred times a second beside two pollers: each poll that looks after a commit
/// publishes it, each rollback makes one generation, and no verdict is lost.
#[tokio::test]
async fn pushed_verdicts_starve_no_poller() {
    let bench = Bench::new().await;
    let key = Lake::key("orders");
    let mut pollers = [TablePoll::new(key.clone()), TablePoll::new(key.clone())];
    bench.turn(&mut pollers[0]).await;

    let (store, asset, stop) = (bench.store.clone(), key.clone(), CancellationToken::new());
    let stopped = stop.clone();
    let reporter = tokio::spawn(async move {
        let mut tick = tokio::time::interval(Duration::from_millis(10));
        let mut acknowledged = 0_i64;
        while !stopped.is_cancelled() {
            tick.tick().await;
            let report = verdict(acknowledged);
            let request = ReportRequest { key: asset.clone(), role: Role::Read, report, received: 1 };
            let reported = store.report(vec![request]).await.unwrap();
            assert!(matches!(reported.outcomes[0], ReportOutcome::Stored { .. }), "{reported:?}");
            acknowledged += 1;
        }
        acknowledged
    });
    let mut next = 4;
    for round in 0..60 {
        bench.lake.commit("orders", next, &format!("r{round}-{next}"));
        // The other one moved the cursor: the first look may be thrown away for that, never for a verdict.
        bench.turn(&mut pollers[round % 2]).await;
        bench.turn(&mut pollers[round % 2]).await;
        assert_eq!(bench.head().await, (Some(next), None), "round {round}");
        next += 1;
        if round % 20 == 19 {
            for id in next - 2..next {
                bench.lake.remove("orders", id);
            }
            next -= 2;
            // A break counts when two reads of one poller saw it.
            for turn in 0..6 {
                bench.turn(&mut pollers[turn % 2]).await;
            }
        }
    }
    stop.cancel();
    let acknowledged = reporter.await.unwrap();
    assert!(acknowledged > 20, "{acknowledged} verdicts were pushed");
    let (found, _) = bench.store.load(std::slice::from_ref(&key)).await.unwrap();
    let asset_store::Loaded::Known(asset) = &found[&key] else { panic!("{found:?}") };
    assert_eq!(asset.generation(), 4, "three rollbacks");
    let query = EventQuery {
        event_type: Some("QUALITY_CHECK_PASSED".into()),
        limit: 10_000,
        ..EventQuery::default()
    };
    assert_eq!(bench.store.events(&query).await.unwrap().events.len() as i64, acknowledged);
}

/// A verdict on one of the first snapshots, the so-manieth.
fn verdict(number: i64) -> Report {
    let version = VersionName { snapshot_id: number % 9 + 1, fingerprint: None };
    Report {
        event_id: Some(format!("v{number}")),
        reporter: "r".into(),
        event_time: Some(number),
        body: ReportBody::Quality { version, status: Quality::Passed, read_time: None },
    }
}

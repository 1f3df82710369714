//! Hundreds of random operations on a real table while the agent follows: at the end its log is what the
//! library reports, and nobody who waited was forgotten or released on what had been there before.
//!
//! `ASSET_TEST_SEED` replays a run; the seed of each run is printed.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use asset_integration::scene::{SOON, Scene};
use asset_integration::writer::{NewTable, SnapshotReport, Writer};
use asset_integration::{deadline, stored};
use asset_proto::v1::{Condition, Group, Since};
use asset_sensor::{Client, Endpoints, Settings, Wait, WaitEvent, WaitRequest};
use fastrand::Rng;
use serde_json::Value;
use tokio::task::JoinSet;
use tokio::time::sleep;

use crate::{KEY, TABLE};

/// What can befall a table.
#[derive(Debug, Clone, Copy)]
enum Step {
    Append,
    Upsert,
    Overwrite,
    Compact,
    AddColumn,
    Tag,
    Untag,
    Rollback,
    /// A branch from the newest snapshot, some commits, and back to the branch.
    FastForward,
    Expire,
    Recreate,
    Wait,
    Pause,
}

struct Course {
    scene: Scene,
    writer: Writer,
    client: Client,
    rng: Rng,
    waits: JoinSet<()>,
    /// Makes names unique.
    number: u32,
}

impl Course {
    async fn begin(writer: impl AsyncFnOnce(&Scene) -> Writer) -> Self {
        let seed = std::env::var("ASSET_TEST_SEED").ok();
        let seed = seed.map_or_else(|| fastrand::u64(..), |seed| seed.parse().unwrap());
        eprintln!("ASSET_TEST_SEED={seed}");
        let scene = Scene::start().await.unwrap();
        let writer = writer(&scene).await;
        let endpoints = Endpoints::parse([scene.address().to_string()]).unwrap();
        let client = Client::new(&endpoints, Settings { seed: Some(seed), ..Settings::default() });
        let course =
            Self { scene, writer, client, rng: Rng::with_seed(seed), waits: JoinSet::new(), number: 0 };
        course.writer.create_table(NewTable::keyed(TABLE)).await.unwrap();
        course.writer.append(TABLE, 1).await.unwrap();
        course.scene.latest_is(KEY, 1).await.unwrap();
        course
    }

    async fn run(mut self, steps: usize, weights: &[(Step, u32)]) {
        for _ in 0..steps {
            let step = self.choose(weights);
            self.step(step).await;
        }
        self.end().await;
    }

    fn choose(&mut self, weights: &[(Step, u32)]) -> Step {
        let mut at = self.rng.u32(0..weights.iter().map(|(_, weight)| weight).sum());
        for (step, weight) in weights {
            match at.checked_sub(*weight) {
                Some(rest) => at = rest,
                None => return *step,
            }
        }
        unreachable!("the weights' sum is their sum")
    }

    async fn step(&mut self, step: Step) {
        self.number += 1;
        let name = format!("n{}", self.number);
        let writer = &self.writer;
        match step {
            Step::Append => drop(writer.append(TABLE, 1).await.unwrap()),
            Step::Upsert => drop(writer.upsert(TABLE, &[1, 2]).await.unwrap()),
            Step::Overwrite => drop(writer.overwrite(TABLE, 1).await.unwrap()),
            Step::Compact => {
                if !self.snapshots().await.is_empty() {
                    writer.compact(TABLE).await.unwrap();
                }
            }
            Step::AddColumn => drop(writer.add_column(TABLE, &name, "INT").await.unwrap()),
            Step::Tag => {
                if !self.snapshots().await.is_empty() {
                    writer.create_tag(TABLE, &name, None).await.unwrap();
                }
            }
            Step::Untag => {
                let tags: Vec<String> = writer.tags(TABLE).await.unwrap().into_keys().collect();
                if let Some(tag) = self.rng.choice(&tags) {
                    writer.delete_tag(TABLE, tag).await.unwrap();
                }
            }
            Step::Rollback => {
                let there = self.snapshots().await;
                if let Some(to) = self.rng.choice(&there) {
                    writer.rollback(TABLE, to.id).await.unwrap();
                }
            }
            Step::FastForward => {
                if self.snapshots().await.is_empty() {
                    return;
                }
                writer.create_tag(TABLE, &name, None).await.unwrap();
                writer.create_branch(TABLE, &name, Some(&name)).await.unwrap();
                for _ in 0..self.rng.u32(0..3) {
                    writer.append(TABLE, 1).await.unwrap();
                }
                sleep(Duration::from_millis(self.rng.u64(0..1_200))).await;
                writer.fast_forward(TABLE, &name).await.unwrap();
            }
            Step::Expire => {
                if !self.snapshots().await.is_empty() {
                    writer.expire(TABLE, 3).await.unwrap();
                }
            }
            Step::Recreate => {
                writer.drop_table(TABLE).await.unwrap();
                sleep(Duration::from_millis(self.rng.u64(0..300))).await;
                writer.create_table(NewTable::keyed(TABLE)).await.unwrap();
            }
            Step::Wait => self.wait().await,
            Step::Pause => sleep(Duration::from_millis(self.rng.u64(0..600))).await,
        }
    }

    /// Somebody begins to wait for what is newer than the head of now.
    async fn wait(&mut self) {
        let there: BTreeSet<String> = self.snapshots().await.iter().map(fingerprint).collect();
        let condition =
            Condition { asset_key: KEY.to_owned(), since: Since::Registered.into(), ..Condition::default() };
        let groups = vec![Group { conditions: vec![condition], ..Group::default() }];
        let mut wait = self.client.wait(WaitRequest { groups, ..WaitRequest::default() });
        let first = wait.next().await.unwrap();
        assert!(matches!(first, Some(WaitEvent::Blocked(_))), "{first:?}");
        self.waits.spawn(released(wait, there));
    }

    async fn snapshots(&self) -> Vec<SnapshotReport> {
        self.writer.snapshots(TABLE).await.unwrap()
    }

    async fn end(mut self) {
        // Whoever still waits has something newer now, whatever befell the table.
        self.writer.append(TABLE, 1).await.unwrap();
        let open = self.waits.len();
        let all = async {
            while let Some(ended) = self.waits.join_next().await {
                ended.unwrap();
            }
        };
        tokio::time::timeout(SOON, all)
            .await
            .unwrap_or_else(|_| panic!("of {open} waits some were forgotten"));

        let expected: Vec<(i64, String)> =
            self.snapshots().await.iter().map(|report| (report.id, fingerprint(report))).collect();
        let equal = deadline::until("the log is what the library reports", SOON, async || {
            (self.log().await == expected).then_some(())
        });
        if let Err(error) = equal.await {
            panic!("{error}: {:#?} is not {expected:#?}", self.log().await);
        }
        // Tags are seen in reads that see everything, every tenth.
        let expected_tags = self.writer.tags(TABLE).await.unwrap();
        let equal = deadline::until("the tags are what the library reports", SOON, async || {
            (self.tags().await == expected_tags).then_some(())
        });
        if let Err(error) = equal.await {
            panic!("{error}: {:#?} is not {expected_tags:#?}", self.tags().await);
        }
        eprintln!(
            "{} snapshots and {} tags at the end, {open} waits were open",
            expected.len(),
            expected_tags.len()
        );
    }

    /// The tags that the agent knows, with the snapshots that they name.
    async fn tags(&self) -> BTreeMap<String, i64> {
        let query = "SELECT t.name, t.snapshot_id FROM t_ds_asset_tag t \
                     JOIN t_ds_asset_state s ON s.asset_id = t.asset_id \
                     WHERE s.asset_key = ? AND t.snapshot_id IS NOT NULL";
        let rows = stored::rows(&self.scene.database, query, &[KEY]).await.unwrap();
        let row =
            |row: &Value| (row["name"].as_str().unwrap().to_owned(), row["snapshot_id"].as_i64().unwrap());
        rows.iter().map(row).collect()
    }

    /// What the agent takes for readable in the history of now, oldest first.
    async fn log(&self) -> Vec<(i64, String)> {
        let query = "SELECT v.snapshot_id, v.fingerprint FROM t_ds_asset_version v \
                     JOIN t_ds_asset_state s ON s.asset_id = v.asset_id AND s.generation = v.generation \
                     WHERE s.asset_key = ? AND v.readable = 1 ORDER BY v.ordinal";
        let rows = stored::rows(&self.scene.database, query, &[KEY]).await.unwrap();
        let row = |row: &Value| {
            (row["snapshot_id"].as_i64().unwrap(), row["fingerprint"].as_str().unwrap().to_owned())
        };
        rows.iter().map(row).collect()
    }
}

/// Waits until it is released, on a commit that was not there when the wait began.
async fn released(mut wait: Wait, there: BTreeSet<String>) {
    loop {
        match wait.next().await.unwrap() {
            Some(WaitEvent::Ready(ready)) => {
                let pin = &ready.pinned[0];
                assert!(!there.contains(&pin.fingerprint), "{pin:?} was there when the wait began");
                return;
            }
            Some(WaitEvent::Blocked(_)) => {}
            other => panic!("{other:?}"),
        }
    }
}

/// What tells a snapshot from another with its id: Java writes no uuid.
fn fingerprint(report: &SnapshotReport) -> String {
    report.uuid.clone().unwrap_or_else(|| report.delta_manifest_list.clone())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn three_hundred_operations_of_pypaimon() {
    let course = Course::begin(async |scene| Writer::pypaimon(&scene.warehouse).await.unwrap()).await;
    let weights = [
        (Step::Append, 12),
        (Step::Upsert, 6),
        (Step::Overwrite, 2),
        (Step::AddColumn, 1),
        (Step::Tag, 2),
        (Step::Untag, 1),
        (Step::Rollback, 3),
        (Step::Recreate, 1),
        (Step::Wait, 3),
        (Step::Pause, 6),
    ];
    course.run(300, &weights).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hundred_and_fifty_operations_of_java() {
    let course = Course::begin(async |scene| Writer::paimon_java(&scene.warehouse).await.unwrap()).await;
    let weights = [
        (Step::Append, 12),
        (Step::Compact, 3),
        (Step::Tag, 1),
        (Step::Rollback, 3),
        (Step::FastForward, 2),
        (Step::Expire, 2),
        (Step::Recreate, 1),
        (Step::Wait, 3),
        (Step::Pause, 4),
    ];
    course.run(150, &weights).await;
}

//! The waits: what each waits for, and what it does until the run is over.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

use asset_core::invariant::no_revision_goes_back;
use asset_integration::deadline;
use asset_integration::scene::SOON;
use asset_proto::v1::{Condition, Group, ResolveDependencyResponse, Since, Wait as Identity};
use asset_sensor::{Client, Deadline, Wait, WaitEvent, WaitRequest};
use tokio::sync::watch;

use crate::evidence::Release;
use crate::{KILLS, ORDERS, RETURNS};

/// Never reached.
const FAR: i64 = 1_000_000;

/// The greatest id of returns that somebody waits for.
pub const LAST_OF_RETURNS: i64 = 12;

/// Per asset key, a snapshot id.
pub type Heads = BTreeMap<String, i64>;

/// What one wait is about.
#[derive(Clone, Debug)]
pub struct Plan {
    number: usize,
    groups: Vec<Group>,
    identity: Option<Identity>,
    /// Released by each commit, it begins again until the run ends.
    again: bool,
    /// Whether a kill has to come between READY and its repetition.
    kill_between: bool,
}

/// Where the run stands, for the waits and for whoever looks after them.
pub struct Course {
    kills: watch::Sender<u32>,
    draining: AtomicBool,
    /// Per asset: the newest snapshot whose commit returned.
    heads: Mutex<Heads>,
    /// Per wait: it has had its first verdict, or has ended.
    settled: Mutex<Vec<(usize, bool)>>,
}

impl Plan {
    /// The wait of a number: every other one with an identity, and the kinds in turn.
    pub fn of(number: usize) -> Self {
        let place = number as i64 / 2;
        // Spread over the commits that the run will make: of orders two a kill, of returns one or none.
        let of_orders = 3 + place * 2 * i64::from(KILLS) / 25;
        let of_returns = 2 + place * (LAST_OF_RETURNS - 2) / 25;
        let any = |table| condition(table, None, Since::Exists);
        let kind = place % 5;
        let groups = match kind {
            0 => vec![group(&[condition(ORDERS, Some(of_orders), Since::Exists)])],
            1 => vec![group(&[condition(ORDERS, None, Since::Registered)])],
            2 => vec![group(&[condition(ORDERS, Some(of_orders), Since::Exists), any(RETURNS)])],
            3 => vec![
                group(&[condition(ORDERS, Some(FAR), Since::Exists)]),
                group(&[any(ORDERS), condition(RETURNS, Some(of_returns), Since::Registered)]),
            ],
            _ => vec![group(&[
                condition(RETURNS, None, Since::Registered),
                condition(ORDERS, Some(of_orders), Since::Registered),
            ])],
        };
        let identity = number.is_multiple_of(2).then(|| Identity {
            project_code: 1,
            workflow_definition_code: 2,
            task_definition_code: 3,
            workflow_instance_id: 1 + number as i64,
            task_name: format!("wait-{number}"),
            ..Identity::default()
        });
        Self { number, groups, identity, again: kind == 1, kill_between: place % 3 == 0 }
    }

    fn request(&self) -> WaitRequest {
        WaitRequest {
            groups: self.groups.clone(),
            identity: self.identity.clone(),
            deadline: None,
            language: None,
        }
    }
}

/// The key of a table's asset.
pub fn key(table: &str) -> String {
    format!("paimon://lake/{}", table.replace('.', "/"))
}

fn condition(table: &str, min: Option<i64>, since: Since) -> Condition {
    Condition { asset_key: key(table), min_snapshot_id: min, since: since.into(), ..Condition::default() }
}

fn group(conditions: &[Condition]) -> Group {
    Group { conditions: conditions.to_vec(), ..Group::default() }
}

impl Course {
    pub fn new() -> Self {
        Self {
            kills: watch::Sender::new(0),
            draining: AtomicBool::new(false),
            heads: Mutex::default(),
            settled: Mutex::default(),
        }
    }

    pub fn committed(&self, table: &str, snapshot: i64) {
        self.heads.lock().unwrap().insert(key(table), snapshot);
    }

    pub fn heads(&self) -> Heads {
        self.heads.lock().unwrap().clone()
    }

    pub fn killed(&self, kill: u32) {
        self.kills.send_replace(kill);
    }

    /// From now on no wait begins again.
    pub fn drain(&self) {
        self.draining.store(true, Ordering::SeqCst);
    }

    pub async fn all_settled(&self, what: &str, count: usize) {
        let all = deadline::until(what, SOON, async || {
            let settled = self.settled.lock().unwrap();
            (settled.len() == count && settled.iter().all(|(_, settled)| *settled)).then_some(())
        });
        all.await.unwrap();
    }

    /// The waits that have not ended.
    pub fn open(&self) -> Vec<usize> {
        self.settled.lock().unwrap().iter().map(|(number, _)| *number).collect()
    }

    fn note(&self, number: usize, settled: bool) {
        let mut waits = self.settled.lock().unwrap();
        waits.retain(|(other, _)| *other != number);
        waits.push((number, settled));
    }

    /// Waits for the next kill; none comes after the last.
    async fn next_kill(&self) {
        let mut kills = self.kills.subscribe();
        let before = *kills.borrow_and_update();
        let _ = kills.wait_for(|kills| *kills > before || *kills >= KILLS).await;
    }
}

/// Waits as planned until the run drains; returns what was released.
pub async fn wait(plan: Plan, client: Client, course: std::sync::Arc<Course>) -> Vec<Release> {
    let mut releases = Vec::new();
    let mut heads = course.heads();
    loop {
        course.note(plan.number, false);
        if course.draining.load(Ordering::SeqCst) && !releases.is_empty() {
            break;
        }
        let mut wait = client.wait(plan.request());
        let ready = until_ready(&mut wait, |_| course.note(plan.number, true)).await;
        // With an identity the next wait begins with the registration behind the acknowledgement.
        let next = match plan.identity {
            Some(_) => repeat(&plan, &client, &course, &ready).await,
            None => course.heads(),
        };
        let heads = std::mem::replace(&mut heads, next);
        releases.push(Release { number: plan.number, groups: plan.groups.clone(), heads, ready });
        if !plan.again {
            break;
        }
    }
    course.note(plan.number, true);
    releases
}

/// READY is repeated with the same pins until it is acknowledged, and not after. Returns the heads that
/// were there when the wait behind it began.
async fn repeat(plan: &Plan, client: &Client, course: &Course, ready: &ResolveDependencyResponse) -> Heads {
    if plan.kill_between {
        course.next_kill().await;
    }
    let mut again = client.wait(plan.request());
    let repeated = until_ready(&mut again, |first| {
        assert_eq!(first.wait_id, ready.wait_id, "wait {}: READY was not repeated: {first:?}", plan.number);
    })
    .await;
    assert_eq!(repeated.wait_id, ready.wait_id, "wait {}", plan.number);
    assert_eq!(repeated.pinned, ready.pinned, "wait {}", plan.number);
    no_revision_goes_back(&[ready.revision, repeated.revision]).unwrap();

    let limit = Deadline::after(SystemTime::now(), Duration::from_secs(60)).unwrap();
    client.acknowledge(&ready.wait_id, limit).await.unwrap();
    let heads = course.heads();
    let mut next = client.wait(plan.request());
    let first = loop {
        match next.next().await.unwrap().unwrap() {
            WaitEvent::Blocked(first) | WaitEvent::Ready(first) => break first,
            _ => {}
        }
    };
    assert_ne!(first.wait_id, ready.wait_id, "wait {}: it was acknowledged", plan.number);
    heads
}

/// Reads a wait to its READY; `hear` is told each verdict.
async fn until_ready(
    wait: &mut Wait,
    mut hear: impl FnMut(&ResolveDependencyResponse),
) -> ResolveDependencyResponse {
    let mut revisions = Vec::new();
    loop {
        let (verdict, ready) = match wait.next().await.unwrap().expect("a wait without a deadline") {
            WaitEvent::Blocked(verdict) => (verdict, false),
            WaitEvent::Ready(verdict) => (verdict, true),
            WaitEvent::TimedOut(_) => panic!("a wait without a deadline"),
            WaitEvent::Lost(_) | WaitEvent::Back(_) => continue,
        };
        revisions.push(verdict.revision);
        no_revision_goes_back(&revisions).unwrap();
        hear(&verdict);
        if ready {
            return verdict;
        }
    }
}

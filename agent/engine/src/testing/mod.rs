//! What the engine's tests stand on: a real store and a real warehouse in a folder that goes with them.

mod counts;
mod lake;
mod rig;

use std::time::Duration;

pub use counts::Counts;
pub use lake::Lake;
pub use rig::{Rig, advance};

use asset_core::{
    condition::{ConditionSpec, Defaults, Dependency, GroupSpec, Since},
    version::Millis,
};
use tokio::time::{Instant, timeout};

use crate::{
    clock::Clock,
    hub::{Standing, WaitUpdate},
    stream::{WaitEvent, WaitStream},
};

/// Longer than anything takes on a busy machine.
pub const SOON: Duration = Duration::from_secs(20);

/// What a future brings before the test gives up.
pub async fn soon<T>(what: &str, future: impl Future<Output = T>) -> T {
    timeout(SOON, future).await.unwrap_or_else(|_| panic!("not after {SOON:?}: {what}"))
}

/// Asks until the answer is yes.
pub async fn until(what: &str, mut ask: impl AsyncFnMut() -> bool) {
    let asking = async {
        while !ask().await {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    };
    soon(what, asking).await;
}

/// A clock that goes with tokio's, which a test can hold.
pub struct TestClock(Instant);

impl TestClock {
    pub fn new() -> Self {
        Self(Instant::now())
    }
}

impl Clock for TestClock {
    fn now(&self) -> Millis {
        1_800_000_000_000 + self.0.elapsed().as_millis() as i64
    }
}

/// One condition on a table.
pub fn condition(table: &str, min: Option<i64>, since: Since) -> ConditionSpec {
    ConditionSpec {
        asset_key: Lake::key(table).to_string(),
        min_snapshot_id: min,
        since,
        ..ConditionSpec::default()
    }
}

/// Conditions that must hold together.
pub fn all_of(conditions: Vec<ConditionSpec>) -> Dependency {
    Dependency::check(vec![GroupSpec { conditions, ..GroupSpec::default() }], &Defaults::NONE).unwrap()
}

/// Wants a snapshot id to be reached.
pub fn reached(table: &str, min: i64) -> Dependency {
    all_of(vec![condition(table, Some(min), Since::Exists)])
}

/// Wants what is newer than the head when the wait began.
pub fn newer(table: &str) -> Dependency {
    all_of(vec![condition(table, None, Since::Registered)])
}

/// The next verdict of a stream.
pub async fn verdict(stream: &mut WaitStream) -> std::sync::Arc<WaitUpdate> {
    // Heartbeats come sooner than the test gives up.
    let reading = async {
        loop {
            match stream.next().await {
                WaitEvent::Verdict(update) => return update,
                WaitEvent::Heartbeat { .. } => {}
                other => panic!("no verdict but {other:?}"),
            }
        }
    };
    soon("a verdict", reading).await
}

/// The snapshot that the only pin of a READY names; `None` for BLOCKED.
pub fn pinned(update: &std::sync::Arc<WaitUpdate>) -> Option<i64> {
    match &update.standing {
        Standing::Blocked => None,
        Standing::Ready(pins) => Some(pins[0].snapshot_id),
    }
}

/// Reads a stream to its READY.
pub async fn ready(stream: &mut WaitStream) -> std::sync::Arc<WaitUpdate> {
    loop {
        let update = verdict(stream).await;
        if pinned(&update).is_some() {
            return update;
        }
    }
}

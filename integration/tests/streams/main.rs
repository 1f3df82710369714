//! Many streams, slow readers and the end of the agent.

#![allow(clippy::unwrap_used)]
// These tests run in real time.
#![allow(clippy::disallowed_methods)]

mod ending;
mod open;
mod waits;
mod watchers;

use asset_integration::scene::{SOON, Scene};
use asset_integration::writer::{NewTable, Writer};

const TABLE: &str = "ods.orders";
const KEY: &str = "paimon://lake/ods/orders";

/// An agent that knows one table with one snapshot.
async fn with_table(scene: Scene) -> (Scene, Writer) {
    let writer = Writer::pypaimon(&scene.warehouse).await.unwrap();
    writer.create_table(NewTable::append_only(TABLE)).await.unwrap();
    writer.append(TABLE, 1).await.unwrap();
    scene.latest_is(KEY, 1).await.unwrap();
    (scene, writer)
}

/// Resident memory of a process in KiB.
fn resident(process: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

/// What a future brings before the test gives up.
async fn soon<T>(what: &str, future: impl Future<Output = T>) -> T {
    tokio::time::timeout(SOON, future).await.unwrap_or_else(|_| panic!("not after {SOON:?}: {what}"))
}

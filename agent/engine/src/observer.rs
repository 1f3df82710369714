//! What the engine reports of itself to whoever measures it.

use std::time::Duration;

use asset_core::{asset::Asset, key::AssetKey, reason::BlockedBy};

/// How a poll ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PollResult {
    /// Nothing new.
    Unchanged,
    /// Something new, and it is on disk.
    Changed,
    /// Another writer moved the cursor: read again.
    Stale,
    /// It looks like a break of history: read again before it counts.
    Suspect,
    /// The table could not be read.
    Failed,
}

/// Takes counts and durations. Called on the engine's tasks: must not block.
pub trait Observer: Send + Sync + 'static {
    /// A poll of a table ended.
    fn polled(&self, key: &AssetKey, result: PollResult, elapsed: Duration);
    /// Events of an asset were kept, and so many were there already.
    fn received(&self, key: &AssetKey, kept: usize, duplicates: usize);
    /// A report on an asset was refused, or in conflict with one that is there.
    fn refused(&self, key: &AssetKey);
    /// The state of an asset moved.
    fn state(&self, asset: &Asset);
    /// A change that a poll handed over at some time has been handed to every reader.
    fn published(&self, since_hand_over: Duration);
    /// A dependency became ready in so many waits.
    fn ready(&self, key: &AssetKey, workflow_code: i64, group: &str, waits: u64);
    /// So many more (or fewer) open waits are blocked by this.
    fn blocked(&self, key: &AssetKey, workflow_code: i64, by: BlockedBy, change: i64);
    /// So many waits and watchers are being served.
    fn streams(&self, waits: usize, watchers: usize);
    /// A sweep took up so many marked waits that no notice had reached.
    fn swept(&self, marks: usize);
}

/// Measures nothing.
#[derive(Debug, Default)]
pub struct NoObserver;

impl Observer for NoObserver {
    fn polled(&self, _: &AssetKey, _: PollResult, _: Duration) {}
    fn received(&self, _: &AssetKey, _: usize, _: usize) {}
    fn refused(&self, _: &AssetKey) {}
    fn state(&self, _: &Asset) {}
    fn published(&self, _: Duration) {}
    fn ready(&self, _: &AssetKey, _: i64, _: &str, _: u64) {}
    fn blocked(&self, _: &AssetKey, _: i64, _: BlockedBy, _: i64) {}
    fn streams(&self, _: usize, _: usize) {}
    fn swept(&self, _: usize) {}
}

//! An observer that keeps what it is told.

use std::{
    collections::HashMap,
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use asset_core::{asset::Asset, key::AssetKey, reason::BlockedBy};
use tokio::time::Instant;

use crate::observer::{Observer, PollResult};

#[derive(Default)]
pub struct Counts {
    polls: Mutex<Vec<(AssetKey, PollResult, Instant)>>,
    blocked: Mutex<HashMap<(AssetKey, BlockedBy), i64>>,
    streams: Mutex<(usize, usize)>,
    swept: AtomicUsize,
}

impl Counts {
    /// When a table was polled.
    pub fn polls(&self, key: &AssetKey) -> Vec<Instant> {
        let polls = self.polls.lock().unwrap();
        polls.iter().filter(|(polled, ..)| polled == key).map(|(_, _, at)| *at).collect()
    }

    /// The gauge of blocked waits, where it is not 0.
    pub fn blocked(&self) -> Vec<((AssetKey, BlockedBy), i64)> {
        let blocked = self.blocked.lock().unwrap();
        blocked.iter().filter(|(_, count)| **count != 0).map(|(by, count)| (by.clone(), *count)).collect()
    }

    /// Waits and watchers that are served.
    pub fn streams(&self) -> (usize, usize) {
        *self.streams.lock().unwrap()
    }

    pub fn swept(&self) -> usize {
        self.swept.load(Ordering::SeqCst)
    }
}

impl Observer for Counts {
    fn polled(&self, key: &AssetKey, result: PollResult, _: Duration) {
        self.polls.lock().unwrap().push((key.clone(), result, Instant::now()));
    }
    fn received(&self, _: &AssetKey, _: usize, _: usize) {}
    fn refused(&self, _: &AssetKey) {}
    fn state(&self, _: &Asset) {}
    fn published(&self, _: Duration) {}
    fn ready(&self, _: &AssetKey, _: i64, _: &str, _: u64) {}
    fn blocked(&self, key: &AssetKey, _: i64, by: BlockedBy, change: i64) {
        *self.blocked.lock().unwrap().entry((key.clone(), by)).or_default() += change;
    }
    fn streams(&self, waits: usize, watchers: usize) {
        *self.streams.lock().unwrap() = (waits, watchers);
    }
    fn swept(&self, marks: usize) {
        self.swept.fetch_add(marks, Ordering::SeqCst);
    }
}

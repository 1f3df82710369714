//! What the callers of the engine read from.

use std::{collections::VecDeque, sync::Arc, time::Duration};

use asset_core::{asset::Asset, version::Millis};
use asset_store::{Store, StoreError};
use globset::GlobSet;
use tokio::{
    sync::watch,
    time::{Instant, sleep_until},
};

use crate::hub::{Standing, StateFeed, WaitUpdate};

/// Pause on an idle stream before a heartbeat.
pub const HEARTBEAT: Duration = Duration::from_secs(15);

/// States that a watcher reads from the store at once.
const PAGE: usize = 500;

/// What comes next on a wait's stream.
#[derive(Debug, Clone)]
pub enum WaitEvent {
    /// A verdict that is new to this stream. After a READY comes [`WaitEvent::End`].
    Verdict(Arc<WaitUpdate>),
    /// Nothing new.
    Heartbeat {
        /// The last revision that was sent.
        revision: i64,
    },
    /// The deadline is over; the last verdict, if there was one.
    Timeout(Option<Arc<WaitUpdate>>),
    /// The agent is leaving.
    Stopped,
    /// All has been said.
    End,
}

/// The verdicts of one wait.
pub struct WaitStream {
    slot: watch::Receiver<Option<Arc<WaitUpdate>>>,
    deadline: Option<Instant>,
    last: Option<Arc<WaitUpdate>>,
    state: State,
}

#[derive(PartialEq, Eq)]
enum State {
    Going,
    Ended,
}

impl WaitStream {
    pub(crate) fn new(
        slot: watch::Receiver<Option<Arc<WaitUpdate>>>,
        deadline: Option<Millis>,
        now: Millis,
    ) -> Self {
        let left = deadline.map(|deadline| u64::try_from(deadline.saturating_sub(now)).unwrap_or(0));
        Self {
            slot,
            // A deadline beyond what the timer can hold is none.
            deadline: left.and_then(|left| Instant::now().checked_add(Duration::from_millis(left))),
            last: None,
            state: State::Going,
        }
    }

    /// Waits for what comes next.
    pub async fn next(&mut self) -> WaitEvent {
        if self.state == State::Ended {
            return WaitEvent::End;
        }
        let heartbeat = Instant::now() + HEARTBEAT;
        let deadline = self.deadline.unwrap_or_else(far_away);
        tokio::select! {
            biased;
            changed = self.slot.changed() => {
                if changed.is_err() {
                    self.state = State::Ended;
                    return WaitEvent::Stopped;
                }
                let update = self.slot.borrow_and_update().clone();
                // The slot begins empty and is only ever filled.
                let Some(update) = update else { return WaitEvent::Stopped };
                if matches!(update.standing, Standing::Ready(_)) {
                    self.state = State::Ended;
                }
                self.last = Some(update.clone());
                WaitEvent::Verdict(update)
            }
            () = sleep_until(deadline), if self.deadline.is_some() => {
                self.state = State::Ended;
                WaitEvent::Timeout(self.last.take())
            }
            () = sleep_until(heartbeat) => WaitEvent::Heartbeat {
                revision: self.last.as_ref().map_or(0, |last| last.revision),
            },
        }
    }
}

/// What comes next on a watcher's stream.
#[derive(Debug, Clone)]
pub enum WatchEvent {
    /// A state that is new to this stream.
    State(Arc<Asset>),
    /// Nothing new.
    Heartbeat {
        /// The last revision that was sent.
        revision: i64,
    },
    /// The agent is leaving.
    Stopped,
}

/// The states of assets: those that are there, by revision, then every change.
pub struct WatchStream {
    store: Arc<Store>,
    globs: GlobSet,
    feed: StateFeed,
    /// Everything up to this revision was sent or is of no interest.
    sent: i64,
    source: Source,
    started: bool,
}

/// Where the next states come from.
enum Source {
    /// What was there when the watcher came: from the store, page by page.
    Store(VecDeque<Asset>),
    /// What the hub tells.
    Feed,
}

impl WatchStream {
    pub(crate) fn new(store: Arc<Store>, globs: GlobSet, feed: StateFeed, after: i64) -> Self {
        Self { store, globs, feed, sent: after, source: Source::Store(VecDeque::new()), started: false }
    }

    /// Waits for what comes next. The first answer comes at once, a heartbeat if nothing is there.
    pub async fn next(&mut self) -> Result<WatchEvent, StoreError> {
        while let Source::Store(page) = &mut self.source {
            if let Some(asset) = page.pop_front() {
                self.sent = asset.revision;
                if self.globs.is_match(asset.key.as_str()) {
                    self.started = true;
                    return Ok(WatchEvent::State(Arc::new(asset)));
                }
                continue;
            }
            let next = self.store.changed_after(self.sent, PAGE).await?;
            self.source = if next.is_empty() { Source::Feed } else { Source::Store(next.into()) };
        }
        if !self.started {
            self.started = true;
            return Ok(WatchEvent::Heartbeat { revision: self.sent });
        }
        let heartbeat = Instant::now() + HEARTBEAT;
        loop {
            tokio::select! {
                state = self.feed.next() => match state {
                    None => return Ok(WatchEvent::Stopped),
                    Some(asset) if asset.revision > self.sent => {
                        self.sent = asset.revision;
                        return Ok(WatchEvent::State(asset));
                    }
                    // It was read from the store already.
                    Some(_) => {}
                },
                () = sleep_until(heartbeat) => {
                    return Ok(WatchEvent::Heartbeat { revision: self.sent });
                }
            }
        }
    }
}

fn far_away() -> Instant {
    Instant::now() + Duration::from_secs(86_400)
}

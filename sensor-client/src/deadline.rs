//! A moment to give up at.

use std::time::{Duration, SystemTime};

use tokio::time::Instant;

/// A moment that was fixed once: on the wall clock for the agent, on the steady clock for ourselves,
/// so that setting the machine's time moves no wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Deadline {
    wall: SystemTime,
    steady: Instant,
}

impl Deadline {
    /// The moment `timeout` after `now`, where `now` is the present. `None` when it lies beyond what
    /// the clocks can express.
    pub fn after(now: SystemTime, timeout: Duration) -> Option<Self> {
        Some(Self { wall: now.checked_add(timeout)?, steady: Instant::now().checked_add(timeout)? })
    }

    /// The moment as the agent is told it.
    pub fn wall(&self) -> SystemTime {
        self.wall
    }

    pub(crate) fn steady(&self) -> Instant {
        self.steady
    }
}

//! When each table is due. Pure but for the instants that are passed in.

use std::{
    collections::{BTreeSet, HashMap},
    time::Duration,
};

use asset_core::key::AssetKey;
use tokio::time::Instant;

/// How soon a table wants to be read again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pace {
    /// The last read was cut short or has to be repeated.
    AtOnce,
    /// What the last read saw counts when a second one sees it too.
    Soon,
    /// So many polls in a row found nothing.
    Calm(u32),
}

/// Pause before a read is confirmed: a rollback at work has gone on by then, and who waits for a fresh
/// read is not kept for long.
const CONFIRM: Duration = Duration::from_millis(250);

/// The pause before a read that confirms the last one.
pub fn confirming(longest: Duration) -> Duration {
    CONFIRM.min(longest / 8)
}

/// The pause behind a poll: an eighth of the longest one after a change, twice as long with each
/// poll that finds nothing, up to the longest.
pub fn pause(longest: Duration, quiet_polls: u32) -> Duration {
    let doublings = quiet_polls.min(3);
    longest / 8 * 2_u32.pow(doublings)
}

/// Due times of tables. A table that is being read has none until it is put back.
#[derive(Default)]
pub struct Schedule {
    due: HashMap<AssetKey, Due>,
    queue: BTreeSet<(Instant, AssetKey)>,
}

enum Due {
    At(Instant),
    /// Being read; `again` when it is asked for meanwhile.
    Running {
        again: bool,
    },
}

impl Schedule {
    /// Whether the table is on it.
    pub fn knows(&self, key: &AssetKey) -> bool {
        self.due.contains_key(key)
    }

    /// When the table is due; `None` while it is being read.
    pub fn due(&self, key: &AssetKey) -> Option<Instant> {
        match self.due.get(key)? {
            Due::At(at) => Some(*at),
            Due::Running { .. } => None,
        }
    }

    /// Puts a new table on it.
    pub fn insert(&mut self, key: AssetKey, at: Instant) {
        self.queue.insert((at, key.clone()));
        self.due.insert(key, Due::At(at));
    }

    /// Makes a table due at `at` if it would be later. One that is being read is read once more.
    pub fn hurry(&mut self, key: &AssetKey, at: Instant) {
        match self.due.get_mut(key) {
            Some(Due::At(due)) if *due > at => {
                self.queue.remove(&(*due, key.clone()));
                *due = at;
                self.queue.insert((at, key.clone()));
            }
            Some(Due::Running { again }) => *again = true,
            _ => {}
        }
    }

    /// Takes a table that is due.
    pub fn take_due(&mut self, now: Instant) -> Option<AssetKey> {
        let (at, _) = self.queue.first()?;
        if *at > now {
            return None;
        }
        let (_, key) = self.queue.pop_first()?;
        self.due.insert(key.clone(), Due::Running { again: false });
        Some(key)
    }

    /// Puts a table back that was read.
    pub fn put_back(&mut self, key: &AssetKey, at: Instant) {
        let again = matches!(self.due.get(key), Some(Due::Running { again: true }));
        let at = if again { Instant::now() } else { at };
        self.insert(key.clone(), at);
    }

    /// When the next table is due.
    pub fn next(&self) -> Option<Instant> {
        self.queue.first().map(|(at, _)| *at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(table: &str) -> AssetKey {
        AssetKey::of_table("paimon", "lake", "ods", table).unwrap()
    }

    #[tokio::test(start_paused = true)]
    async fn tables_come_in_the_order_they_are_due() {
        let now = Instant::now();
        let mut schedule = Schedule::default();
        schedule.insert(key("late"), now + Duration::from_secs(9));
        schedule.insert(key("soon"), now + Duration::from_secs(1));
        assert_eq!(schedule.take_due(now), None);
        schedule.hurry(&key("late"), now);
        assert_eq!(schedule.take_due(now), Some(key("late")));
        assert_eq!(schedule.next(), Some(now + Duration::from_secs(1)));
    }

    #[tokio::test(start_paused = true)]
    async fn a_table_that_is_asked_for_while_it_is_read_is_read_again_at_once() {
        let now = Instant::now();
        let mut schedule = Schedule::default();
        schedule.insert(key("t"), now);
        assert_eq!(schedule.take_due(now), Some(key("t")));
        assert_eq!(schedule.take_due(now), None, "one poll a table");
        schedule.hurry(&key("t"), now);
        schedule.put_back(&key("t"), now + Duration::from_secs(60));
        assert_eq!(schedule.take_due(now), Some(key("t")));
        schedule.put_back(&key("t"), now + Duration::from_secs(60));
        assert_eq!(schedule.take_due(now), None);
    }

    #[test]
    fn a_calm_table_is_read_once_an_interval() {
        let longest = Duration::from_millis(800);
        let pauses: Vec<_> = (0..6).map(|quiet| pause(longest, quiet).as_millis()).collect();
        assert_eq!(pauses, [100, 200, 400, 800, 800, 800]);
    }
}

//! Which endpoint to try next, and when.

use std::time::Duration;

use backon::{BackoffBuilder, ExponentialBackoff, ExponentialBuilder};
use tokio::time::Instant;

use crate::{
    client::Settings,
    connections::{Connection, Connections},
    error::{NoAgent, Trouble},
};

/// The least time that a try to reach an agent is given.
const WORTH_A_TRY: Duration = Duration::from_millis(50);

/// Tries the endpoints in turn. Between endpoints of one round it pauses only for a moment, after a
/// round longer and longer; every pause is jittered, since many clients lose one agent together.
pub(crate) struct Attempts {
    connections: Connections,
    slot: usize,
    failures: usize,
    last: Vec<Option<Trouble>>,
    rng: fastrand::Rng,
    min_pause: Duration,
    max_pause: Duration,
    backoff: ExponentialBackoff,
}

impl Attempts {
    pub(crate) fn new(connections: Connections, settings: &Settings) -> Self {
        let mut rng = match settings.seed {
            Some(seed) => fastrand::Rng::with_seed(seed),
            None => fastrand::Rng::new(),
        };
        let backoff = backoff(settings.min_pause, settings.max_pause, rng.u64(..));
        Self {
            slot: 0,
            failures: 0,
            last: vec![None; connections.len()],
            connections,
            rng,
            min_pause: settings.min_pause,
            max_pause: settings.max_pause,
            backoff,
        }
    }

    /// The connection to try now.
    pub(crate) fn connection(&self) -> Connection {
        self.connections.get(self.slot)
    }

    /// Takes note that `connection` failed, turns to the next endpoint, and says how long to pause.
    pub(crate) fn failed(&mut self, connection: &Connection, trouble: Trouble) -> Duration {
        if !trouble.answered {
            self.connections.discard(connection);
        }
        let round = self.last.len();
        self.last[self.slot % round] = Some(trouble);
        self.slot = (self.slot + 1) % round;
        self.failures += 1;
        if self.failures.is_multiple_of(round) {
            self.backoff.next().unwrap_or(self.max_pause)
        } else {
            self.min_pause.mul_f64(self.rng.f64())
        }
    }

    /// Takes note that time ran out before `connection` answered. What was known of its endpoint says
    /// more than that, so it stays.
    pub(crate) fn cut_off(&mut self, connection: &Connection) {
        self.connections.discard(connection);
        let slot = self.slot % self.last.len();
        self.last[slot].get_or_insert_with(|| Trouble {
            endpoint: connection.endpoint.clone(),
            reason: "no answer yet".to_owned(),
            answered: false,
        });
    }

    /// Takes note that an endpoint serves well: the next failure begins with short pauses.
    pub(crate) fn serves_well(&mut self) {
        self.failures = 0;
        self.last.fill(None);
        self.backoff = backoff(self.min_pause, self.max_pause, self.rng.u64(..));
    }

    /// What to say when giving up a search that was to last `within`.
    pub(crate) fn no_agent(&self, within: Duration) -> NoAgent {
        NoAgent { within, troubles: self.last.iter().flatten().cloned().collect() }
    }
}

/// The pause shortened so that there is time for another try before `limit`. Close to it that is no
/// longer worth it, and the pause is what it was.
pub(crate) fn in_time(pause: Duration, limit: Option<Instant>) -> Duration {
    match limit.map(|limit| limit.saturating_duration_since(Instant::now()) / 2) {
        Some(half) if half >= WORTH_A_TRY => pause.min(half),
        _ => pause,
    }
}

fn backoff(min: Duration, max: Duration, seed: u64) -> ExponentialBackoff {
    // The jitter adds up to as much again, so half of the bounds are the bounds.
    ExponentialBuilder::new()
        .with_min_delay(min)
        .with_max_delay((max / 2).max(min))
        .with_factor(2.0)
        .without_max_times()
        .with_jitter()
        .with_jitter_seed(seed)
        .build()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::endpoint::Endpoints;

    fn attempts(endpoints: &str, seed: u64) -> Attempts {
        let settings = Settings { seed: Some(seed), ..Settings::default() };
        let endpoints: Endpoints = endpoints.parse().expect("endpoints");
        Attempts::new(Connections::new(&endpoints, &settings), &settings)
    }

    fn fail(attempts: &mut Attempts) -> (String, Duration) {
        let connection = attempts.connection();
        let trouble =
            Trouble { endpoint: connection.endpoint.clone(), reason: "gone".into(), answered: false };
        let pause = attempts.failed(&connection, trouble);
        (connection.endpoint, pause)
    }

    #[tokio::test]
    async fn pauses_grow_within_their_bounds_and_start_over() {
        for seed in 0..50 {
            let mut attempts = attempts("a:1", seed);
            let pauses: Vec<_> = (0..20).map(|_| fail(&mut attempts).1).collect();
            assert!(pauses.iter().all(|p| *p >= Duration::from_millis(200)));
            assert!(pauses.iter().all(|p| *p <= Duration::from_secs(10)));
            assert!(pauses[0] < Duration::from_millis(400));
            assert!(pauses[19] >= Duration::from_secs(5));
            attempts.serves_well();
            assert!(fail(&mut attempts).1 < Duration::from_millis(400));
        }
    }

    #[tokio::test]
    async fn endpoints_take_turns_and_only_a_round_costs_a_long_pause() {
        let mut attempts = attempts("a:1,b:2", 7);
        let tries: Vec<_> = (0..12).map(|_| fail(&mut attempts)).collect();
        for (at, (endpoint, pause)) in tries.iter().enumerate() {
            let (name, first_of_round) = [("http://a:1", true), ("http://b:2", false)][at % 2];
            assert_eq!(endpoint, name);
            if first_of_round {
                assert!(*pause < Duration::from_millis(200));
            } else {
                assert!(*pause >= Duration::from_millis(200));
            }
        }
        let error = attempts.no_agent(Duration::from_millis(29_999)).to_string();
        assert!(error.contains("http://a:1: gone\n  http://b:2: gone\n"), "{error}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_pause_leaves_time_for_a_last_try() {
        let long = Duration::from_secs(10);
        let limit = |millis| Some(Instant::now() + Duration::from_millis(millis));
        assert_eq!(in_time(long, None), long);
        assert_eq!(in_time(long, limit(60_000)), long);
        assert_eq!(in_time(long, limit(8_000)), Duration::from_secs(4));
        assert_eq!(in_time(long, limit(99)), long);
        assert_eq!(in_time(Duration::ZERO, limit(8_000)), Duration::ZERO);
    }

    #[tokio::test]
    async fn the_same_seed_gives_the_same_pauses() {
        let pauses = |seed| {
            let mut attempts = attempts("a:1,b:2", seed);
            (0..9).map(|_| fail(&mut attempts).1).collect::<Vec<_>>()
        };
        assert_eq!(pauses(1), pauses(1));
        assert_ne!(pauses(1), pauses(2));
    }
}

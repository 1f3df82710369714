//! Time and chance, passed in so that a test decides them.

use std::sync::Mutex;

use asset_core::version::Millis;

/// Tells the time.
pub trait Clock: Send + Sync + 'static {
    /// Milliseconds since the Unix epoch.
    fn now(&self) -> Millis;
}

/// The system's clock.
#[derive(Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[allow(clippy::disallowed_methods)] // The one place that asks the system.
    fn now(&self) -> Millis {
        let since_epoch = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        since_epoch.map_or(0, |elapsed| i64::try_from(elapsed.as_millis()).unwrap_or(i64::MAX))
    }
}

/// A source of random numbers that many tasks share.
#[derive(Debug)]
pub struct Chance(Mutex<fastrand::Rng>);

impl Chance {
    /// A generator that starts from `seed`.
    pub fn new(seed: u64) -> Self {
        Self(Mutex::new(fastrand::Rng::with_seed(seed)))
    }

    /// A generator that no other process has the like of.
    pub fn from_system() -> Self {
        Self(Mutex::new(fastrand::Rng::new()))
    }

    /// A number in `0.0..1.0`.
    pub fn fraction(&self) -> f64 {
        self.with(fastrand::Rng::f64)
    }

    /// A new version 4 UUID in its usual form.
    pub fn uuid(&self) -> String {
        let bytes = self.with(|rng| rng.u128(..)).to_be_bytes();
        uuid::Builder::from_random_bytes(bytes).into_uuid().to_string()
    }

    fn with<T>(&self, draw: impl FnOnce(&mut fastrand::Rng) -> T) -> T {
        let mut rng = self.0.lock().unwrap_or_else(|broken| broken.into_inner());
        draw(&mut rng)
    }
}

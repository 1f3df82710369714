//! The entrance: which agents, and how patient.

use std::{fmt, sync::Arc, time::Duration};

use crate::{
    attempts::Attempts,
    connections::Connections,
    endpoint::Endpoints,
    error::Trouble,
    wait::{Wait, WaitRequest},
    watch::Watch,
};

/// How patient a client is.
#[derive(Debug, Clone)]
pub struct Settings {
    /// How long a call, or the start of a stream, tries while no agent answers.
    pub connect_timeout: Duration,
    /// How long one try to connect may take.
    pub try_timeout: Duration,
    /// How long a call, or the first message of a stream, may take before it counts as dead.
    pub answer_timeout: Duration,
    /// How long a stream may be silent before it counts as dead: three of the agent's heartbeats.
    pub silence_timeout: Duration,
    /// Shortest pause after a round through all endpoints failed.
    pub min_pause: Duration,
    /// Longest pause after a round through all endpoints failed.
    pub max_pause: Duration,
    /// Fixes the jitter of the pauses. `None`: a seed of its own for each call and stream.
    pub seed: Option<u64>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            connect_timeout: Duration::from_secs(30),
            try_timeout: Duration::from_secs(5),
            answer_timeout: Duration::from_secs(10),
            silence_timeout: Duration::from_secs(45),
            min_pause: Duration::from_millis(200),
            max_pause: Duration::from_secs(10),
            seed: None,
        }
    }
}

/// A client of the agents at some endpoints. Clones share their connections: any number of waits and
/// calls of one client go over one connection to an endpoint.
#[derive(Clone)]
pub struct Client {
    pub(crate) connections: Connections,
    pub(crate) settings: Arc<Settings>,
    on_trouble: Arc<dyn Fn(&Trouble) + Send + Sync>,
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("settings", &self.settings).finish_non_exhaustive()
    }
}

impl Client {
    /// A client that has not connected yet; it does when something is asked of it.
    pub fn new(endpoints: &Endpoints, settings: Settings) -> Self {
        Self {
            connections: Connections::new(endpoints, &settings),
            settings: Arc::new(settings),
            on_trouble: Arc::new(|_| {}),
        }
    }

    /// The same client, which tells `on_trouble` of each fault of a call that it then tries again.
    /// Streams tell of theirs as events.
    #[must_use]
    pub fn on_trouble(mut self, on_trouble: impl Fn(&Trouble) + Send + Sync + 'static) -> Self {
        self.on_trouble = Arc::new(on_trouble);
        self
    }

    /// Waits until conditions hold. The wait begins when its first event is asked for.
    pub fn wait(&self, request: WaitRequest) -> Wait {
        Wait::new(self.clone(), request)
    }

    /// Watches the assets that match one of `keys` (`*` inside a segment, `**` across them), all of
    /// them when there is none.
    pub fn watch(&self, keys: Vec<String>) -> Watch {
        Watch::new(self.clone(), keys)
    }

    pub(crate) fn attempts(&self) -> Attempts {
        Attempts::new(self.connections.clone(), &self.settings)
    }

    pub(crate) fn tell(&self, trouble: &Trouble) {
        (self.on_trouble)(trouble);
    }
}

//! One shared connection to each endpoint.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tonic::transport::{Channel, Endpoint};

use crate::{
    client::Settings,
    endpoint::{Endpoints, text_of},
};

/// How often a connection is asked for a sign of life, and how long it has to give one. Together
/// less than what a silent stream is given, so that a dead connection is known by then.
const KEEP_ALIVE_INTERVAL: Duration = Duration::from_secs(15);
const KEEP_ALIVE_TIMEOUT: Duration = Duration::from_secs(10);

/// Connections to the endpoints, made when first used and shared by all clones.
#[derive(Clone)]
pub(crate) struct Connections(Arc<[Slot]>);

struct Slot {
    text: String,
    endpoint: Endpoint,
    current: Mutex<Current>,
}

#[derive(Default)]
struct Current {
    number: u64,
    channel: Option<Channel>,
}

/// A connection to use, and which one it is.
#[derive(Clone)]
pub(crate) struct Connection {
    pub(crate) endpoint: String,
    pub(crate) channel: Channel,
    slot: usize,
    number: u64,
}

impl Connections {
    pub(crate) fn new(endpoints: &Endpoints, settings: &Settings) -> Self {
        let slot = |uri: &tonic::transport::Uri| Slot {
            text: text_of(uri),
            endpoint: Endpoint::from(uri.clone())
                .connect_timeout(settings.try_timeout)
                .tcp_nodelay(true)
                .http2_keep_alive_interval(KEEP_ALIVE_INTERVAL)
                .keep_alive_timeout(KEEP_ALIVE_TIMEOUT)
                .keep_alive_while_idle(true),
            current: Mutex::default(),
        };
        Self(endpoints.uris().iter().map(slot).collect())
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// The connection to the endpoint at `slot` (counted round), which connects when it is used.
    pub(crate) fn get(&self, slot: usize) -> Connection {
        let slot = slot % self.0.len();
        let at = &self.0[slot];
        let mut current = at.lock();
        let channel = current.channel.get_or_insert_with(|| at.endpoint.connect_lazy()).clone();
        Connection { endpoint: at.text.clone(), channel, slot, number: current.number }
    }

    /// Makes the next use of this endpoint connect anew: the connection is broken, or it no longer
    /// answers and may be half open. Those who still use it keep it.
    pub(crate) fn discard(&self, connection: &Connection) {
        let mut current = self.0[connection.slot].lock();
        // Somebody else may have replaced it already; that one is not known to be bad.
        if current.number == connection.number {
            current.number += 1;
            current.channel = None;
        }
    }
}

impl Slot {
    fn lock(&self) -> MutexGuard<'_, Current> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

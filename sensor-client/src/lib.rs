//! Client of the asset agent: waits for conditions on assets, watches their states, and asks for
//! them. It finds an agent among several, comes back after every fault, and takes up where it was.
//!
//! [`Client`] is the entrance. [`Wait`] and [`Watch`] are pulled with `next`; nothing runs between
//! two calls, so a slow caller holds back its stream and nothing piles up here.

mod attempts;
mod calls;
mod client;
mod connections;
mod deadline;
mod endpoint;
mod error;
mod stream;
#[cfg(test)]
#[allow(dead_code, reason = "the command's tests use it too, and other parts of it")]
mod testing;
mod wait;
mod watch;

pub use client::{Client, Settings};
pub use deadline::Deadline;
pub use endpoint::{DEFAULT_ENDPOINT, Endpoints, EndpointsError};
pub use error::{Error, NoAgent, Refusal, Trouble};
pub use wait::{Wait, WaitEvent, WaitRequest};
pub use watch::{Watch, WatchEvent};

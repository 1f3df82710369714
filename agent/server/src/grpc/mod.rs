//! The gRPC services: messages in, the engine's functions, messages out.

mod assets;
mod convert;
mod dependencies;
mod events;
mod language;
mod refuse;
mod report;
mod request;

pub use assets::Assets;
pub use dependencies::Dependencies;
pub use events::{Events, MAX_CALL_BYTES};

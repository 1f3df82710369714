//! The gRPC services: messages in, the engine's functions, messages out.

mod assets;
mod convert;
mod dependencies;
mod refuse;
mod request;

pub use assets::Assets;
pub use dependencies::Dependencies;

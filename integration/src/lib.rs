//! What end-to-end tests, benches and the quickstart stand on: real table writers, real agent
//! processes, real command line clients.
//!
//! Nothing here depends on the agent's crates: it is met from outside, as its users meet it.

// Tests measure real time; the agent's own crates are handed a clock.
#![allow(clippy::disallowed_methods)]

pub mod agent;
pub mod binaries;
pub mod command;
pub mod config;
pub mod deadline;
pub mod grpcurl;
pub mod http;
pub mod ports;
pub mod postgres;
pub mod scene;
pub mod server;
pub mod stored;
pub mod tools;
pub mod writer;

//! What the asset agent means, without what it runs on: keys, versions, the version log and its
//! fold, conditions and their evaluation.
//!
//! Pure: no IO, no clock, no randomness, no logging. Time comes in as an argument, and everything
//! here can be replayed.

pub mod asset;
pub mod baseline;
pub mod change;
pub mod condition;
pub mod evaluate;
pub mod event;
pub mod facts;
pub mod invariant;
pub mod key;
pub mod log;
pub mod reason;
pub mod report;
pub mod statement;
pub mod time;
pub mod version;
pub mod words;

#[cfg(test)]
mod samples;

//! `asset-sensor`: waits for conditions on assets and shows what the agent knows of them.

mod cli;

use std::{process::ExitCode, time::SystemTime};

use clap::Parser;

fn main() -> ExitCode {
    #[expect(clippy::disallowed_methods, reason = "the clock that everything else is handed")]
    let clock = SystemTime::now;
    cli::run(cli::Cli::parse(), clock)
}

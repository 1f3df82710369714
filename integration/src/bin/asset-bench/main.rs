//! `asset-bench`: how fast the agent is, each figure beside a baseline taken in the same run. It reports
//! and never fails for a figure; what it reports is for people to judge.

// It measures real time.
#![allow(clippy::disallowed_methods)]

mod baseline;
mod client;
mod commit_to_ready;
mod fan_out;
mod figures;
mod ingest;
mod rig;

use std::env;

use anyhow::{Result, bail};

const USAGE: &str = "\
asset-bench [all | commit-to-ready | fan-out | ingest]

  commit-to-ready  a commit on disk until the waiting client has READY: 100 tables, 1 s scan
  fan-out          a poll's hand-over until 1,000 waiting clients have READY
  ingest           reports until they are on disk, SQLite and (under scripts/with-postgres) PostgreSQL";

#[tokio::main]
async fn main() -> Result<()> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        [] | ["all"] => {
            commit_to_ready::run().await?;
            fan_out::run().await?;
            ingest::run().await
        }
        ["commit-to-ready"] => commit_to_ready::run().await,
        ["fan-out"] => fan_out::run().await,
        ["ingest"] => ingest::run().await,
        [baseline::COMMAND, folder, address] => baseline::serve(folder.as_ref(), address.parse()?).await,
        ["help" | "-h" | "--help"] => {
            figures::say(USAGE);
            Ok(())
        }
        _ => bail!("unknown arguments\n\n{USAGE}"),
    }
}

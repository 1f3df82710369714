//! `asset-agent`: reads lakehouse tables, and tells whoever waits for them when they are ready.

mod assembly;
mod config;
mod grpc;
mod http;
mod logs;
mod metrics;
mod serve;

use std::{io::Write, path::PathBuf, process::ExitCode};

use anyhow::Result;
use clap::{Parser, Subcommand};

/// A release to a thousand waits allocates on one thread and frees on another: with the system's
/// allocator that took a quarter of its time.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The asset agent for Apache DolphinScheduler.
#[derive(Parser)]
#[command(version, about, long_about = LONG_ABOUT)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

const LONG_ABOUT: &str = "\
The asset agent for Apache DolphinScheduler.

It reads the metadata of lakehouse tables, keeps what it saw in a database, decides which waiting \
tasks are ready, and tells them at once, over gRPC.

Every setting can also come from the environment: ASSET_AGENT__SERVER__LISTEN sets server.listen.";

#[derive(Subcommand)]
enum Command {
    /// Run the agent until SIGTERM or SIGINT.
    Serve(Source),
    /// Read the configuration, reach the database and every catalog; one line each, exit 1 if one fails.
    Check(Source),
}

#[derive(clap::Args)]
struct Source {
    /// YAML file with the settings; all of them have defaults.
    #[arg(long, value_name = "FILE", env = "ASSET_AGENT_CONFIG")]
    config: Option<PathBuf>,
}

impl Source {
    fn load(&self) -> Result<config::Config> {
        Ok(config::load(self.config.as_deref(), std::env::vars())?)
    }
}

#[tokio::main]
async fn main() -> ExitCode {
    let outcome = match Cli::parse().command {
        Command::Serve(source) => serve(&source).await,
        Command::Check(source) => check(&source).await,
    };
    outcome.unwrap_or_else(|error| {
        // Standard error may be closed; the exit code says it all the same.
        let _ = writeln!(std::io::stderr(), "asset-agent: {}", told(&error));
        ExitCode::FAILURE
    })
}

async fn serve(source: &Source) -> Result<ExitCode> {
    let config = source.load()?;
    logs::start(&config.log)?;
    serve::run(config).await?;
    Ok(ExitCode::SUCCESS)
}

async fn check(source: &Source) -> Result<ExitCode> {
    let config = source.load()?;
    let mut out = std::io::stdout();
    let mut code = ExitCode::SUCCESS;
    writeln!(out, "ok    configuration")?;
    for check in assembly::check(&config).await {
        match check.outcome {
            Ok(found) => writeln!(out, "ok    {}: {found}", check.subject)?,
            Err(error) => {
                writeln!(out, "FAIL  {}: {}", check.subject, told(&error))?;
                code = ExitCode::FAILURE;
            }
        }
    }
    Ok(code)
}

/// An error with its causes in one line. Some name their cause themselves: it is not said twice.
fn told(error: &anyhow::Error) -> String {
    let mut text = String::new();
    for cause in error.chain().map(ToString::to_string) {
        if text.is_empty() {
            text = cause;
        } else if !text.contains(&cause) {
            text = format!("{text}: {cause}");
        }
    }
    text
}

//! The log, on standard error.

use std::io::IsTerminal;

use anyhow::{Context, Result};
use tracing_subscriber::EnvFilter;

use crate::config::{Log, LogFormat};

/// Starts logging as configured.
pub fn start(log: &Log) -> Result<()> {
    let level = log.level.as_deref().unwrap_or("info");
    let filter = EnvFilter::try_new(level)
        .with_context(|| format!("`log.level`: `{level}` is no level and no list of directives"))?;
    let subscriber = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal());
    match log.format {
        LogFormat::Text => subscriber.init(),
        LogFormat::Json => subscriber.json().flatten_event(true).with_current_span(false).init(),
    }
    Ok(())
}

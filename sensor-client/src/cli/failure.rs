//! How a command ends when it does not end well.

use std::io::{self, Write};

use asset_sensor::Error;

use super::live::plain_lines;

/// Why a command ended without its result.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The arguments or a file make no sense.
    #[error("{0}")]
    Usage(String),
    /// No agent, or one that refused.
    #[error(transparent)]
    Agent(#[from] Error),
    /// Some of what was reported was refused.
    #[error("{0}")]
    SomeRefused(String),
    /// The deadline passed.
    #[error("{0}")]
    TimedOut(String),
    /// A signal ended it.
    #[error("interrupted")]
    Interrupted,
    /// The result could not be written.
    #[error("cannot write the output: {0}")]
    Output(#[from] io::Error),
    /// The system gave us no means to work.
    #[error("cannot start: {0}")]
    System(io::Error),
}

impl Failure {
    pub fn usage(message: impl Into<String>) -> Self {
        Self::Usage(message.into())
    }

    /// The exit code that the contract has for it.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::SomeRefused(_) => 1,
            Self::Usage(_) | Self::Agent(Error::Refused(_)) => 2,
            Self::Agent(Error::NoAgent(_)) => 69,
            // As a shell shows a tool that a closed pipe ended.
            Self::Output(error) if error.kind() == io::ErrorKind::BrokenPipe => 141,
            // EX_IOERR and EX_OSERR of sysexits.h.
            Self::Output(_) => 74,
            Self::System(_) => 71,
            Self::TimedOut(_) => 124,
            Self::Interrupted => 130,
        }
    }

    /// Says on stderr what happened, where that is news.
    pub fn say(&self) {
        let quiet = match self {
            Self::Interrupted => true,
            Self::Output(error) => error.kind() == io::ErrorKind::BrokenPipe,
            _ => false,
        };
        if !quiet {
            let text = plain_lines(&self.to_string());
            // Without a stderr there is nobody to tell; the exit code still says it.
            writeln!(io::stderr(), "asset-sensor: {text}").ok();
        }
    }
}

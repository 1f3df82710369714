//! `asset-agent serve` as a real process.

use std::fs;
use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::binaries;
use crate::deadline;
use crate::http::Http;
use crate::server::{Program, Server};

/// An agent, with everything it needs in one folder. It is killed when this value is dropped.
#[derive(Debug)]
pub struct Agent {
    /// The process: to stop, kill, pause and restart it, and to read its log.
    pub server: Server,
    address: SocketAddr,
}

impl Agent {
    /// Writes `config` to the folder and starts the agent on it, its log beside it. `address` is what
    /// the configuration says in `server.listen`; see [`crate::ports::free`].
    pub fn start(folder: &Path, config: &str, address: SocketAddr) -> Result<Self> {
        let file = folder.join("agent.yaml");
        fs::write(&file, config).with_context(|| format!("cannot write {}", file.display()))?;
        let program = Program {
            path: binaries::find("asset-agent")?,
            arguments: vec!["serve".into(), "--config".into(), file.into()],
            environment: Vec::new(),
            log: folder.join("agent.log"),
        };
        Ok(Self { server: Server::start(program)?, address })
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    pub fn http(&self) -> Http {
        Http::new(self.address)
    }

    /// Waits until the agent answers that it is well, or has ended, whichever comes first.
    pub async fn wait_ready(&mut self, limit: Duration) -> Result<()> {
        let http = self.http();
        let server = &mut self.server;
        let ended = deadline::until("the agent is healthy", limit, async || {
            if let Some(status) = server.ended().transpose() {
                return Some(Some(status));
            }
            let answer = http.get("/healthz").await;
            answer.is_ok_and(|response| response.status == 200).then_some(None)
        })
        .await;
        match ended {
            Ok(None) => Ok(()),
            Ok(Some(status)) => bail!("the agent ended ({}):\n{}", status?, self.server.log()),
            Err(late) => Err(late.context(self.server.log())),
        }
    }
}

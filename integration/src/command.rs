//! The programs as a person runs them: `asset-sensor`, `asset-agent check`, an agent that won't start.

use std::net::SocketAddr;
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use rustix::process::{Pid, Signal, kill_process};
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::{Child, Command};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::binaries;

/// A program that runs. It is killed when this value is dropped.
#[derive(Debug)]
pub struct Running {
    child: Child,
    stdout: watch::Receiver<String>,
    stderr: watch::Receiver<String>,
    readers: JoinSet<()>,
}

/// How a program ended and what it wrote.
#[derive(Clone, Debug)]
pub struct Ended {
    /// Exit code; -1 when a signal ended it.
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

/// `asset-sensor --endpoint ADDRESS …`.
pub fn sensor(address: SocketAddr, arguments: &[&str]) -> Result<Running> {
    let endpoint = format!("http://{address}");
    let mut all = vec!["--endpoint", &endpoint];
    all.extend_from_slice(arguments);
    start("asset-sensor", &all)
}

/// `asset-agent …`.
pub fn agent(arguments: &[&str]) -> Result<Running> {
    start("asset-agent", arguments)
}

fn start(program: &str, arguments: &[&str]) -> Result<Running> {
    let mut command = Command::new(binaries::find(program)?);
    // What the one who runs the tests has set is none of theirs.
    for (name, _) in std::env::vars_os() {
        let name = name.to_string_lossy();
        if ["ASSET_SENSOR_", "ASSET_AGENT_", "LC_", "LANG"].iter().any(|own| name.starts_with(own)) {
            command.env_remove(name.as_ref());
        }
    }
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.kill_on_drop(true).spawn().with_context(|| format!("cannot start {program}"))?;
    let mut readers = JoinSet::new();
    let stdout = collected(child.stdout.take().context("no stdout")?, &mut readers);
    let stderr = collected(child.stderr.take().context("no stderr")?, &mut readers);
    Ok(Running { child, stdout, stderr, readers })
}

impl Running {
    /// Waits until it has written `text` to stderr.
    pub async fn says(&mut self, text: &str, limit: Duration) -> Result<()> {
        until(&mut self.stderr, text, limit).await
    }

    /// Waits until it has written `text` to stdout.
    pub async fn prints(&mut self, text: &str, limit: Duration) -> Result<()> {
        until(&mut self.stdout, text, limit).await
    }

    /// All that it has written to stderr so far.
    pub fn said(&self) -> String {
        self.stderr.borrow().clone()
    }

    /// All that it has written to stdout so far.
    pub fn printed(&self) -> String {
        self.stdout.borrow().clone()
    }

    /// Sends SIGINT, as Ctrl-C does.
    pub fn interrupt(&self) -> Result<()> {
        let id = self.child.id().context("the program has ended already")?;
        let id = Pid::from_raw(i32::try_from(id)?).context("no process has the id 0")?;
        Ok(kill_process(id, Signal::INT)?)
    }

    /// Waits for the end.
    pub async fn ended(mut self, limit: Duration) -> Result<Ended> {
        let end = async {
            let status = self.child.wait().await?;
            while self.readers.join_next().await.is_some() {}
            anyhow::Ok(status)
        };
        let Ok(status) = timeout(limit, end).await else {
            bail!("it still runs after {limit:?}; stdout:\n{}\nstderr:\n{}", self.printed(), self.said());
        };
        Ok(Ended { code: status?.code().unwrap_or(-1), stdout: self.printed(), stderr: self.said() })
    }
}

fn collected(
    mut pipe: impl AsyncRead + Unpin + Send + 'static,
    readers: &mut JoinSet<()>,
) -> watch::Receiver<String> {
    let (text, seen) = watch::channel(String::new());
    readers.spawn(async move {
        let mut bytes = Vec::new();
        while pipe.read_buf(&mut bytes).await.is_ok_and(|read| read > 0) {
            text.send_replace(String::from_utf8_lossy(&bytes).into_owned());
        }
    });
    seen
}

async fn until(pipe: &mut watch::Receiver<String>, text: &str, limit: Duration) -> Result<()> {
    let found = timeout(limit, pipe.wait_for(|all| all.contains(text))).await.map(|found| found.is_ok());
    match found {
        Ok(true) => Ok(()),
        Ok(false) => bail!("the program ended without `{text}`:\n{}", *pipe.borrow()),
        Err(_) => bail!("no `{text}` within {limit:?}:\n{}", *pipe.borrow()),
    }
}

//! A server as a process of its own: started, stopped, killed and started again.

use std::ffi::OsString;
use std::fs::OpenOptions;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use rustix::process::{Pid, Signal, kill_process};
use tokio::process::{Child, Command};
use tokio::time::timeout;

/// What to run: a program, its arguments and environment, and the file that gets all its output.
#[derive(Clone, Debug)]
pub struct Program {
    pub path: PathBuf,
    pub arguments: Vec<OsString>,
    pub environment: Vec<(OsString, OsString)>,
    pub log: PathBuf,
}

/// A program that runs, or has run. The process is killed when this value is dropped.
#[derive(Debug)]
pub struct Server {
    program: Program,
    child: Child,
}

impl Server {
    pub fn start(program: Program) -> Result<Self> {
        let child = spawn(&program)?;
        Ok(Self { program, child })
    }

    /// Starts the same program again. It must have ended.
    pub fn start_again(&mut self) -> Result<()> {
        if self.child.try_wait()?.is_none() {
            bail!("{} still runs", self.program.path.display());
        }
        self.child = spawn(&self.program)?;
        Ok(())
    }

    /// The process id; none once it has ended and its end was seen.
    pub fn id(&self) -> Option<u32> {
        self.child.id()
    }

    /// How the process ended, if it has.
    pub fn ended(&mut self) -> Result<Option<ExitStatus>> {
        Ok(self.child.try_wait()?)
    }

    /// Sends SIGTERM and waits for the end.
    pub async fn terminate(&mut self, limit: Duration) -> Result<ExitStatus> {
        self.signal(Signal::TERM)?;
        self.wait(limit).await
    }

    /// Sends SIGKILL and waits for the end: nothing is drained, flushed or released.
    pub async fn kill(&mut self) -> Result<ExitStatus> {
        self.signal(Signal::KILL)?;
        self.wait(Duration::from_secs(10)).await
    }

    /// Sends a signal, e.g. STOP and CONT for a process that hangs for a while.
    pub fn signal(&self, signal: Signal) -> Result<()> {
        let id = self.child.id().context("the process has ended already")?;
        let id = Pid::from_raw(i32::try_from(id)?).context("no process has the id 0")?;
        Ok(kill_process(id, signal)?)
    }

    /// Waits for the end of a process that ends by itself.
    pub async fn wait(&mut self, limit: Duration) -> Result<ExitStatus> {
        match timeout(limit, self.child.wait()).await {
            Ok(status) => Ok(status?),
            Err(_) => bail!("{} still runs after {limit:?}\n{}", self.program.path.display(), self.log()),
        }
    }

    /// Everything it wrote so far, over all its starts.
    pub fn log(&self) -> String {
        read(&self.program.log)
    }
}

fn spawn(program: &Program) -> Result<Child> {
    let log = OpenOptions::new().create(true).append(true).open(&program.log)?;
    Command::new(&program.path)
        .args(&program.arguments)
        .envs(program.environment.iter().cloned())
        .stdin(Stdio::null())
        .stdout(log.try_clone()?)
        .stderr(log)
        .kill_on_drop(true)
        .spawn()
        .with_context(|| format!("cannot start {}", program.path.display()))
}

fn read(path: &Path) -> String {
    std::fs::read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default()
}

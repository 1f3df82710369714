//! Table writers: the formats' own libraries, each in a process that is told what to do by JSON lines.
//!
//! They are the oracle. What lies in a table afterwards is what real jobs leave there.

mod calls;
mod types;

use std::fs::File;
use std::path::Path;
use std::process::Stdio;

use anyhow::{Context, Result, bail};
use serde_json::{Map, Value};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::sync::Mutex;

pub use types::{Commit, NewTable, SnapshotReport};

use crate::tools;

const NOISE: &str = "stderr.log";

/// A running writer. Its requests are done one after another: for commits at the same time, start
/// several on one warehouse. The process is killed when this value is dropped.
#[derive(Debug)]
pub struct Writer {
    // Held over a whole exchange: an answer belongs to the request before it.
    lines: Mutex<Exchange>,
    _child: Child,
    /// For what the library spills and logs. It is removed after the process was killed.
    scratch: TempDir,
}

#[derive(Debug)]
struct Exchange {
    requests: ChildStdin,
    answers: Lines<BufReader<ChildStdout>>,
    last_id: u64,
}

impl Writer {
    /// pypaimon: quick to start and to commit; no watermarks, no compaction, no expiry.
    pub async fn pypaimon(warehouse: &Path) -> Result<Self> {
        let mut command = Command::new(tools::python()?);
        command.arg(tools::here().join("writers/paimon_writer.py")).arg(warehouse);
        Self::start(command, TempDir::new()?).await
    }

    /// The Java library: everything that Flink and Spark jobs do, through the same code.
    pub async fn paimon_java(warehouse: &Path) -> Result<Self> {
        let file = tools::paimon_java()?;
        let class_path = std::fs::read_to_string(&file)?;
        let scratch = TempDir::new()?;
        let mut command = Command::new("java");
        command
            .current_dir(file.parent().context("the class path file lies in no folder")?)
            // It lives for one test: what it compiled would be thrown away.
            .args(["-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"])
            .arg(format!("-Djava.io.tmpdir={}", scratch.path().display()))
            .args(["-cp", class_path.trim(), "asset.integration.paimon.Main"])
            .arg(std::path::absolute(warehouse)?);
        Self::start(command, scratch).await
    }

    async fn start(mut command: Command, scratch: TempDir) -> Result<Self> {
        let noise = File::create(scratch.path().join(NOISE))?;
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(noise)
            .kill_on_drop(true)
            .spawn()
            .with_context(|| format!("cannot start {:?}", command.as_std().get_program()))?;
        let requests = child.stdin.take().context("the writer has no stdin")?;
        let answers = BufReader::new(child.stdout.take().context("the writer has no stdout")?).lines();
        let lines = Mutex::new(Exchange { requests, answers, last_id: 0 });
        let writer = Self { lines, _child: child, scratch };
        writer.call("hello", Map::new()).await?;
        Ok(writer)
    }

    /// One request and its answer, for operations that have no method here.
    pub async fn call(&self, op: &str, mut request: Map<String, Value>) -> Result<Map<String, Value>> {
        let mut exchange = self.lines.lock().await;
        exchange.last_id += 1;
        let id = exchange.last_id;
        request.insert("id".to_owned(), id.into());
        request.insert("op".to_owned(), op.into());
        let mut line = serde_json::to_string(&request)?;
        line.push('\n');
        let sent = exchange.requests.write_all(line.as_bytes()).await;
        sent.with_context(|| format!("{op}: the writer is gone\n{}", self.noise()))?;
        loop {
            let line = exchange.answers.next_line().await?;
            let line = line.with_context(|| format!("{op}: the writer died\n{}", self.noise()))?;
            let answer: Map<String, Value> =
                serde_json::from_str(&line).with_context(|| format!("{op}: no answer is {line}"))?;
            // An older answer is left over from a call that was given up.
            if answer.get("id").and_then(Value::as_u64) != Some(id) {
                continue;
            }
            if answer.get("ok").and_then(Value::as_bool) != Some(true) {
                bail!(
                    "{op}: {}",
                    answer.get("error").and_then(Value::as_str).unwrap_or("refused without a word")
                );
            }
            return Ok(answer);
        }
    }

    /// What the library logged: it goes into the error when the process dies.
    fn noise(&self) -> String {
        std::fs::read_to_string(self.scratch.path().join(NOISE)).unwrap_or_default()
    }
}

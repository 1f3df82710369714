//! grpcurl against a server with reflection, as a person at a terminal uses it.

use std::io::{Seek, Write};
use std::net::SocketAddr;
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::Value;
use tokio::io::AsyncReadExt;
use tokio::process::{Child, ChildStdout, Command};
use tokio::time::timeout;

use crate::tools;

/// Longer than any unary call of a test takes.
const LIMIT: Duration = Duration::from_secs(30);

/// A server, and the headers that every call carries.
#[derive(Clone, Debug)]
pub struct Grpcurl {
    address: SocketAddr,
    headers: Vec<String>,
}

/// How one run of grpcurl ended. A gRPC status makes the exit code 64 + the status code.
#[derive(Clone, Debug)]
pub struct Outcome {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Outcome {
    /// The messages that it printed.
    pub fn messages(&self) -> Result<Vec<Value>> {
        if self.code != 0 {
            bail!("grpcurl ended with {}: {}", self.code, self.stderr);
        }
        let messages = serde_json::Deserializer::from_str(&self.stdout).into_iter().collect::<Result<_, _>>();
        messages.with_context(|| self.stdout.clone())
    }
}

impl Grpcurl {
    pub fn new(address: SocketAddr) -> Self {
        Self { address, headers: Vec::new() }
    }

    /// E.g. `authorization: Bearer TOKEN`.
    pub fn header(mut self, header: impl Into<String>) -> Self {
        self.headers.push(header.into());
        self
    }

    /// `list`, `describe SYMBOL` and what else has no request.
    pub async fn ask(&self, arguments: &[&str]) -> Result<Outcome> {
        let mut command = self.command(&[])?;
        command.args(arguments);
        run(command).await
    }

    /// Calls a method, e.g. `asset.v1.AssetService/GetAsset`, and waits for its end.
    pub async fn call(&self, method: &str, request: &Value) -> Result<Outcome> {
        // A large request has no room among the arguments.
        let mut input = tempfile::tempfile()?;
        input.write_all(request.to_string().as_bytes())?;
        input.rewind()?;
        let mut command = self.command(&["-d", "@"])?;
        command.arg(method).stdin(input);
        run(command).await
    }

    /// Calls a method that streams; its messages are read as they come.
    pub fn stream(&self, method: &str, request: &Value) -> Result<Stream> {
        let mut command = self.command(&["-d", &request.to_string()])?;
        command.arg(method);
        let mut child = command.spawn()?;
        let stdout = child.stdout.take().context("grpcurl has no stdout")?;
        Ok(Stream { child, stdout, read: Vec::new() })
    }

    fn command(&self, options: &[&str]) -> Result<Command> {
        let mut command = Command::new(tools::grpcurl()?);
        command.arg("-plaintext");
        for header in &self.headers {
            command.args(["-H", header]);
        }
        command.args(options).arg(self.address.to_string());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        Ok(command)
    }
}

async fn run(mut command: Command) -> Result<Outcome> {
    let output = timeout(LIMIT, command.output());
    let output = output.await.with_context(|| format!("grpcurl took longer than {LIMIT:?}"))??;
    Ok(Outcome {
        code: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8(output.stdout)?,
        stderr: String::from_utf8(output.stderr)?,
    })
}

/// A streaming call. grpcurl is killed when this value is dropped, which cancels the call.
#[derive(Debug)]
pub struct Stream {
    child: Child,
    stdout: ChildStdout,
    read: Vec<u8>,
}

impl Stream {
    /// The next message; none when the server ended the stream.
    pub async fn next(&mut self, limit: Duration) -> Result<Option<Value>> {
        timeout(limit, self.message()).await.with_context(|| format!("no message came within {limit:?}"))?
    }

    /// Waits for the end of the stream. What was not read of it is in `stdout`.
    pub async fn end(mut self, limit: Duration) -> Result<Outcome> {
        let rest = async {
            let mut stderr = String::new();
            let mut pipe = self.child.stderr.take().context("grpcurl has no stderr")?;
            tokio::try_join!(self.stdout.read_to_end(&mut self.read), pipe.read_to_string(&mut stderr))?;
            let status = self.child.wait().await?;
            anyhow::Ok((status, stderr))
        };
        let ended = timeout(limit, rest).await;
        let (status, stderr) =
            ended.with_context(|| format!("the stream did not end within {limit:?}"))??;
        Ok(Outcome { code: status.code().unwrap_or(-1), stdout: String::from_utf8(self.read)?, stderr })
    }

    async fn message(&mut self) -> Result<Option<Value>> {
        loop {
            // Messages are printed over many lines, one after another.
            let mut messages = serde_json::Deserializer::from_slice(&self.read).into_iter::<Value>();
            match messages.next() {
                Some(Ok(message)) => {
                    let used = messages.byte_offset();
                    self.read.drain(..used);
                    return Ok(Some(message));
                }
                Some(Err(error)) if !error.is_eof() => {
                    bail!("not JSON: {}", String::from_utf8_lossy(&self.read));
                }
                Some(Err(_)) | None => {}
            }
            // Cancelled here, nothing is lost: what was read is kept.
            if self.stdout.read_buf(&mut self.read).await? == 0 {
                return Ok(None);
            }
        }
    }
}

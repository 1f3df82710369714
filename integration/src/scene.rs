//! An agent with a warehouse, in a folder that goes with them: what most tests begin with.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::agent::Agent;
use crate::command::{self, Running};
use crate::grpcurl::Grpcurl;
use crate::{config, deadline, ports};

/// Longer than anything takes on a busy machine.
pub const SOON: Duration = Duration::from_secs(30);

/// The agent is killed, and the folder removed, when this value is dropped.
#[derive(Debug)]
pub struct Scene {
    pub agent: Agent,
    pub warehouse: PathBuf,
    pub database: PathBuf,
    pub folder: TempDir,
}

impl Scene {
    /// With the configuration of [`config::of`].
    pub async fn start() -> Result<Self> {
        Self::start_with(|_| {}).await
    }

    /// With what `change` makes of that configuration.
    pub async fn start_with(change: impl FnOnce(&mut Value)) -> Result<Self> {
        let folder = TempDir::new()?;
        let warehouse = folder.path().join("warehouse");
        std::fs::create_dir(&warehouse)?;
        let database = folder.path().join("agent.db");
        let address = ports::free()?;
        let mut config = config::of(address, &database, &warehouse);
        change(&mut config);
        let mut agent = Agent::start(folder.path(), &config.to_string(), address)?;
        agent.wait_ready(SOON).await?;
        Ok(Self { agent, warehouse, database, folder })
    }

    pub fn address(&self) -> SocketAddr {
        self.agent.address()
    }

    pub fn grpcurl(&self) -> Grpcurl {
        Grpcurl::new(self.address())
    }

    /// `asset-sensor` with this agent as its endpoint.
    pub fn sensor(&self, arguments: &[&str]) -> Result<Running> {
        command::sensor(self.address(), arguments)
    }

    /// Calls a method of `asset.v1` that has one answer.
    pub async fn call(&self, method: &str, request: &Value) -> Result<Value> {
        let messages = self.grpcurl().call(&format!("asset.v1.{method}"), request).await?.messages()?;
        messages.into_iter().next().with_context(|| format!("{method} has no answer"))
    }

    /// What `GetAsset` says of an asset; none while it is unknown.
    pub async fn asset(&self, key: &str) -> Result<Option<Value>> {
        let outcome =
            self.grpcurl().call("asset.v1.AssetService/GetAsset", &json!({"asset_key": key})).await?;
        const NOT_FOUND: i32 = 64 + 5;
        if outcome.code == NOT_FOUND {
            return Ok(None);
        }
        Ok(outcome.messages()?.into_iter().next())
    }

    /// Waits until `GetAsset` says what `holds` looks for.
    pub async fn asset_until(
        &self,
        what: &str,
        key: &str,
        mut holds: impl FnMut(&Value) -> bool,
    ) -> Result<Value> {
        let mut last = None;
        let found = deadline::until(what, SOON, async || {
            last = self.asset(key).await.ok().flatten();
            last.clone().filter(&mut holds)
        });
        let found = found.await;
        found.with_context(|| format!("the last answer for {key} was {last:?}\n{}", self.agent.server.log()))
    }

    /// Waits until the newest snapshot of an asset is this one.
    pub async fn latest_is(&self, key: &str, snapshot: i64) -> Result<Value> {
        let what = format!("the latest snapshot is {snapshot}");
        self.asset_until(&what, key, |answer| latest(answer) == Some(snapshot)).await
    }

    /// Waits until reading the table of an asset fails, and says why.
    pub async fn read_error(&self, key: &str) -> Result<String> {
        let failing = |answer: &Value| answer["source"]["error"].is_string();
        let answer = self.asset_until("reading it fails", key, failing).await?;
        Ok(answer["source"]["error"].as_str().unwrap_or_default().to_owned())
    }

    /// Waits until the agent has read the table anew, whatever it found.
    pub async fn is_read_again(&self, key: &str) -> Result<Value> {
        let answer = self.asset(key).await?;
        let before = answer.map(|answer| answer["source"]["lastRead"].clone()).unwrap_or_default();
        let other = |answer: &Value| answer["source"]["lastRead"] != before;
        self.asset_until("it is read again", key, other).await
    }
}

/// The newest snapshot in an answer of `GetAsset`.
pub fn latest(answer: &Value) -> Option<i64> {
    int(&answer["state"]["latest"]["snapshotId"])
}

/// The newest snapshot with data in an answer of `GetAsset`.
pub fn latest_data(answer: &Value) -> Option<i64> {
    int(&answer["state"]["latestData"]["snapshotId"])
}

/// A 64-bit number as JSON of Protocol Buffers writes it: as text.
pub fn int(value: &Value) -> Option<i64> {
    value.as_str()?.parse().ok()
}

/// The pins in a message, as (asset key, snapshot).
pub fn pins(message: &Value) -> Result<Vec<(String, i64)>> {
    let pinned = message["pinned"].as_array().with_context(|| format!("no pins in {message}"))?;
    let pin = |pin: &Value| match (pin["assetKey"].as_str(), int(&pin["snapshotId"])) {
        (Some(key), Some(snapshot)) => Ok((key.to_owned(), snapshot)),
        _ => bail!("no pin is {pin}"),
    };
    pinned.iter().map(pin).collect()
}

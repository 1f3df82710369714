//! The quickstart: the main job, shown on real parts. An agent, a Paimon table written by pypaimon, a
//! sensor that waits for it, a commit, and the whole once more with the agent killed in between.
//!
//! On a terminal the agent then stays until Ctrl-C, so that README's tour can be walked; `--stay` and
//! `--leave` say so without one.

// It shows real time passing.
#![allow(clippy::disallowed_methods)]

use std::{
    env,
    io::{self, IsTerminal, Write},
    net::{Ipv4Addr, SocketAddr, TcpListener},
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};

use anyhow::{Context, Result, bail};
use asset_integration::{
    agent::Agent,
    binaries, ports,
    writer::{NewTable, Writer},
};
use tokio::{
    io::{AsyncBufReadExt, BufReader},
    process::{Child, ChildStderr, Command},
    time::timeout,
};

const TABLE: &str = "ods.orders";
const KEY: &str = "paimon://ods/orders";
/// The agent's usual port, where it is free: then the tour's commands need no address.
const USUAL: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 50061);
/// Longer than anything here takes on a slow machine.
const PATIENCE: Duration = Duration::from_secs(60);

#[tokio::main]
async fn main() -> Result<()> {
    let stay = match env::args().nth(1).as_deref() {
        None => io::stdin().is_terminal() && io::stdout().is_terminal(),
        Some("--stay") => true,
        Some("--leave") => false,
        Some(other) => bail!("`{other}` is not known; expected --stay or --leave"),
    };
    let folder = folder()?;
    let warehouse = folder.join("warehouse");

    step("An agent on its embedded database, reading the Paimon warehouse");
    let (mut agent, address) = start_agent(&folder, &warehouse).await?;
    let endpoint = format!("http://{address}");
    tell(&format!("listening on {address}, configured by {}", folder.join("agent.yaml").display()));

    step("A Paimon table, written by pypaimon");
    let writer = Writer::pypaimon(&warehouse).await?;
    writer.create_database("ods").await?;
    writer.create_table(NewTable::append_only(TABLE)).await?;
    let first = writer.append(TABLE, 3).await?;
    tell(&format!("{KEY} has snapshot {}", first.snapshot_id));

    step("A sensor that waits for the next snapshot");
    let mut sensor = Sensor::start(&endpoint, first.snapshot_id + 1).await?;
    sensor.says_what_is_missing().await?;
    let second = writer.append(TABLE, 3).await?;
    tell(&format!("pypaimon commits snapshot {}", second.snapshot_id));
    sensor.released().await?;

    step("Once more, with the agent killed while the sensor waits");
    let mut sensor = Sensor::start(&endpoint, second.snapshot_id + 1).await?;
    sensor.says_what_is_missing().await?;
    agent.server.kill().await?;
    tell("agent killed (SIGKILL)");
    let third = writer.append(TABLE, 3).await?;
    tell(&format!("pypaimon commits snapshot {} while no agent runs", third.snapshot_id));
    agent.server.start_again()?;
    tell("agent started again");
    sensor.released().await?;

    if !stay {
        agent.server.terminate(PATIENCE).await?;
        step("Done. `cargo run -p asset-integration --bin quickstart -- --stay` leaves the agent running.");
        return Ok(());
    }
    step(&format!("The agent stays on {address} until Ctrl-C: README's tour begins here. To commit again:"));
    tell("$ make commit");
    tokio::signal::ctrl_c().await?;
    agent.server.terminate(PATIENCE).await?;
    Ok(())
}

/// A folder beside the programs, empty at each start.
fn folder() -> Result<PathBuf> {
    let programs = env::current_exe()?;
    let target = programs.ancestors().nth(2).context("this program lies in no target folder")?;
    let folder = target.join("quickstart");
    if folder.exists() {
        std::fs::remove_dir_all(&folder).with_context(|| format!("cannot empty {}", folder.display()))?;
    }
    std::fs::create_dir_all(folder.join("warehouse"))?;
    Ok(folder)
}

async fn start_agent(folder: &Path, warehouse: &Path) -> Result<(Agent, SocketAddr)> {
    let address = if TcpListener::bind(USUAL).is_ok() { USUAL } else { ports::free()? };
    let config = format!(
        "server: {{listen: {address}}}\n\
         database: {{url: \"sqlite://{}\"}}\n\
         catalogs:\n\
         \x20 - {{name: lake, format: paimon, warehouse: \"file://{}\", default: true, discover: true}}\n\
         dolphinscheduler:\n\
         \x20 asset-event-scheduling:\n\
         \x20   event-source: {{paimon-polling: {{interval-seconds: 1}}}}\n",
        folder.join("agent.db").display(),
        warehouse.display(),
    );
    let mut agent = Agent::start(folder, &config, address)?;
    agent.wait_ready(PATIENCE).await?;
    Ok((agent, address))
}

/// `asset-sensor wait`, its words shown as they come.
struct Sensor {
    child: Child,
    words: tokio::io::Lines<BufReader<ChildStderr>>,
}

impl Sensor {
    async fn start(endpoint: &str, min_snapshot: i64) -> Result<Self> {
        let min = min_snapshot.to_string();
        let arguments = ["wait", "--asset", KEY, "--min-snapshot", &min, "--timeout", "60s"];
        tell(&format!("$ asset-sensor {}", arguments.join(" ")));
        let mut child = Command::new(binaries::find("asset-sensor")?)
            .args(["--endpoint", endpoint])
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .context("cannot start asset-sensor")?;
        let stderr = child.stderr.take().context("the sensor has no stderr")?;
        Ok(Self { child, words: BufReader::new(stderr).lines() })
    }

    async fn says_what_is_missing(&mut self) -> Result<()> {
        loop {
            let line =
                timeout(PATIENCE, self.words.next_line()).await.context("the sensor says nothing")??;
            let line = line.context("the sensor ended before anything was committed")?;
            tell(&format!("sensor: {line}"));
            if line.contains("missing") {
                return Ok(());
            }
        }
    }

    async fn released(mut self) -> Result<()> {
        let rest = async {
            while let Some(line) = self.words.next_line().await? {
                tell(&format!("sensor: {line}"));
            }
            self.child.wait_with_output().await
        };
        let output = timeout(PATIENCE, rest).await.context("the sensor was not released")??;
        if !output.status.success() {
            bail!("the sensor failed: {}", output.status);
        }
        for line in String::from_utf8_lossy(&output.stdout).lines() {
            tell(&format!("sensor: {line}"));
        }
        tell("sensor: exit code 0");
        Ok(())
    }
}

fn step(text: &str) {
    say(&format!("\n== {text}"));
}

fn tell(text: &str) {
    say(&format!("   {text}"));
}

fn say(text: &str) {
    // Whoever closed the output does not want to read on.
    let _ = writeln!(io::stdout(), "{text}");
}

//! The configuration: what an operator can set, and what holds where nothing is set.

mod env;
mod load;

use std::{net::SocketAddr, time::Duration};

use asset_core::time::Zone;
use serde::Deserialize;

pub use load::load;

/// The whole configuration.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Config {
    /// Where the agent listens.
    pub server: Server,
    /// What it keeps things in.
    pub database: Database,
    /// What it reads.
    pub catalogs: Vec<Catalog>,
    /// Zone of dates and times in conditions that name none.
    #[serde(deserialize_with = "zone")]
    pub timezone: Zone,
    /// The RFC's settings.
    pub dolphinscheduler: DolphinScheduler,
    /// What it writes to its standard error.
    pub log: Log,
    /// What it counts.
    pub metrics: Metrics,
}

/// Where the agent listens.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Server {
    /// Address and port of gRPC and HTTP.
    pub listen: SocketAddr,
    /// Listen beyond this machine though everybody who reaches the port may then do everything.
    pub insecure: bool,
    /// Longest time that a stopping agent waits for its callers.
    #[serde(deserialize_with = "duration")]
    pub drain: Duration,
}

/// What the agent keeps things in.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Database {
    /// Such as `sqlite:///var/lib/asset-agent/agent.db`.
    pub url: String,
}

/// A catalog.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Catalog {
    /// Its name in asset keys.
    pub name: String,
    /// Its table format, such as `paimon`.
    pub format: String,
    /// Where it lies, such as `file:///data/warehouse`.
    pub warehouse: String,
    /// Whether asset keys of two segments mean it.
    #[serde(default)]
    pub default: bool,
    /// Whether every table in it is an asset.
    #[serde(default)]
    pub discover: bool,
    /// Tables that are assets in any case, as `database.table`.
    #[serde(default)]
    pub tables: Vec<String>,
}

/// The RFC's root.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct DolphinScheduler {
    /// The RFC's settings.
    pub asset_event_scheduling: Scheduling,
}

/// The RFC's settings.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Scheduling {
    /// `false`: reads and answers, but releases nothing.
    pub enabled: bool,
    /// How dependencies are evaluated.
    pub dependency_resolver: Resolver,
    /// How what was missed is found.
    pub compensation_scanner: Scanner,
    /// Where events come from.
    pub event_source: EventSource,
}

/// How reports are taken.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct PushReceiver {
    /// Whether they are.
    pub enabled: bool,
    /// Whether the first report on an asset that nobody knows registers it.
    pub register_unknown: bool,
}

/// How dependencies are evaluated.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Resolver {
    /// Longest time that one evaluation may take.
    pub resolve_timeout_seconds: u64,
}

/// How what was missed is found.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Scanner {
    /// Whether it is looked for.
    pub enabled: bool,
    /// Pause between two looks.
    pub interval_seconds: u64,
    /// How much one look takes up.
    pub batch_size: usize,
}

/// Where events come from.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct EventSource {
    /// Reading Paimon tables.
    pub paimon_polling: PaimonPolling,
    /// Reports.
    pub push_receiver: PushReceiver,
}

/// Reading Paimon tables.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct PaimonPolling {
    /// Whether they are read.
    pub enabled: bool,
    /// Longest pause between two polls of a table that somebody depends on or watches.
    pub interval_seconds: u64,
    /// Longest pause between two polls of any other table.
    pub idle_interval_seconds: u64,
    /// Pause between two looks for new tables.
    pub discover_interval_seconds: u64,
    /// Commits that one poll takes up.
    pub batch_size: usize,
}

/// What the agent writes to its standard error.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Log {
    /// `error`, `warn`, `info`, `debug`, `trace`, or directives such as `info,asset_engine=debug`.
    pub level: Option<String>,
    /// How a line looks.
    pub format: LogFormat,
}

/// How a line of the log looks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LogFormat {
    /// For people.
    #[default]
    Text,
    /// One JSON object a line.
    Json,
}

/// What the agent counts.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Metrics {
    /// So many assets have a label value of their own; the rest share `other`.
    pub asset_key_limit: usize,
}

impl Default for Server {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from(([127, 0, 0, 1], 50061)),
            insecure: false,
            drain: Duration::from_secs(10),
        }
    }
}

impl Default for Database {
    fn default() -> Self {
        Self { url: "sqlite:///var/lib/asset-agent/agent.db".to_owned() }
    }
}

impl Default for Scheduling {
    fn default() -> Self {
        Self {
            enabled: true,
            dependency_resolver: Resolver::default(),
            compensation_scanner: Scanner::default(),
            event_source: EventSource::default(),
        }
    }
}

impl Default for PushReceiver {
    fn default() -> Self {
        Self { enabled: true, register_unknown: false }
    }
}

impl Default for Resolver {
    fn default() -> Self {
        Self { resolve_timeout_seconds: 5 }
    }
}

impl Default for Scanner {
    fn default() -> Self {
        Self { enabled: true, interval_seconds: 300, batch_size: 100 }
    }
}

impl Default for PaimonPolling {
    fn default() -> Self {
        Self {
            enabled: true,
            interval_seconds: 30,
            idle_interval_seconds: 60,
            discover_interval_seconds: 30,
            batch_size: 500,
        }
    }
}

impl Default for Metrics {
    fn default() -> Self {
        Self { asset_key_limit: 1_000 }
    }
}

fn zone<'de, D: serde::Deserializer<'de>>(source: D) -> Result<Zone, D::Error> {
    Zone::parse(&String::deserialize(source)?).map_err(serde::de::Error::custom)
}

fn duration<'de, D: serde::Deserializer<'de>>(source: D) -> Result<Duration, D::Error> {
    let text = String::deserialize(source)?;
    humantime::parse_duration(&text).map_err(|_| {
        serde::de::Error::custom(format!("`{text}` is no duration; expected such as `30s` or `5m`"))
    })
}

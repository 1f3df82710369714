//! Reads the configuration: a YAML file with the environment laid over it.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};
use thiserror::Error;

use super::{Config, env};

/// A configuration that can't be used.
#[derive(Debug, Error)]
pub enum ConfigError {
    /// The file can't be read.
    #[error("the configuration {} can't be read: {source}", .path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// The file is no YAML.
    #[error("the configuration {} is no YAML: {reason}", .path.display())]
    Syntax {
        /// The file.
        path: PathBuf,
        /// Where and why.
        reason: String,
    },
    /// An environment variable leads nowhere.
    #[error(transparent)]
    Env(#[from] env::EnvError),
    /// A setting is wrong.
    #[error("{origin}: `{key}`: {reason}")]
    Setting {
        /// The file, or the environment where there is none.
        origin: String,
        /// The setting.
        key: String,
        /// What is wrong and what is right.
        reason: String,
    },
}

/// Reads and checks a configuration; without a file all that is not in the environment has its
/// default.
pub fn load(
    path: Option<&Path>,
    variables: impl IntoIterator<Item = (String, String)>,
) -> Result<Config, ConfigError> {
    let mut root = match path {
        Some(path) => read(path)?,
        None => Map::new(),
    };
    env::overlay(&mut root, variables)?;
    let origin = path.map_or("environment".to_owned(), |path| path.display().to_string());
    let wrong = |key: String, reason: String| ConfigError::Setting { origin: origin.clone(), key, reason };

    let config: Config = serde_path_to_error::deserialize(Value::Object(root)).map_err(|error| {
        let key = error.path().to_string();
        wrong(key, with_nearest(&error.inner().to_string()))
    })?;
    check(&config).map_err(|(key, reason)| wrong(key, reason))?;
    Ok(config)
}

fn read(path: &Path) -> Result<Map<String, Value>, ConfigError> {
    let text = std::fs::read_to_string(path)
        .map_err(|source| ConfigError::Unreadable { path: path.to_owned(), source })?;
    let syntax = |reason: String| ConfigError::Syntax { path: path.to_owned(), reason };
    match serde_saphyr::from_str(&text).map_err(|error| syntax(error.to_string()))? {
        Value::Object(root) => Ok(root),
        Value::Null => Ok(Map::new()),
        _ => Err(syntax("expected settings such as `server:`".to_owned())),
    }
}

/// What the types can't say.
fn check(config: &Config) -> Result<(), (String, String)> {
    let wrong = |key: &str, reason: String| Err((key.to_owned(), reason));
    let server = &config.server;
    if !server.listen.ip().is_loopback() && !server.insecure {
        let reason = format!(
            "{} is reached from other machines, and this version knows neither tokens nor TLS; listen on \
             127.0.0.1, or set `server.insecure: true` where everybody who reaches the port may do everything",
            server.listen
        );
        return wrong("server.listen", reason);
    }
    let scheduling = &config.dolphinscheduler.asset_event_scheduling;
    let polling = &scheduling.event_source.paimon_polling;
    let root = "dolphinscheduler.asset-event-scheduling";
    for (key, value) in [
        ("event-source.paimon-polling.interval-seconds", polling.interval_seconds),
        ("event-source.paimon-polling.idle-interval-seconds", polling.idle_interval_seconds),
        ("event-source.paimon-polling.discover-interval-seconds", polling.discover_interval_seconds),
        ("event-source.paimon-polling.batch-size", polling.batch_size as u64),
        ("compensation-scanner.interval-seconds", scheduling.compensation_scanner.interval_seconds),
        ("compensation-scanner.batch-size", scheduling.compensation_scanner.batch_size as u64),
    ] {
        if !(1..=86_400).contains(&value) {
            return wrong(&format!("{root}.{key}"), format!("must be between 1 and 86400, is {value}"));
        }
    }
    let timeout = scheduling.dependency_resolver.resolve_timeout_seconds;
    if !(1..=MOST_RESOLVE_SECONDS).contains(&timeout) {
        let reason = format!(
            "must be between 1 and {MOST_RESOLVE_SECONDS}, is {timeout}: a client takes a stream that says \
             nothing for 10 s for dead"
        );
        return wrong(&format!("{root}.dependency-resolver.resolve-timeout-seconds"), reason);
    }
    for (index, catalog) in config.catalogs.iter().enumerate() {
        let key = |name: &str| format!("catalogs[{index}].{name}");
        let before = &config.catalogs[..index];
        if before.iter().any(|other| other.name == catalog.name && other.format == catalog.format) {
            return wrong(
                &key("name"),
                format!("another {} catalog is called `{}`", catalog.format, catalog.name),
            );
        }
        if catalog.default && before.iter().any(|other| other.default && other.format == catalog.format) {
            let reason = format!("another {} catalog is the default already", catalog.format);
            return wrong(&key("default"), reason);
        }
        if !catalog.discover && catalog.tables.is_empty() {
            let reason = format!(
                "`{}` has neither `discover: true` nor `tables`: nothing of it would be read",
                catalog.name
            );
            return wrong(&key("discover"), reason);
        }
    }
    Ok(())
}

/// Clients wait 10 s for the first message of a stream.
const MOST_RESOLVE_SECONDS: u64 = 8;

/// Adds the nearest right name to serde's message on an unknown one.
fn with_nearest(message: &str) -> String {
    let quoted: Vec<&str> = message.split('`').skip(1).step_by(2).collect();
    let Some((unknown, known)) = quoted.split_first().filter(|_| message.starts_with("unknown ")) else {
        return message.to_owned();
    };
    let nearest = known
        .iter()
        .map(|name| (strsim::damerau_levenshtein(unknown, name), name))
        .min()
        .filter(|(distance, name)| *distance <= name.len().max(4) / 2);
    match nearest {
        Some((_, name)) => format!("{message}; did you mean `{name}`?"),
        None => message.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn loaded(yaml: &str) -> Result<Config, ConfigError> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("agent.yaml");
        std::fs::write(&path, yaml).unwrap();
        load(Some(&path), [])
    }

    fn error(yaml: &str) -> String {
        loaded(yaml).unwrap_err().to_string()
    }

    #[test]
    fn the_documented_example_is_read() {
        let config = loaded(
            "server: {listen: 127.0.0.1:50061}\n\
             database: {url: sqlite:///var/lib/asset-agent/agent.db}\n\
             catalogs:\n  - {name: lake, format: paimon, warehouse: file:///data/warehouse, default: true, discover: true}\n\
             dolphinscheduler:\n  asset-event-scheduling:\n    enabled: true\n    event-source: {paimon-polling: {enabled: true, interval-seconds: 1}}\n",
        )
        .unwrap();
        assert_eq!(config.catalogs[0].warehouse, "file:///data/warehouse");
        let polling = config.dolphinscheduler.asset_event_scheduling.event_source.paimon_polling;
        assert_eq!((polling.interval_seconds, polling.batch_size), (1, 500));
    }

    #[test]
    fn an_empty_file_is_all_defaults() {
        assert_eq!(loaded("").unwrap().server.listen.port(), 50061);
        assert!(loaded("# nothing\n").unwrap().catalogs.is_empty());
    }

    #[test]
    fn a_typo_names_the_key_and_the_nearest_right_one() {
        let text = error("catalogs: [{name: lake, format: paimon, warehose: /w, discover: true}]");
        assert!(text.contains("catalogs[0]") && text.contains("did you mean `warehouse`?"), "{text}");
        let text = error("sever: {}");
        assert!(text.contains("did you mean `server`?"), "{text}");
    }

    #[test]
    fn wrong_values_name_the_key_and_what_is_right() {
        for (yaml, parts) in [
            ("server: {listen: nowhere}", ["server.listen", "socket address"]),
            ("server: {listen: '0.0.0.0:50061'}", ["server.listen", "insecure: true"]),
            ("server: {drain: soon}", ["server.drain", "`30s`"]),
            ("log: {format: xml}", ["log.format", "json"]),
            ("timezone: Asia/Nowhere", ["timezone", "Asia/Shanghai"]),
            (
                "dolphinscheduler: {asset-event-scheduling: {event-source: {paimon-polling: {interval-seconds: 0}}}}",
                ["paimon-polling.interval-seconds", "between 1 and 86400"],
            ),
            (
                "dolphinscheduler: {asset-event-scheduling: {dependency-resolver: {resolve-timeout-seconds: 9}}}",
                ["resolve-timeout-seconds", "between 1 and 8"],
            ),
            (
                "dolphinscheduler: {asset-event-scheduling: {event-source: {paimon-polling: {interval-seconds: -1}}}}",
                ["paimon-polling.interval-seconds", "-1"],
            ),
            (
                "catalogs: [{name: l, format: paimon, warehouse: /w}]",
                ["catalogs[0].discover", "nothing of it"],
            ),
            ("catalogs: [{name: l, format: paimon, discover: true}]", ["catalogs[0]", "warehouse"]),
            ("[1, 2]", ["no YAML", "server:"]),
            ("server: {listen", ["no YAML", "line"]),
        ] {
            let text = error(yaml);
            assert!(parts.iter().all(|part| text.contains(part)), "{yaml}: {text}");
        }
    }

    #[test]
    fn a_missing_file_is_named() {
        let text = load(Some(Path::new("/nowhere/agent.yaml")), []).unwrap_err().to_string();
        assert!(text.contains("/nowhere/agent.yaml"), "{text}");
    }

    #[test]
    fn the_environment_wins() {
        let variables = [("ASSET_AGENT__SERVER__LISTEN".to_owned(), "127.0.0.1:7".to_owned())];
        assert_eq!(load(None, variables).unwrap().server.listen.port(), 7);
    }
}

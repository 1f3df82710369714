//! Puts the rooms together: the only module that knows store, sources and engine alike.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use anyhow::{Context, Result, anyhow};
use asset_core::{evaluate::Releasing, key::AssetKey};
use asset_engine::{
    CatalogEntry, Catalogs, Chance, Engine, EngineConfig, EngineParts, Observer, PollConfig, SystemClock,
};
use asset_sources::{Catalog, CatalogConfig};
use asset_store::Store;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::config::{self, Config};

/// A running engine and what has to be closed behind it.
pub struct Assembly {
    /// What the servers call.
    pub engine: Arc<Engine>,
    store: Arc<Store>,
}

impl Assembly {
    /// Opens the store and starts the engine.
    pub async fn start(
        config: &Config,
        observer: Arc<dyn Observer>,
        tasks: &mut JoinSet<()>,
        stop: &CancellationToken,
    ) -> Result<Self> {
        let catalogs = Arc::new(catalogs(config)?);
        let store = Arc::new(Store::open(&config.database.url).await?);
        let parts = EngineParts {
            config: engine_config(config),
            store: store.clone(),
            catalogs,
            clock: Arc::new(SystemClock),
            chance: Arc::new(Chance::from_system()),
            observer,
        };
        let engine = Engine::start(parts, tasks, stop).await.context("the engine can't start")?;
        Ok(Self { engine, store })
    }

    /// Waits for the engine's tasks and closes the store.
    pub async fn close_after(self, tasks: &mut JoinSet<()>) {
        drop(self.engine);
        while tasks.join_next().await.is_some() {}
        self.store.close().await;
    }
}

/// One thing that the agent needs, and whether it is there.
pub struct Check {
    /// What it is.
    pub subject: String,
    /// What is wrong with it, with the way out.
    pub outcome: Result<String>,
}

/// Reaches everything that a configuration names.
pub async fn check(config: &Config) -> Vec<Check> {
    let mut checks = Vec::new();
    let opened = Store::open(&config.database.url).await;
    let outcome = match opened {
        Ok(store) => {
            let pinged = store.ping().await;
            store.close().await;
            pinged.map(|()| "opened, tables are up to date".to_owned())
        }
        Err(error) => Err(error),
    };
    checks.push(Check {
        subject: format!("database {}", asset_store::place(&config.database.url)),
        outcome: outcome.map_err(Into::into),
    });
    for catalog in &config.catalogs {
        let outcome = async {
            let catalog = open(config, catalog)?.catalog;
            catalog.check().await?;
            let tables = catalog.discover().await?.len();
            Ok(format!("{tables} tables"))
        };
        checks.push(Check {
            subject: format!("catalog {} ({}) {}", catalog.name, catalog.format, catalog.warehouse),
            outcome: outcome.await,
        });
    }
    checks
}

fn catalogs(config: &Config) -> Result<Catalogs> {
    let entries: Result<Vec<CatalogEntry>> =
        config.catalogs.iter().map(|catalog| open(config, catalog)).collect();
    Ok(Catalogs::new(entries?))
}

fn open(config: &Config, catalog: &config::Catalog) -> Result<CatalogEntry> {
    let polling = &config.dolphinscheduler.asset_event_scheduling.event_source.paimon_polling;
    let opened = Catalog::open(CatalogConfig {
        name: catalog.name.clone(),
        format: catalog.format.clone(),
        warehouse: catalog.warehouse.clone(),
        batch_size: polling.batch_size,
    });
    let opened = opened.with_context(|| format!("catalog `{}`", catalog.name))?;
    let tables: Result<BTreeSet<AssetKey>> =
        catalog.tables.iter().map(|table| table_key(catalog, table)).collect();
    Ok(CatalogEntry {
        catalog: opened,
        default: catalog.default,
        discover: catalog.discover,
        tables: tables?,
    })
}

fn table_key(catalog: &config::Catalog, table: &str) -> Result<AssetKey> {
    let (database, name) = table
        .split_once('.')
        .ok_or_else(|| anyhow!("catalog `{}`: table `{table}`: expected `database.table`", catalog.name))?;
    AssetKey::of_table(&catalog.format, &catalog.name, database, name)
        .with_context(|| format!("catalog `{}`: table `{table}`", catalog.name))
}

fn engine_config(config: &Config) -> EngineConfig {
    let scheduling = &config.dolphinscheduler.asset_event_scheduling;
    let polling = &scheduling.event_source.paimon_polling;
    let scanner = &scheduling.compensation_scanner;
    EngineConfig {
        releasing: if scheduling.enabled { Releasing::On } else { Releasing::Paused },
        polling: polling.enabled,
        poll: PollConfig {
            interval: Duration::from_secs(polling.interval_seconds),
            idle_interval: Duration::from_secs(polling.idle_interval_seconds),
            discover_interval: Duration::from_secs(polling.discover_interval_seconds),
            ..PollConfig::default()
        },
        sweep_interval: scanner.enabled.then(|| Duration::from_secs(scanner.interval_seconds)),
        sweep_batch: scanner.batch_size,
        take_reports: scheduling.event_source.push_receiver.enabled,
        register_unknown: scheduling.event_source.push_receiver.register_unknown,
        resolve_timeout: Duration::from_secs(scheduling.dependency_resolver.resolve_timeout_seconds),
    }
}

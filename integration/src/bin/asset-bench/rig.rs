//! An agent with a warehouse, for one figure.

use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::Result;
use asset_integration::{
    agent::Agent,
    deadline, ports,
    writer::{NewTable, Writer},
};
use tempfile::TempDir;

/// Longer than any step takes.
pub const PATIENCE: Duration = Duration::from_secs(120);

pub struct Rig {
    pub agent: Agent,
    pub address: SocketAddr,
    pub writer: Writer,
    pub tables: Vec<String>,
    folder: TempDir,
}

impl Rig {
    /// So many tables with one snapshot each, all known to an agent with a 1 s scan.
    pub async fn start(tables: usize) -> Result<Self> {
        let folder = TempDir::new()?;
        let warehouse = folder.path().join("warehouse");
        std::fs::create_dir(&warehouse)?;
        let writer = Writer::pypaimon(&warehouse).await?;
        writer.create_database("ods").await?;
        let tables: Vec<String> = (0..tables).map(|number| format!("ods.t{number:03}")).collect();
        for table in &tables {
            writer.create_table(NewTable::append_only(table)).await?;
            writer.append(table, 1).await?;
        }
        let address = ports::free()?;
        let config = format!(
            "server: {{listen: {address}}}\n\
             database: {{url: \"sqlite://{}\"}}\n\
             log: {{level: warn}}\n\
             catalogs: [{{name: lake, format: paimon, warehouse: \"{}\", default: true, discover: true}}]\n\
             dolphinscheduler: {{asset-event-scheduling: {{event-source: {{paimon-polling: {{interval-seconds: 1}}}}}}}}\n",
            folder.path().join("agent.db").display(),
            warehouse.display(),
        );
        let mut agent = Agent::start(folder.path(), &config, address)?;
        agent.wait_ready(PATIENCE).await?;
        let rig = Self { agent, address, writer, tables, folder };
        rig.wait_until_read().await?;
        Ok(rig)
    }

    /// Every table's first snapshot is stored.
    async fn wait_until_read(&self) -> Result<()> {
        let wanted = self.tables.len();
        deadline::until("all tables are read", PATIENCE, async || {
            let page = self.agent.http().get("/metrics").await.ok()?;
            let read = page
                .body
                .lines()
                .filter(|line| line.starts_with("lakehouse_asset_state_updated_total"))
                .count();
            (read >= wanted).then_some(())
        })
        .await
    }

    /// The file of a snapshot.
    pub fn snapshot_file(&self, table: &str, id: i64) -> PathBuf {
        snapshot_file(&self.folder.path().join("warehouse"), table, id)
    }
}

/// The file of a snapshot of `database.table`.
fn snapshot_file(warehouse: &Path, table: &str, id: i64) -> PathBuf {
    let (database, name) = table.split_once('.').unwrap_or(("default", table));
    warehouse.join(format!("{database}.db/{name}/snapshot/snapshot-{id}"))
}

/// The key of `database.table`.
pub fn key(table: &str) -> String {
    format!("paimon://{}", table.replace('.', "/"))
}

//! A warehouse written by hand, with a database beside it.

use std::{collections::BTreeSet, fs, path::PathBuf, sync::Arc};

use asset_core::key::AssetKey;
use asset_sources::{Catalog, CatalogConfig};
use asset_store::Store;
use serde_json::json;
use tempfile::TempDir;

use crate::catalogs::{CatalogEntry, Catalogs};

pub struct Lake(TempDir);

impl Lake {
    pub fn new() -> Self {
        let folder = TempDir::new().unwrap();
        fs::create_dir(folder.path().join("warehouse")).unwrap();
        Self(folder)
    }

    /// The key of a table of the only database.
    pub fn key(table: &str) -> AssetKey {
        AssetKey::of_table("paimon", "lake", "ods", table).unwrap()
    }

    pub async fn store(&self) -> Arc<Store> {
        let url = format!("sqlite://{}", self.0.path().join("agent.db").display());
        Arc::new(Store::open(&url).await.unwrap())
    }

    /// The warehouse as the only catalog: nothing is discovered, these tables are read in any case, and
    /// every other one when it is asked for.
    pub fn catalogs(&self, tables: &[&str], batch_size: usize) -> Arc<Catalogs> {
        let catalog = Catalog::open(CatalogConfig {
            name: "lake".into(),
            format: "paimon".into(),
            warehouse: self.warehouse().display().to_string(),
            batch_size,
        });
        let tables: BTreeSet<AssetKey> = tables.iter().map(|table| Self::key(table)).collect();
        let entry = CatalogEntry { catalog: catalog.unwrap(), default: true, discover: false, tables };
        Arc::new(Catalogs::new(vec![entry]))
    }

    pub fn create(&self, table: &str) {
        let schema = json!({"version": 3, "id": 0, "fields": [], "comment": table});
        self.write(table, "schema/schema-0", &schema.to_string());
    }

    pub fn append(&self, table: &str, ids: impl IntoIterator<Item = i64>) {
        for id in ids {
            self.commit(table, id, &format!("{table}-{id}"));
        }
    }

    /// A snapshot with a fingerprint of its own.
    pub fn commit(&self, table: &str, id: i64, uuid: &str) {
        let snapshot = json!({
            "version": 3, "id": id, "schemaId": 0, "commitKind": "APPEND", "uuid": uuid,
            "deltaRecordCount": 1, "timeMillis": id,
        });
        self.write(table, &format!("snapshot/snapshot-{id}"), &snapshot.to_string());
    }

    /// A snapshot that is half written.
    pub fn tear(&self, table: &str, id: i64) {
        self.write(table, &format!("snapshot/snapshot-{id}"), "{\"version\": 3, \"id\":");
    }

    /// Rolls back: the newest snapshot is gone.
    pub fn remove(&self, table: &str, id: i64) {
        fs::remove_file(self.at(table, &format!("snapshot/snapshot-{id}"))).unwrap();
    }

    fn write(&self, table: &str, name: &str, content: &str) {
        let path = self.at(table, name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        // As Paimon does: a reader never sees half a file.
        let new = path.with_extension("new");
        fs::write(&new, content).unwrap();
        fs::rename(new, path).unwrap();
    }

    fn at(&self, table: &str, name: &str) -> PathBuf {
        self.warehouse().join("ods.db").join(table).join(name)
    }

    fn warehouse(&self) -> PathBuf {
        self.0.path().join("warehouse")
    }
}

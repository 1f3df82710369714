//! Apache Paimon, filesystem catalog: `<warehouse>/<database>.db/<table>/{snapshot,schema,manifest}`.
//!
//! The ordinal of a commit is its snapshot id. Only the main branch counts. The hints `LATEST` and
//! `EARLIEST` are not read: they may be stale or missing.

mod cursor;
mod diff;
mod files;
mod manifest_list;
mod read;
mod schema;
mod snapshot;
#[cfg(test)]
mod tests;

use std::sync::atomic::AtomicBool;

use asset_core::key::AssetKey;
use data_encoding::HEXLOWER;
use sha2::{Digest, Sha256};

use self::{cursor::Cursor, files::TableFiles, read::TableReader};
use crate::{CatalogConfig, Poll, PollRequest, SourceError, storage::Storage};

const DATABASE_SUFFIX: &str = ".db";

/// A Paimon warehouse.
#[derive(Debug)]
pub struct PaimonCatalog {
    name: String,
    /// Absolute, without a `/` at the end.
    warehouse: String,
    batch_size: usize,
    storage: Storage,
    told_of_unknown_kind: AtomicBool,
}

impl PaimonCatalog {
    /// Format of its keys.
    pub const FORMAT: &'static str = "paimon";

    /// Opens a warehouse without reading it. A warehouse that is missing is not created.
    pub fn open(config: CatalogConfig) -> Result<Self, SourceError> {
        if config.batch_size == 0 {
            return Err(SourceError::Config {
                catalog: config.name,
                field: "batch_size",
                reason: "must be at least 1".into(),
            });
        }
        if let Err(error) = AssetKey::of_table(Self::FORMAT, &config.name, "d", "t") {
            return Err(SourceError::Config {
                reason: format!("can't stand in an asset key: {}", error.reason),
                catalog: config.name,
                field: "name",
            });
        }
        Ok(Self {
            warehouse: local_path(&config)?,
            name: config.name,
            batch_size: config.batch_size,
            storage: Storage::local()?,
            told_of_unknown_kind: AtomicBool::new(false),
        })
    }

    /// Its name, decoded.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Directory of a table, for people.
    pub fn location(&self, key: &AssetKey) -> String {
        let (database, table) = (key.database(), key.table());
        format!("{}/{database}{DATABASE_SUFFIX}/{table}", self.warehouse)
    }

    /// Whether the warehouse can be listed.
    pub async fn check(&self) -> Result<(), SourceError> {
        check_warehouse(&self.storage, &self.warehouse).await
    }

    /// Every table that has a schema directory, sorted. A database that goes away meanwhile has none.
    pub async fn discover(&self) -> Result<Vec<AssetKey>, SourceError> {
        let Some(databases) = self.storage.list(&self.warehouse).await? else {
            return Err(no_warehouse(&self.warehouse));
        };
        let mut keys = Vec::new();
        for directory in databases.iter().map(|name| name.trim_end_matches('/')) {
            let Some(database) = directory.strip_suffix(DATABASE_SUFFIX) else {
                continue;
            };
            if !is_plain_name(database) {
                continue;
            }
            let path = format!("{}/{directory}", self.warehouse);
            let tables = self.storage.list(&path).await?.unwrap_or_default();
            for table in tables.iter().map(|name| name.trim_end_matches('/')) {
                if !is_plain_name(table) || !self.storage.can_list(&format!("{path}/{table}/schema")).await? {
                    continue;
                }
                match AssetKey::of_table(Self::FORMAT, &self.name, database, table) {
                    Ok(key) => keys.push(key),
                    Err(error) => tracing::debug!(%path, table, %error, "no asset key for this table"),
                }
            }
        }
        keys.sort();
        Ok(keys)
    }

    /// What a table did since the cursor.
    pub async fn poll(&self, key: &AssetKey, request: PollRequest<'_>) -> Result<Poll, SourceError> {
        if key.format() != Self::FORMAT || key.catalog() != self.name {
            return Err(SourceError::WrongCatalog {
                key: key.to_string(),
                format: Self::FORMAT,
                catalog: self.name.clone(),
            });
        }
        let cursor = match request.cursor.map(Cursor::from_text).transpose() {
            Ok(cursor) => cursor,
            Err(reason) => {
                return Err(SourceError::Cursor { key: key.to_string(), reason });
            }
        };
        let (database, table) = (key.database(), key.table());
        if key.partition().is_some() || !is_plain_name(&database) || !is_plain_name(&table) {
            // Nothing can be under such a name, and a path made of it could lead anywhere.
            return Ok(Poll::Absent { cursor: Cursor::Absent.to_text() });
        }
        let reader = TableReader {
            files: TableFiles {
                storage: &self.storage,
                table: self.location(key),
                told_of_unknown_kind: &self.told_of_unknown_kind,
            },
            warehouse: &self.warehouse,
            batch_size: self.batch_size,
        };
        reader.poll(cursor.as_ref(), request.depth, request.suspicion.as_ref()).await
    }
}

async fn check_warehouse(storage: &Storage, warehouse: &str) -> Result<(), SourceError> {
    match storage.can_list(warehouse).await? {
        true => Ok(()),
        false => Err(no_warehouse(warehouse)),
    }
}

fn no_warehouse(warehouse: &str) -> SourceError {
    SourceError::Unreachable { path: warehouse.to_owned(), reason: "there is no such directory".into() }
}

/// Whether a name is one step of a path and no hidden file.
fn is_plain_name(name: &str) -> bool {
    !name.is_empty() && !name.starts_with('.') && !name.contains(['/', '\\', '\0'])
}

/// Digest that stands for content.
fn digest(bytes: &[u8]) -> String {
    format!("sha256:{}", HEXLOWER.encode(&Sha256::digest(bytes)))
}

/// The warehouse as an absolute path of this machine. Errors show no more of it than its scheme: the
/// rest may hold a password.
fn local_path(config: &CatalogConfig) -> Result<String, SourceError> {
    let unsupported = |found: String| SourceError::Unsupported {
        catalog: config.name.clone(),
        found,
        supported: "warehouses on a local disk, as `/path` or `file:///path`",
    };
    let bad = |reason: &str| SourceError::Config {
        catalog: config.name.clone(),
        field: "warehouse",
        reason: reason.into(),
    };
    let text = config.warehouse.as_str();
    let path = match text.split_once(':') {
        // Hadoop writes `file:/path` for the same.
        Some((scheme, rest)) if scheme.eq_ignore_ascii_case("file") => {
            let path = rest.strip_prefix("//").unwrap_or(rest);
            if !path.starts_with('/') {
                return Err(unsupported("a `file:` warehouse on another host".into()));
            }
            path
        }
        Some((scheme, rest)) if !scheme.contains('/') && rest.starts_with("//") => {
            return Err(unsupported(format!("warehouse scheme `{scheme}`")));
        }
        _ => text,
    };
    if !path.starts_with('/') {
        return Err(bad("must be an absolute path, as `/path` or `file:///path`"));
    }
    let mut clean = String::new();
    for step in path.split('/').filter(|step| !step.is_empty() && *step != ".") {
        if step == ".." || step.contains('\0') {
            return Err(bad("must not have `..` or a NUL in its path"));
        }
        clean.push('/');
        clean.push_str(step);
    }
    Ok(clean)
}

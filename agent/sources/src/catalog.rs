//! A catalog of any format.

use asset_core::key::AssetKey;

use crate::{Poll, PollRequest, SourceError, paimon::PaimonCatalog};

/// What a catalog is opened with.
#[derive(Debug, Clone)]
pub struct CatalogConfig {
    /// Name, as asset keys spell it after decoding.
    pub name: String,
    /// Format: `paimon`.
    pub format: String,
    /// Where its tables are: `/path` or `file:///path`.
    pub warehouse: String,
    /// Commits that one poll answers with at most, 500 by default. The first read of a table is not
    /// cut: its newest commit is the baseline, so it is answered whole (at most 1000 commits).
    pub batch_size: usize,
}

impl CatalogConfig {
    /// Default of [`Self::batch_size`].
    pub const DEFAULT_BATCH_SIZE: usize = 500;
}

/// An opened catalog. Opening reads nothing: see [`Self::check`].
#[derive(Debug)]
pub enum Catalog {
    /// Apache Paimon, filesystem catalog.
    Paimon(PaimonCatalog),
}

impl Catalog {
    /// Opens a catalog. Fails where the configuration makes no sense or asks for what this version
    /// does not read.
    pub fn open(config: CatalogConfig) -> Result<Self, SourceError> {
        match config.format.as_str() {
            PaimonCatalog::FORMAT => PaimonCatalog::open(config).map(Self::Paimon),
            other => Err(SourceError::Unsupported {
                found: format!("format `{other}`"),
                catalog: config.name,
                supported: "format `paimon`",
            }),
        }
    }

    /// Its name, decoded.
    pub fn name(&self) -> &str {
        match self {
            Self::Paimon(catalog) => catalog.name(),
        }
    }

    /// Its format, lower case.
    pub fn format(&self) -> &str {
        match self {
            Self::Paimon(_) => PaimonCatalog::FORMAT,
        }
    }

    /// Where a table would be, for people.
    pub fn location(&self, key: &AssetKey) -> String {
        match self {
            Self::Paimon(catalog) => catalog.location(key),
        }
    }

    /// Whether its tables can be listed.
    pub async fn check(&self) -> Result<(), SourceError> {
        match self {
            Self::Paimon(catalog) => catalog.check().await,
        }
    }

    /// All its tables, sorted.
    pub async fn discover(&self) -> Result<Vec<AssetKey>, SourceError> {
        match self {
            Self::Paimon(catalog) => catalog.discover().await,
        }
    }

    /// What a table did since the cursor. Nothing is remembered here: the same request over the same
    /// files gives the same answer.
    pub async fn poll(&self, key: &AssetKey, request: PollRequest<'_>) -> Result<Poll, SourceError> {
        match self {
            Self::Paimon(catalog) => catalog.poll(key, request).await,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(format: &str, warehouse: &str, batch_size: usize) -> Result<Catalog, SourceError> {
        Catalog::open(CatalogConfig {
            name: "lake".into(),
            format: format.into(),
            warehouse: warehouse.into(),
            batch_size,
        })
    }

    #[test]
    fn a_warehouse_is_a_local_path() {
        let key = AssetKey::from_canonical("paimon://lake/ods/a%20b").unwrap();
        for warehouse in ["/data/wh", "/data/wh/", "file:///data/wh", "file:/data//./wh/"] {
            let catalog = open("paimon", warehouse, 1).unwrap();
            assert_eq!(catalog.location(&key), "/data/wh/ods.db/a b", "{warehouse}");
            assert_eq!((catalog.name(), catalog.format()), ("lake", "paimon"));
        }
    }

    #[test]
    fn what_is_not_read_is_said() {
        for (format, warehouse, batch_size, kind, part) in [
            ("iceberg", "/wh", 1, "unsupported", "this version reads format `paimon`"),
            ("paimon", "s3://key:secret@bucket/wh", 1, "unsupported", "`s3`"),
            ("paimon", "file://host/wh", 1, "unsupported", "`file:///path`"),
            ("paimon", "data/wh", 1, "config", "absolute"),
            ("paimon", "", 1, "config", "absolute"),
            ("paimon", "/data/../wh", 1, "config", "`..`"),
            ("paimon", "/wh", 0, "config", "at least 1"),
        ] {
            let error = open(format, warehouse, batch_size).unwrap_err();
            assert_eq!(error.kind(), kind, "{error}");
            assert!(error.to_string().contains(part), "{error}");
            assert!(!error.to_string().contains("secret"), "{error}");
        }
    }
}

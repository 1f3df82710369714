//! The configured catalogs: which table is read from which.

use std::collections::BTreeSet;

use asset_core::key::AssetKey;
use asset_sources::Catalog;

/// A catalog and which of its tables are assets.
pub struct CatalogEntry {
    /// Where tables are read.
    pub catalog: Catalog,
    /// Whether it is the one that keys of two segments mean.
    pub default: bool,
    /// Whether every table in it is an asset.
    pub discover: bool,
    /// Tables that are assets in any case.
    pub tables: BTreeSet<AssetKey>,
}

/// All configured catalogs.
pub struct Catalogs(Vec<CatalogEntry>);

impl Catalogs {
    /// The catalogs of a configuration. Names are unique within a format.
    pub fn new(entries: Vec<CatalogEntry>) -> Self {
        Self(entries)
    }

    /// Every catalog.
    pub fn iter(&self) -> impl Iterator<Item = &CatalogEntry> {
        self.0.iter()
    }

    /// Name of a format's default catalog: the one marked so, else the only one.
    pub fn default_of(&self, format: &str) -> Option<String> {
        let of_format = || self.0.iter().filter(|entry| entry.catalog.format() == format);
        let marked = of_format().find(|entry| entry.default);
        let only = of_format().next().filter(|_| of_format().count() == 1);
        marked.or(only).map(|entry| entry.catalog.name().to_owned())
    }

    /// The catalog that a whole table is read from; `None` where no configured one has it.
    pub fn of(&self, key: &AssetKey) -> Option<&Catalog> {
        let entry = self.named(key)?;
        (entry.discover || entry.tables.contains(key)).then_some(&entry.catalog)
    }

    /// The catalog that a whole table's key names, whether or not the table is one of its assets.
    pub fn named(&self, key: &AssetKey) -> Option<&CatalogEntry> {
        if key.partition().is_some() {
            return None;
        }
        let mut entries = self.0.iter();
        entries.find(|entry| entry.catalog.format() == key.format() && entry.catalog.name() == key.catalog())
    }
}

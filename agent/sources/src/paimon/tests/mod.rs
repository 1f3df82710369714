//! Polls over tables that are written as files, by what is known of the format.

mod beside;
mod breaks;
mod cases;
mod history;
mod lookups;
mod races;

use std::{
    fs,
    path::PathBuf,
    sync::{Arc, Mutex},
};

use asset_core::{
    change::{Change, Found, HistoryBreak},
    key::AssetKey,
    version::CommitClass,
};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{Catalog, CatalogConfig, Depth, Poll, PollRequest, SourceError, Suspicion, storage::Hook};

/// A warehouse with one table in view, `ods.orders`.
pub struct Lake {
    directory: TempDir,
    pub catalog: Catalog,
    pub key: AssetKey,
}

impl Lake {
    pub fn new(batch_size: usize) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let catalog = Catalog::open(CatalogConfig {
            name: "lake".into(),
            format: "paimon".into(),
            warehouse: format!("file://{}", directory.path().display()),
            batch_size,
        });
        Self {
            directory,
            catalog: catalog.unwrap(),
            key: AssetKey::from_canonical("paimon://lake/ods/orders").unwrap(),
        }
    }

    /// A lake with a table of these snapshots.
    pub fn with(ids: impl IntoIterator<Item = i64>) -> Self {
        let lake = Self::new(500);
        lake.create("first");
        lake.append(ids, "a");
        lake
    }

    pub fn at(&self, name: &str) -> PathBuf {
        self.directory.path().join("ods.db/orders").join(name)
    }

    pub fn warehouse(&self) -> PathBuf {
        self.directory.path().to_owned()
    }

    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.at(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    /// Creates the table; `created` stands for the time.
    pub fn create(&self, created: &str) {
        let schema = json!({"version": 3, "id": 0, "fields": [], "comment": created});
        self.write("schema/schema-0", schema.to_string());
    }

    pub fn drop_table(&self) {
        fs::remove_dir_all(self.at("")).unwrap();
    }

    /// Writes a snapshot as it stands.
    pub fn snapshot(&self, id: i64, fields: Value) {
        let mut snapshot = json!({"version": 3, "id": id, "schemaId": 0});
        for (name, value) in fields.as_object().unwrap() {
            snapshot[name] = value.clone();
        }
        self.write(&format!("snapshot/snapshot-{id}"), snapshot.to_string());
    }

    /// Writes appends of a history, which goes into their fingerprints.
    pub fn append(&self, ids: impl IntoIterator<Item = i64>, history: &str) {
        for id in ids {
            let uuid = format!("{history}{id}");
            let fields =
                json!({"commitKind": "APPEND", "uuid": uuid, "deltaRecordCount": 1, "timeMillis": id});
            self.snapshot(id, fields);
        }
    }

    /// Removes snapshots: expiry and rollback both do.
    pub fn remove(&self, ids: impl IntoIterator<Item = i64>) {
        for id in ids {
            fs::remove_file(self.at(&format!("snapshot/snapshot-{id}"))).unwrap();
        }
    }

    /// Calls back before each request to storage.
    pub fn on_request(&mut self, hook: impl Fn(&str, &str) + Send + Sync + 'static) {
        let Catalog::Paimon(catalog) = &mut self.catalog;
        catalog.storage.hook = Some(Hook(Arc::new(hook)));
    }

    /// Records requests from here on, as `read snapshot-3`.
    pub fn record(&mut self) -> Arc<Mutex<Vec<String>>> {
        let requests = Arc::new(Mutex::new(Vec::new()));
        let kept = requests.clone();
        self.on_request(move |what, path| {
            let name = path.rsplit('/').next().unwrap_or_default();
            kept.lock().unwrap().push(format!("{what} {name}"));
        });
        requests
    }
}

/// Who polls: keeps cursor and suspicion as the engine does.
#[derive(Default, Clone)]
pub struct Follower {
    pub cursor: Option<String>,
    pub suspicion: Option<Suspicion>,
}

impl Follower {
    pub async fn poll(&mut self, lake: &Lake, depth: Depth) -> Result<Poll, SourceError> {
        let request = PollRequest { cursor: self.cursor.as_deref(), depth, suspicion: self.suspicion.take() };
        let poll = lake.catalog.poll(&lake.key, request).await?;
        match &poll {
            Poll::Changed { cursor, .. } | Poll::Absent { cursor } => self.cursor = Some(cursor.clone()),
            Poll::Suspect(suspicion) => self.suspicion = Some(suspicion.clone()),
            Poll::Unchanged => {}
        }
        Ok(poll)
    }

    /// A strict poll, in words.
    pub async fn strict(&mut self, lake: &Lake) -> String {
        words(self.poll(lake, Depth::Strict).await)
    }

    /// A fast poll, in words.
    pub async fn fast(&mut self, lake: &Lake) -> String {
        words(self.poll(lake, Depth::Fast).await)
    }

    /// One that keeps this cursor.
    pub fn from_cursor(text: &str) -> Self {
        Self { cursor: Some(text.into()), suspicion: None }
    }

    /// One that has read the table.
    pub async fn at_head(lake: &Lake) -> Self {
        let mut follower = Self::default();
        let poll = follower.poll(lake, Depth::Strict).await.unwrap();
        assert!(matches!(poll, Poll::Changed { .. }), "{poll:?}");
        follower
    }
}

/// An answer, short: `+3` advance, `~3` rewrite, `gap 4-6`, `expired 5`, `rewound from 5: +1 +2`,
/// `recreated: +1`, `gone`, `back`, `more`.
pub fn words(poll: Result<Poll, SourceError>) -> String {
    match poll {
        Err(error) => format!("error {}", error.kind()),
        Ok(Poll::Unchanged) => "unchanged".into(),
        Ok(Poll::Absent { .. }) => "absent".into(),
        Ok(Poll::Suspect(_)) => "suspect".into(),
        Ok(Poll::Changed { changes, more, .. }) => {
            // The schema that a table was made with goes without saying.
            let said = |change: &&Change| !matches!(change, Change::Schema { id: 0 });
            let mut words: Vec<String> = changes.iter().filter(said).map(word).collect();
            if more {
                words.push("more".into());
            }
            words.join(" ")
        }
    }
}

fn word(change: &Change) -> String {
    match change {
        Change::Committed { class, ordinal, commit } => {
            assert_eq!(*ordinal, commit.snapshot_id);
            let sign = match class {
                CommitClass::Advance => '+',
                CommitClass::Rewrite => '~',
            };
            format!("{sign}{ordinal}")
        }
        Change::Gap { first, last } => format!("gap {first}-{last}"),
        Change::Expired { earliest } => format!("expired {earliest}"),
        Change::NewHistory { cause, commits } => {
            let cause = match cause {
                HistoryBreak::Rewound { known, found } => {
                    assert_eq!(*found, commits.last().map(|found| found.ordinal));
                    format!("rewound from {known}:")
                }
                HistoryBreak::Recreated => "recreated:".to_owned(),
                HistoryBreak::ByHand { .. } => "by hand:".to_owned(),
            };
            let commits = commits.iter().map(|found| {
                let Found { class, ordinal, commit } = found.clone();
                word(&Change::Committed { class, ordinal, commit })
            });
            std::iter::once(cause).chain(commits).collect::<Vec<_>>().join(" ")
        }
        Change::Tagged { name, found } => format!("tag {name}={}", found.ordinal),
        Change::Untagged { name } => format!("untag {name}"),
        Change::Schema { id } => format!("schema {id}"),
        Change::Gone => "gone".into(),
        Change::Back => "back".into(),
    }
}

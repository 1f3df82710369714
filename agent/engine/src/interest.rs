//! Who wants which table read often: the hub writes it, the poller reads it.

use std::{
    collections::{HashMap, HashSet},
    sync::{Mutex, MutexGuard},
};

use asset_core::key::AssetKey;
use globset::GlobSet;
use tokio::sync::Notify;

/// A board with the tables that somebody depends on or watches. No lock is held across an await.
#[derive(Default)]
pub struct Interest {
    board: Mutex<Board>,
    news: Notify,
}

#[derive(Default)]
struct Board {
    wanted: HashSet<AssetKey>,
    watched: HashMap<u64, GlobSet>,
    /// Tables to poll now, each once however often it is asked for.
    urgent: HashSet<AssetKey>,
    /// Those of them that are to be read so that everything is seen.
    strict: HashSet<AssetKey>,
    /// Whether a watcher came since the poller looked last.
    watchers: bool,
}

/// What was added since the poller looked last.
pub struct News {
    /// Tables to poll now.
    pub urgent: HashSet<AssetKey>,
    /// Those of them that are to be read so that everything is seen.
    pub strict: HashSet<AssetKey>,
    /// Whether a watcher came: any table may concern it.
    pub watchers: bool,
}

impl Interest {
    /// From now on somebody depends on the table.
    pub fn want(&self, key: &AssetKey) {
        let mut board = self.board();
        if board.wanted.insert(key.clone()) {
            board.urgent.insert(key.clone());
            self.news.notify_one();
        }
    }

    /// Nobody depends on the table any more.
    pub fn release(&self, key: &AssetKey) {
        self.board().wanted.remove(key);
    }

    /// From now on a watcher looks at what matches.
    pub fn watch(&self, id: u64, globs: GlobSet) {
        let mut board = self.board();
        board.watched.insert(id, globs);
        board.watchers = true;
        self.news.notify_one();
    }

    /// A watcher left.
    pub fn unwatch(&self, id: u64) {
        self.board().watched.remove(&id);
    }

    /// Asks for one poll now that sees everything: a table that went back as well.
    pub fn hurry(&self, key: &AssetKey) {
        let mut board = self.board();
        board.urgent.insert(key.clone());
        board.strict.insert(key.clone());
        drop(board);
        self.news.notify_one();
    }

    /// Whether somebody depends on the table or watches it.
    pub fn has(&self, key: &AssetKey) -> bool {
        let board = self.board();
        board.wanted.contains(key) || board.watched.values().any(|globs| globs.is_match(key.as_str()))
    }

    /// Takes what was added.
    pub fn take_news(&self) -> News {
        let mut board = self.board();
        News {
            urgent: std::mem::take(&mut board.urgent),
            strict: std::mem::take(&mut board.strict),
            watchers: std::mem::take(&mut board.watchers),
        }
    }

    /// Waits until something was added.
    pub async fn changed(&self) {
        self.news.notified().await;
    }

    fn board(&self) -> MutexGuard<'_, Board> {
        self.board.lock().unwrap_or_else(|broken| broken.into_inner())
    }
}

//! What the agent counts, in Prometheus' text form. Names of the RFC's 6.1 are kept as they are.

use std::{
    collections::{HashMap, HashSet},
    sync::Mutex,
    time::Duration,
};

use asset_core::{asset::Asset, key::AssetKey, reason::BlockedBy, version::Millis};
use asset_engine::{Observer, PollResult};
use prometheus_client::{
    encoding::{EncodeLabelSet, text::encode},
    metrics::{
        counter::Counter,
        family::Family,
        gauge::Gauge,
        histogram::{Histogram, exponential_buckets},
    },
    registry::{Registry, Unit},
};
use std::sync::atomic::AtomicU64;

/// Label value of what is past the cap.
const OTHER: &str = "other";

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Source {
    source_type: String,
    asset_key: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ByAsset {
    asset_key: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ReadyBy {
    asset_key: String,
    workflow_code: i64,
    dependency_group: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Blocked {
    asset_key: String,
    workflow_code: i64,
    blocked_by: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ByResult {
    result: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ByKind {
    kind: &'static str,
}

/// All metrics.
pub struct Metrics {
    registry: Registry,
    received: Family<Source, Counter>,
    deduplicated: Family<Source, Counter>,
    refused: Family<ByAsset, Counter>,
    updated: Family<ByAsset, Counter>,
    state_lag: Family<ByAsset, Gauge<f64, AtomicU64>>,
    watermark_lag: Family<ByAsset, Gauge<f64, AtomicU64>>,
    ready: Family<ReadyBy, Counter>,
    blocked: Family<Blocked, Gauge>,
    polls: Family<ByResult, Histogram>,
    published: Histogram,
    streams: Family<ByKind, Gauge>,
    tables: Family<ByKind, Gauge>,
    swept: Counter,
    labels: Mutex<Labels>,
}

struct Labels {
    limit: usize,
    known: HashSet<AssetKey>,
    /// Commit time and watermark of each known asset's newest commit.
    newest: HashMap<AssetKey, (Option<Millis>, Option<Millis>)>,
}

impl Metrics {
    /// Metrics where at most `asset_key_limit` assets have a label value of their own.
    pub fn new(asset_key_limit: usize) -> Self {
        let mut registry = Registry::default();
        let polls = Family::<ByResult, Histogram>::new_with_constructor(|| {
            Histogram::new(exponential_buckets(0.000_1, 2.0, 18))
        });
        let published = Histogram::new(exponential_buckets(0.000_5, 2.0, 16));
        let metrics = Self {
            received: Family::default(),
            deduplicated: Family::default(),
            refused: Family::default(),
            updated: Family::default(),
            state_lag: Family::default(),
            watermark_lag: Family::default(),
            ready: Family::default(),
            blocked: Family::default(),
            polls,
            published,
            streams: Family::default(),
            tables: Family::default(),
            swept: Counter::default(),
            labels: Mutex::new(Labels {
                limit: asset_key_limit,
                known: HashSet::new(),
                newest: HashMap::new(),
            }),
            registry: Registry::default(),
        };
        let asset = registry.sub_registry_with_prefix("lakehouse_asset");
        asset.register("event_received", "Events of an asset that were kept", metrics.received.clone());
        asset.register(
            "event_deduplicated",
            "Events of an asset that were there already",
            metrics.deduplicated.clone(),
        );
        asset.register(
            "event_refused",
            "Reports on an asset that were refused, or in conflict with one that is there",
            metrics.refused.clone(),
        );
        asset.register("state_updated", "Times that the state of an asset moved", metrics.updated.clone());
        asset.register_with_unit(
            "state_lag",
            "Age of an asset's newest snapshot, by the writer's clock",
            Unit::Seconds,
            metrics.state_lag.clone(),
        );
        asset.register_with_unit(
            "watermark_lag",
            "How far an asset's watermark is behind now; negative when it is ahead",
            Unit::Seconds,
            metrics.watermark_lag.clone(),
        );
        asset.register("dependency_ready", "Times that a dependency became ready", metrics.ready.clone());
        asset.register("dependency_blocked_by", "Open waits by what blocks them", metrics.blocked.clone());
        asset.register_with_unit(
            "poll",
            "Time that a poll of a table took",
            Unit::Seconds,
            metrics.polls.clone(),
        );
        asset.register_with_unit(
            "publish",
            "Time from a poll's hand-over to ingest until every reader's stream had the change",
            Unit::Seconds,
            metrics.published.clone(),
        );
        asset.register("streams", "Open streams", metrics.streams.clone());
        asset.register("tables", "Tables that are read, and those that can't be", metrics.tables.clone());
        asset.register(
            "marks_swept",
            "Marks that a sweep took up because no notice had",
            metrics.swept.clone(),
        );
        Self { registry, ..metrics }
    }

    /// All metrics as of `now`, in text form. `tables`: how many are read, how many of them can't be.
    pub fn render(&self, now: Millis, tables: (usize, usize)) -> String {
        let labels = self.labels();
        for (key, (commit_time, watermark)) in &labels.newest {
            let lag = |since: &Millis| (now.saturating_sub(*since)) as f64 / 1_000.0;
            let label = ByAsset { asset_key: key.to_string() };
            if let Some(commit_time) = commit_time {
                self.state_lag.get_or_create(&label).set(lag(commit_time));
            }
            if let Some(watermark) = watermark {
                self.watermark_lag.get_or_create(&label).set(lag(watermark));
            }
        }
        drop(labels);
        let (read, failing) = tables;
        self.tables.get_or_create(&ByKind { kind: "read" }).set(read as i64);
        self.tables.get_or_create(&ByKind { kind: "failing" }).set(failing as i64);
        let mut text = String::new();
        // Writing into a string can't fail.
        let _ = encode(&mut text, &self.registry);
        text
    }

    fn label(&self, key: &AssetKey) -> String {
        let mut labels = self.labels();
        if labels.known.contains(key) {
            return key.to_string();
        }
        if labels.known.len() >= labels.limit {
            return OTHER.to_owned();
        }
        labels.known.insert(key.clone());
        key.to_string()
    }

    fn labels(&self) -> std::sync::MutexGuard<'_, Labels> {
        self.labels.lock().unwrap_or_else(|broken| broken.into_inner())
    }
}

impl Observer for Metrics {
    fn polled(&self, _: &AssetKey, result: PollResult, elapsed: Duration) {
        let result = match result {
            PollResult::Unchanged => "unchanged",
            PollResult::Changed => "changed",
            PollResult::Stale => "stale",
            PollResult::Suspect => "suspect",
            PollResult::Failed => "failed",
        };
        self.polls.get_or_create(&ByResult { result }).observe(elapsed.as_secs_f64());
    }

    fn received(&self, key: &AssetKey, kept: usize, duplicates: usize) {
        let source = Source { source_type: key.format().to_owned(), asset_key: self.label(key) };
        self.received.get_or_create(&source).inc_by(kept as u64);
        self.deduplicated.get_or_create(&source).inc_by(duplicates as u64);
    }

    fn refused(&self, key: &AssetKey) {
        self.refused.get_or_create(&ByAsset { asset_key: self.label(key) }).inc();
    }

    fn state(&self, asset: &Asset) {
        let asset_key = self.label(&asset.key);
        let own_label = asset_key != OTHER;
        self.updated.get_or_create(&ByAsset { asset_key }).inc();
        if let Some((_, latest)) = asset.latest().filter(|_| own_label) {
            let newest = (latest.commit.commit_time, latest.effective_watermark);
            self.labels().newest.insert(asset.key.clone(), newest);
        }
    }

    fn published(&self, since_hand_over: Duration) {
        self.published.observe(since_hand_over.as_secs_f64());
    }

    fn ready(&self, key: &AssetKey, workflow_code: i64, group: &str, waits: u64) {
        let asset_key = self.label(key);
        let label = ReadyBy { asset_key, workflow_code, dependency_group: group.to_owned() };
        self.ready.get_or_create(&label).inc_by(waits);
    }

    fn blocked(&self, key: &AssetKey, workflow_code: i64, by: BlockedBy, change: i64) {
        let asset_key = self.label(key);
        let label = Blocked { asset_key, workflow_code, blocked_by: by.as_label().to_owned() };
        let left = {
            let gauge = self.blocked.get_or_create(&label);
            gauge.inc_by(change) + change
        };
        // A series that nobody is in any more would stay for ever.
        if left <= 0 {
            self.blocked.remove(&label);
        }
    }

    fn streams(&self, waits: usize, watchers: usize) {
        self.streams.get_or_create(&ByKind { kind: "wait" }).set(waits as i64);
        self.streams.get_or_create(&ByKind { kind: "watch" }).set(watchers as i64);
    }

    fn swept(&self, marks: usize) {
        self.swept.inc_by(marks as u64);
    }
}

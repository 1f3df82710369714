//! What the waits were released on, against what the table library itself reports.

use std::collections::BTreeMap;

use asset_integration::writer::SnapshotReport;
use asset_proto::v1::{Condition, Group, PinnedVersion, ResolveDependencyResponse, Since};

use crate::waiting::Heads;

/// Per asset key, all snapshots of its table.
pub type Reported = BTreeMap<String, Vec<SnapshotReport>>;

/// One READY, and what it has to satisfy.
pub struct Release {
    pub number: usize,
    pub groups: Vec<Group>,
    /// What had been committed when the wait began.
    pub heads: Heads,
    pub ready: ResolveDependencyResponse,
}

/// All releases of a run.
#[derive(Default)]
pub struct Evidence(Vec<Release>);

impl Evidence {
    pub fn extend(&mut self, releases: Vec<Release>) {
        self.0.extend(releases);
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn check(&self, reported: &Reported) {
        let wrong: Vec<String> = self.0.iter().filter_map(|release| release.wrong(reported)).collect();
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }
}

impl Release {
    /// Why no group of it is satisfied by what was pinned.
    fn wrong(&self, reported: &Reported) -> Option<String> {
        let pins = &self.ready.pinned;
        let mut reasons = Vec::new();
        for group in &self.groups {
            if group.conditions.len() != pins.len() {
                reasons.push(format!("{} pins for {} conditions", pins.len(), group.conditions.len()));
                continue;
            }
            let pairs = group.conditions.iter().zip(pins);
            match pairs.filter_map(|(condition, pin)| self.unlike(condition, pin, reported)).next() {
                None => return None,
                Some(reason) => reasons.push(reason),
            }
        }
        Some(format!("wait {}: {}", self.number, reasons.join("; ")))
    }

    fn unlike(&self, condition: &Condition, pin: &PinnedVersion, reported: &Reported) -> Option<String> {
        let key = &condition.asset_key;
        let id = pin.snapshot_id;
        let bad = |reason: String| Some(format!("{key}: snapshot {id} {reason}"));
        if pin.asset_key != *key {
            return bad(format!("is pinned for {}", pin.asset_key));
        }
        let Some(snapshot) = reported[key].iter().find(|snapshot| snapshot.id == id) else {
            return bad("does not exist".to_owned());
        };
        if snapshot.uuid.as_ref() != Some(&pin.fingerprint) {
            return bad(format!("has the uuid {:?}, not {}", snapshot.uuid, pin.fingerprint));
        }
        if (pin.generation, pin.ordinal) != (1, id) {
            return bad(format!("is placed at {}:{}", pin.generation, pin.ordinal));
        }
        if condition.min_snapshot_id.is_some_and(|min| id < min) {
            return bad(format!("is below {:?}", condition.min_snapshot_id));
        }
        let head = self.heads[key];
        if condition.since() == Since::Registered && id <= head {
            return bad(format!("is not newer than {head}, which was there when the wait began"));
        }
        None
    }
}

//! The evaluator: whether a dependency holds, and if not, why. There is no other.

use crate::{
    asset::{Asset, Knowledge, Unread},
    baseline::Baselines,
    condition::{Condition, Dependency, Since},
    key::AssetKey,
    reason::{BlockedBy, Reason, Wanted},
    version::{Floor, Millis, Position},
};

/// Whether what holds is also released.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Releasing {
    /// Yes.
    On,
    /// No: the agent is switched off, reads and answers only.
    Paused,
}

/// The version that a reader is pinned to.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Pin {
    /// The asset, in canonical form.
    pub asset: String,
    /// Name to hand it on under.
    pub name: String,
    /// Native id to open.
    pub snapshot_id: i64,
    /// Place of the data version.
    pub position: Position,
    /// Fingerprint of the data version.
    pub fingerprint: String,
    /// When the data version was committed.
    pub commit_time: Option<Millis>,
    /// Watermark of the data version.
    pub watermark: Option<Millis>,
    /// Schema of the data version.
    pub schema_id: Option<i64>,
    /// When a poll found the data version.
    pub observed_at: Millis,
}

/// Whether one condition holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// It holds for this version.
    Ready(Pin),
    /// It does not.
    Blocked(Reason),
}

/// One condition, evaluated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConditionVerdict {
    /// The asset.
    pub asset: AssetKey,
    /// Name of the condition.
    pub name: String,
    /// What it wants.
    pub wanted: Wanted,
    /// The verdict.
    pub verdict: Verdict,
}

/// One group, evaluated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupVerdict {
    /// Name of the group.
    pub name: String,
    /// Its conditions, in order.
    pub conditions: Vec<ConditionVerdict>,
}

/// A dependency, evaluated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Evaluation {
    /// Every group, in order.
    pub groups: Vec<GroupVerdict>,
}

impl ConditionVerdict {
    /// What blocks it; `None` when it holds.
    pub fn blocked_by(&self) -> Option<BlockedBy> {
        match &self.verdict {
            Verdict::Ready(_) => None,
            Verdict::Blocked(reason) => Some(reason.blocked_by()),
        }
    }
}

impl GroupVerdict {
    /// The pins of all conditions when the group holds.
    pub fn pins(&self) -> Option<Vec<&Pin>> {
        self.conditions
            .iter()
            .map(|condition| match &condition.verdict {
                Verdict::Ready(pin) => Some(pin),
                Verdict::Blocked(_) => None,
            })
            .collect()
    }
}

impl Evaluation {
    /// The pins of the first group that holds.
    pub fn pins(&self) -> Option<Vec<Pin>> {
        let pins = self.groups.iter().find_map(GroupVerdict::pins)?;
        Some(pins.into_iter().cloned().collect())
    }
}

/// Evaluates a dependency against what is known of its assets. Looks at the newest data version of
/// each (`match: HEAD`).
pub fn evaluate<'a>(
    dependency: &Dependency,
    baselines: &Baselines,
    releasing: Releasing,
    lookup: impl Fn(&AssetKey) -> Knowledge<'a>,
) -> Evaluation {
    let groups = dependency.groups().iter().map(|group| GroupVerdict {
        name: group.name.clone(),
        conditions: group
            .conditions
            .iter()
            .map(|condition| judge(condition, baselines, releasing, lookup(&condition.asset)))
            .collect(),
    });
    Evaluation { groups: groups.collect() }
}

fn judge(
    condition: &Condition,
    baselines: &Baselines,
    releasing: Releasing,
    known: Knowledge<'_>,
) -> ConditionVerdict {
    let newer_than = match (condition.since, known) {
        (Since::Exists, _) => None,
        (Since::Registered, Knowledge::Known(asset)) => {
            Some(Some(baselines.of(&condition.asset).floor(asset)))
        }
        (Since::Registered, _) => Some(None),
    };
    let verdict = match known {
        Knowledge::Unknown => Err(Reason::Unread(Unread::NoCatalog)),
        Knowledge::Unread(why) => Err(Reason::Unread(why.clone())),
        Knowledge::Absent => Err(Reason::TableAbsent),
        Knowledge::Known(asset) => pin(condition, newer_than.flatten(), asset),
    };
    ConditionVerdict {
        asset: condition.asset.clone(),
        name: condition.name.clone(),
        wanted: Wanted {
            min_snapshot_id: condition.min_snapshot_id,
            newer_than: newer_than.map(|floor| floor.and_then(|floor| native_id(floor, known))),
            committed_after: condition.committed_after,
            watermark_gte: condition.watermark_gte,
        },
        verdict: match verdict {
            Ok(pin) if releasing == Releasing::On => Verdict::Ready(pin),
            Ok(pin) => Verdict::Blocked(Reason::AgentPaused { found: pin.snapshot_id }),
            Err(reason) => Verdict::Blocked(reason),
        },
    }
}

fn pin(condition: &Condition, newer_than: Option<Floor>, asset: &Asset) -> Result<Pin, Reason> {
    if let Some(since) = asset.gone_since {
        return Err(Reason::TableGone { since });
    }
    let (position, data) = asset.latest_data().ok_or(Reason::NoSnapshot)?;
    let found = data.commit.snapshot_id;
    let head = asset.latest().map(|(_, version)| version.commit.snapshot_id).filter(|head| *head != found);
    if let Some(wanted) = condition.min_snapshot_id.filter(|min| found < *min) {
        return Err(Reason::BelowMinSnapshot { wanted, found, head });
    }
    if newer_than.is_some_and(|floor| !floor.is_below(position)) {
        return Err(Reason::NotNewer { found, head });
    }
    let committed = data.commit.commit_time;
    if let Some(wanted) = condition.committed_after.filter(|wanted| committed.is_none_or(|at| at < *wanted)) {
        return Err(Reason::CommittedEarly { found, wanted, committed });
    }
    let watermark = asset.log.watermark(position);
    if let Some(wanted) = condition.watermark_gte.filter(|wanted| watermark.is_none_or(|mark| mark < *wanted))
    {
        return Err(Reason::BelowWatermark { found, wanted, watermark });
    }
    let carrier = asset.log.readable_carrier(position).ok_or(Reason::NotReadable { found })?;
    Ok(Pin {
        asset: asset.key.to_string(),
        name: condition.name.clone(),
        snapshot_id: carrier.commit.snapshot_id,
        position,
        fingerprint: data.commit.fingerprint.clone(),
        commit_time: data.commit.commit_time,
        watermark,
        schema_id: data.commit.schema_id,
        observed_at: data.observed_at,
    })
}

/// What people know a floor by, where the log still has it.
fn native_id(floor: Floor, known: Knowledge<'_>) -> Option<i64> {
    match (floor, known) {
        (Floor::At(position), Knowledge::Known(asset)) => {
            asset.log.version(position).map(|version| version.commit.snapshot_id)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests;

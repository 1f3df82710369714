//! The evaluator: whether a dependency holds, and if not, why. There is no other.

use crate::{
    asset::{Asset, Knowledge, Unread},
    baseline::Baselines,
    condition::{Condition, Dependency, Match, Since},
    key::AssetKey,
    reason::{BlockedBy, Reason, Wanted},
    report::Ordering,
    version::{Assurance, Commit, Floor, Millis, Position, Version},
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
    /// When the agent learned of the data version; 0 where only a tag has it.
    pub observed_at: Millis,
    /// The tag that it was chosen by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tag: Option<String>,
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
    /// When time alone changes it.
    pub recheck_at: Option<Millis>,
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

    /// When time alone changes it.
    pub fn recheck_at(&self) -> Option<Millis> {
        self.groups.iter().flat_map(|group| &group.conditions).filter_map(|c| c.recheck_at).min()
    }
}

/// Evaluates a dependency against what is known of its assets, at a time.
pub fn evaluate<'a>(
    dependency: &Dependency,
    baselines: &Baselines,
    releasing: Releasing,
    now: Millis,
    lookup: impl Fn(&AssetKey) -> Knowledge<'a>,
) -> Evaluation {
    let judge = |condition: &Condition| judge(condition, baselines, releasing, now, lookup(&condition.asset));
    let groups = dependency.groups().iter().map(|group| GroupVerdict {
        name: group.name.clone(),
        conditions: group.conditions.iter().map(judge).collect(),
    });
    Evaluation { groups: groups.collect() }
}

fn judge(
    condition: &Condition,
    baselines: &Baselines,
    releasing: Releasing,
    now: Millis,
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
        Knowledge::Known(asset) => pin(condition, newer_than.flatten(), asset, now),
    };
    let recheck_at = match (&verdict, condition.max_watermark_lag_seconds) {
        (Ok(pin), Some(seconds)) => pin.watermark.map(|mark| stale_at(mark, seconds)),
        _ => None,
    };
    ConditionVerdict {
        asset: condition.asset.clone(),
        name: condition.name.clone(),
        wanted: Wanted {
            min_snapshot_id: condition.min_snapshot_id,
            newer_than: newer_than.map(|floor| floor.and_then(|floor| native_id(floor, known))),
            committed_after: condition.committed_after,
            watermark_gte: condition.watermark_gte,
            max_watermark_lag_seconds: condition.max_watermark_lag_seconds,
            quality: condition.quality_status,
            schema: condition.schema_status,
            tag: condition.tag.clone(),
            backfill: condition.backfill_status,
            ignore_backfill: condition.ignore_backfill,
            assurance: condition.assurance,
            matching: condition.matching,
        },
        recheck_at,
        verdict: match verdict {
            Ok(pin) if releasing == Releasing::On => Verdict::Ready(pin),
            Ok(pin) => Verdict::Blocked(Reason::AgentPaused { found: pin.snapshot_id }),
            Err(reason) => Verdict::Blocked(reason),
        },
    }
}

/// When a watermark is too old.
fn stale_at(watermark: Millis, max_lag_seconds: i64) -> Millis {
    watermark.saturating_add(max_lag_seconds.saturating_mul(1_000)).saturating_add(1)
}

fn pin(condition: &Condition, newer_than: Option<Floor>, asset: &Asset, now: Millis) -> Result<Pin, Reason> {
    if let Some(since) = asset.gone_since {
        return Err(Reason::TableGone { since });
    }
    let status = asset.log.facts().backfill_status();
    if let Some(wanted) = condition.backfill_status.filter(|wanted| *wanted != status) {
        return Err(Reason::OtherBackfillStatus { wanted, found: status });
    }
    let ask = Ask { condition, newer_than, asset, now };
    let mut refused = None;
    let mut in_backfills = None;
    for candidate in candidates(condition, asset) {
        let during = asset.log.facts().backfill_at(candidate.commit.commit_time);
        if let Some(id) = during.filter(|_| condition.ignore_backfill) {
            in_backfills.get_or_insert((candidate.commit.snapshot_id, id.to_owned()));
            continue;
        }
        match ask.check(&candidate) {
            Ok(pin) => return Ok(pin),
            Err(reason) => {
                // What is older is not newer than the floor either.
                let last = condition.matching == Match::Head || matches!(reason, Reason::NotNewer { .. });
                refused.get_or_insert(reason);
                if last {
                    break;
                }
            }
        }
    }
    Err(match (refused, in_backfills, &condition.tag) {
        (Some(reason), ..) => reason,
        (None, Some((found, backfill)), _) => Reason::DuringBackfill { found, backfill },
        (None, None, Some(tag)) => Reason::NoTag {
            wanted: tag.as_str().to_owned(),
            latest: asset.log.facts().latest_tag().map(str::to_owned),
        },
        (None, None, None) => Reason::NoSnapshot,
    })
}

/// A data version that a condition looks at.
struct Candidate<'a> {
    position: Position,
    commit: &'a Commit,
    /// In the log; `None` where only a tag has it.
    version: Option<&'a Version>,
    tag: Option<&'a str>,
}

/// The data versions that a condition may pin, newest first.
fn candidates<'a>(condition: &'a Condition, asset: &'a Asset) -> Vec<Candidate<'a>> {
    let log = &asset.log;
    let generation = log.generation();
    let in_log = |(position, version): (Position, &'a Version)| Candidate {
        position,
        commit: &version.commit,
        version: Some(version),
        tag: None,
    };
    let Some(glob) = &condition.tag else {
        if condition.matching == Match::Head && !condition.ignore_backfill {
            return log.latest_data().map(in_log).into_iter().collect();
        }
        let here = log.versions().rev().take_while(|(at, _)| at.generation == generation);
        return here.filter(|(at, version)| version.data_ordinal == at.ordinal).map(in_log).collect();
    };
    let head = log.latest().map(|(at, _)| at.ordinal);
    let tagged = log.facts().tags().filter(|(name, _)| glob.matches(name)).filter_map(|(name, tag)| {
        let place = Position { generation, ordinal: tag.ordinal };
        match log.version(place) {
            // A tag of a history that was given up.
            Some(version) if version.commit.fingerprint != tag.commit.fingerprint => None,
            Some(version) => {
                let position = Position { ordinal: version.data_ordinal, ..place };
                let data = log.version(position);
                let commit = data.map_or(&tag.commit, |data| &data.commit);
                Some(Candidate { position, commit, version: data, tag: Some(name) })
            }
            // Trimmed or expired, but the tag has it. Behind the head it can't be.
            None if Some(tag.ordinal) <= head => {
                Some(Candidate { position: place, commit: &tag.commit, version: None, tag: Some(name) })
            }
            None => None,
        }
    });
    let mut found: Vec<Candidate<'_>> = tagged.collect();
    found.sort_by(|one, other| (other.position, other.tag).cmp(&(one.position, one.tag)));
    found.dedup_by_key(|candidate| candidate.position);
    found
}

/// What a condition asks of one data version.
struct Ask<'a> {
    condition: &'a Condition,
    newer_than: Option<Floor>,
    asset: &'a Asset,
    now: Millis,
}

impl Ask<'_> {
    fn check(&self, candidate: &Candidate<'_>) -> Result<Pin, Reason> {
        let Self { condition, newer_than, asset, now } = self;
        let (log, position) = (&asset.log, candidate.position);
        let found = candidate.commit.snapshot_id;
        let head = asset.latest().filter(|(at, _)| *at > position && candidate.tag.is_none());
        let head = head.map(|(_, version)| version.commit.snapshot_id);
        if let Some(wanted) = condition.min_snapshot_id.filter(|min| !self.has_reached(*min, candidate)) {
            return Err(Reason::BelowMinSnapshot { wanted, found, head });
        }
        if newer_than.is_some_and(|floor| !floor.is_below(position)) {
            return Err(Reason::NotNewer { found, head });
        }
        let committed = candidate.commit.commit_time;
        if let Some(wanted) =
            condition.committed_after.filter(|wanted| committed.is_none_or(|at| at < *wanted))
        {
            return Err(Reason::CommittedEarly { found, wanted, committed });
        }
        let watermark = self.watermark(candidate);
        if let Some(wanted) =
            condition.watermark_gte.filter(|wanted| watermark.is_none_or(|mark| mark < *wanted))
        {
            return Err(Reason::BelowWatermark { found, wanted, watermark });
        }
        if let Some(seconds) = condition.max_watermark_lag_seconds
            && watermark.is_none_or(|mark| stale_at(mark, seconds) <= *now)
        {
            return Err(Reason::WatermarkLags { found, max_seconds: seconds, watermark, now: *now });
        }
        if let Some(wanted) = condition.quality_status {
            let said = match candidate.version {
                Some(_) => log.quality(position),
                None => log.facts().quality.get(&candidate.commit.fingerprint),
            };
            if said.map(|said| said.value) != Some(wanted) {
                let said = said.map(|said| (said.value, said.at, said.reporter.clone()));
                return Err(Reason::OtherQuality { found, wanted, said });
            }
        }
        if let Some(wanted) = condition.schema_status {
            let schema = candidate.commit.schema_id;
            let status = schema.map(|id| log.schema_status(id));
            if status != Some(wanted) {
                return Err(Reason::OtherSchemaStatus { found, wanted, schema, status });
            }
        }
        let assurance = candidate.version.map_or(Assurance::Verified, |version| version.assurance);
        if let Some(wanted) = condition.assurance.filter(|wanted| assurance < *wanted) {
            return Err(Reason::OnlyReported { found, wanted });
        }
        // What a tag names is kept for as long as the tag is.
        let carrier = log.readable_carrier(position).map(|version| version.commit.snapshot_id);
        let opened = carrier.or(candidate.tag.map(|_| found)).ok_or(Reason::NotReadable { found })?;
        Ok(Pin {
            asset: asset.key.to_string(),
            name: condition.name.clone(),
            snapshot_id: opened,
            position,
            fingerprint: candidate.commit.fingerprint.clone(),
            commit_time: committed,
            watermark,
            schema_id: candidate.commit.schema_id,
            observed_at: candidate.version.map_or(0, |version| version.observed_at),
            tag: candidate.tag.map(str::to_owned),
        })
    }

    /// Whether a data version is that of a native id or a later one. Where ids tell no order, the commit of
    /// that id does.
    fn has_reached(&self, min: i64, candidate: &Candidate<'_>) -> bool {
        let position = candidate.position;
        match self.asset.ordering {
            Some(Ordering::Sequence | Ordering::CommitTime) => {
                let mut here = self.asset.log.versions().rev();
                let named = here.find(|(at, version)| {
                    at.generation == position.generation && version.commit.snapshot_id == min
                });
                named.is_some_and(|(at, _)| at <= position)
            }
            Some(Ordering::Id | Ordering::Watermark) | None => candidate.commit.snapshot_id >= min,
        }
    }

    fn watermark(&self, candidate: &Candidate<'_>) -> Option<Millis> {
        match candidate.version {
            Some(_) => self.asset.log.watermark(candidate.position),
            None => {
                let reported = &self.asset.log.facts().watermarks;
                candidate.commit.watermark.max(reported.get(&candidate.commit.fingerprint).copied())
            }
        }
    }
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

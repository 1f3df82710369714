//! Facts: what is known of an asset's commits and of the asset itself beside the commits. Each is a
//! register of which the latest statement counts, so the order in which they come does not matter.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{
    statement::Statement,
    version::{Commit, CommitClass, FIRST_GENERATION, Millis},
};

/// What a quality check said of a version. Failed counts more than passed at one time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Quality {
    /// It passed.
    Passed,
    /// It failed.
    Failed,
}

impl Quality {
    /// `PASSED` or `FAILED`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Passed => "PASSED",
            Self::Failed => "FAILED",
        }
    }
}

/// What somebody decided about a schema. Rejected counts more than approved at one time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum SchemaDecision {
    /// It may be used.
    Approved,
    /// It must not be used.
    Rejected,
}

impl SchemaDecision {
    /// `APPROVED` or `REJECTED`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Approved => "APPROVED",
            Self::Rejected => "REJECTED",
        }
    }
}

/// Where a schema stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum SchemaStatus {
    /// It was there at first sight, or was approved.
    Compatible,
    /// It is new and nobody decided about it.
    PendingApproval,
    /// It was rejected.
    Rejected,
}

impl SchemaStatus {
    /// Such as `PENDING_APPROVAL`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Compatible => "COMPATIBLE",
            Self::PendingApproval => "PENDING_APPROVAL",
            Self::Rejected => "REJECTED",
        }
    }
}

/// The version that a tag names. It has all of the commit, since a tag outlives the snapshot.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Tag {
    /// Place of the commit in its history.
    pub ordinal: i64,
    /// Whether it brought data.
    pub class: CommitClass,
    /// What the format wrote.
    pub commit: Commit,
}

/// A backfill: data of the past, written again. Completed counts more than running at one time.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Backfill {
    /// Whether it is done.
    pub status: BackfillStatus,
    /// First moment of the data that it writes.
    pub from: Option<Millis>,
    /// End of that data.
    pub to: Option<Millis>,
}

/// What is known of a backfill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BackfillRecord {
    /// What was said of it last.
    pub last: Statement<Backfill>,
    /// When it started; `None` while only its end was reported.
    pub started_at: Option<Millis>,
}

/// Where backfills stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum BackfillStatus {
    /// There never was one.
    None,
    /// At least one goes on.
    Running,
    /// All are done.
    Completed,
}

impl BackfillStatus {
    /// Such as `RUNNING`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::None => "NONE",
            Self::Running => "RUNNING",
            Self::Completed => "COMPLETED",
        }
    }
}

/// Schemas of an asset. An id belongs to a table, and a table that is created again is another one: ids
/// stand behind the generation that their table began with.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Schemas {
    /// Newest schema at first sight: it and those before need no approval.
    pub first: Option<i64>,
    /// Newest schema that was seen, of the newest table.
    pub latest: Option<(i64, i64)>,
    /// What was decided.
    pub decisions: BTreeMap<(i64, i64), Statement<SchemaDecision>>,
}

impl Schemas {
    /// Where a schema of the table that began with `table` stands.
    pub fn status(&self, table: i64, id: i64) -> SchemaStatus {
        match self.decisions.get(&(table, id)).map(|decision| decision.value) {
            Some(SchemaDecision::Approved) => SchemaStatus::Compatible,
            Some(SchemaDecision::Rejected) => SchemaStatus::Rejected,
            None if table == FIRST_GENERATION && self.first.is_some_and(|first| id <= first) => {
                SchemaStatus::Compatible
            }
            None => SchemaStatus::PendingApproval,
        }
    }
}

/// All facts of an asset, or those that belong to a part of its log.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Facts {
    /// What checks said, by the fingerprint of the commit.
    pub quality: BTreeMap<String, Statement<Quality>>,
    /// Watermarks that were reported, by the fingerprint of the commit: the greatest of each.
    pub watermarks: BTreeMap<String, Millis>,
    /// Tags; nothing stands for one that was deleted.
    pub tags: BTreeMap<String, Statement<Option<Tag>>>,
    /// Schemas.
    pub schemas: Schemas,
    /// Backfills by their ids.
    pub backfills: BTreeMap<String, BackfillRecord>,
}

impl Facts {
    /// Tags that are there, by name.
    pub fn tags(&self) -> impl Iterator<Item = (&str, &Tag)> {
        self.tags.iter().filter_map(|(name, tag)| Some((name.as_str(), tag.value.as_ref()?)))
    }

    /// The tag that was made last.
    pub fn latest_tag(&self) -> Option<&str> {
        let there = self.tags.iter().filter(|(_, tag)| tag.value.is_some());
        there.max_by_key(|(name, tag)| (tag.at, *name)).map(|(name, _)| name.as_str())
    }

    /// Where backfills stand.
    pub fn backfill_status(&self) -> BackfillStatus {
        let running = |backfill: &BackfillRecord| backfill.last.value.status == BackfillStatus::Running;
        match self.backfills.is_empty() {
            true => BackfillStatus::None,
            false if self.backfills.values().any(running) => BackfillStatus::Running,
            false => BackfillStatus::Completed,
        }
    }

    /// The backfill during which something was committed.
    pub fn backfill_at(&self, commit_time: Option<Millis>) -> Option<&str> {
        let at = commit_time?;
        let during = |backfill: &BackfillRecord| {
            let begun = backfill.started_at.is_some_and(|started| started <= at);
            begun && (backfill.last.value.status == BackfillStatus::Running || at <= backfill.last.at)
        };
        self.backfills.iter().find(|(_, backfill)| during(backfill)).map(|(id, _)| id.as_str())
    }

    /// Takes what was said of a backfill. Answers whether it changed anything.
    pub fn put_backfill(&mut self, id: &str, said: &Statement<Backfill>) -> bool {
        let start = (said.value.status == BackfillStatus::Running).then_some(said.at);
        let Some(known) = self.backfills.get_mut(id) else {
            self.backfills.insert(id.to_owned(), BackfillRecord { last: said.clone(), started_at: start });
            return true;
        };
        let before = known.clone();
        if said.supersedes(&known.last) {
            known.last = said.clone();
        }
        known.started_at = [known.started_at, start].into_iter().flatten().min();
        *known != before
    }
}

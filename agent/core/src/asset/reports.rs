//! How a report moves an asset.

use crate::{
    asset::{Asset, Folded},
    change::HistoryBreak,
    event::{EventBody, Evidence, Fact, IgnoredReason, Outcome},
    facts::{Backfill, BackfillStatus, SchemaDecision, Tag},
    key::digest,
    report::{Ordering, Report, ReportBody, VersionName},
    statement::Statement,
    version::{Assurance, Commit, CommitClass, Millis, Position, Version},
};

/// What a report counts for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// The agent reads the table itself: what is reported of its commits, tags and schemas is a hint to
    /// look, and never taken on faith.
    Table,
    /// Nobody reads it: what is reported counts.
    Reports,
}

/// Why a report is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// The versions of the asset have another order.
    #[error(
        "the versions of this asset are ordered by {known}, as its registration or first event fixed it; \
         this event orders them by {found}. Report them the same way, or register another asset"
    )]
    OtherOrdering {
        /// Its order.
        known: &'static str,
        /// The event's.
        found: &'static str,
    },
    /// What orders the versions of the asset is missing.
    #[error("the versions of this asset are ordered by {ordering}, so `{field}` is required")]
    NoOrdinal {
        /// Its order.
        ordering: &'static str,
        /// Field that is missing.
        field: &'static str,
    },
}

/// What a version name stands for.
enum Bound {
    /// This commit.
    Commit(Commit),
    /// None that was seen.
    Unseen,
    /// One that never will be.
    Missing,
    /// One of several.
    Ambiguous,
}

/// Room between two moments for commits of one moment, which their fingerprints tell apart.
const COMMITS_A_MILLI: i64 = 1_024;

impl Asset {
    /// Stamps a report and folds it; where that is refused, nothing moved. Pure; of the log it needs every
    /// commit that has an id that the report names, and for a watermark all behind it. Where it answers
    /// `Pending`, the same call is made again when the asset moved.
    pub fn take(
        &mut self,
        report: &Report,
        source: Source,
        key: &str,
        received: Millis,
    ) -> Result<Folded, Refused> {
        let said = Said { report, key, at: report.at(received), received };
        Ok(match (&report.body, source) {
            (ReportBody::Snapshot { version, .. }, Source::Table) => {
                let bound = self.bind(version, None);
                self.hinted(bound)
            }
            (ReportBody::Snapshot { .. }, Source::Reports) => return self.take_snapshot(&said),
            (ReportBody::Watermark { watermark, version }, _) => {
                return self.take_watermark(&said, source, *watermark, version.as_ref());
            }
            (ReportBody::CdcLagRecovered { watermark: Some(watermark) }, _) => {
                return self.take_watermark(&said, source, *watermark, None);
            }
            (ReportBody::CdcLagRecovered { watermark: None }, _) => {
                Folded::noted(Outcome::Ignored(IgnoredReason::NoState))
            }
            (ReportBody::Quality { version, status, read_time }, _) => match self.bind(version, *read_time) {
                Bound::Commit(commit) => {
                    let body = EventBody::Checked {
                        fingerprint: commit.fingerprint.clone(),
                        quality: said.statement(*status),
                    };
                    self.fold_report(self.place_of(&commit.fingerprint), body, received)
                }
                bound => Folded::noted(unbound(&bound)),
            },
            (ReportBody::Schema { schema_id, decision: None }, Source::Table) => {
                let seen = self.log.facts().schemas.latest >= Some((self.log.table(), *schema_id));
                Folded::noted(if seen { Outcome::Applied } else { Outcome::Pending })
            }
            (ReportBody::Schema { schema_id, decision: None }, Source::Reports) => {
                self.see_schema(*schema_id, received)
            }
            (ReportBody::Schema { schema_id, decision: Some(decision) }, _) => {
                self.take_decision(&said, *schema_id, *decision)
            }
            (ReportBody::Tag { name, version }, Source::Table) => self.hinted_tag(name, version.as_ref()),
            (ReportBody::Tag { name, version: None }, Source::Reports) => {
                let body = EventBody::Tagged { name: name.clone(), tag: said.statement(None) };
                self.fold_report(self.latest_data().map(|(at, _)| at), body, received)
            }
            (ReportBody::Tag { name, version: Some(version) }, Source::Reports) => {
                self.take_tag(&said, name, version)
            }
            (ReportBody::Backfill { id, status, from, to }, _) => {
                let value = Backfill { status: *status, from: *from, to: *to };
                debug_assert!(*status != BackfillStatus::None);
                let body = EventBody::Backfilled { id: id.clone(), backfill: said.statement(value) };
                self.fold_report(self.latest_data().map(|(at, _)| at), body, received)
            }
        })
    }

    /// Which commit is meant: if its id stood for several, the one of the fingerprint, else the newest that
    /// was there when the check read the table.
    fn bind(&self, version: &VersionName, read_time: Option<Millis>) -> Bound {
        let known = self.log.of_id(version.snapshot_id);
        if let Some(fingerprint) = &version.fingerprint {
            let named = known.into_iter().find(|commit| commit.fingerprint == *fingerprint);
            return named.map_or_else(|| self.unseen(version), |commit| Bound::Commit(commit.clone()));
        }
        match (known.as_slice(), read_time) {
            ([], _) => self.unseen(version),
            ([commit], _) => Bound::Commit((*commit).clone()),
            (several, Some(read)) => {
                let there = several.iter().filter(|commit| commit.commit_time.is_some_and(|at| at <= read));
                match there.max_by_key(|commit| commit.commit_time) {
                    Some(commit) => Bound::Commit((*commit).clone()),
                    None => Bound::Missing,
                }
            }
            (_, None) => Bound::Ambiguous,
        }
    }

    fn unseen(&self, version: &VersionName) -> Bound {
        match self.log.is_missing(version.snapshot_id) {
            true => Bound::Missing,
            false => Bound::Unseen,
        }
    }

    /// Newest place of a commit, of the history of now if it has it.
    fn place_of(&self, fingerprint: &str) -> Option<Position> {
        let mut versions = self.log.versions().rev();
        versions.find(|(_, version)| version.commit.fingerprint == fingerprint).map(|(at, _)| at)
    }

    fn hinted(&self, bound: Bound) -> Folded {
        match bound {
            Bound::Commit(commit) => {
                Folded { position: self.place_of(&commit.fingerprint), ..Folded::noted(Outcome::Applied) }
            }
            bound => Folded::noted(unbound(&bound)),
        }
    }

    fn hinted_tag(&self, name: &str, version: Option<&VersionName>) -> Folded {
        let tag = self.log.facts().tags().find(|(known, _)| *known == name).map(|(_, tag)| tag);
        let same = match (tag, version) {
            (None, None) => true,
            (Some(tag), Some(version)) => {
                let fingerprint = version.fingerprint.as_ref();
                tag.commit.snapshot_id == version.snapshot_id
                    && fingerprint.is_none_or(|fingerprint| *fingerprint == tag.commit.fingerprint)
            }
            _ => false,
        };
        Folded::noted(if same { Outcome::Applied } else { Outcome::Pending })
    }

    /// What orders a reported snapshot, and its place by that.
    fn order(&self, report: &Report, fingerprint: &str) -> Result<(Ordering, i64), Refused> {
        let ReportBody::Snapshot { version, sequence, commit_time, .. } = &report.body else {
            return Ok((Ordering::Id, 0));
        };
        let found = match (self.ordering, sequence) {
            (Some(known), None) => known,
            (_, Some(_)) => Ordering::Sequence,
            (None, None) if self.key.format() == "iceberg" => Ordering::CommitTime,
            (None, None) => Ordering::Id,
        };
        let ordering = self.fitting(found)?;
        let no_ordinal = |field| Refused::NoOrdinal { ordering: ordering.as_str(), field };
        let ordinal = match ordering {
            Ordering::Id => version.snapshot_id,
            Ordering::Sequence => sequence.ok_or_else(|| no_ordinal("sequence"))?,
            Ordering::CommitTime => {
                let at = commit_time.ok_or_else(|| no_ordinal("commit_time"))?;
                at.saturating_mul(COMMITS_A_MILLI).saturating_add(tie(fingerprint))
            }
            Ordering::Watermark => {
                return Err(Refused::OtherOrdering {
                    known: ordering.as_str(),
                    found: Ordering::Id.as_str(),
                });
            }
        };
        Ok((ordering, ordinal))
    }

    /// Where a reported snapshot belongs; `None` where the report does not say.
    pub fn reported_ordinal(&self, report: &Report) -> Option<i64> {
        let version = report.version()?;
        let fingerprint = self.reported_fingerprint(version);
        self.order(report, &fingerprint).ok().map(|(_, ordinal)| ordinal)
    }

    /// Where nothing tells commits of one id apart, it is one commit a history.
    fn reported_fingerprint(&self, version: &VersionName) -> String {
        let default = || format!("reported:{}:{}", self.generation(), version.snapshot_id);
        version.fingerprint.clone().unwrap_or_else(default)
    }

    fn take_snapshot(&mut self, said: &Said<'_>) -> Result<Folded, Refused> {
        let ReportBody::Snapshot {
            version,
            commit_time,
            commit_kind,
            schema_id,
            watermark,
            delta_record_count,
            ..
        } = &said.report.body
        else {
            return Ok(Folded::noted(Outcome::Ignored(IgnoredReason::NoState)));
        };
        let fingerprint = self.reported_fingerprint(version);
        let (ordering, ordinal) = self.order(said.report, &fingerprint)?;
        self.ordering = Some(ordering);
        let kind = commit_kind.clone().unwrap_or_else(|| "REPORTED".to_owned());
        let class = match kind.as_str() {
            "COMPACT" | "ANALYZE" | "replace" => CommitClass::Rewrite,
            _ => CommitClass::Advance,
        };
        let commit = Commit {
            snapshot_id: version.snapshot_id,
            fingerprint,
            commit_kind: kind,
            commit_time: *commit_time,
            schema_id: *schema_id,
            watermark: *watermark,
            delta_record_count: *delta_record_count,
        };
        Ok(self.fold_reported_commit(class, ordinal, commit, said.received))
    }

    fn fold_reported_commit(
        &mut self,
        class: CommitClass,
        ordinal: i64,
        commit: Commit,
        received: Millis,
    ) -> Folded {
        if let Some(schema) = commit.schema_id {
            self.see_schema(schema, received);
        }
        let position = self.at(ordinal);
        let body = EventBody::Committed { class, commit, assurance: Assurance::Reported };
        self.fold_report(Some(position), body, received)
    }

    fn fitting(&self, found: Ordering) -> Result<Ordering, Refused> {
        match self.ordering {
            Some(known) if known != found => {
                Err(Refused::OtherOrdering { known: known.as_str(), found: found.as_str() })
            }
            _ => Ok(found),
        }
    }

    fn take_watermark(
        &mut self,
        said: &Said<'_>,
        source: Source,
        watermark: Millis,
        version: Option<&VersionName>,
    ) -> Result<Folded, Refused> {
        let fingerprint = match version.map(|version| self.bind(version, None)) {
            Some(Bound::Commit(commit)) => Some(commit.fingerprint),
            Some(bound) => return Ok(Folded::noted(unbound(&bound))),
            None => self.latest_data().map(|(_, version)| version.commit.fingerprint.clone()),
        };
        let makes_versions = match self.ordering {
            Some(ordering) => ordering == Ordering::Watermark,
            None => self.log.latest().is_none(),
        };
        if source == Source::Reports && version.is_none() && makes_versions {
            self.ordering = Some(self.fitting(Ordering::Watermark)?);
            let commit = Commit {
                snapshot_id: watermark,
                fingerprint: format!("watermark:{}:{watermark}", self.generation()),
                commit_kind: "WATERMARK".to_owned(),
                commit_time: said.report.event_time,
                schema_id: None,
                watermark: Some(watermark),
                delta_record_count: None,
            };
            return Ok(self.fold_reported_commit(CommitClass::Advance, watermark, commit, said.received));
        }
        let Some(fingerprint) = fingerprint else {
            return Ok(Folded::noted(Outcome::Pending));
        };
        let place = self.place_of(&fingerprint);
        Ok(self.fold_report(place, EventBody::Watermarked { fingerprint, watermark }, said.received))
    }

    fn take_decision(&mut self, said: &Said<'_>, id: i64, decision: SchemaDecision) -> Folded {
        let position = Position { generation: self.log.table(), ordinal: 0 };
        let body = EventBody::SchemaDecided { id, decision: said.statement(decision) };
        self.fold_report(Some(position), body, said.received)
    }

    fn take_tag(&mut self, said: &Said<'_>, name: &str, version: &VersionName) -> Folded {
        let commit = match self.bind(version, None) {
            Bound::Commit(commit) => commit,
            bound => return Folded::noted(unbound(&bound)),
        };
        let place = self.place_of(&commit.fingerprint);
        let known = place.and_then(|place| Some((place, self.log.version(place)?.class)));
        let Some((place, class)) = known else {
            return Folded::noted(Outcome::Pending);
        };
        let tag = Tag { ordinal: place.ordinal, class, commit };
        let body = EventBody::Tagged { name: name.to_owned(), tag: said.statement(Some(tag)) };
        self.fold_report(Some(place), body, said.received)
    }

    /// Begins the next history at the newest commit of a native id, which becomes the head: of an asset that
    /// lives by reports, of which nobody else can tell that it went back. Needs the whole log. `None`: the
    /// history of now has no such commit.
    pub fn rewind(&mut self, to: i64, reason: &str, now: Millis) -> Option<Evidence> {
        let generation = self.generation();
        let named = |(at, version): &(Position, &Version)| {
            at.generation == generation && version.commit.snapshot_id == to
        };
        let base = self.log.versions().rev().find(named)?.0;
        let known = self.latest().map_or(to, |(_, version)| version.commit.snapshot_id);
        let kept = self.log.up_to(base, &self.log.readable());
        let position = Position { generation: generation + 1, ordinal: base.ordinal };
        let began = EventBody::Began { origin: Some(base), kept, another_table: false };
        let outcome = self.fold_one(position, began, now);
        let cause = HistoryBreak::ByHand { known, to, reason: reason.to_owned() };
        let fact = Fact::RolledBack { cause, base: Some(base.ordinal) };
        Some(Evidence { fact, position: Some(position), observed_at: now, outcome })
    }

    fn fold_report(&mut self, position: Option<Position>, body: EventBody, received: Millis) -> Folded {
        let place = position.unwrap_or(Position { generation: self.generation(), ordinal: i64::MIN });
        let outcome = self.fold_one(place, body, received);
        Folded { outcome, position, changed: moved(outcome) }
    }

    /// A schema was seen; the first one of an asset needs no approval.
    pub(super) fn see_schema(&mut self, id: i64, now: Millis) -> Folded {
        let position = Position { generation: self.log.table(), ordinal: 0 };
        let first = self.log.facts().schemas.latest.is_none();
        self.fold_report(Some(position), EventBody::SchemaSeen { id, first }, now)
    }
}

/// Whether an outcome changed what is known.
fn moved(outcome: Outcome) -> bool {
    !matches!(outcome, Outcome::Duplicate | Outcome::Pending)
}

fn unbound(bound: &Bound) -> Outcome {
    match bound {
        Bound::Commit(_) => Outcome::Applied,
        Bound::Unseen => Outcome::Pending,
        Bound::Missing => Outcome::Ignored(IgnoredReason::UnknownVersion),
        Bound::Ambiguous => Outcome::Ignored(IgnoredReason::AmbiguousVersion),
    }
}

/// Tells commits of one moment apart, the same way whatever comes first.
fn tie(fingerprint: &str) -> i64 {
    let hex = digest([fingerprint]);
    i64::from_str_radix(&hex[..8], 16).unwrap_or_default() % COMMITS_A_MILLI
}

/// A report on its way into the log.
struct Said<'a> {
    report: &'a Report,
    key: &'a str,
    at: Millis,
    received: Millis,
}

impl Said<'_> {
    fn statement<T>(&self, value: T) -> Statement<T> {
        Statement { value, at: self.at, reporter: self.report.reporter.clone(), key: self.key.to_owned() }
    }
}

#[cfg(test)]
mod tests;

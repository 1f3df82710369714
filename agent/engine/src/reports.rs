//! Reports: the door through which jobs and people tell of what happened.
//!
//! Promises: a caller is answered when its reports are on disk, each with what became of it; calls that come
//! together are written together. Whoever depends on what moved is told the same way as of a poll.

use std::sync::Arc;

use asset_core::{event::Outcome, key::AssetKey, report::Report, version::Millis};
use asset_store::{Loaded, ReportOutcome, ReportRequest, Role, Store};
use tokio::time::Instant;
use tracing::{error, info};

use crate::{
    catalogs::Catalogs,
    follow::FollowerPort,
    gather::{Gather, GatherError, Groups},
    hub::{HubHandle, Moved},
    interest::Interest,
    observer::Observer,
};

/// Reports of one transaction, unless one call has more: writers wait for each other.
const AT_ONCE: usize = 10_000;

type Call = (Vec<ReportRequest>, Instant);

/// Hands reports in.
pub struct Reports {
    calls: Gather<Call, Vec<ReportOutcome>>,
    catalogs: Arc<Catalogs>,
    interest: Arc<Interest>,
    register_unknown: bool,
}

/// The task behind [`Reports`].
pub struct ReportTask {
    calls: Groups<Call, Vec<ReportOutcome>>,
    store: Arc<Store>,
    hub: HubHandle,
    follower: Option<FollowerPort>,
    observer: Arc<dyn Observer>,
}

impl Reports {
    /// A door and the task that stands behind it.
    pub fn new(
        store: Arc<Store>,
        hub: HubHandle,
        follower: Option<FollowerPort>,
        observer: Arc<dyn Observer>,
        catalogs: Arc<Catalogs>,
        interest: Arc<Interest>,
        register_unknown: bool,
    ) -> (Self, ReportTask) {
        let (calls, groups) = Gather::new();
        let door = Self { calls, catalogs, interest, register_unknown };
        (door, ReportTask { calls: groups, store, hub, follower, observer })
    }

    /// Stores reports; answers in their order when they are on disk.
    pub async fn report(
        &self,
        reports: Vec<(AssetKey, Report)>,
        received: Millis,
    ) -> Result<Vec<ReportOutcome>, GatherError> {
        let requests: Vec<ReportRequest> = reports
            .into_iter()
            .map(|(key, report)| ReportRequest { role: self.role(&key), key, report, received })
            .collect();
        let hints: Vec<Option<AssetKey>> = requests
            .iter()
            .map(|request| (request.role == Role::Read).then(|| request.key.clone()))
            .collect();
        let outcomes = self.calls.ask((requests, Instant::now())).await?;
        // What was not seen yet is looked for at once, in a read that sees everything.
        for (outcome, hint) in outcomes.iter().zip(hints) {
            if let (ReportOutcome::Stored { outcome: Outcome::Pending, .. }, Some(key)) = (outcome, hint) {
                self.interest.hurry(&key);
            }
        }
        Ok(outcomes)
    }

    /// What an asset is to this agent.
    pub fn role(&self, key: &AssetKey) -> Role {
        match self.catalogs.of(key) {
            Some(_) => Role::Read,
            None => Role::Reported { register: self.register_unknown },
        }
    }
}

impl ReportTask {
    /// Runs until every [`Reports`] is gone; what was handed in by then is stored.
    pub async fn run(self) {
        let Self { mut calls, store, hub, follower, observer } = self;
        while let Some((group, callers)) = calls.next_within(AT_ONCE, |(call, _)| call.len()).await {
            let handed_over = group.iter().map(|(_, at)| *at).min().unwrap_or_else(Instant::now);
            let sizes: Vec<usize> = group.iter().map(|(call, _)| call.len()).collect();
            let requests: Vec<ReportRequest> = group.into_iter().flat_map(|(call, _)| call).collect();
            let keys: Vec<AssetKey> = requests.iter().map(|request| request.key.clone()).collect();
            let reported = match store.report(requests).await {
                Ok(reported) => reported,
                Err(failure) => {
                    error!(status = "FAILED", reason = %failure, "a group of reports could not be stored");
                    callers.answer(Err::<Vec<_>, _>(failure));
                    continue;
                }
            };
            count(&keys, &reported.outcomes, &*observer);
            for (key, loaded) in &reported.moved {
                tell(key, loaded, &*observer);
            }
            match &follower {
                Some(follower) => follower.wake(),
                None if reported.moved.is_empty() => {}
                None => {
                    let moved = reported.moved.into_iter().map(|(key, now)| Moved { key, now, handed_over });
                    hub.moved(moved.collect()).await;
                }
            }
            let mut outcomes = reported.outcomes.into_iter();
            let answers = sizes.into_iter().map(|size| outcomes.by_ref().take(size).collect()).collect();
            callers.answer(Ok::<Vec<_>, String>(answers));
        }
    }
}

fn count(keys: &[AssetKey], outcomes: &[ReportOutcome], observer: &dyn Observer) {
    for (key, outcome) in keys.iter().zip(outcomes) {
        match outcome {
            ReportOutcome::Stored { .. } => observer.received(key, 1, 0),
            ReportOutcome::Duplicate { .. } => observer.received(key, 0, 1),
            ReportOutcome::Conflict { .. } | ReportOutcome::Refused(_) | ReportOutcome::NoSuchAsset => {
                observer.refused(key);
            }
        }
    }
}

fn tell(key: &AssetKey, loaded: &Loaded, observer: &dyn Observer) {
    let Loaded::Known(asset) = loaded else {
        return;
    };
    observer.state(asset);
    let latest = asset.latest().map(|(_, version)| version);
    info!(
        assetKey = %key,
        snapshotId = latest.map(|version| version.commit.snapshot_id),
        watermark = latest.and_then(|version| version.effective_watermark),
        quality = asset.quality().map(|said| said.value.as_str()),
        revision = asset.revision,
        "asset moved by a report"
    );
}

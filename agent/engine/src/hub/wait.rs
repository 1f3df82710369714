//! One wait: what it is told, and what it is counted under.

use std::sync::Arc;

use asset_core::{
    baseline::Baselines, condition::Dependency, evaluate::Evaluation, key::AssetKey, reason::BlockedBy,
};

use super::{Standing, VerdictSlot, WaitUpdate};
use crate::observer::Observer;

/// A wait.
pub struct Wait {
    /// What it waits for.
    pub dependency: Dependency,
    /// The assets that it looks at, each once.
    pub assets: Vec<AssetKey>,
    /// `None` until its assets are loaded: they are taken then.
    pub baselines: Option<Baselines>,
    /// Who waits.
    pub kind: Kind,
    /// Its readers.
    pub slots: Vec<VerdictSlot>,
    /// A stored wait may have a mark in the store, to be taken away with the next verdict.
    pub marked: bool,
    /// The last verdict that was sent.
    pub last: Option<Arc<WaitUpdate>>,
    /// What the metrics count it under.
    pub blocked: Vec<(AssetKey, BlockedBy)>,
}

/// Who waits.
pub enum Kind {
    /// Nobody in particular.
    Anonymous,
    /// A task: the wait is in the store.
    Stored { wait_id: Arc<str>, lock_version: i64, workflow_code: i64, phase: Phase },
}

/// Where the decision on a stored wait stands.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// Blocked, as far as is known.
    Open,
    /// A READY is being written.
    Deciding,
}

impl Wait {
    /// A verdict for its readers.
    pub fn update(
        &self,
        revision: i64,
        evaluated_at: i64,
        evaluation: Evaluation,
        standing: Standing,
    ) -> WaitUpdate {
        let (wait_id, token) = match &self.kind {
            Kind::Anonymous => (None, self.token()),
            // The store has what a token would carry.
            Kind::Stored { wait_id, .. } => (Some(wait_id.clone()), Arc::from("")),
        };
        WaitUpdate {
            revision,
            evaluated_at,
            wait_id,
            resume_token: token,
            evaluation: Arc::new(evaluation),
            standing,
        }
    }

    fn token(&self) -> Arc<str> {
        match (&self.last, &self.baselines) {
            (Some(last), _) => last.resume_token.clone(),
            (None, Some(baselines)) => baselines.to_token().into(),
            (None, None) => Arc::from(""),
        }
    }

    /// Workflow that it belongs to; 0 for none.
    pub fn workflow_code(&self) -> i64 {
        match self.kind {
            Kind::Anonymous => 0,
            Kind::Stored { workflow_code, .. } => workflow_code,
        }
    }

    /// Counts the wait under what blocks it now.
    pub fn recount(&mut self, observer: &dyn Observer) {
        let Some(last) = &self.last else {
            return;
        };
        let blocked = last.evaluation.groups.iter().flat_map(|group| {
            group
                .conditions
                .iter()
                .filter_map(|condition| Some((condition.asset.clone(), condition.blocked_by()?)))
        });
        let blocked = blocked.collect();
        self.count(observer, blocked);
    }

    /// Counts the wait under these instead of what it was counted under.
    pub fn count(&mut self, observer: &dyn Observer, blocked: Vec<(AssetKey, BlockedBy)>) {
        let workflow_code = self.workflow_code();
        for (key, by) in std::mem::replace(&mut self.blocked, blocked) {
            observer.blocked(&key, workflow_code, by, -1);
        }
        for (key, by) in &self.blocked {
            observer.blocked(key, workflow_code, *by, 1);
        }
    }
}

//! One wait: what it is told, and what it is counted under.

use std::sync::Arc;

use asset_core::{
    baseline::Baselines,
    condition::{Condition, Dependency},
    evaluate::Evaluation,
    key::AssetKey,
    reason::BlockedBy,
    version::Millis,
};

use crate::loader::Depth;

use super::{Standing, VerdictSlot, WaitUpdate, aftermath::Aftermath, question::Question};

/// A wait.
pub struct Wait {
    /// What it waits for.
    pub dependency: Arc<Dependency>,
    /// The assets that it looks at, each once.
    pub assets: Vec<AssetKey>,
    /// What it asks.
    pub asks: Asks,
    /// Who waits.
    pub kind: Kind,
    /// Its readers.
    pub slots: Vec<VerdictSlot>,
    /// A stored wait may have a mark in the store, to be taken away with the next verdict.
    pub marked: bool,
    /// The last verdict that was sent.
    pub last: Option<Arc<WaitUpdate>>,
    /// When time alone changes it.
    pub recheck_at: Option<Millis>,
    /// What the metrics count it under.
    pub blocked: Vec<(AssetKey, BlockedBy)>,
}

/// What a wait asks.
pub enum Asks {
    /// To be told once its assets are loaded: with these baselines, or with those of that moment.
    Later(Option<Baselines>),
    /// This.
    Now(Arc<Question>),
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
    /// How deep it looks into an asset.
    pub fn depth(&self, key: &AssetKey) -> Depth {
        let mut of_asset = self.dependency.conditions().filter(|condition| condition.asset == *key);
        if of_asset.any(Condition::looks_back) { Depth::Back } else { Depth::Head }
    }

    /// A verdict for its readers.
    pub fn update(
        &self,
        revision: i64,
        evaluated_at: i64,
        evaluation: Arc<Evaluation>,
        standing: Standing,
    ) -> WaitUpdate {
        let (wait_id, token) = match &self.kind {
            Kind::Anonymous => (None, self.token()),
            // The store has what a token would carry.
            Kind::Stored { wait_id, .. } => (Some(wait_id.clone()), Arc::from("")),
        };
        WaitUpdate { revision, evaluated_at, wait_id, resume_token: token, evaluation, standing }
    }

    fn token(&self) -> Arc<str> {
        match (&self.last, &self.asks) {
            (Some(last), _) => last.resume_token.clone(),
            (None, Asks::Now(question)) => question.baselines.to_token().into(),
            (None, Asks::Later(_)) => Arc::from(""),
        }
    }

    /// What it asks; `begin` takes the baselines of a wait that has none yet.
    pub fn question(&mut self, begin: impl FnOnce(&Dependency) -> Baselines) -> Arc<Question> {
        let baselines = match &mut self.asks {
            Asks::Now(question) => return question.clone(),
            Asks::Later(baselines) => baselines.take().unwrap_or_else(|| begin(&self.dependency)),
        };
        let question = Arc::new(Question { dependency: self.dependency.clone(), baselines });
        self.asks = Asks::Now(question.clone());
        question
    }

    /// Workflow that it belongs to; 0 for none.
    pub fn workflow_code(&self) -> i64 {
        match self.kind {
            Kind::Anonymous => 0,
            Kind::Stored { workflow_code, .. } => workflow_code,
        }
    }

    /// Counts the wait under what blocks it now.
    pub fn recount(&mut self, counts: &mut Aftermath) {
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
        self.count(counts, blocked);
    }

    /// Counts the wait under these instead of what it was counted under.
    pub fn count(&mut self, counts: &mut Aftermath, blocked: Vec<(AssetKey, BlockedBy)>) {
        let workflow_code = self.workflow_code();
        for (key, by) in std::mem::replace(&mut self.blocked, blocked) {
            counts.blocked(&key, workflow_code, by, -1);
        }
        for (key, by) in &self.blocked {
            counts.blocked(key, workflow_code, *by, 1);
        }
    }
}

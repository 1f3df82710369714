//! The waits of the hub: evaluated when an asset of theirs moves, told what changed.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::Arc,
};

use asset_core::{
    baseline::Baselines,
    evaluate::{Evaluation, Pin, Releasing},
    key::AssetKey,
    version::Millis,
};
use asset_store::{Decision, StoredWait, WaitStatus};
use tracing::warn;

use super::{
    NewWait, Standing, VerdictSlot, WaitUpdate,
    aftermath::Aftermath,
    question::{Answer, Round},
    views::{Views, WaitNumber},
    wait::{Asks, Kind, Phase, Wait},
};
use crate::{
    clock::Clock,
    decide::{DeciderPort, Written},
    loader::Depth,
    observer::Observer,
};

/// All open waits.
pub struct Waits {
    releasing: Releasing,
    clock: Arc<dyn Clock>,
    aftermath: Aftermath,
    /// Released: [`Self::announce`] tells their readers, [`Self::settle`] does the rest.
    over: Vec<(WaitNumber, Wait)>,
    waits: HashMap<WaitNumber, Wait>,
    /// Stored waits by their id.
    stored: HashMap<Arc<str>, WaitNumber>,
    next_number: WaitNumber,
    /// How many readers all of them have.
    readers: usize,
    /// Decisions for the next group, one a wait; a group is under way while `deciding`.
    decisions: BTreeMap<WaitNumber, Decision>,
    decider: DeciderPort,
    deciding: bool,
    /// Blocked waits whose verdict time alone changes, by when it does.
    rechecks: BTreeSet<(Millis, WaitNumber)>,
}

impl Waits {
    pub fn new(releasing: Releasing, clock: Arc<dyn Clock>, decider: DeciderPort) -> Self {
        Self {
            releasing,
            clock,
            aftermath: Aftermath::default(),
            over: Vec::new(),
            waits: HashMap::new(),
            stored: HashMap::new(),
            next_number: 0,
            readers: 0,
            decisions: BTreeMap::new(),
            decider,
            deciding: false,
            rechecks: BTreeSet::new(),
        }
    }

    /// The clock.
    pub fn clock(&self) -> Arc<dyn Clock> {
        self.clock.clone()
    }

    /// When the verdict of a wait changes though nothing moves; `None`: never.
    pub fn next_recheck(&self) -> Option<Millis> {
        self.rechecks.first().map(|(at, _)| *at)
    }

    /// Evaluates the waits whose verdict time changed.
    pub fn recheck(&mut self, views: &mut Views, revision: i64) {
        let now = self.clock.now();
        let mut round = self.round();
        while let Some((at, number)) = self.rechecks.pop_first() {
            if at > now {
                self.rechecks.insert((at, number));
                return;
            }
            if let Some(wait) = self.waits.get_mut(&number) {
                wait.recheck_at = None;
            }
            self.evaluate(number, views, revision, &mut round);
        }
    }

    /// Remembers when time alone changes a verdict.
    fn note_recheck(&mut self, number: WaitNumber, at: Option<Millis>) {
        let Some(wait) = self.waits.get_mut(&number) else {
            return;
        };
        if let Some(before) = std::mem::replace(&mut wait.recheck_at, at) {
            self.rechecks.remove(&(before, number));
        }
        self.rechecks.extend(at.map(|at| (at, number)));
    }

    /// Clears up behind waits whose readers were told that they are over, and counts and logs what became
    /// of all.
    pub fn settle(&mut self, views: &mut Views, observer: &dyn Observer) {
        for (number, wait) in std::mem::take(&mut self.over) {
            if let Some(update) = &wait.last {
                self.aftermath.released(update.clone(), wait.workflow_code(), wait.slots.len());
            }
            self.clear_up(number, wait, views);
        }
        self.aftermath.tell(observer);
    }

    /// Answers for as long as no state moves.
    pub fn round(&self) -> Round {
        Round::new(self.releasing, self.clock.now())
    }

    /// How many readers wait.
    pub fn streams(&self) -> usize {
        self.readers
    }

    /// Adds a wait, or a reader to one that is here.
    pub fn add(&mut self, new: NewWait, slot: Option<VerdictSlot>, views: &mut Views, revision: i64) {
        let (dependency, baselines, kind) = match new {
            NewWait::Anonymous { dependency, baselines } => (dependency, baselines, Kind::Anonymous),
            NewWait::Stored(wait) => {
                if let Some(&number) = self.stored.get(wait.wait_id.as_str()) {
                    self.join(number, *wait, slot, views, revision);
                    return;
                }
                let StoredWait { wait_id, workflow_code, dependency, baselines, lock_version, .. } = *wait;
                let wait_id: Arc<str> = wait_id.into();
                self.stored.insert(wait_id.clone(), self.next_number);
                let kind = Kind::Stored { wait_id, lock_version, workflow_code, phase: Phase::Open };
                (dependency, Some(baselines), kind)
            }
        };
        let number = self.next_number;
        self.next_number += 1;
        let unread = slot.is_none();
        self.readers += usize::from(!unread);
        let assets: Vec<AssetKey> = dependency.assets().into_iter().collect();
        let wait = Wait {
            dependency: Arc::new(dependency),
            assets: assets.clone(),
            asks: Asks::Later(baselines),
            kind,
            slots: slot.into_iter().collect(),
            // A wait without a reader was open when an agent left: it may have a mark.
            marked: unread,
            last: None,
            recheck_at: None,
            blocked: Vec::new(),
        };
        let depths: Vec<(AssetKey, Depth)> =
            assets.iter().map(|key| (key.clone(), wait.depth(key))).collect();
        self.waits.insert(number, wait);
        for (key, depth) in &depths {
            views.attach(key, number, *depth);
        }
        self.evaluate(number, views, revision, &mut self.round());
    }

    /// A reader comes to a stored wait that is here; what it was told last is told again at once.
    fn join(
        &mut self,
        number: WaitNumber,
        stored: StoredWait,
        slot: Option<VerdictSlot>,
        views: &mut Views,
        revision: i64,
    ) {
        let Some(wait) = self.waits.get_mut(&number) else {
            return;
        };
        if let Kind::Stored { lock_version, .. } = &mut wait.kind {
            *lock_version = (*lock_version).max(stored.lock_version);
        }
        if let Some(slot) = slot {
            if let Some(last) = &wait.last {
                slot.send_replace(Some(last.clone()));
            }
            wait.slots.push(slot);
            self.readers += 1;
        }
        self.evaluate(number, views, revision, &mut self.round());
    }

    /// An asset that the wait looks at moved: its mark is to be taken away.
    pub fn asset_moved(&mut self, number: WaitNumber, views: &mut Views, revision: i64, round: &mut Round) {
        if let Some(wait) = self.waits.get_mut(&number) {
            wait.marked = true;
        }
        self.evaluate(number, views, revision, round);
    }

    /// Evaluates open waits that have a mark. One that is not here lost its caller between its
    /// registration and the hub.
    pub fn take_up(&mut self, marked: Vec<StoredWait>, views: &mut Views, revision: i64) {
        let mut round = self.round();
        for wait in marked {
            match self.stored.get(wait.wait_id.as_str()) {
                Some(&number) => self.asset_moved(number, views, revision, &mut round),
                None => self.add(NewWait::Stored(Box::new(wait)), None, views, revision),
            }
        }
    }

    /// Evaluates a wait once all that it looks at is loaded, and says or stores what changed.
    pub fn evaluate(&mut self, number: WaitNumber, views: &mut Views, revision: i64, round: &mut Round) {
        let Some(wait) = self.waits.get_mut(&number) else {
            return;
        };
        if !views.all_loaded(&wait.assets) {
            return;
        }
        let question = wait.question(|dependency| Baselines::begin(dependency, |key| views.knowledge(key)));
        let Answer { evaluation, pins, rests_on } = round.answer(&question, views);
        let revision = rests_on.max(revision).max(wait.last.as_ref().map_or(0, |last| last.revision));
        let now = self.clock.now();
        match (&mut wait.kind, pins) {
            (Kind::Anonymous, Some(pins)) => {
                let update = wait.update(revision, now, evaluation, Standing::Ready(pins));
                self.finish(number, update);
            }
            // The answer to the decision under way comes first; it may be stale and evaluated again.
            (Kind::Stored { phase: Phase::Deciding, .. }, _) => {}
            (Kind::Stored { wait_id, lock_version, phase, .. }, pins) => {
                let ready = pins.is_some();
                if ready || wait.marked {
                    let locks = wait.assets.iter().map(|key| (key.clone(), views.lock_version(key)));
                    let decision = Decision {
                        wait_id: wait_id.to_string(),
                        wait_lock: *lock_version,
                        asset_locks: locks.collect(),
                        ready: pins.map(|pins| (*pins).clone()),
                        revision,
                        at: now,
                    };
                    wait.marked = false;
                    self.decisions.insert(number, decision);
                }
                if ready {
                    *phase = Phase::Deciding;
                } else {
                    self.tell_blocked(number, revision, now, evaluation);
                }
                self.decide();
            }
            (Kind::Anonymous, None) => self.tell_blocked(number, revision, now, evaluation),
        }
    }

    /// Sends a verdict that changed.
    fn tell_blocked(&mut self, number: WaitNumber, revision: i64, now: i64, evaluation: Arc<Evaluation>) {
        self.note_recheck(number, evaluation.recheck_at());
        let Some(wait) = self.waits.get_mut(&number) else {
            return;
        };
        if wait.last.as_ref().is_some_and(|last| last.evaluation == evaluation) {
            return;
        }
        let update = Arc::new(wait.update(revision, now, evaluation, Standing::Blocked));
        for slot in &wait.slots {
            slot.send_replace(Some(update.clone()));
        }
        wait.last = Some(update);
        wait.recount(&mut self.aftermath);
    }

    fn decide(&mut self) {
        if self.deciding || self.decisions.is_empty() {
            return;
        }
        self.deciding = true;
        let group = std::mem::take(&mut self.decisions);
        self.decider.decide(group.into_values().collect());
    }

    /// Takes the answers to a group of decisions.
    pub fn take_decided(&mut self, outcomes: Vec<(Decision, Written)>, views: &mut Views, revision: i64) {
        self.deciding = false;
        for (decision, written) in outcomes {
            let Some(&number) = self.stored.get(decision.wait_id.as_str()) else {
                continue;
            };
            match (written, decision.ready) {
                (Written::Yes, None) => {}
                (Written::Yes, Some(pins)) => {
                    self.release(number, pins, decision.revision, decision.at, views);
                }
                (Written::Stale(Some(stored)), _) => match stored.status {
                    WaitStatus::Ready { pins, revision, at } => {
                        self.release(number, pins, revision, at, views);
                    }
                    WaitStatus::Open => {
                        self.reopen(number, stored.lock_version);
                        self.evaluate(number, views, revision, &mut self.round());
                    }
                },
                (Written::Stale(None), _) => {
                    warn!(waitId = %decision.wait_id, "the wait is gone from the store; its streams end");
                    self.remove(number, views);
                }
            }
        }
        self.decide();
    }

    fn reopen(&mut self, number: WaitNumber, lock: i64) {
        if let Some(Wait { kind: Kind::Stored { lock_version, phase, .. }, .. }) = self.waits.get_mut(&number)
        {
            *lock_version = lock;
            *phase = Phase::Open;
        }
    }

    /// A stored wait is READY on disk: say so.
    fn release(&mut self, number: WaitNumber, pins: Vec<Pin>, revision: i64, at: i64, views: &mut Views) {
        let Some(wait) = self.waits.get(&number) else {
            return;
        };
        // What is known may have moved on since; the pins are those that were stored.
        let evaluation = match &wait.asks {
            Asks::Now(question) => {
                let answer = self.round().answer(question, views);
                (answer.pins.as_deref() == Some(&pins)).then_some(answer.evaluation)
            }
            Asks::Later(_) => None,
        };
        let evaluation = evaluation.unwrap_or_else(|| Arc::new(Evaluation { groups: Vec::new() }));
        let revision = revision.max(wait.last.as_ref().map_or(0, |last| last.revision));
        let update = wait.update(revision, at, evaluation, Standing::Ready(pins.into()));
        self.finish(number, update);
    }

    /// The wait is over: [`Self::announce`] tells its readers the last verdict.
    fn finish(&mut self, number: WaitNumber, update: WaitUpdate) {
        if let Some(mut wait) = self.take_out(number) {
            wait.last = Some(Arc::new(update));
            self.over.push((number, wait));
        }
    }

    /// Tells the readers of all waits that are over. All at once: who is told begins to write, and would
    /// hold up the verdicts of those behind it. Answers whether there were any.
    pub fn announce(&mut self) -> bool {
        for (_, wait) in &self.over {
            for slot in &wait.slots {
                slot.send_replace(wait.last.clone());
            }
        }
        !self.over.is_empty()
    }

    fn take_out(&mut self, number: WaitNumber) -> Option<Wait> {
        self.decisions.remove(&number);
        self.note_recheck(number, None);
        let wait = self.waits.remove(&number)?;
        self.readers -= wait.slots.len();
        if let Kind::Stored { wait_id, .. } = &wait.kind {
            self.stored.remove(wait_id);
        }
        Some(wait)
    }

    fn remove(&mut self, number: WaitNumber, views: &mut Views) {
        if let Some(wait) = self.take_out(number) {
            self.clear_up(number, wait, views);
        }
    }

    fn clear_up(&mut self, number: WaitNumber, mut wait: Wait, views: &mut Views) {
        wait.count(&mut self.aftermath, Vec::new());
        for key in &wait.assets {
            views.detach(key, number);
        }
    }

    /// Lets readers go that left. An anonymous wait goes with its reader, a stored one stays.
    pub fn tidy(&mut self, views: &mut Views) {
        let mut gone = Vec::new();
        for (number, wait) in &mut self.waits {
            let before = wait.slots.len();
            wait.slots.retain(|slot| !slot.is_closed());
            self.readers -= before - wait.slots.len();
            if wait.slots.is_empty() && matches!(wait.kind, Kind::Anonymous) {
                gone.push(*number);
            }
        }
        for number in gone {
            self.remove(number, views);
        }
    }
}

//! What a wait asks, and the answers of one round: thousands of waits often ask the same.

use std::{
    collections::{HashMap, hash_map::Entry},
    sync::Arc,
};

use asset_core::{
    asset::Knowledge,
    baseline::Baselines,
    condition::Dependency,
    evaluate::{Evaluation, Pin, Releasing, evaluate},
    version::Millis,
};

use super::views::Views;

/// What a wait asks once its assets are loaded.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct Question {
    pub dependency: Arc<Dependency>,
    pub baselines: Baselines,
}

/// A verdict on a question.
#[derive(Debug, Clone)]
pub struct Answer {
    pub evaluation: Arc<Evaluation>,
    /// Set when the dependency holds.
    pub pins: Option<Arc<Vec<Pin>>>,
    /// Greatest revision of the states that it rests on.
    pub rests_on: i64,
}

/// Answers for as long as no state moves, as of one time: the same question is evaluated once.
pub struct Round {
    releasing: Releasing,
    now: Millis,
    answers: HashMap<Arc<Question>, Answer>,
    /// The last one: comparing costs less than hashing.
    last: Option<(Arc<Question>, Answer)>,
}

impl Round {
    pub fn new(releasing: Releasing, now: Millis) -> Self {
        Self { releasing, now, answers: HashMap::new(), last: None }
    }

    /// The answer to a question whose assets are all loaded.
    pub fn answer(&mut self, question: &Arc<Question>, views: &Views) -> Answer {
        if let Some((_, answer)) = self.last.as_ref().filter(|(asked, _)| asked == question) {
            return answer.clone();
        }
        let answer = match self.answers.entry(question.clone()) {
            Entry::Occupied(known) => known.get().clone(),
            Entry::Vacant(new) => new.insert(answer(question, self.releasing, self.now, views)).clone(),
        };
        self.last = Some((question.clone(), answer.clone()));
        answer
    }
}

fn answer(question: &Question, releasing: Releasing, now: Millis, views: &Views) -> Answer {
    let Question { dependency, baselines } = question;
    let evaluation = evaluate(dependency, baselines, releasing, now, |key| views.knowledge(key));
    let revisions = dependency.conditions().map(|condition| match views.knowledge(&condition.asset) {
        Knowledge::Known(asset) => asset.revision,
        _ => 0,
    });
    Answer {
        pins: evaluation.pins().map(Arc::new),
        rests_on: revisions.max().unwrap_or(0),
        evaluation: Arc::new(evaluation),
    }
}

//! What an entry inherits from its ancestors: the data that a Rewrite carries, and the watermark.

use std::collections::BTreeMap;

use super::{Entry, VersionLog};
use crate::version::{CommitClass, Millis, Position, Version};

/// What an entry hands on to the next of its history.
#[derive(Clone, Copy)]
struct Inherited {
    /// The data version that a Rewrite would carry; `None` when unknown.
    data_ordinal: Option<i64>,
    watermark: Option<Millis>,
}

impl VersionLog {
    /// Derives the watermarks of a commit and of what inherits from it, in every history that has it.
    /// Answers whether that changed anything.
    pub fn derive_watermarks(&mut self, fingerprint: &str) -> bool {
        let has = |(_, version): &(Position, &Version)| version.commit.fingerprint == fingerprint;
        let places: Vec<Position> = self.versions().filter(has).map(|(at, _)| at).collect();
        let mut changed = false;
        for place in places {
            let before = self.version(place).and_then(|version| version.effective_watermark);
            self.derive_from(place, Reach::UntilUnchanged);
            changed |= before != self.version(place).and_then(|version| version.effective_watermark);
        }
        changed
    }

    /// Derives the inherited values of the entry at `from` and of those above it: of all, or until one
    /// comes out as it was, since all above that one then stay as they are. The oldest entry of a
    /// history has what it inherits already: what was below it may have been trimmed.
    pub fn derive_from(&mut self, from: Position, reach: Reach) {
        let below = self.entries.range(..from).next_back();
        let below = below.filter(|(position, _)| position.generation == from.generation);
        let mut inherited = below.map(|(_, entry)| entry.handed_on());
        let reported = &self.facts.watermarks;
        for (position, entry) in self.entries.range_mut(from..) {
            if position.generation != from.generation {
                break;
            }
            match inherited {
                Some(inherited) => {
                    let changed = entry.derive(*position, inherited, reported);
                    if !changed && *position > from && reach == Reach::UntilUnchanged {
                        break;
                    }
                }
                None => entry.raise(reported),
            }
            inherited = Some(entry.handed_on());
        }
    }
}

/// How far inherited values are derived again.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    All,
    UntilUnchanged,
}

impl Entry {
    fn handed_on(&self) -> Inherited {
        match self {
            Self::Commit(version) => {
                Inherited { data_ordinal: Some(version.data_ordinal), watermark: version.effective_watermark }
            }
            // Behind a gap nobody knows which data a Rewrite carries: it counts as data itself.
            Self::Gap { effective_watermark, .. } => {
                Inherited { data_ordinal: None, watermark: *effective_watermark }
            }
        }
    }

    /// The oldest of its history has what it inherits; what was reported of it may be greater.
    fn raise(&mut self, reported: &BTreeMap<String, Millis>) {
        if let Self::Commit(version) = self {
            let reported = reported.get(&version.commit.fingerprint).copied();
            version.effective_watermark = version.effective_watermark.max(reported);
        }
    }

    fn derive(
        &mut self,
        position: Position,
        inherited: Inherited,
        reported: &BTreeMap<String, Millis>,
    ) -> bool {
        match self {
            Self::Commit(version) => {
                let data_ordinal = match version.class {
                    CommitClass::Advance => position.ordinal,
                    CommitClass::Rewrite => inherited.data_ordinal.unwrap_or(position.ordinal),
                };
                let reported = reported.get(&version.commit.fingerprint).copied();
                // What was reported raises, and never lowers what is known.
                let watermark = version.commit.watermark.or(inherited.watermark).max(reported);
                let changed =
                    (version.data_ordinal, version.effective_watermark) != (data_ordinal, watermark);
                version.data_ordinal = data_ordinal;
                version.effective_watermark = watermark;
                changed
            }
            Self::Gap { effective_watermark, .. } => {
                let changed = *effective_watermark != inherited.watermark;
                *effective_watermark = inherited.watermark;
                changed
            }
        }
    }
}

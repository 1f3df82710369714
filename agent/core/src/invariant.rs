//! Invariants by name. Property tests, fault runs and debug assertions call the same functions.

use crate::{
    condition::Dependency,
    evaluate::Pin,
    log::{Entry, VersionLog},
    version::CommitClass,
};

/// A broken invariant, in one sentence.
pub type Broken = String;

/// Revisions that one reader sees never go back.
pub fn no_revision_goes_back(revisions: &[i64]) -> Result<(), Broken> {
    match revisions.windows(2).find(|pair| pair[1] < pair[0]) {
        Some(pair) => Err(format!("revision {} came after {}", pair[1], pair[0])),
        None => Ok(()),
    }
}

/// Every commit carries a data version that is not above it, an Advance itself.
pub fn data_versions_are_ancestors(log: &VersionLog) -> Result<(), Broken> {
    for (position, entry) in log.entries() {
        let Entry::Commit(version) = entry else {
            continue;
        };
        let holds = match version.class {
            CommitClass::Advance => version.data_ordinal == position.ordinal,
            CommitClass::Rewrite => version.data_ordinal <= position.ordinal,
        };
        if !holds {
            return Err(format!("{position} carries the data of ordinal {}", version.data_ordinal));
        }
    }
    Ok(())
}

/// Pins fit one group of the dependency: one for each condition, none below what it asks for by
/// native id.
pub fn pins_satisfy_one_group(dependency: &Dependency, pins: &[Pin]) -> Result<(), Broken> {
    let fits = dependency.groups().iter().any(|group| {
        group.conditions.len() == pins.len()
            && group.conditions.iter().zip(pins).all(|(condition, pin)| {
                condition.asset.as_str() == pin.asset
                    && condition.name == pin.name
                    && condition.min_snapshot_id.is_none_or(|min| min <= pin.snapshot_id)
            })
    });
    if fits { Ok(()) } else { Err(format!("no group is satisfied by {pins:?}")) }
}

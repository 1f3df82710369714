//! Statements: what somebody said about a thing, of which the latest counts.

use crate::version::Millis;

/// Something that was said. Of several the one with the greatest time counts; at one time the greater
/// value, so that a value orders what is more careful above what is less; then the greater key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statement<T> {
    /// What was said.
    pub value: T,
    /// When, by whoever said it.
    pub at: Millis,
    /// Who said it.
    pub reporter: String,
    /// Dedupe key of the event that carries it.
    pub key: String,
}

impl<T: Ord + Clone> Statement<T> {
    /// Whether this one counts and not the other.
    pub fn supersedes(&self, other: &Self) -> bool {
        (self.at, &self.value, &self.key) > (other.at, &other.value, &other.key)
    }

    /// Puts this one in the place of what was said before, unless that counts more. Answers whether it did.
    pub fn put(&self, place: &mut Option<Self>) -> bool {
        let counts = place.as_ref().is_none_or(|known| self.supersedes(known));
        if counts {
            *place = Some(self.clone());
        }
        counts
    }
}

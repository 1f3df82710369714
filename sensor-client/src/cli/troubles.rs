//! What is said of agents that are away.

use std::collections::BTreeMap;

use asset_sensor::Trouble;

/// Remembers what was said, so that an outage is one line for each endpoint and reason.
#[derive(Default)]
pub struct Troubles {
    answered: bool,
    said: BTreeMap<String, String>,
}

impl Troubles {
    /// An agent answered.
    pub fn answered(&mut self) {
        self.answered = true;
    }

    /// What to say of this trouble, when it is news.
    pub fn lost(&mut self, trouble: &Trouble) -> Option<String> {
        let reason = trouble.reason.clone();
        let before = self.said.insert(trouble.endpoint.clone(), reason);
        if before.is_some_and(|before| before == trouble.reason) {
            return None;
        }
        let what = match (trouble.answered, self.answered) {
            (true, _) => "the agent cannot serve now",
            (false, true) => "lost the agent",
            (false, false) => "no agent yet",
        };
        Some(format!("{what}: {trouble}; trying again"))
    }

    /// What to say when the agent at this endpoint answers after a loss.
    pub fn back(&mut self, endpoint: &str) -> String {
        self.said.clear();
        let again = if self.answered { " again" } else { "" };
        self.answered = true;
        format!("the agent at {endpoint} answers{again}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trouble(endpoint: &str, reason: &str) -> Trouble {
        Trouble { endpoint: endpoint.into(), reason: reason.into(), answered: false }
    }

    #[test]
    fn an_outage_is_told_once_for_each_endpoint_and_reason() {
        let mut troubles = Troubles::default();
        let said = troubles.lost(&trouble("http://a:1", "refused"));
        assert_eq!(said.as_deref(), Some("no agent yet: http://a:1: refused; trying again"));
        assert!(troubles.lost(&trouble("http://b:2", "refused")).is_some());
        assert_eq!(troubles.lost(&trouble("http://a:1", "refused")), None);
        assert_eq!(troubles.lost(&trouble("http://b:2", "refused")), None);
        assert!(troubles.lost(&trouble("http://b:2", "reset")).is_some());
        assert_eq!(troubles.back("http://b:2"), "the agent at http://b:2 answers");
        let said = troubles.lost(&trouble("http://b:2", "reset"));
        assert_eq!(said.as_deref(), Some("lost the agent: http://b:2: reset; trying again"));
        assert_eq!(troubles.back("http://b:2"), "the agent at http://b:2 answers again");
    }
}

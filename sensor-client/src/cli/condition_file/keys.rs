//! Names of keys: those that are served, those that will be, and what was meant by others.

/// Keys of an object.
pub struct Keys {
    pub object: &'static str,
    pub served: &'static [&'static str],
    pub later: &'static [&'static str],
}

pub const CONDITION: Keys = Keys {
    object: "a condition",
    served: &[
        "assetKey",
        "alias",
        "snapshotRequired",
        "minSnapshotId",
        "since",
        "committedAfter",
        "watermarkGte",
        "maxWatermarkLagSeconds",
        "qualityStatus",
        "schemaStatus",
        "tag",
        "backfillStatus",
        "ignoreBackfill",
        "assurance",
        "match",
        "timezone",
    ],
    later: &[],
};

pub const GROUP: Keys =
    Keys { object: "a group", served: &["name", "conditions"], later: &["enabled", "timezone"] };

impl Keys {
    /// What is wrong with a key that is not served.
    pub fn refuse(&self, key: &str) -> String {
        if self.later.contains(&key) {
            return format!("`{key}` is not served by this version; it serves {}", self.list());
        }
        let nearest = self
            .served
            .iter()
            .chain(self.later)
            .map(|known| (strsim::damerau_levenshtein(&folded(known), &folded(key)), known))
            .min_by_key(|(distance, _)| *distance)
            .filter(|(distance, known)| *distance <= known.len().div_ceil(3));
        match nearest {
            Some((_, known)) if self.served.contains(known) => {
                format!("unknown key `{key}`; did you mean `{known}`?")
            }
            Some((_, known)) => format!(
                "unknown key `{key}`; if `{known}` was meant, this version does not serve it; it serves {}",
                self.list()
            ),
            None => format!("unknown key `{key}`; {} has {}", self.object, self.list()),
        }
    }

    fn list(&self) -> String {
        let quoted: Vec<_> = self.served.iter().map(|key| format!("`{key}`")).collect();
        quoted.join(", ")
    }
}

/// Spelled alike, whatever the habit: `min_snapshot_id` is near `minSnapshotId`.
fn folded(key: &str) -> String {
    key.chars().take(64).filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

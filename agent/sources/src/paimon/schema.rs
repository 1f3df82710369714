//! A schema file, as far as it tells when readers see data.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

/// What of a schema file is looked at. Whatever else it holds is tolerated.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Schema {
    #[serde(default)]
    primary_keys: Vec<Value>,
    #[serde(default)]
    options: BTreeMap<String, Value>,
}

/// Whether readers of a table see what was written only when it is compacted: data waits for its bucket
/// (`bucket = -2`), or readers skip what was not compacted yet (deletion vectors of a table with primary keys
/// that is not merged on read, and the first-row merge engine). `None` where the file does not tell.
pub fn shows_data_by_compaction(bytes: &[u8]) -> Option<bool> {
    let schema: Schema = serde_json::from_slice(bytes).ok()?;
    let option = |name: &str| match schema.options.get(name) {
        Some(Value::String(text)) => text.trim().to_ascii_lowercase(),
        Some(other) => other.to_string(),
        None => String::new(),
    };
    let postponed = option("bucket") == "-2";
    let skipped = option("deletion-vectors.enabled") == "true"
        && option("deletion-vectors.merge-on-read") != "true"
        && !schema.primary_keys.is_empty();
    Some(postponed || skipped || option("merge-engine") == "first-row")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn tables_whose_readers_wait_for_compaction() {
        let of = |keys: Value, options: Value| {
            let schema =
                json!({"version": 3, "id": 0, "primaryKeys": keys, "options": options, "fields": []});
            shows_data_by_compaction(schema.to_string().as_bytes())
        };
        let keyed = || json!(["id"]);
        for (keys, options, expected) in [
            (keyed(), json!({}), false),
            (keyed(), json!({"bucket": "4"}), false),
            (keyed(), json!({"bucket": "-2"}), true),
            (keyed(), json!({"bucket": -2}), true),
            (keyed(), json!({"merge-engine": "first-row"}), true),
            (keyed(), json!({"merge-engine": "deduplicate"}), false),
            (keyed(), json!({"deletion-vectors.enabled": "true"}), true),
            (keyed(), json!({"deletion-vectors.enabled": "TRUE"}), true),
            (keyed(), json!({"deletion-vectors.enabled": "false"}), false),
            (
                keyed(),
                json!({"deletion-vectors.enabled": "true", "deletion-vectors.merge-on-read": "true"}),
                false,
            ),
            // Without primary keys what is appended is seen at once.
            (json!([]), json!({"deletion-vectors.enabled": "true"}), false),
        ] {
            assert_eq!(of(keys, options.clone()), Some(expected), "{options}");
        }
        for text in ["", "{", "7", "{\"options\": 7}"] {
            assert_eq!(shows_data_by_compaction(text.as_bytes()), None, "{text}");
        }
        assert_eq!(shows_data_by_compaction(b"{}"), Some(false));
    }

    proptest! {
        #[test]
        fn any_bytes_are_answered(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = shows_data_by_compaction(&bytes);
        }
    }
}

//! A snapshot file: one commit of a table.

use asset_core::version::{Commit, CommitClass};
use serde_json::{Map, Value};

use super::digest;
use crate::SourceError;

/// Longest fingerprint and kind that are taken as they stand; nothing that Paimon writes is longer.
const MAX_FINGERPRINT: usize = 200;
const MAX_KIND: usize = 32;

const INTEGER: &str = "a 64-bit integer";
const TEXT: &str = "a text";

/// What a snapshot file says.
#[derive(Debug, Clone, PartialEq)]
pub struct Snapshot {
    /// The commit, with the id as native id.
    pub commit: Commit,
    /// Whether it brought data.
    pub data: Data,
}

/// Whether a commit brought data, as far as its snapshot file tells.
#[derive(Debug, Clone, PartialEq)]
pub enum Data {
    /// It tells.
    Known(CommitClass),
    /// An append that changed no row count: +1 −1, or nothing at all, as a job without input writes
    /// before its compaction. Only the delta manifest list of this name tells.
    Ask(String),
    /// A compaction: maintenance, unless readers of the table see data only when it is compacted. The
    /// schema of this id tells.
    AskSchema(i64),
    /// A kind that this version does not know: taken for data, so that nobody waits for ever.
    UnknownKind,
}

/// Reads a tag file: the snapshot that it names, whichever that is.
pub fn parse_tag(file: &str, bytes: &[u8]) -> Result<Snapshot, SourceError> {
    parse_any(file, None, bytes)
}

/// Reads a snapshot file. Whatever it holds beyond the fields below is tolerated.
pub fn parse(file: &str, id: i64, bytes: &[u8]) -> Result<Snapshot, SourceError> {
    parse_any(file, Some(id), bytes)
}

fn parse_any(file: &str, expected: Option<i64>, bytes: &[u8]) -> Result<Snapshot, SourceError> {
    let whole = |found: String| SourceError::Malformed {
        file: file.to_owned(),
        field: None,
        expected: "a JSON object",
        found,
    };
    if bytes.is_empty() {
        return Err(whole("an empty file".into()));
    }
    let object = match serde_json::from_slice(bytes) {
        Ok(Value::Object(object)) => object,
        Ok(other) => return Err(whole(describe(&other))),
        Err(error) => return Err(whole(format!("something else ({error})"))),
    };
    let fields = Fields { file, object };

    let id = match (fields.integer("id")?, expected) {
        (Some(found), Some(id)) if found != id => {
            return Err(fields.malformed("id", "the id in the file's name", found.to_string()));
        }
        (Some(found), _) if (1..i64::MAX).contains(&found) => found,
        (Some(found), _) => return Err(fields.malformed("id", "a snapshot id", found.to_string())),
        (None, _) => return Err(fields.malformed("id", INTEGER, "nothing".into())),
    };
    let delta_manifest_list = fields.text("deltaManifestList")?;
    let delta_record_count = fields.integer("deltaRecordCount")?;
    let commit_kind = fields.text("commitKind")?.unwrap_or("UNKNOWN");
    let changelog = fields.integer("changelogRecordCount")?.unwrap_or(0);
    let data = match commit_kind {
        "APPEND" if delta_record_count == Some(0) => {
            delta_manifest_list.map_or(Data::Known(CommitClass::Advance), |name| Data::Ask(name.to_owned()))
        }
        "APPEND" | "OVERWRITE" => Data::Known(CommitClass::Advance),
        // A compaction that produces the changelog is when its readers see the data.
        "COMPACT" if changelog > 0 => Data::Known(CommitClass::Advance),
        "COMPACT" => match fields.integer("schemaId")? {
            Some(schema) => Data::AskSchema(schema),
            None => Data::Known(CommitClass::Rewrite),
        },
        "ANALYZE" => Data::Known(CommitClass::Rewrite),
        _ => Data::UnknownKind,
    };
    let fingerprint = match fields.text("uuid")?.or(delta_manifest_list) {
        Some(text) if text.len() <= MAX_FINGERPRINT => text.to_owned(),
        _ => digest(bytes),
    };
    Ok(Snapshot {
        commit: Commit {
            snapshot_id: id,
            fingerprint,
            commit_kind: commit_kind.chars().take(MAX_KIND).collect(),
            commit_time: fields.integer("timeMillis")?,
            schema_id: fields.integer("schemaId")?,
            // Java's Long.MIN_VALUE stands for none; any other negative is a time before 1970.
            watermark: fields.integer("watermark")?.filter(|mark| *mark != i64::MIN),
            delta_record_count,
        },
        data,
    })
}

struct Fields<'a> {
    file: &'a str,
    object: Map<String, Value>,
}

impl Fields<'_> {
    fn integer(&self, field: &'static str) -> Result<Option<i64>, SourceError> {
        match self.object.get(field) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => {
                value.as_i64().map(Some).ok_or_else(|| self.malformed(field, INTEGER, describe(value)))
            }
        }
    }

    /// A text; an empty one is none.
    fn text(&self, field: &'static str) -> Result<Option<&str>, SourceError> {
        match self.object.get(field) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.as_str()).filter(|text| !text.is_empty())),
            Some(value) => Err(self.malformed(field, TEXT, describe(value))),
        }
    }

    fn malformed(&self, field: &'static str, expected: &'static str, found: String) -> SourceError {
        SourceError::Malformed { file: self.file.to_owned(), field: Some(field), expected, found }
    }
}

fn describe(value: &Value) -> String {
    match value {
        Value::Null => "null".into(),
        Value::Bool(value) => value.to_string(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => format!("the text {:?}", text.chars().take(40).collect::<String>()),
        Value::Array(_) => "an array".into(),
        Value::Object(_) => "an object".into(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn read(value: Value) -> Result<Snapshot, SourceError> {
        parse("snapshot-7", 7, value.to_string().as_bytes())
    }

    /// A snapshot with one field set otherwise.
    fn with(field: &str, value: Value) -> Result<Snapshot, SourceError> {
        let mut snapshot = json!({
            "version": 3, "id": 7, "schemaId": 1, "baseManifestList": "manifest-list-b",
            "deltaManifestList": "manifest-list-d", "totalRecordCount": 9, "deltaRecordCount": 4,
            "commitUser": "u", "commitIdentifier": i64::MAX, "commitKind": "APPEND",
            "timeMillis": 1_796_101_098_915_i64, "uuid": "7be7", "watermark": 5,
        });
        snapshot[field] = value;
        read(snapshot)
    }

    #[test]
    fn a_whole_snapshot() {
        let snapshot = with("operation", json!({"new": ["thing"]})).unwrap();
        let commit = Commit {
            snapshot_id: 7,
            fingerprint: "7be7".into(),
            commit_kind: "APPEND".into(),
            commit_time: Some(1_796_101_098_915),
            schema_id: Some(1),
            watermark: Some(5),
            delta_record_count: Some(4),
        };
        assert_eq!(snapshot.commit, commit);
        assert_eq!(snapshot.data, Data::Known(CommitClass::Advance));
    }

    #[test]
    fn only_the_id_is_required() {
        let snapshot = read(json!({"id": 7})).unwrap();
        assert!(snapshot.commit.fingerprint.starts_with("sha256:"));
        assert_eq!(snapshot.commit.commit_kind, "UNKNOWN");
        assert_eq!(snapshot.data, Data::UnknownKind);
        assert_eq!(snapshot.commit.commit_time, None);
    }

    #[test]
    fn fingerprint_is_the_uuid_else_the_delta_manifest_list() {
        for none in [Value::Null, json!("")] {
            assert_eq!(with("uuid", none).unwrap().commit.fingerprint, "manifest-list-d");
        }
        let long = with("uuid", json!("x".repeat(300))).unwrap().commit.fingerprint;
        assert!(long.starts_with("sha256:"), "{long}");
    }

    #[test]
    fn watermarks() {
        for (given, expected) in [
            (Value::Null, None),
            (json!(i64::MIN), None),
            (json!(i64::MIN + 1), Some(i64::MIN + 1)),
            (json!(-1), Some(-1)),
            (json!(0), Some(0)),
        ] {
            assert_eq!(with("watermark", given.clone()).unwrap().commit.watermark, expected, "{given}");
        }
    }

    #[test]
    fn kinds() {
        use CommitClass::{Advance, Rewrite};
        let data = |kind: &str, delta: Value, changelog: Value| {
            read(json!({
                "id": 7, "commitKind": kind, "deltaRecordCount": delta, "changelogRecordCount": changelog,
                "deltaManifestList": "m", "schemaId": 4,
            }))
            .unwrap()
            .data
        };
        for (kind, delta, changelog, expected) in [
            ("APPEND", json!(3), json!(0), Data::Known(Advance)),
            ("APPEND", json!(-3), Value::Null, Data::Known(Advance)),
            ("APPEND", Value::Null, Value::Null, Data::Known(Advance)),
            ("APPEND", json!(0), Value::Null, Data::Ask("m".into())),
            ("OVERWRITE", json!(0), Value::Null, Data::Known(Advance)),
            ("COMPACT", json!(0), Value::Null, Data::AskSchema(4)),
            ("COMPACT", json!(5), json!(0), Data::AskSchema(4)),
            ("COMPACT", json!(0), json!(2), Data::Known(Advance)),
            ("ANALYZE", json!(0), Value::Null, Data::Known(Rewrite)),
            ("REPLACE", json!(0), Value::Null, Data::UnknownKind),
        ] {
            assert_eq!(data(kind, delta.clone(), changelog.clone()), expected, "{kind} {delta} {changelog}");
        }
        let nameless = read(json!({"id": 7, "commitKind": "APPEND", "deltaRecordCount": 0})).unwrap();
        assert_eq!(nameless.data, Data::Known(Advance));
    }

    #[test]
    fn malformed_fields_are_named() {
        for (name, value, expected, found) in [
            ("id", json!(8), "the id in the file's name", "8"),
            ("id", Value::Null, INTEGER, "nothing"),
            ("timeMillis", json!("x"), INTEGER, "the text \"x\""),
            ("timeMillis", json!(1.5), INTEGER, "1.5"),
            ("watermark", json!(u64::MAX), INTEGER, "18446744073709551615"),
            ("schemaId", json!([]), INTEGER, "an array"),
            ("deltaRecordCount", json!(true), INTEGER, "true"),
            ("uuid", json!(3), TEXT, "3"),
            ("commitKind", json!({}), TEXT, "an object"),
        ] {
            let error = with(name, value).unwrap_err();
            let SourceError::Malformed { file, field, expected: wanted, found: seen } = error else {
                panic!("{error}");
            };
            assert_eq!((file.as_str(), field), ("snapshot-7", Some(name)));
            assert_eq!((wanted, seen.as_str()), (expected, found), "{name}");
        }
        for text in ["", "{", "{\"id\": 7", "[7]", "7", "{\"id\": 1e999}", "\u{feff}{\"id\":7}"] {
            let error = parse("snapshot-7", 7, text.as_bytes()).unwrap_err();
            assert_eq!(error.kind(), "malformed", "{text}: {error}");
        }
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            any::<u64>().prop_map(Value::from),
            "\\PC{0,8}|APPEND|COMPACT".prop_map(Value::from),
        ];
        leaf.prop_recursive(3, 16, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::hash_map("\\PC{0,8}", inner, 0..4).prop_map(Value::from_iter),
            ]
        })
    }

    proptest! {
        #[test]
        fn any_bytes_are_answered(bytes in prop::collection::vec(any::<u8>(), 0..100), cut in 0_usize..400) {
            let _ = parse("f", 7, &bytes);
            let whole = json!({"id": 7, "commitKind": "APPEND", "uuid": "é", "watermark": -5}).to_string();
            let _ = parse("f", 7, &whole.as_bytes()[..cut.min(whole.len())]);
        }

        #[test]
        fn any_json_is_answered(
            field in "id|uuid|deltaManifestList|commitKind|timeMillis|schemaId|watermark|deltaRecordCount|changelogRecordCount|other",
            value in any_json(),
        ) {
            let _ = read(value.clone());
            match with(&field, value) {
                Ok(snapshot) => prop_assert!(!snapshot.commit.fingerprint.is_empty()),
                Err(error) => {
                    let named = error.to_string().contains(&format!("field `{field}`"));
                    prop_assert!(named, "{}", error);
                }
            }
        }
    }
}

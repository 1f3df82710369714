use asset_proto::v1::{BlockedBy, ConditionVerdict, GroupVerdict};
use prost_types::Timestamp;

use super::*;

fn at(seconds: i64) -> Option<Timestamp> {
    Some(Timestamp { seconds, nanos: 0 })
}

fn ready() -> ResolveDependencyResponse {
    ResolveDependencyResponse {
        revision: 42,
        wait_id: "w-1".into(),
        evaluated_at: at(1_795_968_010),
        pinned: vec![
            PinnedVersion {
                asset_key: "paimon://lake/ods/orders".into(),
                name: "orders".into(),
                snapshot_id: 7,
                generation: 1,
                ordinal: 6,
                fingerprint: "u-7".into(),
                commit_time: at(1_795_968_000),
                watermark: Some(1_795_960_800_000),
                schema_id: Some(0),
                observed_at: at(1_795_968_001),
                ..PinnedVersion::default()
            },
            PinnedVersion {
                asset_key: "paimon://lake/ods/users".into(),
                name: "users".into(),
                snapshot_id: 3,
                generation: 2,
                ordinal: 3,
                ..PinnedVersion::default()
            },
        ],
        ..ResolveDependencyResponse::default()
    }
}

fn printed(output: Output) -> String {
    let mut out = Vec::new();
    print(&ready(), output, &mut out).expect("printed");
    String::from_utf8(out).expect("text")
}

#[test]
fn ready_as_text() {
    assert_eq!(
        printed(Output::Text),
        "READY paimon://lake/ods/orders snapshot 7 committed 2026-11-29T16:00:00Z watermark 2026-11-29T14:00:00Z\n\
         READY paimon://lake/ods/users snapshot 3\n"
    );
}

#[test]
fn ready_as_json() {
    assert_eq!(
        printed(Output::Json),
        concat!(
            r#"{"status":"READY","waitId":"w-1","revision":42,"evaluatedAt":"2026-11-29T16:00:10Z","pinned":["#,
            r#"{"assetKey":"paimon://lake/ods/orders","name":"orders","snapshotId":7,"generation":1,"ordinal":6,"fingerprint":"u-7","#,
            r#""commitTime":"2026-11-29T16:00:00Z","watermark":1795960800000,"schemaId":0,"observedAt":"2026-11-29T16:00:01Z"},"#,
            r#"{"assetKey":"paimon://lake/ods/users","name":"users","snapshotId":3,"generation":2,"ordinal":3}]}"#,
            "\n"
        )
    );
}

fn verdict(asset_key: &str, ready: bool, sentence: &str) -> ConditionVerdict {
    ConditionVerdict {
        asset_key: asset_key.into(),
        name: asset_key.into(),
        ready,
        sentence: sentence.into(),
        ..ConditionVerdict::default()
    }
}

fn group(name: &str, conditions: Vec<ConditionVerdict>) -> GroupVerdict {
    GroupVerdict { name: name.into(), ready: false, conditions }
}

#[test]
fn timeout_as_json() {
    let blocked = ConditionVerdict {
        blocked_by: BlockedBy::Snapshot.into(),
        reason: "BELOW_MIN_SNAPSHOT".into(),
        reason_args: [("wanted", "9"), ("found", "7")]
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .into(),
        wanted: "snapshot 9".into(),
        found: "snapshot 7".into(),
        missing: "2 snapshots".into(),
        ..verdict("orders", false, "orders needs snapshot 9, has 7")
    };
    let last = ResolveDependencyResponse {
        revision: 42,
        evaluated_at: at(0),
        groups: vec![group("default", vec![blocked])],
        ..ResolveDependencyResponse::default()
    };
    let mut out = Vec::new();
    write_json(&mut out, &Outcome::timed_out(Some(&last))).expect("printed");
    write_json(&mut out, &Outcome::timed_out(None)).expect("printed");
    assert_eq!(
        String::from_utf8(out).expect("text"),
        concat!(
            r#"{"status":"TIMEOUT","revision":42,"evaluatedAt":"1970-01-01T00:00:00Z","groups":[{"name":"default","ready":false,"conditions":["#,
            r#"{"assetKey":"orders","name":"orders","ready":false,"blockedBy":"BLOCKED_BY_SNAPSHOT","reason":"BELOW_MIN_SNAPSHOT","reasonArgs":{"found":"7","wanted":"9"},"#,
            r#""wanted":"snapshot 9","found":"snapshot 7","missing":"2 snapshots","sentence":"orders needs snapshot 9, has 7"}]}]}"#,
            "\n",
            r#"{"status":"TIMEOUT","groups":[]}"#,
            "\n"
        )
    );
}

#[test]
fn the_sentence_says_what_is_missing_in_every_group() {
    let mut answer = ResolveDependencyResponse {
        groups: vec![group(
            "default",
            vec![verdict("a", true, "a is there"), verdict("b", false, "b needs 7"), verdict("c", false, "")],
        )],
        ..ResolveDependencyResponse::default()
    };
    assert_eq!(sentence(&answer), "b needs 7; c is not ready");
    answer.groups.push(group("late", vec![verdict("d", false, "d is unknown")]));
    assert_eq!(sentence(&answer), "default: b needs 7; c is not ready | or late: d is unknown");
}

use asset_proto::v1::{Assurance, BackfillStatus, Condition, Match, Quality, SchemaStatus, Since};

use super::*;

fn condition(asset_key: &str) -> Condition {
    Condition { asset_key: asset_key.into(), ..Condition::default() }
}

fn group(name: &str, conditions: Vec<Condition>) -> Group {
    Group { name: name.into(), conditions }
}

#[test]
fn all_three_forms_are_read() {
    let full = Condition {
        alias: "o".into(),
        snapshot_required: true,
        min_snapshot_id: Some(i64::MAX),
        since: Since::Registered.into(),
        committed_after: "20261130".into(),
        watermark_gte: "-5".into(),
        max_watermark_lag_seconds: Some(600),
        quality_status: Quality::Passed.into(),
        schema_status: SchemaStatus::Compatible.into(),
        tag: "day-*".into(),
        backfill_status: BackfillStatus::None.into(),
        ignore_backfill: true,
        assurance: Assurance::Verified.into(),
        r#match: Match::Newest.into(),
        timezone: "+08:00".into(),
        ..condition("paimon://ods/orders")
    };
    let one = br#"{"alias":"o","assetKey":"paimon://ods/orders","snapshotRequired":true,
        "minSnapshotId":9223372036854775807,"since":"registered","committedAfter":"20261130",
        "watermarkGte":-5,"timezone":"+08:00","maxWatermarkLagSeconds":600,"qualityStatus":"PASSED",
        "schemaStatus":"compatible","tag":"day-*","backfillStatus":"NONE","ignoreBackfill":true,
        "assurance":"VERIFIED","match":"newest"}"#;
    assert_eq!(parse(one), Ok(vec![group("", vec![full])]));
    assert_eq!(
        parse(br#"[{"assetKey":"a"},{"assetKey":"b"}]"#),
        Ok(vec![group("", vec![condition("a"), condition("b")])])
    );
    assert_eq!(
        parse(
            br#"{"groups":[{"name":"x","conditions":[{"assetKey":"a"}]},{"conditions":[{"assetKey":"b"}]}]}"#
        ),
        Ok(vec![group("x", vec![condition("a")]), group("", vec![condition("b")])])
    );
}

#[test]
fn what_is_wrong_is_named_with_its_place_and_the_way_out() {
    for (json, error) in [
        (
            r#"{"assetKey":"a","minSnapshot":1}"#,
            "unknown key `minSnapshot`; did you mean `minSnapshotId`? at line 1 column 29",
        ),
        (
            r#"{"min_snapshot_id":1}"#,
            "unknown key `min_snapshot_id`; did you mean `minSnapshotId`? at line 1 column 18",
        ),
        (
            "[{\"assetKey\":\"a\"},\n {\"assetkey\":\"b\"}]",
            "[1]: unknown key `assetkey`; did you mean `assetKey`? at line 2 column 12",
        ),
        (
            r#"{"assetKey":"a","color":1}"#,
            "unknown key `color`; a condition has `assetKey`, `alias`, `snapshotRequired`, `minSnapshotId`, `since`, `committedAfter`, `watermarkGte`, `maxWatermarkLagSeconds`, `qualityStatus`, `schemaStatus`, `tag`, `backfillStatus`, `ignoreBackfill`, `assurance`, `match`, `timezone` at line 1 column 23",
        ),
        (
            r#"{"groups":[{"conditions":[{"assetKey":"a","qualityStatus":1}]}]}"#,
            "groups[0].conditions[0].qualityStatus: invalid type: integer `1`, expected `qualityStatus` as `PASSED` or `FAILED` at line 1 column 59",
        ),
        (
            r#"{"assetKey":"a","match":"oldest"}"#,
            "match: `match` is `oldest`; it must be `HEAD` or `NEWEST` at line 1 column 32",
        ),
        (
            r#"{"qualityStatu":1}"#,
            "unknown key `qualityStatu`; did you mean `qualityStatus`? at line 1 column 15",
        ),
        (
            r#"{"groups":[{"nam":"x"}]}"#,
            "groups[0]: unknown key `nam`; did you mean `name`? at line 1 column 17",
        ),
        (
            r#"{"groups":[{"name":"x"}]}"#,
            "groups[0]: `conditions` is missing; a group needs it at line 1 column 23",
        ),
        (
            r#"{"groups":[{"name":"x","enabled":true}]}"#,
            "groups[0]: `enabled` is not served by this version; it serves `name`, `conditions` at line 1 column 32",
        ),
        (
            r#"{"groups":[{"name":"x","conditions":[]}]}"#,
            "groups[0]: there is no condition in it at line 1 column 39",
        ),
        (r#"{"groups":[]}"#, "`groups` is empty at line 1 column 13"),
        (
            r#"{"groups":[{"conditions":[{"assetKey":"a"}]}],"timeoutMinutes":5}"#,
            "unknown key `timeoutMinutes`; beside `groups` there is none at line 1 column 62",
        ),
        ("[]", "there is no condition in it at line 1 column 2"),
        ("{}", "there is no condition in it at line 1 column 2"),
        (r#"{"alias":"x"}"#, "`assetKey` is missing; a condition needs it at line 1 column 13"),
        (r#"{"assetKey":"a","assetKey":"b"}"#, "`assetKey` is given twice at line 1 column 26"),
        (
            r#"{"assetKey":"a","minSnapshotId":9223372036854775808}"#,
            "minSnapshotId: `minSnapshotId` is 9223372036854775808; it must be a whole number from 0 to 9223372036854775807 at line 1 column 51",
        ),
        (
            r#"[{"minSnapshotId":-1}]"#,
            "[0].minSnapshotId: `minSnapshotId` is -1; it must be a whole number from 0 to 9223372036854775807 at line 1 column 20",
        ),
        (
            r#"[{"minSnapshotId":1.5}]"#,
            "[0].minSnapshotId: `minSnapshotId` is 1.5; it must be a whole number from 0 to 9223372036854775807 at line 1 column 21",
        ),
        (
            r#"[{"minSnapshotId":"7"}]"#,
            "[0].minSnapshotId: invalid type: string \"7\", expected `minSnapshotId` as a whole number from 0 to 9223372036854775807 at line 1 column 21",
        ),
        (
            r#"{"assetKey":"a","since":"consumed"}"#,
            "since: `since` is `consumed`, which this version does not serve; it serves `exists` and `registered` at line 1 column 34",
        ),
        (
            "{\"assetKey\":\"a\",\n\"since\":\"now\"\n}",
            "since: `since` is `now`; it must be `exists` or `registered` at line 2 column 13",
        ),
        (r#"{"assetKey":7}"#, "assetKey: invalid type: integer `7`, expected a string at line 1 column 13"),
        (
            "7",
            "invalid type: integer `7`, expected a condition, an array of conditions, or {\"groups\": [...]} at line 1 column 1",
        ),
        ("", "EOF while parsing a value at line 1 column 0"),
        (r#"{"assetKey":"a"} x"#, "trailing characters at line 1 column 18"),
    ] {
        assert_eq!(parse(json.as_bytes()), Err(error.to_owned()), "{json}");
    }
}

#[test]
fn deep_nesting_is_an_error() {
    let deep = "[".repeat(100_000);
    assert!(parse(deep.as_bytes()).is_err());
}

#[test]
fn a_file_that_is_not_there_is_named() {
    let error = load(Path::new("no/such/file.json")).expect_err("no file");
    assert_eq!(error.exit_code(), 2);
    assert!(error.to_string().starts_with("cannot read no/such/file.json: "), "{error}");
}

use asset_proto::v1::{AssetHold, AssetSource};
use prost_types::Timestamp;

use super::*;

fn at(seconds: i64) -> Option<Timestamp> {
    Some(Timestamp { seconds, nanos: 0 })
}

fn orders() -> AssetState {
    AssetState {
        asset_key: "paimon://lake/ods/orders".into(),
        generation: 2,
        latest: Some(AssetVersion {
            snapshot_id: 8,
            ordinal: 8,
            commit_kind: "COMPACT".into(),
            ..AssetVersion::default()
        }),
        latest_data: Some(AssetVersion {
            snapshot_id: 7,
            ordinal: 7,
            fingerprint: "u-7".into(),
            commit_kind: "APPEND".into(),
            commit_time: at(10),
            watermark: Some(5_000),
            schema_id: Some(0),
            observed_at: at(11),
            ..AssetVersion::default()
        }),
        hold: Some(AssetHold {
            reason: "REWOUND".into(),
            sentence: "snapshot 9 is gone".into(),
            since: at(12),
        }),
        revision: 42,
        update_time: at(12),
        ..AssetState::default()
    }
}

fn text(write: impl FnOnce(&mut Vec<u8>)) -> String {
    let mut out = Vec::new();
    write(&mut out);
    String::from_utf8(out).expect("text")
}

#[test]
fn the_list_is_a_table() {
    let empty = AssetState { asset_key: "paimon://lake/ods/表".into(), ..AssetState::default() };
    let table = text(|out| table(out, &[orders(), empty]).expect("table"));
    assert_eq!(
        table,
        "KEY                       SNAPSHOT  DATA  WATERMARK             UPDATED               HOLD\n\
         paimon://lake/ods/orders  8         7     1970-01-01T00:00:05Z  1970-01-01T00:00:12Z  REWOUND\n\
         paimon://lake/ods/表      -         -     -                     -                     -\n"
    );
}

#[test]
fn a_state_is_shown_with_its_hold_and_its_source() {
    let answer = GetAssetResponse {
        state: Some(orders()),
        source: Some(AssetSource {
            catalog: "lake".into(),
            location: "file:///w/ods.db/orders".into(),
            last_read: at(20),
            error: "snapshot/LATEST: no permission\ngive the agent read access".into(),
            failing_since: at(21),
        }),
    };
    let details = text(|out| details(out, &answer).expect("details"));
    assert_eq!(
        details,
        "\
asset          paimon://lake/ods/orders
generation     2
snapshot       8 COMPACT
data snapshot  7 APPEND committed 1970-01-01T00:00:10Z observed 1970-01-01T00:00:11Z schema 0
watermark      1970-01-01T00:00:05Z
revision       42
updated        1970-01-01T00:00:12Z
on hold        REWOUND (since 1970-01-01T00:00:12Z): snapshot 9 is gone
source         lake at file:///w/ods.db/orders
last read      1970-01-01T00:00:20Z
read fails     snapshot/LATEST: no permission
               give the agent read access (since 1970-01-01T00:00:21Z)
"
    );
}

#[test]
fn a_state_without_versions_and_source_is_shown() {
    let details = text(|out| details(out, &GetAssetResponse::default()).expect("details"));
    assert!(details.contains("data snapshot  none\n"), "{details}");
    assert!(details.contains("source         not read by"), "{details}");
}

#[test]
fn a_state_as_json() {
    let state = orders();
    let json = text(|out| write_json(out, &State::new(&state, None)).expect("json"));
    assert_eq!(
        json,
        concat!(
            r#"{"assetKey":"paimon://lake/ods/orders","generation":2,"latest":{"snapshotId":8,"ordinal":8,"commitKind":"COMPACT"},"#,
            r#""latestData":{"snapshotId":7,"ordinal":7,"fingerprint":"u-7","commitKind":"APPEND","commitTime":"1970-01-01T00:00:10Z","watermark":5000,"schemaId":0,"observedAt":"1970-01-01T00:00:11Z"},"#,
            r#""hold":{"reason":"REWOUND","sentence":"snapshot 9 is gone","since":"1970-01-01T00:00:12Z"},"revision":42,"updateTime":"1970-01-01T00:00:12Z"}"#,
            "\n"
        )
    );
}

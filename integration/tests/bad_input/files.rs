//! Arguments and condition files of `asset-sensor`. No agent is needed to refuse them.

use std::fs;
use std::net::SocketAddr;

use asset_integration::command;
use asset_integration::scene::SOON;
use tempfile::TempDir;

use crate::{KEY, says};

/// Where nobody listens: what is wrong is found before anybody is asked.
fn nowhere() -> SocketAddr {
    SocketAddr::from(([127, 0, 0, 1], 1))
}

async fn refused(arguments: &[&str], parts: &[&str]) {
    let ended = command::sensor(nowhere(), arguments).unwrap().ended(SOON).await.unwrap();
    assert_eq!((ended.code, ended.stdout.as_str()), (2, ""), "{arguments:?}: {ended:?}");
    says(&ended.stderr, parts);
}

#[tokio::test]
async fn wrong_arguments_name_the_flag_and_what_is_right() {
    let most = "9223372036854775807";
    for (arguments, parts) in [
        (&["--timeout", "-5s"][..], &["--timeout", "it is negative", "`30s`, `5m` or `1h`"][..]),
        (&["--timeout", "5"], &["--timeout", "it has no unit"]),
        (&["--timeout", "0s"], &["--timeout", "longer than nothing"]),
        (&["--timeout", "20260101"], &["--timeout", "it has no unit"]),
        (&["--min-snapshot", "-1"], &["--min-snapshot", "'-1'", most]),
        (&["--min-snapshot", "9223372036854775808"], &["--min-snapshot", "'9223372036854775808'", most]),
        (&["--since", "yesterday"], &["--since", "[possible values: exists, registered]"]),
        (
            &["--project", "1"],
            &["--project, --workflow, --task-code, --instance and --task", "missing: --workflow"],
        ),
        (&["--min-snapsot", "1"], &["--min-snapsot", "'--min-snapshot'"]),
        (&["--condition-file", "/dev/null"], &["--condition-file", "cannot be used with"]),
    ] {
        refused(&[&["wait", "--asset", KEY], arguments].concat(), parts).await;
    }
    refused(&["wait"], &["--asset <KEY>", "--condition-file <F>"]).await;
    refused(&["wiat"], &["'wiat'", "'wait'"]).await;
}

#[tokio::test]
async fn a_wrong_condition_file_is_named_with_the_place_and_the_nearest_right_key() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("conditions.json");
    let path = file.to_str().unwrap();
    for (text, parts) in [
        (r#"{"assetkey": "k"}"#, &["`assetkey`", "did you mean `assetKey`?"][..]),
        (r#"[{"assetKey": "k", "minSnapshot": 1}]"#, &["`minSnapshot`", "did you mean `minSnapshotId`?"]),
        (r#"[{"assetKey": "k", "min_snapshot_id": 1}]"#, &["did you mean `minSnapshotId`?"]),
        (
            r#"[{"assetKey": "k", "qualityStatus": 1}]"#,
            &["[0].qualityStatus", "expected `qualityStatus` as `PASSED` or `FAILED`"],
        ),
        (r#"[{"assetKey": "k", "minSnapshotId": -1}]"#, &["`minSnapshotId` is -1", "from 0 to"]),
        (
            r#"[{"assetKey": "k", "minSnapshotId": 9223372036854775808}]"#,
            &["9223372036854775808", "from 0 to"],
        ),
        (r#"[{"assetKey": "k", "since": "yesterday"}]"#, &["yesterday", "registered"]),
        (r#"{"groups": [{"condition": []}]}"#, &["`condition`", "did you mean `conditions`?"]),
        (r#"{"groups": []}"#, &["`groups` is empty"]),
        (r#"{"alias": "x"}"#, &["`assetKey` is missing"]),
        ("{\n  \"assetKey\": \"k\",\n}", &["line 3"]),
        ("", &["EOF"]),
    ] {
        fs::write(&file, text).unwrap();
        refused(&["wait", "--condition-file", path], &[&[path], parts].concat()).await;
    }
    let deep = "[".repeat(100_000);
    fs::write(&file, deep).unwrap();
    refused(&["wait", "--condition-file", path], &[path]).await;
    let absent = folder.path().join("absent.json");
    refused(
        &["wait", "--condition-file", absent.to_str().unwrap()],
        &[absent.to_str().unwrap(), "No such file"],
    )
    .await;
}

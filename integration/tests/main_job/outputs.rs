//! A wait on a table without a snapshot, in each form of output.

use asset_integration::scene::SOON;
use serde_json::{Value, json};

use crate::{KEY, TABLE, newest, with_empty_table};

#[tokio::test]
async fn a_wait_says_what_is_missing_and_ends_with_the_snapshot_that_pypaimon_reports() {
    let (scene, writer) = with_empty_table().await;
    let wait =
        |output| scene.sensor(&["--output", output, "wait", "--asset", KEY, "--timeout", "60s"]).unwrap();
    let (mut text, mut json, mut lines) = (wait("text"), wait("json"), wait("dolphinscheduler"));
    for sensor in [&mut text, &mut json, &mut lines] {
        sensor.says("missing: the first snapshot", SOON).await.unwrap();
        assert_eq!(sensor.printed(), "", "nothing is printed before the end");
    }

    let commit = writer.append(TABLE, 3).await.unwrap();
    let reported = newest(&writer, TABLE).await;
    assert_eq!(reported.id, commit.snapshot_id);

    let text = text.ended(SOON).await.unwrap();
    assert_eq!(text.code, 0, "{text:?}");
    let (begin, committed) = text.stdout.trim_end().split_once(" committed ").unwrap();
    assert_eq!(begin, format!("READY {KEY} snapshot {}", reported.id));
    assert!(committed.ends_with('Z'), "{text:?}");

    let json = json.ended(SOON).await.unwrap();
    assert_eq!(json.code, 0, "{json:?}");
    let outcome: Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!(outcome["status"], "READY");
    let pin = &outcome["pinned"][0];
    assert_eq!(pin["commitTime"], committed, "both outputs name one time");
    let fingerprint = reported.uuid.unwrap();
    let expected = json!({
        "assetKey": KEY,
        "name": "orders",
        "snapshotId": reported.id,
        "generation": 1,
        "ordinal": reported.id,
        "fingerprint": fingerprint,
        "commitTime": rfc3339(reported.time_ms).await,
        "schemaId": reported.schema_id,
        "observedAt": pin["observedAt"],
    });
    assert_eq!(*pin, expected);

    let lines = lines.ended(SOON).await.unwrap();
    assert_eq!(lines.code, 0, "{lines:?}");
    let [id, all] = lines.stdout.lines().collect::<Vec<_>>()[..] else { panic!("{lines:?}") };
    assert_eq!(id, format!("${{setValue(asset_orders_snapshot_id={})}}", reported.id));
    let all = all.strip_prefix("${setValue(asset_pinned=").unwrap().strip_suffix(")}").unwrap();
    let all: Value = serde_json::from_str(all).unwrap();
    assert_eq!(all[0]["fingerprint"], fingerprint);
}

#[tokio::test]
async fn a_wait_that_times_out_exits_with_124_and_says_why() {
    let (scene, writer) = with_empty_table().await;
    writer.append(TABLE, 1).await.unwrap();
    let arguments = ["wait", "--asset", KEY, "--min-snapshot", "7", "--timeout", "3s"];
    let text = scene.sensor(&arguments).unwrap();
    let json = scene.sensor(&[&["--output", "json"][..], &arguments].concat()).unwrap();

    let text = text.ended(SOON).await.unwrap();
    assert_eq!((text.code, text.stdout.as_str()), (124, ""), "{text:?}");
    let last = text.stderr.lines().last().unwrap();
    assert_eq!(
        last,
        format!(
            "asset-sensor: timed out after 3s: {KEY}: needs snapshot >= 7, has snapshot 1; missing: 6 behind"
        )
    );

    let json = json.ended(SOON).await.unwrap();
    assert_eq!(json.code, 124, "{json:?}");
    let outcome: Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!(outcome["status"], "TIMEOUT");
    let condition = &outcome["groups"][0]["conditions"][0];
    assert_eq!(condition["blockedBy"], "BLOCKED_BY_SNAPSHOT");
    assert_eq!(condition["reasonArgs"]["behind"], "6");
    assert!(outcome.get("pinned").is_none(), "{outcome}");
}

/// By another clock's hand than that of the program under test.
async fn rfc3339(millis: i64) -> String {
    let script = "import datetime, sys
at = datetime.datetime.fromtimestamp(int(sys.argv[1]) / 1000, datetime.timezone.utc)
text = at.isoformat(timespec='milliseconds').removesuffix('+00:00')
print((text.rstrip('0').rstrip('.') if '.' in text else text) + 'Z')";
    let mut python = tokio::process::Command::new(asset_integration::tools::python().unwrap());
    let output = python.args(["-c", script, &millis.to_string()]).output().await.unwrap();
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

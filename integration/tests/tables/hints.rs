//! Hint files that lie, and commits of all kinds.

use std::fs;

use asset_integration::scene::{SOON, latest_data};
use asset_integration::writer::NewTable;

use crate::{KEY, TABLE, newest, with_empty_table};

#[tokio::test]
async fn hints_that_are_stale_or_missing_mislead_nobody() {
    let (scene, writer) = with_empty_table().await;
    writer.append(TABLE, 1).await.unwrap();
    scene.latest_is(KEY, 1).await.unwrap();
    let folder = scene.warehouse.join("ods.db/orders/snapshot");
    let stale = fs::read(folder.join("LATEST")).unwrap();
    let wait = |min: i64| {
        let min = min.to_string();
        scene.sensor(&["wait", "--asset", KEY, "--min-snapshot", &min, "--timeout", "60s"]).unwrap()
    };

    // A writer crashed between the snapshot and its hint.
    let mut sensor = wait(2);
    sensor.says("missing: 1 behind", SOON).await.unwrap();
    writer.append(TABLE, 1).await.unwrap();
    fs::write(folder.join("LATEST"), &stale).unwrap();
    assert_eq!(sensor.ended(SOON).await.unwrap().code, 0);

    // A hint that points beyond what is there.
    fs::write(folder.join("LATEST"), "99").unwrap();
    let mut sensor = wait(3);
    sensor.says("missing: 1 behind", SOON).await.unwrap();
    fs::write(folder.join("LATEST"), "2").unwrap();
    writer.append(TABLE, 1).await.unwrap();
    assert_eq!(sensor.ended(SOON).await.unwrap().code, 0);

    // None at all, as an object store that lost them has it.
    for hint in ["LATEST", "EARLIEST"] {
        let _ = fs::remove_file(folder.join(hint));
    }
    let mut sensor = wait(4);
    sensor.says("missing: 1 behind", SOON).await.unwrap();
    writer.append(TABLE, 1).await.unwrap();
    let _ = fs::remove_file(folder.join("LATEST"));
    let ended = sensor.ended(SOON).await.unwrap();
    assert_eq!(ended.code, 0, "{ended:?}");
    let reported = newest(&writer, TABLE).await;
    assert!(ended.stdout.starts_with(&format!("READY {KEY} snapshot {}", reported.id)), "{ended:?}");
    assert_eq!(reported.id, 4);
}

#[tokio::test]
async fn every_kind_of_commit_counts_and_many_between_two_polls_are_all_kept() {
    let (scene, writer) = with_empty_table().await;
    let keyed = NewTable::keyed("ods.users").column("id", "BIGINT").column("kind", "STRING");
    writer.create_table(keyed.option("rowkind.field", "kind")).await.unwrap();
    let key = "paimon://lake/ods/users";
    writer.append("ods.users", 3).await.unwrap();
    scene.latest_is(key, 1).await.unwrap();
    writer.upsert("ods.users", &[1, 2]).await.unwrap();
    scene.latest_is(key, 2).await.unwrap();
    writer.delete("ods.users", &[3]).await.unwrap();
    scene.latest_is(key, 3).await.unwrap();
    writer.overwrite("ods.users", 1).await.unwrap();
    let answer = scene.latest_is(key, 4).await.unwrap();
    assert_eq!(latest_data(&answer), Some(4));
    assert_eq!(answer["state"]["latest"]["commitKind"], newest(&writer, "ods.users").await.kind);

    // A writer that is faster than the poller: the newest is pinned, none is lost.
    writer.append(TABLE, 1).await.unwrap();
    scene.latest_is(KEY, 1).await.unwrap();
    let arguments = ["wait", "--asset", KEY, "--min-snapshot", "25", "--timeout", "60s"];
    let sensor = scene.sensor(&arguments).unwrap();
    for _ in 0..29 {
        writer.append(TABLE, 1).await.unwrap();
    }
    assert_eq!(sensor.ended(SOON).await.unwrap().code, 0);
    scene.latest_is(KEY, 30).await.unwrap();
    let events = asset_integration::stored::events(&scene.database, KEY, "SNAPSHOT_COMMITTED").await.unwrap();
    let seen: Vec<_> = events.iter().map(|event| (&event["snapshot_id"], &event["fingerprint"])).collect();
    let reported = writer.snapshots(TABLE).await.unwrap();
    assert_eq!(seen.len(), reported.len());
    for ((id, fingerprint), reported) in seen.into_iter().zip(&reported) {
        assert_eq!(*id, reported.id);
        assert_eq!(*fingerprint, *reported.uuid.as_ref().unwrap());
    }
}

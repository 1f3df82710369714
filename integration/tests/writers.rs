//! The table writers do what they are told, and what their libraries report is what lies on disk.

#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::Path;

use asset_integration::writer::{NewTable, SnapshotReport, Writer};
use serde_json::{Value, json};
use tempfile::TempDir;

const LAST_IDENTIFIER: i64 = i64::MAX;

#[tokio::test]
async fn pypaimon_writes_appends_upserts_deletes_and_overwrites() {
    let warehouse = TempDir::new().unwrap();
    let writer = Writer::pypaimon(warehouse.path()).await.unwrap();

    writer.create_table(NewTable::append_only("ods.events")).await.unwrap();
    let first = writer.append("ods.events", 3).await.unwrap();
    let second = writer.append("ods.events", 2).await.unwrap();
    assert_eq!((first.snapshot_id, second.snapshot_id), (1, 2));
    assert!(first.committed_at_ms <= second.committed_at_ms);

    let keyed = NewTable::keyed("ods.orders").column("id", "BIGINT").column("kind", "STRING");
    writer.create_table(keyed.column("at", "DATE").option("rowkind.field", "kind")).await.unwrap();
    writer.append("ods.orders", 3).await.unwrap();
    writer.upsert("ods.orders", &[1, 2]).await.unwrap();
    writer.delete("ods.orders", &[3]).await.unwrap();
    writer.overwrite("ods.orders", 1).await.unwrap();
    writer.truncate("ods.orders").await.unwrap();

    let reported = as_on_disk(&writer, warehouse.path(), "ods.orders").await;
    assert_eq!(kinds(&reported), ["APPEND 3", "APPEND 2", "APPEND 1", "OVERWRITE -5", "OVERWRITE -1"]);
    assert!(reported.iter().all(|snapshot| snapshot.commit_identifier == LAST_IDENTIFIER));
    assert!(reported.iter().all(|snapshot| snapshot.uuid.is_some()), "pypaimon writes snapshot uuids");
    as_on_disk(&writer, warehouse.path(), "ods.events").await;
}

#[tokio::test]
async fn pypaimon_partitions_evolves_and_drops() {
    let warehouse = TempDir::new().unwrap();
    let writer = Writer::pypaimon(warehouse.path()).await.unwrap();
    let table = NewTable::append_only("ods.daily").column("id", "BIGINT").column("dt", "STRING");
    writer.create_table(table.partitioned_by("dt")).await.unwrap();
    writer.append_with("ods.daily", 1, "dt", "2026-01-01").await.unwrap();
    assert!(warehouse.path().join("ods.db/daily/dt=2026-01-01").is_dir());

    assert_eq!(writer.add_column("ods.daily", "more", "INT").await.unwrap(), 1);
    assert_eq!(writer.snapshots("ods.daily").await.unwrap().len(), 1, "a schema change makes no snapshot");
    writer.append_with("ods.daily", 1, "dt", "2026-01-02").await.unwrap();
    let reported = as_on_disk(&writer, warehouse.path(), "ods.daily").await;
    assert_eq!(reported.iter().map(|snapshot| snapshot.schema_id).collect::<Vec<_>>(), [0, 1]);

    writer.drop_table("ods.daily").await.unwrap();
    writer.create_table(NewTable::append_only("ods.daily")).await.unwrap();
    assert_eq!(writer.append("ods.daily", 1).await.unwrap().snapshot_id, 1, "ids come again");

    writer.drop_database("ods").await.unwrap();
    assert!(!warehouse.path().join("ods.db").exists());
    writer.create_database("ods").await.unwrap();
    assert!(warehouse.path().join("ods.db").is_dir());
}

#[tokio::test]
async fn pypaimon_tags_branches_and_rolls_back() {
    let warehouse = TempDir::new().unwrap();
    let writer = Writer::pypaimon(warehouse.path()).await.unwrap();
    rewrite_history(&writer, warehouse.path()).await;
}

#[tokio::test]
async fn pypaimon_says_what_it_cannot_do() {
    let warehouse = TempDir::new().unwrap();
    let writer = Writer::pypaimon(warehouse.path()).await.unwrap();
    writer.create_table(NewTable::append_only("ods.events")).await.unwrap();
    for (op, refusal) in [
        (writer.compact("ods.events").await.map(drop), "use the Java writer"),
        (writer.expire("ods.events", 1).await.map(drop), "use the Java writer"),
        (writer.stream_append("ods.events", 1, Some(1)).await.map(drop), "no operation"),
        (writer.upsert("ods.events", &[1]).await.map(drop), "primary keys"),
        (writer.append("ods.absent", 1).await.map(drop), "does not exist"),
    ] {
        let error = op.unwrap_err().to_string();
        assert!(error.contains(refusal), "{error}");
    }
    writer.append("ods.events", 1).await.expect("a refusal is not the end");
}

#[tokio::test]
async fn a_given_up_call_does_not_answer_the_next_one() {
    let warehouse = TempDir::new().unwrap();
    let writer = Writer::pypaimon(warehouse.path()).await.unwrap();
    writer.create_table(NewTable::append_only("ods.events")).await.unwrap();
    tokio::select! {
        biased;
        _ = writer.append("ods.events", 1) => panic!("the answer cannot be here yet"),
        () = tokio::task::yield_now() => {}
    }
    assert_eq!(writer.append("ods.events", 1).await.unwrap().snapshot_id, 2);
}

#[tokio::test]
async fn java_streams_with_watermarks_and_compacts() {
    let warehouse = TempDir::new().unwrap();
    let writer = Writer::paimon_java(warehouse.path()).await.unwrap();
    writer.create_table(NewTable::keyed("ods.orders").option("write-buffer-size", "16 mb")).await.unwrap();
    writer.stream_append("ods.orders", 2, Some(1_000)).await.unwrap();
    writer.stream_append("ods.orders", 0, Some(2_000)).await.unwrap();
    assert_eq!(writer.stream_compact("ods.orders", 0, None).await.unwrap().snapshot_id, 4);
    assert_eq!(writer.stream_compact("ods.orders", 1, Some(3_000)).await.unwrap().snapshot_id, 6);
    writer.append("ods.orders", 1).await.unwrap();
    writer.stream_close("ods.orders").await.unwrap();
    writer.stream_append("ods.orders", 1, None).await.unwrap();

    let reported = as_on_disk(&writer, warehouse.path(), "ods.orders").await;
    let seen: Vec<_> = reported.iter().map(|s| (s.kind.as_str(), s.delta_records, s.watermark)).collect();
    assert_eq!(
        seen,
        [
            ("APPEND", 2, Some(1_000)),
            ("APPEND", 0, Some(2_000)),
            // A compaction without new data: an empty APPEND, then the COMPACT.
            ("APPEND", 0, Some(2_000)),
            ("COMPACT", 0, Some(2_000)),
            ("APPEND", 1, Some(3_000)),
            ("COMPACT", 0, Some(3_000)),
            // A batch commit carries the watermark on.
            ("APPEND", 1, Some(3_000)),
            ("APPEND", 1, Some(3_000)),
        ]
    );
    let identifiers: Vec<_> = reported.iter().map(|snapshot| snapshot.commit_identifier).collect();
    assert_eq!(identifiers, [1, 2, 3, 3, 4, 4, LAST_IDENTIFIER, 1]);
    let user = &reported[0].commit_user;
    assert!(reported[..6].iter().all(|snapshot| snapshot.commit_user == *user), "one job, one user");
    assert!(reported[6..].iter().all(|snapshot| snapshot.commit_user != *user));
    assert!(reported.iter().all(|snapshot| snapshot.uuid.is_none()), "Java writes no snapshot uuids");
}

#[tokio::test]
async fn java_compacts_alone_expires_and_does_all_that_python_does() {
    let warehouse = TempDir::new().unwrap();
    let writer = Writer::paimon_java(warehouse.path()).await.unwrap();

    // An append table without buckets: one merge of its small files.
    writer.create_table(NewTable::append_only("ods.events")).await.unwrap();
    for _ in 0..6 {
        writer.append("ods.events", 1).await.unwrap();
    }
    writer.compact("ods.events").await.unwrap();
    let reported = as_on_disk(&writer, warehouse.path(), "ods.events").await;
    assert_eq!(kinds(&reported)[5..], ["APPEND 1", "COMPACT 0"]);
    assert_eq!(writer.expire("ods.events", 2).await.unwrap(), 5);
    let reported = as_on_disk(&writer, warehouse.path(), "ods.events").await;
    assert_eq!(reported.iter().map(|snapshot| snapshot.id).collect::<Vec<_>>(), [6, 7]);

    // A table with keys: deletes are rows until a compaction removes both.
    writer.create_table(NewTable::keyed("ods.orders")).await.unwrap();
    writer.append("ods.orders", 3).await.unwrap();
    writer.upsert("ods.orders", &[1, 2]).await.unwrap();
    writer.delete("ods.orders", &[3]).await.unwrap();
    writer.compact("ods.orders").await.unwrap();
    writer.overwrite("ods.orders", 1).await.unwrap();
    writer.truncate("ods.orders").await.unwrap();
    let reported = as_on_disk(&writer, warehouse.path(), "ods.orders").await;
    assert_eq!(
        kinds(&reported),
        ["APPEND 3", "APPEND 2", "APPEND 1", "COMPACT -4", "OVERWRITE -1", "OVERWRITE -1"]
    );

    assert_eq!(writer.add_column("ods.orders", "more", "INT").await.unwrap(), 1);
    writer.append("ods.orders", 1).await.unwrap();
    writer.drop_table("ods.orders").await.unwrap();
    rewrite_history(&writer, warehouse.path()).await;
    writer.drop_database("ods").await.unwrap();
}

#[tokio::test]
async fn both_writers_share_a_table() {
    let warehouse = TempDir::new().unwrap();
    let python = Writer::pypaimon(warehouse.path()).await.unwrap();
    let java = Writer::paimon_java(warehouse.path()).await.unwrap();
    python.create_table(NewTable::append_only("ods.events")).await.unwrap();
    python.append("ods.events", 1).await.unwrap();
    java.stream_append("ods.events", 1, Some(5_000)).await.unwrap();
    assert_eq!(python.append("ods.events", 1).await.unwrap().snapshot_id, 3);

    let by_python = as_on_disk(&python, warehouse.path(), "ods.events").await;
    let by_java = java.snapshots("ods.events").await.unwrap();
    assert_eq!(without_uuids(&by_python), by_java);
    assert_eq!(by_python[1].watermark, Some(5_000));
}

/// Tags, a branch that replaces the table's history, and a rollback after which ids come again.
async fn rewrite_history(writer: &Writer, warehouse: &Path) {
    let table = "ods.history";
    writer.create_table(NewTable::append_only(table)).await.unwrap();
    for _ in 0..4 {
        writer.append(table, 1).await.unwrap();
    }
    writer.create_tag(table, "early", Some(2)).await.unwrap();
    writer.create_tag(table, "late", None).await.unwrap();
    assert_eq!(writer.tags(table).await.unwrap(), [("early".into(), 2), ("late".into(), 4)].into());
    assert!(warehouse.join("ods.db/history/tag/tag-late").is_file());

    let before = as_on_disk(writer, warehouse, table).await;
    assert_eq!(writer.rollback(table, 3).await.unwrap().snapshot_id, 3);
    assert_eq!(writer.tags(table).await.unwrap().len(), 1, "a tag on what was rolled back goes with it");
    assert_eq!(writer.append(table, 1).await.unwrap().snapshot_id, 4);
    let after = as_on_disk(writer, warehouse, table).await;
    assert_ne!(before[3].delta_manifest_list, after[3].delta_manifest_list, "the same id, other content");

    writer.create_branch(table, "fix", Some("early")).await.unwrap();
    let branch = format!("{table}$branch_fix");
    assert_eq!(writer.append(&branch, 5).await.unwrap().snapshot_id, 3);
    assert_eq!(writer.append(&branch, 5).await.unwrap().snapshot_id, 4);
    writer.fast_forward(table, "fix").await.unwrap();
    let forwarded = as_on_disk(writer, warehouse, table).await;
    assert_eq!(kinds(&forwarded), ["APPEND 1", "APPEND 1", "APPEND 5", "APPEND 5"]);

    writer.create_tag(table, "gone", None).await.unwrap();
    writer.delete_tag(table, "gone").await.unwrap();
    assert!(!writer.tags(table).await.unwrap().contains_key("gone"));
}

/// The library's report, after it was compared with the files.
async fn as_on_disk(writer: &Writer, warehouse: &Path, table: &str) -> Vec<SnapshotReport> {
    let reported = writer.snapshots(table).await.unwrap();
    let (database, name) = table.split_once('.').unwrap();
    let folder = warehouse.join(format!("{database}.db/{name}/snapshot"));
    let names = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut ids: Vec<i64> = names.filter_map(|name| name.strip_prefix("snapshot-")?.parse().ok()).collect();
    ids.sort_unstable();
    assert_eq!(ids, reported.iter().map(|snapshot| snapshot.id).collect::<Vec<_>>());
    for snapshot in &reported {
        let file = fs::read_to_string(folder.join(format!("snapshot-{}", snapshot.id))).unwrap();
        let file: Value = serde_json::from_str(&file).unwrap();
        let expected = json!({
            "id": file["id"],
            "kind": file["commitKind"],
            "schema_id": file["schemaId"],
            "commit_user": file["commitUser"],
            "commit_identifier": file["commitIdentifier"],
            "time_ms": file["timeMillis"],
            "watermark": file["watermark"],
            "uuid": file["uuid"],
            "delta_manifest_list": file["deltaManifestList"],
            "total_records": file["totalRecordCount"],
            "delta_records": file["deltaRecordCount"],
        });
        assert_eq!(serde_json::from_value::<SnapshotReport>(expected).unwrap(), *snapshot);
    }
    reported
}

fn kinds(snapshots: &[SnapshotReport]) -> Vec<String> {
    snapshots.iter().map(|snapshot| format!("{} {}", snapshot.kind, snapshot.delta_records)).collect()
}

/// The Java library does not know the uuids that pypaimon writes.
fn without_uuids(snapshots: &[SnapshotReport]) -> Vec<SnapshotReport> {
    snapshots.iter().cloned().map(|snapshot| SnapshotReport { uuid: None, ..snapshot }).collect()
}

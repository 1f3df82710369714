//! The stored version log after all kills.

use std::path::Path;

use asset_integration::stored::{self, events};
use serde_json::{Value, json};

use crate::evidence::Reported;

/// Every snapshot that the library reports is in the log and in the evidence once, and nothing else is;
/// no revision was given out twice.
pub async fn check(database: &Path, reported: &Reported) {
    for (key, snapshots) in reported {
        let query = "SELECT v.generation, v.ordinal, v.snapshot_id, v.fingerprint, v.class \
                     FROM t_ds_asset_version v JOIN t_ds_asset a ON a.id = v.asset_id \
                     WHERE a.asset_key = ? ORDER BY v.generation, v.ordinal";
        let log = stored::rows(database, query, &[key]).await.unwrap();
        let line = |id: i64, uuid: &Option<String>| json!({"generation": 1, "ordinal": id, "snapshot_id": id, "fingerprint": uuid, "class": "ADVANCE"});
        let expected: Vec<Value> = snapshots.iter().map(|s| line(s.id, &s.uuid)).collect();
        assert_eq!(log, expected, "{key}");

        let committed = events(database, key, "SNAPSHOT_COMMITTED").await.unwrap();
        let evidence: Vec<_> =
            committed.iter().map(|event| (&event["snapshot_id"], &event["outcome"])).collect();
        let (ids, applied): (Vec<Value>, Value) =
            (snapshots.iter().map(|snapshot| snapshot.id.into()).collect(), "APPLIED".into());
        assert_eq!(evidence, ids.iter().map(|id| (id, &applied)).collect::<Vec<_>>(), "{key}");
    }
    let all = "SELECT event_type, COUNT(*) AS events FROM t_ds_asset_event GROUP BY event_type";
    let all = stored::rows(database, all, &[]).await.unwrap();
    let count: usize = reported.values().map(Vec::len).sum();
    assert_eq!(all, [json!({"event_type": "SNAPSHOT_COMMITTED", "events": count})]);

    // What one change made visible shares its revision; nothing else has it, and it never goes back.
    let shared =
        "SELECT revision FROM t_ds_asset_event GROUP BY revision HAVING COUNT(DISTINCT asset_key) > 1";
    assert_eq!(stored::rows(database, shared, &[]).await.unwrap(), Vec::<Value>::new());
    let revisions = "SELECT e.revision FROM t_ds_asset_event e ORDER BY e.id";
    let revisions = stored::rows(database, revisions, &[]).await.unwrap();
    let revisions: Vec<i64> = revisions.iter().map(|row| row["revision"].as_i64().unwrap()).collect();
    asset_core::invariant::no_revision_goes_back(&revisions).unwrap();
    let counter = stored::rows(database, "SELECT revision FROM t_ds_asset_revision", &[]).await.unwrap();
    assert!(counter[0]["revision"].as_i64() >= revisions.last().copied());

    // No wait that was released can be looked for again.
    let dangling = "SELECT w.wait_id FROM t_ds_asset_wait w JOIN t_ds_asset_wait_asset a \
                    ON a.wait_id = w.wait_id WHERE w.status <> 'OPEN'";
    assert_eq!(stored::rows(database, dangling, &[]).await.unwrap(), Vec::<Value>::new());
}

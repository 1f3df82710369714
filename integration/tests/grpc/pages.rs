//! Health, readiness and metrics over HTTP.

use asset_integration::deadline;
use asset_integration::scene::{SOON, Scene};
use asset_integration::writer::{NewTable, Writer};
use serde_json::json;

use crate::{KEY, RESOLVE, TABLE};

/// The value of the series with this name whose labels have these texts in them.
fn value(metrics: &str, name: &str, labels: &[&str]) -> Option<f64> {
    let line = metrics.lines().find(|line| {
        line.strip_prefix(name).is_some_and(|rest| rest.starts_with('{'))
            && labels.iter().all(|label| line.contains(label))
    })?;
    line.rsplit_once(' ')?.1.parse().ok()
}

#[tokio::test]
async fn pages_tell_health_readiness_and_the_metrics_of_the_rfc() {
    let scene = Scene::start().await.unwrap();
    let http = scene.agent.http();
    for path in ["/healthz", "/readyz"] {
        assert_eq!(http.get(path).await.unwrap().status, 200, "{path}");
    }
    assert_eq!(http.get("/nothing").await.unwrap().status, 404);

    let writer = Writer::pypaimon(&scene.warehouse).await.unwrap();
    writer.create_table(NewTable::append_only(TABLE)).await.unwrap();
    for _ in 0..3 {
        writer.append(TABLE, 1).await.unwrap();
    }
    scene.latest_is(KEY, 3).await.unwrap();
    let asset = format!("asset_key=\"{KEY}\"");
    let metrics = async || http.get("/metrics").await.unwrap();
    let page = metrics().await;
    assert!(page.content_type.starts_with("application/openmetrics-text"), "{page:?}");
    let text = page.body;
    assert!(text.ends_with("# EOF\n"), "{text}");
    let received = value(&text, "lakehouse_asset_event_received_total", &[&asset, "source_type=\"paimon\""]);
    assert_eq!(received, Some(3.0), "one a snapshot:\n{text}");
    assert_eq!(value(&text, "lakehouse_asset_event_deduplicated_total", &[&asset]), Some(0.0));
    assert!(value(&text, "lakehouse_asset_state_updated_total", &[&asset]) >= Some(1.0), "{text}");
    let lag = value(&text, "lakehouse_asset_state_lag_seconds", &[&asset]).unwrap();
    let reported = writer.snapshots(TABLE).await.unwrap().pop().unwrap();
    assert!(reported.time_ms > 0 && (0.0..60.0).contains(&lag), "{lag} s since {}", reported.time_ms);

    // Somebody waits, gives up, waits again and is released.
    let request = json!({
        "groups": [{"name": "daily", "conditions": [{"asset_key": KEY, "min_snapshot_id": 4}]}],
        "wait": {
            "project_code": 1, "workflow_definition_code": 77, "task_definition_code": 3,
            "workflow_instance_id": 4, "task_name": "wait for orders",
        },
    });
    let mut stream = scene.grpcurl().stream(RESOLVE, &request).unwrap();
    stream.next(SOON).await.unwrap().unwrap();
    let waiting = [asset.as_str(), "workflow_code=\"77\"", "blocked_by=\"snapshot\""];
    let text = metrics().await.body;
    assert_eq!(value(&text, "lakehouse_asset_dependency_blocked_by", &waiting), Some(1.0), "{text}");
    assert_eq!(value(&text, "lakehouse_asset_streams", &["kind=\"wait\""]), Some(1.0), "{text}");
    writer.append(TABLE, 1).await.unwrap();
    assert_eq!(stream.next(SOON).await.unwrap().unwrap()["status"], "READY");
    let released = [asset.as_str(), "workflow_code=\"77\"", "dependency_group=\"daily\""];
    // Counted once its reader was told.
    let text = deadline::until("its release is counted", SOON, async || {
        let text = metrics().await.body;
        value(&text, "lakehouse_asset_dependency_ready_total", &released).is_some().then_some(text)
    });
    let text = text.await.unwrap();
    assert_eq!(value(&text, "lakehouse_asset_dependency_ready_total", &released), Some(1.0), "{text}");
    assert_eq!(value(&text, "lakehouse_asset_dependency_blocked_by", &waiting), None, "{text}");
    deadline::until("its stream is no longer counted", SOON, async || {
        let streams = value(&metrics().await.body, "lakehouse_asset_streams", &["kind=\"wait\""]);
        (streams == Some(0.0)).then_some(())
    })
    .await
    .unwrap();
}

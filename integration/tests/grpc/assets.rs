//! Asking for assets: pages, one of them, and who reads it.

use asset_integration::deadline;
use asset_integration::scene::{SOON, Scene, int};
use asset_integration::writer::{NewTable, Writer};
use serde_json::{Value, json};

use crate::{KEY, TABLE};

#[tokio::test]
async fn pages_hold_every_asset_once_in_the_order_of_keys() {
    let scene = Scene::start().await.unwrap();
    let writer = Writer::pypaimon(&scene.warehouse).await.unwrap();
    let tables = ["dwd.a", "dwd.b", "ods.A", "ods.a-b", "ods.a_b"];
    for table in tables {
        writer.create_table(NewTable::append_only(table)).await.unwrap();
    }
    let page = async |size: i64, token: &str| {
        let request = json!({"page_size": size, "page_token": token});
        scene.call("AssetService/ListAssets", &request).await.unwrap()
    };
    deadline::until("all are discovered", SOON, async || {
        (keys(&page(0, "").await).len() == tables.len()).then_some(())
    })
    .await
    .unwrap();

    let mut seen = Vec::new();
    let mut sizes = Vec::new();
    let mut token = String::new();
    loop {
        let answer = page(2, &token).await;
        sizes.push(keys(&answer).len());
        seen.extend(keys(&answer));
        assert!(seen.len() <= tables.len(), "an asset came twice: {seen:?}");
        match answer["nextPageToken"].as_str() {
            Some(next) => token = next.to_owned(),
            None => break,
        }
    }
    let mut expected: Vec<_> =
        tables.iter().map(|table| format!("paimon://lake/{}", table.replace('.', "/"))).collect();
    expected.sort();
    assert_eq!(seen, expected);
    assert_eq!(sizes, [2, 2, 1]);
    // A page that is just full has nothing behind it.
    assert!(page(5, "").await["nextPageToken"].is_null());
}

fn keys(answer: &Value) -> Vec<String> {
    let assets = answer["assets"].as_array().into_iter().flatten();
    assets.map(|state| state["assetKey"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn an_asset_is_shown_as_pypaimon_reports_its_table() {
    let scene = Scene::start().await.unwrap();
    let writer = Writer::pypaimon(&scene.warehouse).await.unwrap();
    writer.create_table(NewTable::append_only(TABLE)).await.unwrap();
    writer.append(TABLE, 1).await.unwrap();
    writer.add_column(TABLE, "more", "INT").await.unwrap();
    writer.append(TABLE, 1).await.unwrap();
    let answer = scene.latest_is(KEY, 2).await.unwrap();
    let reported = writer.snapshots(TABLE).await.unwrap().pop().unwrap();
    for version in ["latest", "latestData"] {
        let version = &answer["state"][version];
        assert_eq!(int(&version["schemaId"]), Some(reported.schema_id));
        assert_eq!(version["commitKind"], reported.kind);
        assert_eq!(version["fingerprint"], *reported.uuid.as_ref().unwrap());
        assert!(version["watermark"].is_null(), "pypaimon writes none: {version}");
    }
    assert_eq!(reported.schema_id, 1);
    assert_eq!(answer["source"]["catalog"], "lake");
    assert_eq!(answer["source"]["location"], scene.warehouse.join("ods.db/orders").to_str().unwrap());
    let two_segments = scene.asset("paimon://ods/orders").await.unwrap().unwrap();
    assert_eq!(two_segments["state"], answer["state"]);
}

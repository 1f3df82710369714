//! What a catalog finds under which name.

use std::fs;

use super::*;

#[tokio::test]
async fn a_warehouse_that_went_away_is_an_error() {
    let lake = Lake::with(1..=2);
    let mut known = Follower::at_head(&lake).await;
    let elsewhere = lake.warehouse().with_extension("moved");
    fs::rename(lake.warehouse(), &elsewhere).unwrap();
    assert_eq!(known.strict(&lake).await, "error unreachable");
    assert_eq!(Follower::default().strict(&lake).await, "error unreachable");
    assert_eq!(lake.catalog.check().await.unwrap_err().kind(), "unreachable");
    assert_eq!(lake.catalog.discover().await.unwrap_err().kind(), "unreachable");
    assert!(!lake.warehouse().exists(), "looking creates nothing");
    fs::rename(&elsewhere, lake.warehouse()).unwrap();
    assert_eq!(known.strict(&lake).await, "unchanged");
    lake.catalog.check().await.unwrap();
}

#[tokio::test]
async fn names_that_lead_elsewhere_are_absent_without_a_look() {
    let mut lake = Lake::with([1]);
    lake.on_request(|what, path| panic!("{what} {path}"));
    for key in [
        "paimon://lake/ods/a%2Fb",
        "paimon://lake/..%2Fods/orders",
        "paimon://lake/ods/..%2F..%2Fx",
        "paimon://lake/ods/a%5Cb",
        "paimon://lake/ods/a%00b",
        "paimon://lake/ods/.hidden",
        "paimon://lake/.ods/orders",
        "paimon://lake/ods/orders/dt=1",
    ] {
        lake.key = AssetKey::from_canonical(key).unwrap();
        assert_eq!(Follower::default().strict(&lake).await, "absent", "{key}");
    }
}

#[tokio::test]
async fn names_that_no_file_can_have_are_absent() {
    let mut lake = Lake::with([1]);
    lake.key = AssetKey::of_table("paimon", "lake", "ods", &"x".repeat(300)).unwrap();
    assert_eq!(Follower::default().strict(&lake).await, "absent");
    lake.key = AssetKey::of_table("paimon", "lake", "ods", "file").unwrap();
    fs::write(lake.at("../file"), "").unwrap();
    assert_eq!(Follower::default().strict(&lake).await, "absent");
}

#[tokio::test]
async fn callers_mistakes_are_errors() {
    let mut lake = Lake::with([1]);
    for text in [
        "",
        "{}",
        "7",
        "{\"layout\":9,\"state\":\"absent\"}",
        "{\"layout\":1,\"state\":\"table\",\"head\":{\"id\":-1}}",
    ] {
        let mut follower = Follower::from_cursor(text);
        let error = follower.poll(&lake, Depth::Fast).await.unwrap_err();
        assert_eq!(error.kind(), "cursor");
        assert!(error.to_string().contains("paimon://lake/ods/orders"), "{error}");
    }
    for key in ["paimon://other/ods/orders", "iceberg://lake/ods/orders"] {
        lake.key = AssetKey::from_canonical(key).unwrap();
        assert_eq!(Follower::default().strict(&lake).await, "error wrong_catalog");
    }
}

#[tokio::test]
async fn tables_are_discovered() {
    let lake = Lake::with([1]);
    for directory in [
        "ods.db/a b/schema",
        "ods.db/half/snapshot",
        "ods.db/.hidden/schema",
        "dwd.db/x/schema",
        "empty.db",
        "plain/t/schema",
        ".db/t/schema",
        ".x.db/t/schema",
    ] {
        fs::create_dir_all(lake.warehouse().join(directory)).unwrap();
    }
    fs::write(lake.warehouse().join("file.db"), "").unwrap();
    fs::write(lake.warehouse().join("ods.db/file"), "").unwrap();
    let keys = lake.catalog.discover().await.unwrap();
    let keys: Vec<&str> = keys.iter().map(AssetKey::as_str).collect();
    assert_eq!(keys, ["paimon://lake/dwd/x", "paimon://lake/ods/a%20b", "paimon://lake/ods/orders"]);
}

//! Calls, typed by hand.

use asset_integration::scene::{SOON, Scene};
use serde_json::{Value, json};

use crate::{KEY, says, sensor};

const RESOLVE: &str = "DependencyService/ResolveDependency";
const INVALID_ARGUMENT: i32 = 64 + 3;
const NOT_FOUND: i32 = 64 + 5;

/// The request is refused as invalid, in these words.
async fn refused(scene: &Scene, method: &str, request: Value, parts: &[&str]) {
    let outcome = scene.grpcurl().call(&format!("asset.v1.{method}"), &request).await.unwrap();
    assert_eq!(outcome.code, INVALID_ARGUMENT, "{request}: {outcome:?}");
    says(&outcome.stderr, parts);
    says(&outcome.stderr, &["INVALID_FIELDS"]);
}

fn groups(condition: Value) -> Value {
    json!({"groups": [{"conditions": [condition]}]})
}

#[tokio::test]
async fn a_malformed_key_is_refused_with_the_byte_where_it_broke() {
    let scene = Scene::start().await.unwrap();
    for (key, byte, reason) in [
        ("orders", 6, "format://catalog/database/table"),
        ("paimon://orders", 15, "catalog/database/table"),
        ("paimon://lake//orders", 14, "a segment is empty"),
        ("paimon://lake/../orders", 14, "`.` and `..` are no segments"),
        ("paimon://lake/ods/or%G1", 20, "two hexadecimal digits"),
        ("pai mon://ods/orders", 3, "a format starts with a letter"),
    ] {
        let at = format!("malformed asset key at byte {byte}");
        let parts = [key, at.as_str(), reason];
        let field = [&parts[..], &["groups[0].conditions[0].asset_key"]].concat();
        refused(&scene, RESOLVE, groups(json!({"asset_key": key})), &field).await;
        refused(&scene, "AssetService/GetAsset", json!({"asset_key": key}), &parts).await;
        refused(&scene, "AssetService/WatchAsset", json!({"asset_keys": [key]}), &parts).await;
        for arguments in [["wait", "--asset", key].as_slice(), &["watch", key], &["assets", "state", key]] {
            let ended = sensor(&scene, arguments).await;
            assert_eq!((ended.code, ended.stdout.as_str()), (2, ""), "{arguments:?}: {ended:?}");
            says(&ended.stderr, &parts);
        }
    }
    let long = format!("paimon://lake/ods/{}", "x".repeat(600));
    refused(&scene, "AssetService/GetAsset", json!({"asset_key": long}), &["at most 512 are allowed"]).await;
}

#[tokio::test]
async fn a_field_that_is_out_of_range_is_named_with_its_range() {
    let scene = Scene::start().await.unwrap();
    let with = |more: Value| {
        let mut request = groups(json!({"asset_key": KEY}));
        request.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        request
    };
    let cases = [
        (
            RESOLVE,
            groups(json!({"asset_key": KEY, "watermark_gte": "tomorrow"})),
            ["watermark_gte", "`tomorrow` is no time; expected RFC 3339"],
        ),
        (
            RESOLVE,
            groups(json!({"asset_key": KEY, "committed_after": "20261130", "timezone": "Mars"})),
            ["timezone", "`Mars` is no time zone"],
        ),
        (
            RESOLVE,
            groups(json!({"asset_key": KEY, "min_snapshot_id": -1})),
            ["min_snapshot_id", "between 0 and"],
        ),
        (
            RESOLVE,
            groups(json!({"asset_key": KEY, "since": 7})),
            ["since", "7 is none that this version knows"],
        ),
        (RESOLVE, json!({}), ["groups", "at least one group is needed"]),
        (RESOLVE, json!({"groups": [{}]}), ["groups[0].conditions", "at least one condition is needed"]),
        (
            RESOLVE,
            with(json!({"resume_after_revision": -1})),
            ["resume_after_revision", "must not be negative"],
        ),
        (
            RESOLVE,
            with(json!({"resume_token": "of another service"})),
            ["resume_token", "the newest one received"],
        ),
        (
            RESOLVE,
            with(json!({"deadline": "0001-01-01T00:00:00Z"})),
            ["deadline", "no time between 1970 and 9999"],
        ),
        (
            RESOLVE,
            with(json!({"wait": {"project_code": -5}})),
            ["wait.project_code", "must be above 0, is -5"],
        ),
        (RESOLVE, with(json!({"wait": {"project_code": 1}})), ["wait.task_name", "is required"]),
        ("AssetService/WatchAsset", json!({"resume_after_revision": -1}), ["resume_after_revision", "is -1"]),
        ("AssetService/ListAssets", json!({"page_size": -1}), ["page_size", "between 1 and 1000, is -1"]),
        ("AssetService/ListAssets", json!({"page_size": 1001}), ["page_size", "between 1 and 1000, is 1001"]),
        (
            "AssetService/ListAssets",
            json!({"page_token": "x"}),
            ["page_token", "`next_page_token` of the page before"],
        ),
        ("DependencyService/AcknowledgeWait", json!({}), ["wait_id", "is required"]),
        ("DependencyService/EvaluateDependency", json!({}), ["groups", "at least one group is needed"]),
    ];
    for (method, request, parts) in cases {
        refused(&scene, method, request, &parts).await;
    }
    // A token of other conditions does not fit, though it is one of ours.
    let request = groups(json!({"asset_key": KEY, "since": "SINCE_REGISTERED"}));
    let mut stream =
        scene.grpcurl().stream("asset.v1.DependencyService/ResolveDependency", &request).unwrap();
    let token = stream.next(SOON).await.unwrap().unwrap()["resumeToken"].clone();
    let mut other = groups(json!({"asset_key": "paimon://ods/items", "since": "SINCE_REGISTERED"}));
    other["resume_token"] = token;
    refused(&scene, RESOLVE, other, &["resume_token", "it belongs to other conditions"]).await;

    // All that is wrong is said at once.
    let request = with(json!({"resume_after_revision": -1, "wait": {"project_code": 0}}));
    refused(&scene, RESOLVE, request, &["resume_after_revision", "wait.project_code", "wait.task_name"])
        .await;
}

#[tokio::test]
async fn what_grpcurl_cannot_put_into_a_message_is_refused_by_grpcurl() {
    let scene = Scene::start().await.unwrap();
    for (request, part) in [
        (groups(json!({"asset_key": KEY, "min_snapshot": 1})), "min_snapshot"),
        (
            groups(json!({"asset_key": KEY, "min_snapshot_id": 9_223_372_036_854_775_808_u64})),
            "9223372036854775808",
        ),
        (groups(json!({"asset_key": KEY, "since": "SINCE_YESTERDAY"})), "SINCE_YESTERDAY"),
    ] {
        let outcome =
            scene.grpcurl().call("asset.v1.DependencyService/EvaluateDependency", &request).await.unwrap();
        assert_ne!(outcome.code, 0, "{outcome:?}");
        says(&outcome.stderr, &[part]);
    }
}

#[tokio::test]
async fn an_unknown_asset_or_wait_is_told_from_a_malformed_one() {
    let scene = Scene::start().await.unwrap();
    let request = groups(json!({"asset_key": "hudi://elsewhere/ods/orders"}));
    let mut stream =
        scene.grpcurl().stream("asset.v1.DependencyService/ResolveDependency", &request).unwrap();
    let blocked = stream.next(SOON).await.unwrap().unwrap();
    assert_eq!(blocked["status"], "BLOCKED");
    assert_eq!(blocked["groups"][0]["conditions"][0]["blockedBy"], "BLOCKED_BY_UNKNOWN_ASSET");
    let silent = stream.next(std::time::Duration::from_secs(1)).await.unwrap_err().to_string();
    says(&silent, &["no message came"]);

    let outcome =
        scene.grpcurl().call("asset.v1.AssetService/GetAsset", &json!({"asset_key": KEY})).await.unwrap();
    assert_eq!(outcome.code, NOT_FOUND, "{outcome:?}");
    says(&outcome.stderr, &["no asset has the key", KEY, "NO_SUCH_ASSET"]);
    let ended = sensor(&scene, &["assets", "state", KEY]).await;
    assert_eq!(ended.code, 2, "{ended:?}");
    says(&ended.stderr, &["no asset has the key", KEY]);
    let request = json!({"wait_id": "nobody's"});
    let outcome = scene.grpcurl().call("asset.v1.DependencyService/AcknowledgeWait", &request).await.unwrap();
    assert_eq!(outcome.code, NOT_FOUND, "{outcome:?}");
    says(&outcome.stderr, &["no wait has the id `nobody's`"]);
}

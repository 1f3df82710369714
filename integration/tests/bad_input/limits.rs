//! Requests that are larger than anybody needs.

use asset_integration::scene::Scene;
use serde_json::{Value, json};

use crate::{KEY, says};

#[tokio::test]
async fn more_conditions_than_allowed_are_refused_and_the_most_that_are_allowed_are_served() {
    let scene = Scene::start().await.unwrap();
    let condition = |number: usize| json!({"asset_key": format!("paimon://ods/t{number}")});
    let group = |conditions: usize| json!({"conditions": (0..conditions).map(condition).collect::<Vec<_>>()});
    let asked = async |groups: Vec<Value>| {
        let method = "asset.v1.DependencyService/EvaluateDependency";
        scene.grpcurl().call(method, &json!({ "groups": groups })).await.unwrap()
    };
    let most = asked(vec![group(64); 64]).await;
    assert_eq!(most.code, 0, "{}", most.stderr);
    let verdicts = most.messages().unwrap().remove(0);
    assert_eq!(verdicts["groups"].as_array().unwrap().len(), 64);
    assert_eq!(verdicts["groups"][63]["name"], "group-64");

    for (groups, parts) in [
        (vec![group(65)], ["groups[0].conditions", "at most 64 conditions are allowed"]),
        (vec![group(1); 65], ["groups", "at most 64 groups are allowed"]),
        (
            vec![json!({"name": "x".repeat(65), "conditions": [condition(1)]})],
            ["groups[0].name", "at most 64 characters"],
        ),
        (
            vec![json!({"conditions": [condition(1), condition(1)]})],
            ["groups[0].conditions[1].asset_key", "stands twice in this group"],
        ),
    ] {
        let outcome = asked(groups).await;
        assert_eq!(outcome.code, 64 + 3, "{outcome:?}");
        says(&outcome.stderr, &parts);
    }
    // Beyond what a message may have; the agent goes on.
    let huge =
        asked(vec![json!({"conditions": [{"asset_key": KEY, "alias": "x".repeat(100_000)}]}); 60]).await;
    assert_ne!(huge.code, 0, "{}", huge.stdout.len());
    assert_eq!(asked(vec![group(1)]).await.code, 0);

    let keys: Vec<_> = (0..1_001).map(|number| format!("paimon://ods/t{number}")).collect();
    let request = json!({ "asset_keys": keys });
    let watch = scene.grpcurl().call("asset.v1.AssetService/WatchAsset", &request).await.unwrap();
    assert_eq!(watch.code, 64 + 3, "{watch:?}");
    says(&watch.stderr, &["asset_keys", "at most 1000 keys are allowed"]);
}

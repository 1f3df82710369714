//! A client without any file of ours finds out what there is to call.

use std::collections::BTreeSet;

use asset_integration::grpcurl::Grpcurl;
use asset_integration::scene::Scene;
use serde_json::json;

const SERVICES: [(&str, &[&str]); 2] = [
    ("asset.v1.AssetService", &["WatchAsset", "GetAsset", "ListAssets"]),
    ("asset.v1.DependencyService", &["ResolveDependency", "AcknowledgeWait", "EvaluateDependency"]),
];

#[tokio::test]
async fn everything_is_listed_and_described_with_its_comments() {
    let scene = Scene::start().await.unwrap();
    let grpcurl = scene.grpcurl();
    let listed = lines(&grpcurl, &["list"]).await;
    for service in SERVICES.iter().map(|(name, _)| *name).chain([
        "grpc.health.v1.Health",
        "grpc.reflection.v1.ServerReflection",
        "grpc.reflection.v1alpha.ServerReflection",
    ]) {
        assert!(listed.iter().any(|line| line == service), "{service} in {listed:?}");
    }
    // Clients that know only the older reflection are answered too.
    let old = "grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo";
    let answer = grpcurl.call(old, &json!({"list_services": ""})).await.unwrap().messages().unwrap();
    let services = answer[0]["listServicesResponse"]["service"].as_array().unwrap();
    assert!(services.contains(&json!({"name": "asset.v1.AssetService"})), "{services:?}");

    // From the services to all that they speak of.
    let mut names = BTreeSet::new();
    for (service, methods) in SERVICES {
        let described = lines(&grpcurl, &["describe", service]).await;
        for method in methods {
            assert!(described.iter().any(|line| line.contains(&format!("rpc {method} "))), "{described:#?}");
        }
        assert_commented(&described);
        names.extend(named(&described));
    }
    let mut seen = BTreeSet::new();
    while let Some(name) = names.pop_first() {
        if !seen.insert(name.clone()) {
            continue;
        }
        let described = lines(&grpcurl, &["describe", &name]).await;
        assert_commented(&described);
        names.extend(named(&described));
    }
    for name in [
        "asset.v1.Condition",
        "asset.v1.BlockedBy",
        "asset.v1.PinnedVersion",
        "asset.v1.AssetHold",
        "asset.v1.Wait",
        "asset.v1.ResolveDependencyResponse.Status",
    ] {
        assert!(seen.contains(name), "{name} in {seen:?}");
    }
}

#[tokio::test]
async fn health_is_told_for_the_server_and_each_service() {
    let scene = Scene::start().await.unwrap();
    let services = SERVICES.iter().map(|(name, _)| *name).chain([""]);
    for service in services {
        let request = json!({ "service": service });
        let outcome = scene.grpcurl().call("grpc.health.v1.Health/Check", &request).await.unwrap();
        assert_eq!(outcome.messages().unwrap(), [json!({"status": "SERVING"})], "{service}");
    }
    let request = json!({"service": "asset.v1.Nothing"});
    let unknown = scene.grpcurl().call("grpc.health.v1.Health/Check", &request).await.unwrap();
    assert_eq!(unknown.code, 64 + 5, "{unknown:?}");
}

async fn lines(grpcurl: &Grpcurl, arguments: &[&str]) -> Vec<String> {
    let outcome = grpcurl.ask(arguments).await.unwrap();
    assert_eq!(outcome.code, 0, "{arguments:?}: {outcome:?}");
    outcome.stdout.lines().map(str::to_owned).collect()
}

/// Names of messages and enums of ours.
fn named(described: &[String]) -> Vec<String> {
    let words = described.iter().filter(|line| !line.trim_start().starts_with("//")).flat_map(|line| {
        line.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == '.')).filter_map(|word| {
            let name = word.trim_start_matches('.');
            name.starts_with("asset.v1.").then(|| name.to_owned())
        })
    });
    // The services were described already.
    words.filter(|name| !SERVICES.iter().any(|(service, _)| name.starts_with(service))).collect()
}

/// Everything that is declared has a comment above it.
fn assert_commented(described: &[String]) {
    let code: Vec<_> = described.iter().map(|line| line.trim()).collect();
    for (at, line) in code.iter().enumerate().skip(1) {
        // Closing braces, reserved ranges and options declare nothing.
        let declares = !line.is_empty()
            && !line.starts_with("//")
            && !line.starts_with("reserved ")
            && !line.starts_with('}')
            && !line.starts_with("option ");
        if declares {
            assert!(code[at - 1].starts_with("//"), "`{line}` has no comment in\n{}", described.join("\n"));
        }
    }
}

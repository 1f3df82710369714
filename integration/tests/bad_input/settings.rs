//! Configurations that can't be used.

use std::fs;

use asset_integration::config;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{agent, says};

/// `serve` and `check` alike refuse what stands in the file.
async fn refused(text: &str, parts: &[&str]) {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("agent.yaml");
    fs::write(&file, text).unwrap();
    let path = file.to_str().unwrap();
    for command in ["serve", "check"] {
        let ended = agent(&[command, "--config", path]).await;
        assert_eq!(ended.code, 1, "{command} with {text}: {ended:?}");
        says(&ended.stderr, &[path]);
        says(&ended.stderr, parts);
    }
}

fn with(change: impl FnOnce(&mut Value)) -> String {
    let folder = std::path::Path::new("/nowhere");
    let address = asset_integration::ports::free().unwrap();
    let mut config = config::of(address, &folder.join("agent.db"), folder);
    change(&mut config);
    config.to_string()
}

#[tokio::test]
async fn a_typo_is_named_with_the_nearest_right_key() {
    refused(&with(|config| config["sever"] = json!({})), &["`sever`", "did you mean `server`?"]).await;
    let typo = with(|config| config["catalogs"][0]["warehose"] = json!("/w"));
    refused(&typo, &["catalogs[0]", "`warehose`", "did you mean `warehouse`?"]).await;
    let typo = with(|config| config::polling(config)["interval-second"] = json!(1));
    refused(&typo, &["paimon-polling", "did you mean `interval-seconds`?"]).await;
}

#[tokio::test]
async fn values_that_make_no_sense_are_named_with_what_is_right() {
    for (change, parts) in [
        (json!({"server": {"listen": "0.0.0.0:50061"}}), ["server.listen", "set `server.insecure: true`"]),
        (json!({"server": {"listen": "[::]:50061"}}), ["server.listen", "listen on 127.0.0.1"]),
        (json!({"server": {"listen": "localhost"}}), ["server.listen", "socket address"]),
        (json!({"server": {"drain": "-1s"}}), ["server.drain", "expected such as `30s`"]),
        (
            json!({"catalogs": [{"name": "l", "format": "paimon", "warehouse": "/w"}]}),
            ["catalogs[0]", "discover: true"],
        ),
        (json!({"catalogs": "lake"}), ["catalogs", "expected"]),
        (json!({"log": {"format": "xml"}}), ["log.format", "json"]),
    ] {
        let text = with(|config| config.as_object_mut().unwrap().extend(change.as_object().unwrap().clone()));
        refused(&text, &parts).await;
    }
    let negative = with(|config| config::polling(config)["interval-seconds"] = json!(-1));
    refused(&negative, &["interval-seconds", "-1"]).await;
    let never = with(|config| config::polling(config)["interval-seconds"] = json!(0));
    refused(&never, &["interval-seconds", "between 1 and 86400"]).await;
}

#[tokio::test]
async fn what_is_no_yaml_is_named_with_the_line() {
    refused("server:\n  listen: {", &["is no YAML", "line"]).await;
    refused("- 1\n- 2\n", &["is no YAML", "`server:`"]).await;
    refused("\u{0}\u{1}", &["is no YAML"]).await;
}

#[tokio::test]
async fn a_file_that_is_missing_is_named() {
    let folder = TempDir::new().unwrap();
    let absent = folder.path().join("absent.yaml");
    for path in [absent.to_str().unwrap(), folder.path().to_str().unwrap()] {
        let ended = agent(&["serve", "--config", path]).await;
        assert_eq!(ended.code, 1, "{ended:?}");
        says(&ended.stderr, &[path, "can't be read"]);
        assert_eq!(ended.stderr.matches("os error").count(), 1, "said once: {}", ended.stderr);
    }
}

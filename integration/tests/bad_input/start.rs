//! Agents that can't start, and those beside them that go on.

use std::fs;
use std::path::{Path, PathBuf};

use asset_integration::command::Ended;
use asset_integration::scene::{SOON, Scene};
use asset_integration::writer::{NewTable, Writer};
use asset_integration::{config, deadline, ports};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::net::TcpListener;

use crate::{KEY, agent, says};

fn written(folder: &Path, config: &Value) -> PathBuf {
    let file = folder.join("agent.yaml");
    fs::write(&file, config.to_string()).unwrap();
    file
}

/// Runs `serve` with its database at this path.
async fn serve_on(database: &Path) -> Ended {
    let folder = TempDir::new().unwrap();
    let config = config::of(ports::free().unwrap(), database, folder.path());
    agent(&["serve", "--config", written(folder.path(), &config).to_str().unwrap()]).await
}

#[tokio::test]
async fn a_database_that_cannot_be_is_named_with_the_way_out() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "in the way").unwrap();
    let absent = folder.path().join("absent");
    let below = folder.path().join("folder");
    fs::create_dir(&below).unwrap();
    for (database, parts) in [
        (absent.join("agent.db"), [absent.to_str().unwrap(), "does not exist; create it"]),
        (file.join("agent.db"), [file.to_str().unwrap(), "is a file and no folder; name another place"]),
        (
            file.join("deeper/agent.db"),
            [file.to_str().unwrap(), "is a file and no folder; name another place"],
        ),
        (PathBuf::from("/proc/agent.db"), ["/proc/agent.db", "let this user write"]),
        (below.clone(), [below.to_str().unwrap(), "is a folder; name a file in it"]),
    ] {
        let ended = serve_on(&database).await;
        assert_eq!(ended.code, 1, "{}: {ended:?}", database.display());
        says(&ended.stderr, &parts);
        assert!(ended.stderr.matches("os error").count() <= 1, "said once: {}", ended.stderr);
    }
    let ended = serve_on(&file).await;
    assert_eq!(ended.code, 1, "{ended:?}");
    says(&ended.stderr, &["not a database"]);
    assert_eq!(fs::read_to_string(&file).unwrap(), "in the way", "what is no database is left alone");
}

#[tokio::test]
async fn a_second_agent_on_one_database_names_the_first_which_goes_on() {
    let scene = Scene::start().await.unwrap();
    let first = scene.agent.server.id().unwrap();
    let ended = serve_on(&scene.database).await;
    assert_eq!(ended.code, 1, "{ended:?}");
    let holder = format!("in use by another agent (process {first})");
    says(&ended.stderr, &[scene.database.to_str().unwrap(), &holder, "a database of its own"]);

    let writer = Writer::pypaimon(&scene.warehouse).await.unwrap();
    writer.create_table(NewTable::append_only("ods.orders")).await.unwrap();
    writer.append("ods.orders", 1).await.unwrap();
    scene.latest_is(KEY, 1).await.unwrap();
}

#[tokio::test]
async fn a_port_in_use_is_named() {
    let taken = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = taken.local_addr().unwrap();
    let folder = TempDir::new().unwrap();
    let config = config::of(address, &folder.path().join("agent.db"), folder.path());
    let ended = agent(&["serve", "--config", written(folder.path(), &config).to_str().unwrap()]).await;
    assert_eq!(ended.code, 1, "{ended:?}");
    says(
        &ended.stderr,
        &[&format!("can't listen on {address}"), "`server.listen`", "is another agent running?"],
    );
}

#[tokio::test]
async fn a_warehouse_that_is_missing_stops_no_other_catalog() {
    let scene = Scene::start_with(|config| {
        let missing =
            json!({"name": "gone", "format": "paimon", "warehouse": "/nowhere/warehouse", "discover": true});
        config["catalogs"].as_array_mut().unwrap().push(missing);
    });
    let scene = scene.await.unwrap();
    let writer = Writer::pypaimon(&scene.warehouse).await.unwrap();
    writer.create_table(NewTable::append_only("ods.orders")).await.unwrap();
    writer.append("ods.orders", 1).await.unwrap();
    scene.latest_is(KEY, 1).await.unwrap();
    let log = deadline::until("the log says so", SOON, async || {
        let log = scene.agent.server.log();
        log.contains("the catalog can't be listed").then_some(log)
    });
    let log = log.await.unwrap();
    says(&log, &["gone", "/nowhere/warehouse", "check that the warehouse exists and is mounted"]);

    // With a database of its own: the agent has locked the other.
    let folder = TempDir::new().unwrap();
    let mut config = config::of(ports::free().unwrap(), &folder.path().join("agent.db"), &scene.warehouse);
    let check = async |config: &Value| {
        agent(&["check", "--config", written(folder.path(), config).to_str().unwrap()]).await
    };
    let ended = check(&config).await;
    assert_eq!(ended.code, 0, "{ended:?}");
    let kinds: Vec<_> =
        ended.stdout.lines().map(|line| line.split_whitespace().take(2).collect::<Vec<_>>()).collect();
    assert_eq!(kinds, [["ok", "configuration"], ["ok", "database"], ["ok", "catalog"]], "{ended:?}");
    says(&ended.stdout, &["1 tables"]);

    let missing =
        json!({"name": "gone", "format": "paimon", "warehouse": "/nowhere/warehouse", "discover": true});
    config["catalogs"].as_array_mut().unwrap().insert(0, missing);
    let ended = check(&config).await;
    assert_eq!(ended.code, 1, "{ended:?}");
    let failed: Vec<_> = ended.stdout.lines().filter(|line| line.starts_with("FAIL")).collect();
    assert_eq!(failed.len(), 1, "the others are checked all the same: {ended:?}");
    says(
        failed[0],
        &["catalog gone (paimon) /nowhere/warehouse", "check that the warehouse exists and is mounted"],
    );
}

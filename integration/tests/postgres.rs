//! Agents on one PostgreSQL: the main job, with each of them.

#![allow(clippy::unwrap_used)]

use asset_integration::agent::Agent;
use asset_integration::config::polling;
use asset_integration::scene::{SOON, Scene, pins};
use asset_integration::writer::{NewTable, Writer};
use asset_integration::{grpcurl::Grpcurl, ports, postgres};
use serde_json::{Value, json};

const TABLE: &str = "ods.orders";
const KEY: &str = "paimon://lake/ods/orders";
const RESOLVE: &str = "asset.v1.DependencyService/ResolveDependency";

fn request(wait: Option<i64>) -> Value {
    let mut request = json!({
        "groups": [{"conditions": [{"asset_key": KEY, "since": "SINCE_REGISTERED"}]}],
    });
    if let Some(instance) = wait {
        request["wait"] = json!({
            "project_code": 1, "workflow_definition_code": 2, "task_definition_code": 3,
            "workflow_instance_id": instance, "task_name": "wait for orders",
        });
    }
    request
}

#[tokio::test]
async fn agents_that_share_a_database_know_what_each_other_read() {
    let url = postgres::database().await.unwrap();
    let mut shared = Value::Null;
    let scene = Scene::start_with(|config| {
        config["database"]["url"] = json!(url);
        shared = config.clone();
    });
    let scene = scene.await.unwrap();
    let writer = Writer::pypaimon(&scene.warehouse).await.unwrap();
    writer.create_table(NewTable::append_only(TABLE)).await.unwrap();
    let first = writer.append(TABLE, 1).await.unwrap();
    scene.latest_is(KEY, first.snapshot_id).await.unwrap();

    // The other one reads no table: all that it knows is in the database.
    let folder = tempfile::TempDir::new().unwrap();
    let address = ports::free().unwrap();
    shared["server"]["listen"] = json!(address.to_string());
    polling(&mut shared)["enabled"] = json!(false);
    let mut other = Agent::start(folder.path(), &shared.to_string(), address).unwrap();
    other.wait_ready(SOON).await.unwrap();
    let other = Grpcurl::new(address);

    let mut streams = vec![
        scene.grpcurl().stream(RESOLVE, &request(None)).unwrap(),
        other.stream(RESOLVE, &request(None)).unwrap(),
        other.stream(RESOLVE, &request(Some(4))).unwrap(),
    ];
    for stream in &mut streams {
        let blocked = stream.next(SOON).await.unwrap().unwrap();
        assert_eq!(blocked["status"], "BLOCKED", "{blocked}");
    }
    let second = writer.append(TABLE, 1).await.unwrap();
    for stream in &mut streams {
        let ready = stream.next(SOON).await.unwrap().unwrap();
        assert_eq!(ready["status"], "READY", "{ready}");
        assert_eq!(pins(&ready).unwrap(), [(KEY.to_owned(), second.snapshot_id)]);
    }
}

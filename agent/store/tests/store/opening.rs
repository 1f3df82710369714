//! What can't be opened is named, with the way out; what was written is there again.

use std::fs;

use asset_store::{Loaded, Store, StoreError};

use crate::{File, advance, apply, key};

async fn refusal(url: &str) -> String {
    match Store::open(url).await {
        Ok(_) => panic!("{url} was opened"),
        Err(error) => error.to_string(),
    }
}

#[tokio::test]
async fn places_where_no_database_can_be() {
    let file = File::new();
    let folder = file.0.path();
    fs::write(folder.join("notes"), "a file").unwrap();
    fs::create_dir(folder.join("data")).unwrap();
    let url = |path: &str| format!("sqlite://{}", folder.join(path).display());
    for (url, expected) in [
        (url("absent/agent.db"), vec!["absent does not exist", "create it"]),
        (url("notes/agent.db"), vec!["notes is a file and no folder"]),
        (url("notes/below/agent.db"), vec!["notes is a file and no folder"]),
        (url("data"), vec!["data is a folder", "data/agent.db"]),
        (format!("{}?mode=memory", url("agent.db")), vec!["parameters behind `?`"]),
        ("sqlite::memory:".to_owned(), vec!["must be on disk"]),
        ("mysql://localhost/ds".to_owned(), vec!["SQLite and PostgreSQL", "sqlite:///"]),
    ] {
        let text = refusal(&url).await;
        for part in expected {
            assert!(text.contains(part), "{url}: {text}");
        }
    }
    // Nothing was left behind, no lock either.
    let mut left: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, ["data", "notes"]);
}

#[tokio::test]
async fn a_file_that_is_no_database() {
    let file = File::new();
    fs::write(file.0.path().join("agent.db"), "this is a text and no database, whoever wrote it").unwrap();
    let text = refusal(&file.url()).await;
    assert!(text.contains("not a database"), "{text}");
}

#[tokio::test]
async fn a_second_agent_on_the_same_file() {
    let file = File::new();
    let first = file.open().await;
    let refused = Store::open(&file.url()).await.err().unwrap();
    assert!(matches!(refused, StoreError::InUse { .. }), "{refused}");
    assert!(refused.to_string().contains(&format!("process {}", std::process::id())), "{refused}");
    first.close().await;
    drop(first);
    file.open().await;
}

#[tokio::test]
async fn what_was_written_is_there_again() {
    let file = File::new();
    let store = file.open().await;
    let written = apply(&store, "orders", vec![advance(1), advance(2)]).await;
    let cursor = store.cursor(&key("orders")).await.unwrap();
    // Neither closed nor told: as after a kill.
    drop(store);

    let store = file.open().await;
    let (loaded, revision) = store.load(&[key("orders")]).await.unwrap();
    assert_eq!(loaded[&key("orders")], written.now);
    let Loaded::Known(asset) = &written.now else { panic!("{:?}", written.now) };
    assert_eq!(revision, asset.revision);
    assert_eq!(store.cursor(&key("orders")).await.unwrap(), cursor);
    assert_eq!(store.present_keys().await.unwrap(), [key("orders")]);
}

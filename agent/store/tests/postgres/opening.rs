//! What can't be opened is named, with the way out; several agents share one database.

use asset_store::{BatchOutcome, Loaded, Store};

use crate::{File, advance, apply, batch, commit, key};

#[tokio::test]
async fn what_can_not_be_reached_is_named_without_its_password() {
    for url in ["postgres://agent:s3cret@127.0.0.1:1/ds", "postgres://agent:s3cret@127.0.0.1:x/ds"] {
        let text = Store::open(url).await.err().unwrap().to_string();
        assert!(!text.contains("s3cret"), "{text}");
        assert!(text.contains("database.url") || text.contains("`database.url`"), "{text}");
    }
    let nowhere = Store::open("postgres://agent@127.0.0.1:1/ds").await.err().unwrap().to_string();
    assert!(nowhere.contains("127.0.0.1:1"), "{nowhere}");
    let absent = Store::open(&format!("{}/absent", File::server())).await.err().unwrap().to_string();
    assert!(absent.contains("absent"), "{absent}");
}

#[tokio::test]
async fn two_agents_open_one_database_at_once() {
    let file = File::new();
    drop(file.open().await);
    let url = file.url();
    let (one, other) = tokio::join!(Store::open(&url), Store::open(&url));
    let (one, other) = (one.unwrap(), other.unwrap());
    // Both read the table as it was never read: one of them is first.
    let (first, second) = tokio::join!(
        one.apply(vec![batch("orders", None, vec![advance(1)])]),
        other.apply(vec![batch("orders", None, vec![advance(1)])])
    );
    let stale = [first.unwrap(), second.unwrap()]
        .iter()
        .filter(|outcomes| matches!(outcomes[0], BatchOutcome::Stale))
        .count();
    assert_eq!(stale, 1);
    // What one wrote the other reads.
    apply(&one, "orders", vec![advance(2)]).await;
    let (loaded, revision) = other.load(&[key("orders")]).await.unwrap();
    let Loaded::Known(asset) = &loaded[&key("orders")] else { panic!("{loaded:?}") };
    assert_eq!((asset.latest().unwrap().1.commit.clone(), revision), (commit(2), 2));
}

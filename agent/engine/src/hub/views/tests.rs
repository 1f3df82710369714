use std::sync::Arc;

use asset_core::asset::Asset;

use super::*;
use crate::{hub::Hub, poll::HealthBoard, testing::Lake};

fn known(revision: i64) -> Loaded {
    Loaded::Known(Box::new(Asset { revision, ..Asset::new(Lake::key("orders")) }))
}

/// A load that was under way when the last wait left may have read what is older than the next wait.
#[tokio::test]
async fn a_wait_that_comes_after_a_load_began_does_not_begin_with_its_answer() {
    let lake = Lake::new();
    let (hub, _inbox) = Hub::channel();
    let (port, _loader) = LoaderPort::new(lake.store().await, hub);
    let readings =
        Readings { catalogs: lake.catalogs(&["orders"], 1), health: HealthBoard::new(), polling: true };
    let interest = Arc::new(Interest::default());
    let mut views = Views::new(interest.clone(), readings, port);
    let key = Lake::key("orders");

    views.attach(&key, 1, Depth::Head);
    assert!(interest.has(&key));
    views.detach(&key, 1);
    assert!(!interest.has(&key), "nobody looks at it any more");
    views.attach(&key, 2, Depth::Head);
    assert!(!views.learn_loaded(&key, known(1)), "that was asked for by the wait before");
    assert!(!views.all_loaded(std::slice::from_ref(&key)));
    views.loaded();
    assert!(views.learn_loaded(&key, known(2)));
    assert!(views.all_loaded(std::slice::from_ref(&key)));
}

#[tokio::test]
async fn what_is_older_than_what_is_known_changes_nothing() {
    let lake = Lake::new();
    let (hub, _inbox) = Hub::channel();
    let (port, _loader) = LoaderPort::new(lake.store().await, hub);
    let readings =
        Readings { catalogs: lake.catalogs(&["orders"], 1), health: HealthBoard::new(), polling: true };
    let mut views = Views::new(Arc::default(), readings, port);
    let key = Lake::key("orders");
    assert!(!views.learn(&key, known(1)), "nobody looks at it");
    views.attach(&key, 1, Depth::Head);
    assert!(views.learn(&key, known(2)));
    for older in [known(1), known(2), Loaded::Absent, Loaded::Unknown] {
        assert!(!views.learn(&key, older));
    }
    assert!(matches!(views.knowledge(&key), Knowledge::Known(asset) if asset.revision == 2));
}

use std::time::Duration;

use asset_proto::v1::Heartbeat;

use super::*;
use crate::{
    Settings,
    testing::{Agent, Play, client, hasty, nobody},
};

fn state(revision: i64, key: &str) -> WatchAssetResponse {
    WatchAssetResponse {
        revision,
        event: Some(Event::State(AssetState { asset_key: key.into(), revision, ..Default::default() })),
    }
}

fn heartbeat(revision: i64) -> WatchAssetResponse {
    WatchAssetResponse { revision, event: Some(Event::Heartbeat(Heartbeat {})) }
}

#[tokio::test]
async fn a_broken_watch_goes_on_after_the_greatest_revision_of_the_store() {
    let agent = Agent::watching([
        Play::Send(vec![state(3, "a"), state(8, "b")]),
        Play::Break(vec![heartbeat(12)], Status::unavailable("stopping")),
        // A restored backup: all of it again, and from there on.
        Play::Send(vec![state(4, "a"), state(6, "b")]),
        Play::Refuse(Status::invalid_argument("enough")),
    ]);
    let mut watch = client(&[agent.address], hasty()).watch(vec!["paimon://**".into()]);
    let mut seen = Vec::new();
    let end = loop {
        match watch.next().await {
            Ok(Some(WatchEvent::State(state))) => seen.push((state.asset_key, state.revision)),
            Ok(Some(WatchEvent::Lost(_) | WatchEvent::Back(_))) => {}
            Ok(None) => panic!("ended"),
            Err(error) => break error,
        }
    };
    let expected = [("a", 3), ("b", 8), ("a", 4), ("b", 6)];
    assert_eq!(seen, expected.map(|(key, revision)| (key.to_owned(), revision)));
    assert!(matches!(end, Error::Refused(_)));
    let asked = agent.role.watch.asked();
    let resumed: Vec<_> = asked.iter().map(|a| a.resume_after_revision).collect();
    assert_eq!(resumed, [0, 8, 12, 6]);
    assert!(asked.iter().all(|asked| asked.asset_keys == ["paimon://**"]));
    assert_eq!(watch.next().await, Ok(None));
}

#[tokio::test]
async fn without_any_agent_it_ends_after_the_connect_timeout() {
    let settings = Settings { connect_timeout: Duration::from_millis(100), ..hasty() };
    let mut watch = client(&[nobody()], settings).watch(Vec::new());
    let end = loop {
        match watch.next().await {
            Ok(Some(WatchEvent::Lost(_))) => {}
            Ok(other) => panic!("{other:?}"),
            Err(error) => break error,
        }
    };
    assert!(matches!(end, Error::NoAgent(_)), "{end:?}");
}

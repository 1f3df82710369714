use std::{
    sync::{Arc, Mutex},
    time::{Duration, SystemTime},
};

use asset_proto::v1::{AcknowledgeWaitResponse, ListAssetsResponse};
use tonic::Code;

use super::*;
use crate::{
    Settings,
    testing::{Agent, client, hasty, nobody},
};

fn in_a_while() -> Deadline {
    Deadline::after(SystemTime::UNIX_EPOCH, Duration::from_secs(20)).expect("deadline")
}

#[tokio::test]
async fn an_acknowledgement_is_repeated_until_it_is_stored() {
    let agent = Agent::resolving([]).acknowledges([
        Err(Status::unavailable("the database is away")),
        Err(Status::aborted("again")),
        Ok(AcknowledgeWaitResponse {}),
    ]);
    let told = Arc::new(Mutex::new(Vec::new()));
    let client = client(&[nobody(), agent.address], hasty()).on_trouble({
        let told = told.clone();
        move |trouble| told.lock().expect("told").push(trouble.answered)
    });
    client.acknowledge("w-1", in_a_while()).await.expect("stored");
    let asked = agent.role.acknowledge.asked();
    assert_eq!(asked.len(), 3);
    assert!(asked.iter().all(|asked| asked.wait_id == "w-1"));
    assert_eq!(*told.lock().expect("told"), [false, true, false, true, false]);
}

#[tokio::test]
async fn an_acknowledgement_ends_at_its_deadline_or_when_it_is_refused() {
    let soon = Deadline::after(SystemTime::UNIX_EPOCH, Duration::from_millis(100)).expect("deadline");
    let nowhere = client(&[nobody()], hasty());
    let error = nowhere.acknowledge("w-1", soon).await.expect_err("nobody");
    assert!(matches!(error, Error::NoAgent(_)), "{error:?}");

    let agent = Agent::resolving([]).acknowledges([Err(Status::not_found("no such wait"))]);
    let somewhere = client(&[agent.address], hasty());
    match somewhere.acknowledge("w-1", in_a_while()).await {
        Err(Error::Refused(refusal)) => assert_eq!(refusal.code, Code::NotFound),
        other => panic!("{other:?}"),
    }
}

fn page(keys: &[&str], next: &str) -> ListAssetsResponse {
    ListAssetsResponse {
        assets: keys
            .iter()
            .map(|key| AssetState { asset_key: (*key).into(), ..Default::default() })
            .collect(),
        next_page_token: next.into(),
    }
}

#[tokio::test]
async fn a_list_follows_its_pages_through_faults() {
    let agent = Agent::listing([
        Ok(page(&["a", "b"], "p2")),
        Err(Status::unavailable("stopping")),
        Ok(page(&["c"], "")),
    ]);
    let assets = client(&[agent.address], hasty()).list_assets().await;
    let keys: Vec<_> = assets.expect("list").into_iter().map(|asset| asset.asset_key).collect();
    assert_eq!(keys, ["a", "b", "c"]);
    let asked = agent.role.list.asked();
    let tokens: Vec<_> = asked.iter().map(|a| a.page_token.as_str()).collect();
    assert_eq!(tokens, ["", "p2", "p2"]);
}

#[tokio::test]
async fn a_page_that_leads_to_itself_ends_the_list() {
    let agent = Agent::listing([Ok(page(&["a"], "p")), Ok(page(&["b"], "p"))]);
    let assets = client(&[agent.address], hasty()).list_assets().await;
    assert_eq!(assets.expect("list").len(), 2);
}

#[tokio::test]
async fn a_call_that_no_agent_can_serve_says_so() {
    let agent = Agent::listing((0..1000).map(|_| Err(Status::unavailable("the database is away"))));
    let settings = Settings { connect_timeout: Duration::from_millis(100), ..hasty() };
    let error = client(&[agent.address], settings).list_assets().await.expect_err("unavailable").to_string();
    assert!(error.starts_with("no agent was able to serve the call within"), "{error}");
    assert!(error.contains("the database is away"), "{error}");
}

use std::time::{Duration, SystemTime};

use asset_proto::v1::{Condition, PinnedVersion};
use tokio::sync::oneshot;
use tonic::Code;
use tonic_types::{ErrorDetails, StatusExt};

use super::*;
use crate::{
    Settings,
    testing::{Agent, Play, client, hasty, nobody},
};

fn response(says: Says, revision: i64, token: &str, wait_id: &str) -> ResolveDependencyResponse {
    ResolveDependencyResponse {
        revision,
        wait_id: wait_id.into(),
        resume_token: token.into(),
        status: says.into(),
        ..Default::default()
    }
}

fn blocked(revision: i64, token: &str) -> ResolveDependencyResponse {
    response(Says::Blocked, revision, token, "w-1")
}

fn ready(revision: i64) -> ResolveDependencyResponse {
    ResolveDependencyResponse {
        pinned: vec![PinnedVersion { snapshot_id: 7, ..Default::default() }],
        ..response(Says::Ready, revision, "t-9", "w-1")
    }
}

fn request() -> WaitRequest {
    WaitRequest {
        groups: vec![Group {
            name: String::new(),
            conditions: vec![Condition {
                asset_key: "paimon://ods/orders".into(),
                snapshot_required: true,
                ..Default::default()
            }],
        }],
        identity: Some(Identity { project_code: 1, ..Default::default() }),
        deadline: None,
        language: None,
    }
}

/// What happens long before a test would be waited for in vain.
async fn soon<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(15), future).await.expect("soon")
}

/// All events up to the last, in short.
async fn events(wait: &mut Wait) -> Vec<String> {
    let mut seen = Vec::new();
    loop {
        let event = match soon(wait.next()).await {
            Ok(Some(WaitEvent::Blocked(m))) => format!("blocked {}", m.revision),
            Ok(Some(WaitEvent::Ready(m))) => {
                format!("ready {} pin {}", m.revision, m.pinned[0].snapshot_id)
            }
            Ok(Some(WaitEvent::TimedOut(_))) => "timed out".into(),
            Ok(Some(WaitEvent::Lost(_))) => "lost".into(),
            Ok(Some(WaitEvent::Back(_))) => "back".into(),
            Ok(None) => return seen,
            Err(Error::NoAgent(_)) => "no agent".into(),
            Err(Error::Refused(refusal)) => format!("refused {:?}", refusal.code),
        };
        seen.push(event);
    }
}

#[tokio::test]
async fn every_break_is_survived_with_what_was_heard_before_it() {
    let agent = Agent::resolving([
        Play::Refuse(Status::unavailable("the database is away")),
        Play::Send(vec![blocked(5, "t-1"), blocked(9, "t-2")]),
        Play::Break(vec![response(Says::Heartbeat, 11, "t-3", "")], Status::internal("oops")),
        // An older agent: a lower revision and no token take nothing away.
        Play::Break(vec![blocked(10, "")], Status::unavailable("stopping")),
        Play::Send(vec![ready(12)]),
    ]);
    let mut wait = client(&[agent.address], hasty()).wait(request());
    assert_eq!(
        events(&mut wait).await,
        [
            "lost",
            "back",
            "blocked 5",
            "blocked 9",
            "lost",
            "back",
            "lost",
            "back",
            "blocked 10",
            "lost",
            "back",
            "ready 12 pin 7"
        ]
    );
    let resumed: Vec<_> = agent
        .role
        .resolve
        .asked()
        .into_iter()
        .map(|asked| {
            assert_eq!(asked.groups, request().groups);
            let wait_id = asked.wait.expect("identity").wait_id;
            (asked.resume_after_revision, asked.resume_token, wait_id)
        })
        .collect();
    let expected = [(0, "", ""), (0, "", ""), (9, "t-2", "w-1"), (11, "t-3", "w-1"), (11, "t-3", "w-1")];
    assert_eq!(resumed, expected.map(|(revision, token, id)| (revision, token.to_owned(), id.to_owned())));
    assert_eq!(wait.next().await, Ok(None));
}

/// HTTP/2 closes a connection on which many streams were reset while the other side was ending them.
#[tokio::test]
async fn a_stream_is_not_reset_after_its_last_word() {
    let (end, when) = oneshot::channel();
    let (ended, end_seen) = oneshot::channel();
    let agent = Agent::resolving([
        Play::Linger { messages: vec![ready(1)], end: when, ended },
        Play::Send(vec![ready(2)]),
    ]);
    let client = client(&[agent.address], hasty());
    assert!(matches!(soon(client.wait(request()).next()).await, Ok(Some(WaitEvent::Ready(_)))));
    // A reset of the first stream would arrive before the second one is opened.
    assert_eq!(events(&mut client.wait(request())).await, ["ready 2 pin 7"]);
    end.send(()).expect("the stream is still open");
    soon(end_seen).await.expect("the stream ends without a reset");
}

#[tokio::test]
async fn all_passing_codes_are_retried_and_all_others_end_the_wait() {
    for code in (0..=16).map(Code::from) {
        let passes = matches!(
            code,
            Code::Unavailable
                | Code::ResourceExhausted
                | Code::DeadlineExceeded
                | Code::Internal
                | Code::Unknown
                | Code::Aborted
                | Code::Cancelled
        );
        if code == Code::Ok {
            continue;
        }
        let agent =
            Agent::resolving([Play::Refuse(Status::new(code, "because")), Play::Send(vec![ready(1)])]);
        let mut wait = client(&[agent.address], hasty()).wait(request());
        let events = events(&mut wait).await;
        if passes {
            assert_eq!(events, ["lost", "back", "ready 1 pin 7"], "{code:?}");
        } else {
            assert_eq!(events, [format!("refused {code:?}")]);
        }
    }
}

#[tokio::test]
async fn a_refusal_names_the_fields() {
    let mut details = ErrorDetails::new();
    details.add_bad_request_violation("groups[0].conditions[0].asset_key", "byte 3 is no `:`");
    let status = Status::with_error_details(Code::InvalidArgument, "the request is wrong", details);
    let agent = Agent::resolving([Play::Refuse(status)]);
    let mut wait = client(&[agent.address], hasty()).wait(request());
    let error = wait.next().await.expect_err("refused").to_string();
    assert_eq!(
        error,
        format!(
            "http://{} refused: the request is wrong\n  groups[0].conditions[0].asset_key: byte 3 is no `:`",
            agent.address
        )
    );
}

#[tokio::test]
async fn an_agent_that_does_not_answer_is_left_for_the_next() {
    let mute = Agent::resolving([Play::Mute]);
    let no_first_message = Agent::resolving([Play::Hold(vec![])]);
    let good = Agent::resolving([Play::Send(vec![ready(3)])]);
    let settings = Settings { answer_timeout: Duration::from_millis(300), ..hasty() };
    let endpoints = [nobody(), mute.address, no_first_message.address, good.address];
    let mut wait = client(&endpoints, settings).wait(request());
    assert_eq!(events(&mut wait).await, ["lost", "lost", "lost", "back", "ready 3 pin 7"]);
}

#[tokio::test]
async fn a_connection_that_went_dead_is_not_used_again() {
    let agent = Agent::resolving([Play::Send(vec![ready(1)])]);
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("port");
    let address = listener.local_addr().expect("address");
    let to = agent.address;
    let half_open = tokio::spawn(async move {
        let (_never_read, _) = listener.accept().await.expect("first");
        while let Ok((mut from, _)) = listener.accept().await {
            let mut to = tokio::net::TcpStream::connect(to).await.expect("agent");
            tokio::io::copy_bidirectional(&mut from, &mut to).await.ok();
        }
    });
    let settings = Settings { answer_timeout: Duration::from_millis(500), ..hasty() };
    let mut wait = client(&[address], settings).wait(request());
    assert_eq!(events(&mut wait).await, ["lost", "back", "ready 1 pin 7"]);
    half_open.abort();
}

#[tokio::test]
async fn a_stream_that_falls_silent_is_left() {
    let agent = Agent::resolving([Play::Hold(vec![blocked(1, "t-1")]), Play::Send(vec![ready(2)])]);
    let settings = Settings { silence_timeout: Duration::from_millis(300), ..hasty() };
    let mut wait = client(&[agent.address], settings).wait(request());
    assert_eq!(events(&mut wait).await, ["blocked 1", "lost", "back", "ready 2 pin 7"]);
}

#[tokio::test]
async fn a_killed_agent_is_waited_for_longer_than_the_connect_timeout() {
    let mut agent = Agent::resolving([Play::Hold(vec![blocked(1, "t-1")])]);
    let settings = Settings { connect_timeout: Duration::from_millis(500), ..hasty() };
    let mut wait = client(&[agent.address], settings).wait(request());
    let first = wait.next().await.expect("first");
    assert!(matches!(first, Some(WaitEvent::Blocked(_))), "{first:?}");
    agent.stop();
    let gone = tokio::time::Instant::now();
    while gone.elapsed() < Duration::from_millis(800) {
        let event = wait.next().await.expect("still waiting");
        assert!(matches!(event, Some(WaitEvent::Lost(_))), "{event:?}");
    }
    let agent = agent.replaced_by([Play::Send(vec![ready(2)])]);
    let rest = events(&mut wait).await;
    assert!(rest.ends_with(&["back".into(), "ready 2 pin 7".into()]), "{rest:?}");
    assert_eq!(agent.role.resolve.asked()[0].resume_token, "t-1");
}

#[tokio::test]
async fn without_any_agent_it_ends_after_the_connect_timeout_and_says_why() {
    let (one, other) = (nobody(), nobody());
    let settings = Settings { connect_timeout: Duration::from_millis(200), ..hasty() };
    let mut wait = client(&[one, other], settings).wait(request());
    let error = loop {
        match wait.next().await {
            Ok(Some(WaitEvent::Lost(_))) => {}
            Ok(other) => panic!("{other:?}"),
            Err(error) => break error,
        }
    };
    assert!(matches!(error, Error::NoAgent(_)), "{error:?}");
    let text = error.to_string();
    for part in [
        "no agent answered within",
        &format!("http://{one}: "),
        &format!("http://{other}: "),
        "Connection refused",
        "is `asset-agent serve` running there?",
        "ASSET_SENSOR_ENDPOINTS",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
    assert_eq!(wait.next().await, Ok(None));
}

#[tokio::test]
async fn something_that_speaks_no_grpc_is_named() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("port");
    let address = listener.local_addr().expect("address");
    let web = tokio::spawn(async move {
        while let Ok((mut socket, _)) = listener.accept().await {
            let answer = b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n";
            tokio::io::AsyncWriteExt::write_all(&mut socket, answer).await.ok();
        }
    });
    let settings = Settings { connect_timeout: Duration::from_millis(300), ..hasty() };
    let mut wait = client(&[address], settings).wait(request());
    let events = events(&mut wait).await;
    assert_eq!(events.last().map(String::as_str), Some("no agent"), "{events:?}");
    web.abort();
}

#[tokio::test]
async fn the_deadline_is_sent_unchanged_and_ends_the_wait_without_an_agent_too() {
    let agent = Agent::resolving([
        Play::Send(vec![blocked(1, "t-1")]),
        Play::Send(vec![blocked(2, "t-2")]),
        Play::Mute,
    ]);
    let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_795_968_000);
    let deadline = Deadline::after(now, Duration::from_millis(1500)).expect("deadline");
    let mut wait =
        client(&[agent.address], hasty()).wait(WaitRequest { deadline: Some(deadline), ..request() });
    let mut last = None;
    while let Some(event) = wait.next().await.expect("no failure") {
        last = Some(event);
    }
    assert_eq!(last, Some(WaitEvent::TimedOut(Some(blocked(2, "t-2")))));
    let asked = agent.role.resolve.asked();
    assert_eq!(asked.len(), 3);
    let expected = prost_types::Timestamp::from(now + Duration::from_millis(1500));
    assert!(asked.iter().all(|asked| asked.deadline == Some(expected)));
}

#[tokio::test]
async fn the_agents_timeout_ends_the_wait_with_the_last_verdict() {
    let verdict = ResolveDependencyResponse {
        groups: vec![asset_proto::v1::GroupVerdict { name: "default".into(), ..Default::default() }],
        ..blocked(1, "t-1")
    };
    let agent =
        Agent::resolving([Play::Hold(vec![verdict.clone(), response(Says::Timeout, 1, "t-1", "w-1")])]);
    let mut wait = client(&[agent.address], hasty()).wait(request());
    wait.next().await.expect("blocked");
    match wait.next().await {
        Ok(Some(WaitEvent::TimedOut(Some(last)))) => assert_eq!(last.groups, verdict.groups),
        other => panic!("{other:?}"),
    }
    assert_eq!(wait.next().await, Ok(None));
}

#[tokio::test]
async fn a_dropped_call_loses_nothing() {
    let agent = Agent::resolving([Play::Send(vec![blocked(1, "t-1")]), Play::Send(vec![ready(2)])]);
    let mut wait = client(&[agent.address], hasty()).wait(request());
    let mut seen = 0;
    loop {
        let hurried = tokio::time::timeout(Duration::from_micros(50), wait.next()).await;
        match hurried {
            Err(_) => {}
            Ok(Ok(Some(WaitEvent::Ready(_)))) => break,
            Ok(Ok(Some(_))) => seen += 1,
            Ok(other) => panic!("{other:?}"),
        }
    }
    assert_eq!(seen, 3);
    assert_eq!(agent.role.resolve.asked().len(), 2);
}

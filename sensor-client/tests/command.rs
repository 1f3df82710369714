//! The command as a user runs it, against an agent that plays a script.

#[path = "../src/testing.rs"]
#[allow(dead_code, reason = "the library's tests use it too, and other parts of it")]
mod testing;

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::SocketAddr,
    process::{Child, Command, Output, Stdio},
    sync::mpsc,
    thread,
    time::Duration,
};

use asset_proto::v1::{
    AcknowledgeWaitResponse, AssetState, ConditionVerdict, GroupVerdict, PinnedVersion,
    ResolveDependencyResponse, Since, WatchAssetResponse, resolve_dependency_response::Status as Says,
    watch_asset_response::Event,
};
// What the agent's module finds at the root of its crate.
use asset_sensor::{Client, Endpoints, Settings};
use testing::{Agent, Play, nobody};
use tonic::Status;

fn sensor(address: SocketAddr, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_asset-sensor"));
    command
        .env("ASSET_SENSOR_ENDPOINTS", address.to_string())
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

fn run(address: SocketAddr, arguments: &[&str]) -> (Option<i32>, String, String) {
    ended(sensor(address, arguments).output().expect("output"))
}

fn ended(output: Output) -> (Option<i32>, String, String) {
    let text = |bytes| String::from_utf8(bytes).expect("text");
    (output.status.code(), text(output.stdout), text(output.stderr))
}

fn answer(says: Says) -> ResolveDependencyResponse {
    ResolveDependencyResponse {
        revision: 5,
        wait_id: "w-1".into(),
        status: says.into(),
        ..Default::default()
    }
}

fn blocked(sentence: &str) -> ResolveDependencyResponse {
    ResolveDependencyResponse {
        groups: vec![GroupVerdict {
            name: "default".into(),
            conditions: vec![ConditionVerdict { sentence: sentence.into(), ..Default::default() }],
            ..Default::default()
        }],
        ..answer(Says::Blocked)
    }
}

fn ready() -> ResolveDependencyResponse {
    ResolveDependencyResponse {
        pinned: vec![PinnedVersion {
            asset_key: "paimon://lake/ods/orders".into(),
            name: "orders".into(),
            snapshot_id: 7,
            ..Default::default()
        }],
        ..answer(Says::Ready)
    }
}

const WAIT: [&str; 3] = ["wait", "--asset", "paimon://ods/orders"];

#[test]
fn wait_says_what_is_missing_then_prints_ready_and_acknowledges() {
    let agent = Agent::resolving([
        Play::Send(vec![blocked("orders has no snapshot"), blocked("orders needs 7, has 6")]),
        Play::Send(vec![blocked("orders needs 7, has 6"), ready()]),
    ])
    .acknowledges([Err(Status::unavailable("stopping")), Ok(AcknowledgeWaitResponse {})]);
    let (code, out, err) = run(
        agent.address,
        &[
            &WAIT[..],
            &["--min-snapshot", "7", "--since", "registered", "--alias", "o"],
            &["--project", "1", "--workflow", "2", "--task-code", "3"],
            &["--instance", "4", "--task", "t", "--scheduler", "s"],
        ]
        .concat(),
    );
    assert_eq!(out, "READY paimon://lake/ods/orders snapshot 7\n");
    let address = agent.address;
    assert_eq!(
        err,
        format!(
            "waiting: orders has no snapshot\nwaiting: orders needs 7, has 6\n\
             the agent cannot serve now: http://{address}: the stream ended; trying again\n\
             the agent at http://{address} answers again\n"
        )
    );
    assert_eq!(code, Some(0));
    let asked = agent.role.resolve.asked();
    let condition = &asked[0].groups[0].conditions[0];
    assert_eq!(condition.asset_key, "paimon://ods/orders");
    assert_eq!(condition.min_snapshot_id, Some(7));
    assert_eq!(condition.since(), Since::Registered);
    assert_eq!(condition.alias, "o");
    assert!(condition.snapshot_required);
    let wait = asked[0].wait.clone().expect("identity");
    assert_eq!((wait.scheduler.as_str(), wait.project_code), ("s", 1));
    assert_eq!(asked[0].deadline, None);
    assert_eq!(asked[1].wait.clone().expect("identity").wait_id, "w-1");
    assert_eq!(agent.role.acknowledge.asked().len(), 2);
}

#[test]
fn wait_prints_for_programs_and_for_dolphinscheduler() {
    let nobody_in_particular = ResolveDependencyResponse { wait_id: String::new(), ..ready() };
    let script = || [Play::Send(vec![nobody_in_particular.clone()])];
    let agent = Agent::resolving(script());
    let (code, out, err) = run(agent.address, &[&WAIT[..], &["--output", "json"]].concat());
    assert_eq!((code, err.as_str()), (Some(0), ""));
    assert_eq!(
        out,
        "{\"status\":\"READY\",\"revision\":5,\"pinned\":[{\"assetKey\":\"paimon://lake/ods/orders\",\
         \"name\":\"orders\",\"snapshotId\":7,\"generation\":0,\"ordinal\":0}]}\n"
    );
    assert!(agent.role.acknowledge.asked().is_empty());

    let agent = Agent::resolving(script());
    let arguments = [&["--output", "dolphinscheduler"], &WAIT[..]].concat();
    let (code, out, _) = run(agent.address, &arguments);
    assert_eq!(code, Some(0));
    assert!(out.starts_with("${setValue(asset_orders_snapshot_id=7)}\n"), "{out}");
}

#[test]
fn wait_reads_conditions_from_standard_input() {
    let agent = Agent::resolving([Play::Send(vec![ready()])]).acknowledges([]);
    let mut child = sensor(agent.address, &["wait", "--condition-file", "-"])
        .stdin(Stdio::piped())
        .spawn()
        .expect("spawn");
    let mut stdin = child.stdin.take().expect("stdin");
    stdin.write_all(br#"[{"assetKey":"a"},{"assetKey":"b"}]"#).expect("write");
    drop(stdin);
    let (code, _, err) = ended(child.wait_with_output().expect("output"));
    assert_eq!(code, Some(0));
    assert!(err.contains("warning: the agent could not be told"), "{err}");
    assert_eq!(agent.role.resolve.asked()[0].groups[0].conditions.len(), 2);
}

#[test]
fn wait_times_out_with_124_and_the_last_sentence() {
    let agent = Agent::resolving([Play::Hold(vec![blocked("orders has no snapshot")])]);
    let arguments = [&WAIT[..], &["--timeout", "300ms", "--output", "json"]].concat();
    let (code, out, err) = run(agent.address, &arguments);
    assert_eq!(code, Some(124));
    assert!(out.starts_with("{\"status\":\"TIMEOUT\",\"waitId\":\"w-1\",\"revision\":5"), "{out}");
    assert!(err.ends_with("timed out after 300ms: orders has no snapshot\n"), "{err}");
}

#[test]
fn nobody_there_is_69_and_names_the_way_out() {
    let address = nobody();
    for command in [&WAIT[..], &["watch"], &["assets", "list"]] {
        let arguments = [command, &["--connect-timeout", "300ms"]].concat();
        let (code, out, err) = run(address, &arguments);
        assert_eq!((code, out.as_str()), (Some(69), ""), "{err}");
        for part in [
            &format!("no agent yet: http://{address}: "),
            "Connection refused",
            "no agent answered within",
            "is `asset-agent serve` running there?",
        ] {
            assert!(err.contains(part), "{part} in {err}");
        }
    }
}

#[test]
fn bad_usage_and_refusals_are_2() {
    let agent = Agent::resolving([Play::Refuse(Status::invalid_argument("no such format"))]);
    let (code, _, err) = run(agent.address, &WAIT);
    assert_eq!(code, Some(2));
    assert!(err.contains("refused: no such format"), "{err}");
    for (arguments, part) in [
        (&["wait", "--asset", "a", "--project", "1"][..], "missing: --workflow"),
        (&["wait", "--condition-file", "no/such"], "cannot read no/such"),
        (&["wait", "--min-snapshot", "1", "--asset", "a"], "before any --asset"),
        (&["assets", "list", "--output", "dolphinscheduler"], "for `wait` alone"),
        (&["assets", "state", "k", "--endpoint", "x"], "`x` is no agent address"),
    ] {
        let (code, _, err) = run(agent.address, arguments);
        assert_eq!(code, Some(2), "{arguments:?}");
        assert!(err.contains(part), "{part} in {err}");
    }
    let agent = Agent::getting([Err(Status::not_found("no asset k"))]);
    let (code, _, err) = run(agent.address, &["assets", "state", "k"]);
    assert_eq!(code, Some(2));
    assert!(err.contains("no asset k"), "{err}");
}

fn watched(key: &str) -> WatchAssetResponse {
    WatchAssetResponse {
        revision: 1,
        event: Some(Event::State(AssetState { asset_key: key.into(), ..Default::default() })),
    }
}

/// A watch that has printed its first line.
fn watching(agent: &Agent) -> (Child, BufReader<std::process::ChildStdout>, String) {
    let mut child = sensor(agent.address, &["watch", "--output", "json"]).spawn().expect("spawn");
    let mut out = BufReader::new(child.stdout.take().expect("stdout"));
    let mut line = String::new();
    out.read_line(&mut line).expect("line");
    (child, out, line)
}

/// The exit code of a command that ends before anybody loses patience.
fn code_of(mut child: Child) -> Option<i32> {
    let id = child.id().to_string();
    let (tell, told) = mpsc::channel();
    let waiter = thread::spawn(move || tell.send(child.wait()));
    let Ok(status) = told.recv_timeout(Duration::from_secs(20)) else {
        Command::new("kill").args(["-s", "KILL", &id]).status().expect("kill");
        panic!("the command does not end");
    };
    waiter.join().expect("waiter").expect("told");
    status.expect("ended").code()
}

fn interrupt(child: &Child, signal: &str) {
    let kill = Command::new("kill").args(["-s", signal, &child.id().to_string()]).status();
    assert!(kill.expect("kill").success());
}

#[test]
fn watch_prints_states_until_it_is_interrupted_with_130() {
    for signal in ["INT", "TERM"] {
        let agent = Agent::watching([Play::Hold(vec![watched("a")])]);
        let (child, mut out, line) = watching(&agent);
        assert_eq!(line, "{\"assetKey\":\"a\",\"generation\":0,\"revision\":0}\n");
        interrupt(&child, signal);
        assert_eq!(code_of(child), Some(130));
        let mut rest = String::new();
        out.read_to_string(&mut rest).expect("rest");
        assert_eq!(rest, "");
    }
}

#[test]
fn an_interrupt_ends_a_command_whose_output_nobody_reads() {
    let many = (0..100_000).map(|_| watched("a")).collect();
    let agent = Agent::watching([Play::Hold(many)]);
    let (child, _out, _) = watching(&agent);
    interrupt(&child, "INT");
    assert_eq!(code_of(child), Some(130));
}

#[test]
fn a_closed_pipe_ends_quietly() {
    let many = (0..100_000).map(|_| watched("a")).collect();
    let agent = Agent::watching([Play::Hold(many)]);
    let (child, out, _) = watching(&agent);
    drop(out);
    let (code, _, err) = ended(child.wait_with_output().expect("output"));
    assert_eq!((code, err.as_str()), (Some(141), ""));
}

#[test]
fn an_outcome_that_cannot_be_written_is_not_acknowledged() {
    let agent = Agent::resolving([Play::Send(vec![ready()])]);
    let full = std::fs::File::options().write(true).open("/dev/full").expect("/dev/full");
    let output = sensor(agent.address, &WAIT).stdout(full).output().expect("output");
    let (code, _, err) = ended(output);
    assert_eq!(code, Some(74));
    assert!(err.contains("cannot write the output"), "{err}");
    assert!(agent.role.acknowledge.asked().is_empty());
}

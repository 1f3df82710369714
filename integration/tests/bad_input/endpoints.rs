//! Addresses at which no agent is.

use std::time::Duration;

use asset_integration::scene::SOON;
use asset_integration::{command, ports};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::time::Instant;

use crate::{KEY, says};

const COMMANDS: [&[&str]; 3] = [&["wait", "--asset", KEY], &["watch"], &["assets", "list"]];

/// Every command gives up after the connect timeout, and says where it looked and what to do.
async fn nobody_answers(address: std::net::SocketAddr, parts: &[&str]) {
    let began = Instant::now();
    let commands = COMMANDS.map(|arguments| {
        let arguments = [arguments, &["--connect-timeout", "2s"]].concat();
        command::sensor(address, &arguments).unwrap()
    });
    for command in commands {
        let ended = command.ended(SOON).await.unwrap();
        assert_eq!((ended.code, ended.stdout.as_str()), (69, ""), "{ended:?}");
        says(&ended.stderr, parts);
        says(&ended.stderr, &[&format!("http://{address}"), "--endpoint or ASSET_SENSOR_ENDPOINTS"]);
    }
    let took = began.elapsed();
    assert!(took >= Duration::from_secs(2) && took < Duration::from_secs(10), "it took {took:?}");
}

#[tokio::test]
async fn nothing_listens_there() {
    let address = ports::free().unwrap();
    nobody_answers(
        address,
        &["no agent answered within 2s", "onnection refused", "is `asset-agent serve` running"],
    )
    .await;
}

#[tokio::test]
async fn what_listens_there_speaks_no_grpc() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((mut peer, _)) = listener.accept().await {
            tokio::spawn(async move {
                let mut heard = [0; 1024];
                let _ = peer.read(&mut heard).await;
                let _ = peer.write_all(b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n").await;
            });
        }
    });
    nobody_answers(address, &["no agent answered within 2s"]).await;
}

#[tokio::test]
async fn what_listens_there_says_nothing() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let held = tokio::spawn(async move {
        let mut peers = Vec::new();
        while let Ok((peer, _)) = listener.accept().await {
            peers.push(peer);
        }
    });
    nobody_answers(address, &["no agent answered within 2s"]).await;
    held.abort();
}

#[tokio::test]
async fn a_timeout_ends_a_wait_that_finds_nobody_too() {
    let address = ports::free().unwrap();
    let arguments = ["wait", "--asset", KEY, "--timeout", "1s", "--connect-timeout", "30s"];
    let ended = command::sensor(address, &arguments).unwrap().ended(SOON).await.unwrap();
    assert_eq!(ended.code, 124, "{ended:?}");
    says(&ended.stderr, &["no agent yet", &format!("http://{address}"), "timed out after 1s"]);
}

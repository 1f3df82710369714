//! grpcurl, the HTTP client and the process handling, each against something small and real.

#![allow(clippy::unwrap_used)]

use std::net::SocketAddr;
use std::time::Duration;

use asset_integration::grpcurl::Grpcurl;
use asset_integration::http::Http;
use asset_integration::server::{Program, Server};
use asset_integration::{deadline, ports, tools};
use serde_json::json;
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio_stream::wrappers::TcpListenerStream;
use tonic_health::server::HealthReporter;

const SOON: Duration = Duration::from_secs(20);

#[tokio::test]
async fn grpcurl_asks_calls_and_streams() {
    let (address, health) = health_server().await;
    let grpcurl = Grpcurl::new(address).header("authorization: Bearer nobody-asks");

    let listed = grpcurl.ask(&["list"]).await.unwrap();
    assert!(listed.stdout.contains("grpc.health.v1.Health"), "{listed:?}");

    let check = grpcurl.call("grpc.health.v1.Health/Check", &json!({})).await.unwrap();
    assert_eq!(check.messages().unwrap(), [json!({"status": "SERVING"})]);

    let refused = grpcurl.call("grpc.health.v1.Health/Check", &json!({"service": "none"})).await.unwrap();
    assert_eq!(refused.code, 64 + tonic::Code::NotFound as i32, "{refused:?}");
    assert!(refused.messages().is_err());

    let mut watch = grpcurl.stream("grpc.health.v1.Health/Watch", &json!({})).unwrap();
    assert_eq!(watch.next(SOON).await.unwrap(), Some(json!({"status": "SERVING"})));
    health.set_service_status("", tonic_health::ServingStatus::NotServing).await;
    assert_eq!(watch.next(SOON).await.unwrap(), Some(json!({"status": "NOT_SERVING"})));
    let late = watch.next(Duration::from_millis(50)).await.unwrap_err();
    assert!(late.to_string().contains("no message came"), "{late}");

    let unknown = grpcurl.stream("grpc.health.v1.Health/Nothing", &json!({})).unwrap();
    let end = unknown.end(SOON).await.unwrap();
    assert!(end.code != 0 && end.stderr.contains("Nothing"), "{end:?}");
}

#[tokio::test]
async fn a_server_is_started_asked_stopped_killed_and_started_again() {
    let folder = TempDir::new().unwrap();
    let address = ports::free().unwrap();
    let mut server = Server::start(web_server(&folder, address)).unwrap();
    let http = Http::new(address);
    until_found(&http).await;
    assert_eq!(http.get("/absent").await.unwrap().status, 404);

    let status = server.terminate(SOON).await.unwrap();
    assert_eq!(status.code(), Some(3), "it caught SIGTERM");
    assert!(http.get("/found").await.is_err());

    server.start_again().unwrap();
    until_found(&http).await;
    assert!(server.start_again().is_err(), "it runs");
    assert_eq!(server.kill().await.unwrap().code(), None, "it caught nothing");
    assert!(server.id().is_none() && server.terminate(SOON).await.is_err());
    assert!(server.log().contains("GET /found"), "{}", server.log());
}

async fn until_found(http: &Http) {
    let body = deadline::until("the file is served", SOON, async || http.get("/found").await.ok());
    assert_eq!(body.await.unwrap().json().unwrap(), json!({"found": true}));
}

/// Python's own web server, which exits with 3 on SIGTERM.
fn web_server(folder: &TempDir, address: SocketAddr) -> Program {
    let served = folder.path().join("served");
    std::fs::create_dir(&served).unwrap();
    std::fs::write(served.join("found"), r#"{"found": true}"#).unwrap();
    let script = "import functools, http.server, os, signal, sys
signal.signal(signal.SIGTERM, lambda *_: os._exit(3))
handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=sys.argv[1])
http.server.ThreadingHTTPServer((sys.argv[2], int(sys.argv[3])), handler).serve_forever()";
    Program {
        path: tools::python().unwrap(),
        arguments: vec![
            "-c".into(),
            script.into(),
            served.into(),
            address.ip().to_string().into(),
            address.port().to_string().into(),
        ],
        environment: vec![],
        log: folder.path().join("server.log"),
    }
}

async fn health_server() -> (SocketAddr, HealthReporter) {
    let (reporter, health) = tonic_health::server::health_reporter();
    let reflection = tonic_reflection::server::Builder::configure()
        .register_encoded_file_descriptor_set(tonic_health::pb::FILE_DESCRIPTOR_SET)
        .build_v1()
        .unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let incoming = TcpListenerStream::new(listener);
    let server = tonic::transport::Server::builder().add_service(health).add_service(reflection);
    tokio::spawn(server.serve_with_incoming(incoming));
    (address, reporter)
}

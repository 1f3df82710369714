//! Serving: one port for gRPC and HTTP, from start to drained.

use std::{sync::Arc, time::Duration};

use anyhow::{Context, Result, anyhow};
use asset_core::time::Zone;
use asset_proto::{
    FILE_DESCRIPTOR_SET,
    v1::{
        asset_service_server::AssetServiceServer, dependency_service_server::DependencyServiceServer,
        event_service_server::EventServiceServer,
    },
};
use tokio::{
    net::TcpListener,
    signal::unix::{SignalKind, signal},
    task::JoinSet,
    time::timeout,
};
use tokio_util::sync::CancellationToken;
use tonic::{
    service::Routes,
    transport::{Server, server::TcpIncoming},
};
use tracing::{error, info, warn};

use crate::{assembly::Assembly, config::Config, grpc, http, metrics::Metrics};

/// Streams that one connection may have open: every waiting task of a master shares one.
const STREAMS_A_CONNECTION: u32 = 100_000;

/// A connection that says nothing for so long is asked whether it is still there.
const KEEPALIVE: Duration = Duration::from_secs(30);

/// Runs the agent until it is told to stop. A first signal drains, a second one leaves at once.
pub async fn run(config: Config) -> Result<()> {
    let stop = CancellationToken::new();
    let mut tasks = JoinSet::new();
    let metrics = Arc::new(Metrics::new(config.metrics.asset_key_limit));
    let assembly = Assembly::start(&config, metrics.clone(), &mut tasks, &stop).await?;

    let listen = config.server.listen;
    let listener = TcpListener::bind(listen)
        .await
        .with_context(|| format!("can't listen on {listen} (`server.listen`); is another agent running?"))?;
    let address = listener.local_addr()?;
    let pages = http::Pages { engine: assembly.engine.clone(), metrics, stop: stop.clone() };
    let routes = routes(&assembly, config.timezone.clone(), http::router(pages)).await?;
    let server = Server::builder()
        .accept_http1(true)
        .tcp_nodelay(true)
        .max_concurrent_streams(STREAMS_A_CONNECTION)
        .http2_keepalive_interval(Some(KEEPALIVE))
        .add_routes(routes)
        .serve_with_incoming_shutdown(
            TcpIncoming::from(listener).with_nodelay(Some(true)),
            stop.clone().cancelled_owned(),
        );
    let mut server = tokio::spawn(server);
    info!(%address, catalogs = config.catalogs.len(), "serving gRPC and HTTP");
    if !address.ip().is_loopback() {
        warn!(%address, "everybody who reaches this port may do everything (`server.insecure: true`)");
    }

    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut failure = None;
    tokio::select! {
        _ = terminate.recv() => info!("SIGTERM: draining"),
        _ = interrupt.recv() => info!("SIGINT: draining"),
        ended = tasks.join_next() => failure = Some(panicked(ended)),
        ended = &mut server => failure = Some(anyhow!("the server ended by itself: {ended:?}")),
    }
    stop.cancel();
    let drain = async {
        // A server that ended is not to be waited for again.
        if !server.is_finished() {
            let _ = (&mut server).await;
        }
        assembly.close_after(&mut tasks).await;
    };
    tokio::select! {
        drained = timeout(config.server.drain, drain) => match drained {
            Ok(()) => info!("drained"),
            Err(_) => warn!("callers are still there after `server.drain`; leaving"),
        },
        _ = terminate.recv() => warn!("second signal: leaving at once"),
        _ = interrupt.recv() => warn!("second signal: leaving at once"),
    }
    match failure {
        Some(failure) => {
            error!(reason = %failure, "the agent fails");
            Err(failure)
        }
        None => Ok(()),
    }
}

async fn routes(assembly: &Assembly, zone: Zone, pages: axum::Router) -> Result<Routes> {
    let (health, health_service) = tonic_health::server::health_reporter();
    health.set_serving::<DependencyServiceServer<grpc::Dependencies>>().await;
    health.set_serving::<AssetServiceServer<grpc::Assets>>().await;
    health.set_serving::<EventServiceServer<grpc::Events>>().await;
    let reflection = || {
        tonic_reflection::server::Builder::configure()
            .register_encoded_file_descriptor_set(FILE_DESCRIPTOR_SET)
            .register_encoded_file_descriptor_set(tonic_health::pb::FILE_DESCRIPTOR_SET)
            // Without it grpcurl shows the details of a refusal as bytes.
            .register_encoded_file_descriptor_set(tonic_types::pb::FILE_DESCRIPTOR_SET)
            // Each version would list only itself.
            .register_encoded_file_descriptor_set(tonic_reflection::pb::v1::FILE_DESCRIPTOR_SET)
            .register_encoded_file_descriptor_set(tonic_reflection::pb::v1alpha::FILE_DESCRIPTOR_SET)
            .include_reflection_service(false)
    };
    let mut routes = Routes::from(pages);
    routes = routes
        .add_service(DependencyServiceServer::new(grpc::Dependencies::new(assembly.engine.clone(), zone)))
        .add_service(AssetServiceServer::new(grpc::Assets::new(assembly.engine.clone())))
        .add_service(
            EventServiceServer::new(grpc::Events::new(assembly.engine.clone()))
                .max_decoding_message_size(grpc::MAX_CALL_BYTES),
        )
        .add_service(health_service)
        .add_service(reflection().build_v1()?)
        .add_service(reflection().build_v1alpha()?);
    Ok(routes.prepare())
}

/// What ended a task that should never end.
fn panicked(ended: Option<Result<(), tokio::task::JoinError>>) -> anyhow::Error {
    match ended {
        Some(Err(error)) => anyhow!("a task of the engine panicked: {error}"),
        _ => anyhow!("a task of the engine ended by itself"),
    }
}

//! The plain HTTP pages beside gRPC: health, readiness, metrics.

use std::sync::Arc;

use asset_engine::Engine;
use axum::{
    Router,
    extract::State,
    http::{StatusCode, header},
    response::{IntoResponse, Response},
    routing::get,
};
use tokio_util::sync::CancellationToken;

use crate::metrics::Metrics;

/// What the pages show.
#[derive(Clone)]
pub struct Pages {
    /// The engine.
    pub engine: Arc<Engine>,
    /// What it counts.
    pub metrics: Arc<Metrics>,
    /// Cancelled while the agent leaves.
    pub stop: CancellationToken,
}

/// `/healthz`: the process answers. `/readyz`: it can serve. `/metrics`: what it counts.
pub fn router(pages: Pages) -> Router {
    Router::new()
        .route("/healthz", get(|| async { "ok\n" }))
        .route("/readyz", get(ready))
        .route("/metrics", get(metrics))
        .with_state(pages)
}

async fn ready(State(pages): State<Pages>) -> Response {
    if pages.stop.is_cancelled() {
        return (StatusCode::SERVICE_UNAVAILABLE, "the agent is stopping\n").into_response();
    }
    match pages.engine.ready().await {
        Ok(()) => "ready\n".into_response(),
        Err(error) => (StatusCode::SERVICE_UNAVAILABLE, format!("{error}\n")).into_response(),
    }
}

async fn metrics(State(pages): State<Pages>) -> Response {
    let text = pages.metrics.render(pages.engine.now(), pages.engine.tables());
    let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    ([(header::CONTENT_TYPE, kind)], text).into_response()
}

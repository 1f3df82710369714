//! `AssetService`.

use std::{pin::Pin, sync::Arc};

use asset_engine::{Engine, EngineError, WatchEvent, WatchStream};
use asset_proto::v1::{self, asset_service_server::AssetService, watch_asset_response::Event};
use futures_util::{Stream, stream};
use tonic::{Request, Response, Status};

use super::{convert, refuse, request};

/// The service.
pub struct Assets {
    engine: Arc<Engine>,
}

impl Assets {
    /// The service over an engine.
    pub fn new(engine: Arc<Engine>) -> Self {
        Self { engine }
    }
}

type States = Pin<Box<dyn Stream<Item = Result<v1::WatchAssetResponse, Status>> + Send>>;

#[tonic::async_trait]
impl AssetService for Assets {
    type WatchAssetStream = States;

    async fn watch_asset(&self, request: Request<v1::WatchAssetRequest>) -> Result<Response<States>, Status> {
        let request = request.into_inner();
        let invalid = |violations: Vec<_>| refuse::invalid(&violations);
        let default_catalog = |format: &str| self.engine.default_catalog(format);
        let globs = request::globs(&request.asset_keys, default_catalog).map_err(invalid)?;
        let after = request::revision(request.resume_after_revision).map_err(invalid)?;
        let watching = self.engine.watch(globs, after).await.map_err(refuse::failed)?;
        Ok(Response::new(Box::pin(stream::unfold(Some(watching), next))))
    }

    async fn get_asset(
        &self,
        request: Request<v1::GetAssetRequest>,
    ) -> Result<Response<v1::GetAssetResponse>, Status> {
        let default_catalog = |format: &str| self.engine.default_catalog(format);
        let key = request::key(&request.into_inner().asset_key, default_catalog)
            .map_err(|violations| refuse::invalid(&violations))?;
        let report = self.engine.asset(&key).await.map_err(refuse::failed)?;
        Ok(Response::new(v1::GetAssetResponse {
            state: Some(convert::state(&report.asset)),
            source: report.source.map(convert::source),
        }))
    }

    async fn register_asset(
        &self,
        request: Request<v1::RegisterAssetRequest>,
    ) -> Result<Response<v1::RegisterAssetResponse>, Status> {
        let default_catalog = |format: &str| self.engine.default_catalog(format);
        let (key, ordering, description) = request::registration(request.into_inner(), default_catalog)
            .map_err(|violations| refuse::invalid(&violations))?;
        let registered = self.engine.register_asset(key, ordering, description).await;
        let (asset, created) = registered.map_err(refuse::failed)?;
        Ok(Response::new(v1::RegisterAssetResponse { state: Some(convert::state(&asset)), created }))
    }

    async fn rewind_asset(
        &self,
        request: Request<v1::RewindAssetRequest>,
    ) -> Result<Response<v1::RewindAssetResponse>, Status> {
        let default_catalog = |format: &str| self.engine.default_catalog(format);
        let (key, to, reason) = request::rewind(request.into_inner(), default_catalog)
            .map_err(|violations| refuse::invalid(&violations))?;
        let asset = self.engine.rewind_asset(key, to, &reason).await.map_err(refuse::failed)?;
        Ok(Response::new(v1::RewindAssetResponse { state: Some(convert::state(&asset)) }))
    }

    async fn list_assets(
        &self,
        request: Request<v1::ListAssetsRequest>,
    ) -> Result<Response<v1::ListAssetsResponse>, Status> {
        let request = request.into_inner();
        let invalid = |violations: Vec<_>| refuse::invalid(&violations);
        let size = request::page_size(request.page_size).map_err(invalid)?;
        let after = request::page_token(&request.page_token).map_err(invalid)?;
        let page = self.engine.assets(after.as_deref(), size).await.map_err(refuse::failed)?;
        let last = page.assets.last().filter(|_| page.more);
        Ok(Response::new(v1::ListAssetsResponse {
            next_page_token: last.map(|asset| request::next_page_token(&asset.key)).unwrap_or_default(),
            assets: page.assets.iter().map(convert::state).collect(),
        }))
    }
}

async fn next(
    watching: Option<WatchStream>,
) -> Option<(Result<v1::WatchAssetResponse, Status>, Option<WatchStream>)> {
    let mut watching = watching?;
    let failed = |error| Some((Err(refuse::failed(error)), None));
    match watching.next().await {
        Ok(WatchEvent::State(asset)) => {
            let event = Event::State(convert::state(&asset));
            let message = v1::WatchAssetResponse { revision: asset.revision, event: Some(event) };
            Some((Ok(message), Some(watching)))
        }
        Ok(WatchEvent::Heartbeat { revision }) => {
            let event = Event::Heartbeat(v1::Heartbeat {});
            Some((Ok(v1::WatchAssetResponse { revision, event: Some(event) }), Some(watching)))
        }
        Ok(WatchEvent::Stopped) => failed(EngineError::Stopping),
        Err(error) => failed(error.into()),
    }
}

//! `DependencyService`.

use std::{pin::Pin, sync::Arc};

use asset_core::{condition::Defaults, time::Zone, words::Language};
use asset_engine::{Engine, EngineError, WaitEvent, WaitStream};
use asset_proto::v1::{self, dependency_service_server::DependencyService};
use futures_util::{Stream, stream};
use tonic::{Request, Response, Status};

use super::{convert, language, refuse, request};

/// The service.
pub struct Dependencies {
    engine: Arc<Engine>,
    zone: Zone,
}

impl Dependencies {
    /// The service over an engine; times without a zone of their own are in `zone`.
    pub fn new(engine: Arc<Engine>, zone: Zone) -> Self {
        Self { engine, zone }
    }
}

type Verdicts = Pin<Box<dyn Stream<Item = Result<v1::ResolveDependencyResponse, Status>> + Send>>;

#[tonic::async_trait]
impl DependencyService for Dependencies {
    type ResolveDependencyStream = Verdicts;

    async fn resolve_dependency(
        &self,
        request: Request<v1::ResolveDependencyRequest>,
    ) -> Result<Response<Verdicts>, Status> {
        let catalog = |format: &str| self.engine.default_catalog(format);
        let defaults = Defaults { catalog: &catalog, zone: &self.zone };
        let language = language::of(request.metadata());
        let asked = request::resolve(request.into_inner(), &defaults)
            .map_err(|violations| refuse::invalid(&violations))?;
        let engine = self.engine.clone();
        // Whatever takes time is done inside the stream: its headers go out at once.
        let verdicts =
            stream::unfold(Going::Asked(engine, Box::new(asked)), move |going| next(going, language));
        Ok(Response::new(Box::pin(verdicts)))
    }

    async fn acknowledge_wait(
        &self,
        request: Request<v1::AcknowledgeWaitRequest>,
    ) -> Result<Response<v1::AcknowledgeWaitResponse>, Status> {
        let request = request.into_inner();
        let id = request::wait_id(&request.wait_id).map_err(|violations| refuse::invalid(&violations))?;
        self.engine.acknowledge(id).await.map_err(refuse::failed)?;
        Ok(Response::new(v1::AcknowledgeWaitResponse {}))
    }

    async fn evaluate_dependency(
        &self,
        request: Request<v1::EvaluateDependencyRequest>,
    ) -> Result<Response<v1::EvaluateDependencyResponse>, Status> {
        let catalog = |format: &str| self.engine.default_catalog(format);
        let defaults = Defaults { catalog: &catalog, zone: &self.zone };
        let language = language::of(request.metadata());
        let dependency = request::dependency(request.into_inner().groups, &defaults)
            .map_err(|violations| refuse::invalid(&violations))?;
        let evaluated = self.engine.evaluate(&dependency).await.map_err(refuse::failed)?;
        let pins = evaluated.evaluation.pins();
        Ok(Response::new(v1::EvaluateDependencyResponse {
            revision: evaluated.revision,
            ready: pins.is_some(),
            groups: convert::groups(&evaluated.evaluation, language),
            pinned: pins.unwrap_or_default().iter().map(convert::pin).collect(),
            evaluated_at: Some(convert::timestamp(evaluated.at)),
            recheck_at: evaluated.evaluation.recheck_at().map(convert::timestamp),
        }))
    }
}

/// Where a stream stands.
enum Going {
    /// Not yet opened.
    Asked(Arc<Engine>, Box<request::Resolve>),
    /// Open.
    Open(Arc<Engine>, WaitStream),
    /// After its last message.
    Over,
}

type Message = Result<v1::ResolveDependencyResponse, Status>;

async fn next(mut going: Going, language: Language) -> Option<(Message, Going)> {
    loop {
        let (engine, mut stream) = match going {
            Going::Over => return None,
            Going::Asked(engine, asked) => {
                match engine.resolve(asked.dependency, asked.waiting, asked.deadline).await {
                    Ok(stream) => {
                        going = Going::Open(engine, stream);
                        continue;
                    }
                    Err(error) => return Some((Err(refuse::failed(error)), Going::Over)),
                }
            }
            Going::Open(engine, stream) => (engine, stream),
        };
        return match stream.next().await {
            WaitEvent::Verdict(update) => {
                Some((Ok(convert::verdict(&update, language)), Going::Open(engine, stream)))
            }
            WaitEvent::Heartbeat { revision } => {
                Some((Ok(convert::heartbeat(revision)), Going::Open(engine, stream)))
            }
            WaitEvent::Timeout(last) => {
                Some((Ok(convert::timed_out(last.as_deref(), engine.now(), language)), Going::Over))
            }
            WaitEvent::Stopped => Some((Err(refuse::failed(EngineError::Stopping)), Going::Over)),
            WaitEvent::End => None,
        };
    }
}

//! An agent on a loopback port that plays a script, for the tests of the library and of the command.

use std::{
    collections::VecDeque,
    net::SocketAddr,
    pin::Pin,
    sync::{Arc, Mutex},
    time::Duration,
};

use asset_proto::v1::{
    AcknowledgeWaitRequest, AcknowledgeWaitResponse, EvaluateDependencyRequest, EvaluateDependencyResponse,
    GetAssetRequest, GetAssetResponse, ListAssetsRequest, ListAssetsResponse, RegisterAssetRequest,
    RegisterAssetResponse, ResolveDependencyRequest, ResolveDependencyResponse, RewindAssetRequest,
    RewindAssetResponse, WatchAssetRequest, WatchAssetResponse,
    asset_service_server::{AssetService, AssetServiceServer},
    dependency_service_server::{DependencyService, DependencyServiceServer},
};
use tokio::{net::TcpListener, runtime::Runtime, sync::oneshot};
use tokio_stream::{Stream, StreamExt, wrappers::TcpListenerStream};
use tonic::{Request, Response, Status, transport::Server};

use crate::{Client, Endpoints, Settings};

/// How one call of a stream is answered.
pub(crate) enum Play<T> {
    /// With an error at once.
    Refuse(Status),
    /// Not at all.
    Mute,
    /// With these messages, then a clean end.
    Send(Vec<T>),
    /// With these messages, then an error.
    Break(Vec<T>, Status),
    /// With these messages, then nothing more.
    Hold(Vec<T>),
    /// With these messages, then a clean end once `end` says so; `ended` is told, or dropped when the
    /// client resets the stream before.
    Linger { messages: Vec<T>, end: oneshot::Receiver<()>, ended: oneshot::Sender<()> },
}

/// One method: what it was asked, and how it answers the next calls. A call past the end of the
/// script is refused for good.
pub(crate) struct Part<Q, A> {
    asked: Mutex<Vec<Q>>,
    script: Mutex<VecDeque<A>>,
}

impl<Q, A> Default for Part<Q, A> {
    fn default() -> Self {
        Self { asked: Mutex::default(), script: Mutex::default() }
    }
}

impl<Q: Clone, A> Part<Q, A> {
    pub(crate) fn asked(&self) -> Vec<Q> {
        self.asked.lock().expect("asked").clone()
    }

    fn plays(&self, script: impl IntoIterator<Item = A>) {
        self.script.lock().expect("script").extend(script);
    }

    fn next(&self, request: Q) -> Result<A, Status> {
        self.asked.lock().expect("asked").push(request);
        let next = self.script.lock().expect("script").pop_front();
        next.ok_or_else(|| Status::failed_precondition("the script is over"))
    }
}

#[derive(Default)]
pub(crate) struct Role {
    pub(crate) resolve: Part<ResolveDependencyRequest, Play<ResolveDependencyResponse>>,
    pub(crate) watch: Part<WatchAssetRequest, Play<WatchAssetResponse>>,
    pub(crate) acknowledge: Part<AcknowledgeWaitRequest, Result<AcknowledgeWaitResponse, Status>>,
    pub(crate) get: Part<GetAssetRequest, Result<GetAssetResponse, Status>>,
    pub(crate) list: Part<ListAssetsRequest, Result<ListAssetsResponse, Status>>,
}

/// A running agent. It has a runtime of its own, so that its end breaks its connections.
pub(crate) struct Agent {
    pub(crate) role: Arc<Role>,
    pub(crate) address: SocketAddr,
    runtime: Option<Runtime>,
}

impl Agent {
    pub(crate) fn resolving(script: impl IntoIterator<Item = Play<ResolveDependencyResponse>>) -> Self {
        let role = Role::default();
        role.resolve.plays(script);
        Self::anywhere(role)
    }

    pub(crate) fn watching(script: impl IntoIterator<Item = Play<WatchAssetResponse>>) -> Self {
        let role = Role::default();
        role.watch.plays(script);
        Self::anywhere(role)
    }

    pub(crate) fn listing(script: impl IntoIterator<Item = Result<ListAssetsResponse, Status>>) -> Self {
        let role = Role::default();
        role.list.plays(script);
        Self::anywhere(role)
    }

    pub(crate) fn getting(script: impl IntoIterator<Item = Result<GetAssetResponse, Status>>) -> Self {
        let role = Role::default();
        role.get.plays(script);
        Self::anywhere(role)
    }

    /// The same agent, which also plays this when a wait is acknowledged.
    pub(crate) fn acknowledges(
        self,
        script: impl IntoIterator<Item = Result<AcknowledgeWaitResponse, Status>>,
    ) -> Self {
        self.role.acknowledge.plays(script);
        self
    }

    fn anywhere(role: Role) -> Self {
        Self::start(role, SocketAddr::from(([127, 0, 0, 1], 0)))
    }

    /// Another agent at the address of this one, which ends.
    pub(crate) fn replaced_by(
        mut self,
        script: impl IntoIterator<Item = Play<ResolveDependencyResponse>>,
    ) -> Self {
        self.stop();
        let role = Role::default();
        role.resolve.plays(script);
        Self::start(role, self.address)
    }

    pub(crate) fn stop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }

    fn start(role: Role, address: SocketAddr) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .expect("runtime");
        let role = Arc::new(role);
        let listener = {
            let _guard = runtime.enter();
            TcpListener::from_std(bind(address)).expect("listener")
        };
        let address = listener.local_addr().expect("address");
        let server = Server::builder()
            .add_service(DependencyServiceServer::from_arc(role.clone()))
            .add_service(AssetServiceServer::from_arc(role.clone()))
            .serve_with_incoming(TcpListenerStream::new(listener));
        runtime.spawn(server);
        Self { role, address, runtime: Some(runtime) }
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Binds at once or, while an agent that was just stopped still has the port, as soon as it is free.
fn bind(address: SocketAddr) -> std::net::TcpListener {
    loop {
        match std::net::TcpListener::bind(address) {
            Ok(listener) => {
                listener.set_nonblocking(true).expect("nonblocking");
                return listener;
            }
            Err(error) => assert_eq!(error.kind(), std::io::ErrorKind::AddrInUse),
        }
        std::thread::yield_now();
    }
}

/// An address that nobody listens at.
pub(crate) fn nobody() -> SocketAddr {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("port");
    listener.local_addr().expect("address")
}

/// Patience for tests: nothing that is meant to happen takes this long, all that is meant to be
/// waited for is short.
pub(crate) fn hasty() -> Settings {
    Settings {
        connect_timeout: Duration::from_secs(20),
        try_timeout: Duration::from_secs(5),
        answer_timeout: Duration::from_secs(5),
        silence_timeout: Duration::from_secs(20),
        min_pause: Duration::from_millis(1),
        max_pause: Duration::from_millis(20),
        seed: Some(1),
    }
}

pub(crate) fn client(addresses: &[SocketAddr], settings: Settings) -> Client {
    let endpoints = Endpoints::parse(addresses.iter().map(ToString::to_string)).expect("endpoints");
    Client::new(&endpoints, settings)
}

type Answers<T> = Pin<Box<dyn Stream<Item = Result<T, Status>> + Send>>;

async fn play<T: Send + 'static>(play: Play<T>) -> Result<Response<Answers<T>>, Status> {
    let answers: Answers<T> = match play {
        Play::Refuse(status) => return Err(status),
        Play::Mute => std::future::pending().await,
        Play::Send(messages) => Box::pin(tokio_stream::iter(messages.into_iter().map(Ok))),
        Play::Break(messages, status) => {
            Box::pin(tokio_stream::iter(messages.into_iter().map(Ok)).chain(tokio_stream::once(Err(status))))
        }
        Play::Hold(messages) => {
            Box::pin(tokio_stream::iter(messages.into_iter().map(Ok)).chain(tokio_stream::pending()))
        }
        Play::Linger { messages, end, ended } => {
            let mut rest = Some((end, ended));
            let last = tokio_stream::once(()).then(move |()| {
                let rest = rest.take();
                async move {
                    let (end, ended) = rest?;
                    end.await.ok()?;
                    ended.send(()).ok()?;
                    None
                }
            });
            Box::pin(tokio_stream::iter(messages.into_iter().map(Ok)).chain(last.filter_map(|none| none)))
        }
    };
    Ok(Response::new(answers))
}

#[tonic::async_trait]
impl DependencyService for Role {
    type ResolveDependencyStream = Answers<ResolveDependencyResponse>;

    async fn resolve_dependency(
        &self,
        request: Request<ResolveDependencyRequest>,
    ) -> Result<Response<Self::ResolveDependencyStream>, Status> {
        play(self.resolve.next(request.into_inner())?).await
    }

    async fn acknowledge_wait(
        &self,
        request: Request<AcknowledgeWaitRequest>,
    ) -> Result<Response<AcknowledgeWaitResponse>, Status> {
        self.acknowledge.next(request.into_inner())?.map(Response::new)
    }

    async fn evaluate_dependency(
        &self,
        _: Request<EvaluateDependencyRequest>,
    ) -> Result<Response<EvaluateDependencyResponse>, Status> {
        Err(Status::unimplemented("no part of any test"))
    }
}

#[tonic::async_trait]
impl AssetService for Role {
    type WatchAssetStream = Answers<WatchAssetResponse>;

    async fn watch_asset(
        &self,
        request: Request<WatchAssetRequest>,
    ) -> Result<Response<Self::WatchAssetStream>, Status> {
        play(self.watch.next(request.into_inner())?).await
    }

    async fn get_asset(
        &self,
        request: Request<GetAssetRequest>,
    ) -> Result<Response<GetAssetResponse>, Status> {
        self.get.next(request.into_inner())?.map(Response::new)
    }

    async fn register_asset(
        &self,
        _: Request<RegisterAssetRequest>,
    ) -> Result<Response<RegisterAssetResponse>, Status> {
        Err(Status::unimplemented("no test calls it"))
    }

    async fn rewind_asset(
        &self,
        _: Request<RewindAssetRequest>,
    ) -> Result<Response<RewindAssetResponse>, Status> {
        Err(Status::unimplemented("no test calls it"))
    }

    async fn list_assets(
        &self,
        request: Request<ListAssetsRequest>,
    ) -> Result<Response<ListAssetsResponse>, Status> {
        self.list.next(request.into_inner())?.map(Response::new)
    }
}

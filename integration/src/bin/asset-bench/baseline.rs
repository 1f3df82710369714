//! The baseline of the fan-out: a process of its own that does one synced insert and then tells every
//! stream the same.

use std::{env, net::SocketAddr, path::Path, pin::Pin, sync::Arc, time::Duration};

use anyhow::{Context, Result};
use asset_integration::{
    deadline, ports,
    server::{Program, Server},
};
use asset_proto::v1::{
    AcknowledgeWaitRequest, AcknowledgeWaitResponse, EvaluateDependencyRequest, EvaluateDependencyResponse,
    GroupVerdict, PinnedVersion, ResolveDependencyRequest, ResolveDependencyResponse,
    dependency_service_client::DependencyServiceClient,
    dependency_service_server::{DependencyService, DependencyServiceServer},
    resolve_dependency_response::Status as Verdict,
};
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePool, SqliteSynchronous};
use tempfile::TempDir;
use tokio::sync::broadcast;
use tokio_stream::{Stream, StreamExt, wrappers::BroadcastStream};
use tonic::{Request, Response, Status, transport::Server as Grpc};

use crate::client;

/// How `asset-bench` starts itself as this baseline.
pub const COMMAND: &str = "serve-baseline";

/// A running baseline.
pub struct Baseline {
    pub address: SocketAddr,
    _server: Server,
    _folder: TempDir,
}

impl Baseline {
    pub async fn start() -> Result<Self> {
        let folder = TempDir::new()?;
        let address = ports::free()?;
        let server = Server::start(Program {
            path: env::current_exe()?,
            arguments: vec![COMMAND.into(), folder.path().into(), address.to_string().into()],
            environment: Vec::new(),
            log: folder.path().join("baseline.log"),
        })?;
        deadline::until("the baseline listens", Duration::from_secs(30), async || {
            client::connect(address).await.ok()
        })
        .await
        .with_context(|| server.log())?;
        Ok(Self { address, _server: server, _folder: folder })
    }

    /// Has it insert and tell.
    pub async fn trigger(&self) -> Result<()> {
        let mut client = DependencyServiceClient::connect(format!("http://{}", self.address)).await?;
        client.acknowledge_wait(AcknowledgeWaitRequest { wait_id: "now".to_owned() }).await?;
        Ok(())
    }
}

/// Serves until it is killed.
pub async fn serve(folder: &Path, address: SocketAddr) -> Result<()> {
    let options = SqliteConnectOptions::new()
        .filename(folder.join("baseline.db"))
        .create_if_missing(true)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Full);
    let database = SqlitePool::connect_with(options).await?;
    sqlx::query("CREATE TABLE told (at REAL NOT NULL, payload TEXT NOT NULL)").execute(&database).await?;
    let (news, _) = broadcast::channel(16);
    let service = Bare { database, news };
    Grpc::builder()
        .tcp_nodelay(true)
        .max_concurrent_streams(100_000)
        .add_service(DependencyServiceServer::new(service))
        .serve(address)
        .await?;
    Ok(())
}

struct Bare {
    database: SqlitePool,
    news: broadcast::Sender<Arc<ResolveDependencyResponse>>,
}

type Messages = Pin<Box<dyn Stream<Item = Result<ResolveDependencyResponse, Status>> + Send>>;

#[tonic::async_trait]
impl DependencyService for Bare {
    type ResolveDependencyStream = Messages;

    async fn resolve_dependency(
        &self,
        _: Request<ResolveDependencyRequest>,
    ) -> Result<Response<Messages>, Status> {
        let news = BroadcastStream::new(self.news.subscribe());
        let first = ResolveDependencyResponse { status: Verdict::Blocked.into(), ..Default::default() };
        let rest = news.filter_map(|told| told.ok().map(|told| Ok((*told).clone()))).take(1);
        Ok(Response::new(Box::pin(tokio_stream::once(Ok(first)).chain(rest))))
    }

    async fn acknowledge_wait(
        &self,
        _: Request<AcknowledgeWaitRequest>,
    ) -> Result<Response<AcknowledgeWaitResponse>, Status> {
        let at = client::now();
        sqlx::query("INSERT INTO told (at, payload) VALUES (?, ?)")
            .bind(at)
            .bind("a payload of about the size of a commit's facts ".repeat(8))
            .execute(&self.database)
            .await
            .map_err(|error| Status::unavailable(error.to_string()))?;
        // Nobody listening is fine.
        let _ = self.news.send(Arc::new(told(at)));
        Ok(Response::new(AcknowledgeWaitResponse {}))
    }

    async fn evaluate_dependency(
        &self,
        _: Request<EvaluateDependencyRequest>,
    ) -> Result<Response<EvaluateDependencyResponse>, Status> {
        Err(Status::unimplemented("the baseline only tells"))
    }
}

/// A message of about the size of the agent's.
fn told(at: f64) -> ResolveDependencyResponse {
    let micros = (at * 1_000.0) as i64;
    let time = prost_types::Timestamp {
        seconds: micros.div_euclid(1_000_000),
        nanos: (micros.rem_euclid(1_000_000) * 1_000) as i32,
    };
    ResolveDependencyResponse {
        revision: 1,
        status: Verdict::Ready.into(),
        groups: vec![GroupVerdict { name: "default".to_owned(), ready: true, conditions: Vec::new() }],
        pinned: vec![PinnedVersion {
            asset_key: "paimon://lake/ods/t000".to_owned(),
            fingerprint: "00000000-0000-0000-0000-000000000000".to_owned(),
            ..Default::default()
        }],
        evaluated_at: Some(time),
        ..Default::default()
    }
}

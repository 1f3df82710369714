//! Waiting clients: bare gRPC streams, so that what is measured is the server.

use std::{
    net::SocketAddr,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use anyhow::{Context, Result, bail};
use asset_proto::v1::{
    Condition, Group, ResolveDependencyRequest, ResolveDependencyResponse, Since,
    dependency_service_client::DependencyServiceClient, resolve_dependency_response::Status,
};
use tokio::time::timeout;
use tonic::{
    Streaming,
    transport::{Channel, Endpoint},
};

/// Longer than any wait of a bench takes.
const PATIENCE: Duration = Duration::from_secs(60);

pub type Client = DependencyServiceClient<Channel>;

/// A connection.
pub async fn connect(address: SocketAddr) -> Result<Client> {
    let channel = Endpoint::from_shared(format!("http://{address}"))?
        .tcp_nodelay(true)
        .connect_timeout(Duration::from_secs(10))
        .connect()
        .await
        .with_context(|| format!("cannot reach {address}"))?;
    Ok(DependencyServiceClient::new(channel))
}

/// A wait for what comes next.
pub struct Waiting(Streaming<ResolveDependencyResponse>);

impl Waiting {
    /// Begins to wait; the first verdict is in.
    pub async fn begin(client: &mut Client, key: &str) -> Result<Self> {
        let condition =
            Condition { asset_key: key.to_owned(), since: Since::Registered.into(), ..Condition::default() };
        let request = ResolveDependencyRequest {
            groups: vec![Group { conditions: vec![condition], ..Group::default() }],
            ..ResolveDependencyRequest::default()
        };
        let mut stream = client.resolve_dependency(request).await?.into_inner();
        let first = stream.message().await?.context("the stream ended at once")?;
        if first.status() != Status::Blocked {
            bail!("the first message is {:?}", first.status());
        }
        Ok(Self(stream))
    }

    /// READY, and when it came, in milliseconds since the epoch.
    pub async fn ready(self) -> Result<(ResolveDependencyResponse, f64)> {
        timeout(PATIENCE, self.read_on()).await.context("neither READY nor the stream's end in a minute")?
    }

    async fn read_on(mut self) -> Result<(ResolveDependencyResponse, f64)> {
        loop {
            let message = self.0.message().await?.context("the stream ended without READY")?;
            if message.status() == Status::Ready {
                let at = now();
                // To its end: HTTP/2 closes a connection on which too many streams are reset.
                while self.0.message().await?.is_some() {}
                return Ok((message, at));
            }
        }
    }
}

/// Milliseconds since the epoch, with fractions.
pub fn now() -> f64 {
    millis(SystemTime::now())
}

/// A time in milliseconds since the epoch, with fractions.
pub fn millis(time: SystemTime) -> f64 {
    time.duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64() * 1_000.0)
}

/// A message's time in milliseconds since the epoch.
pub fn of_timestamp(time: Option<prost_types::Timestamp>) -> f64 {
    time.map_or(0.0, |time| time.seconds as f64 * 1_000.0 + f64::from(time.nanos) / 1e6)
}

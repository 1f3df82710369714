//! One HTTP request at a time, over a connection of its own.

use std::net::SocketAddr;
use std::time::Duration;

use anyhow::{Context, Result};
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::Request;
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HOST};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::TcpStream;
use tokio::time::timeout;

/// Longer than any request of a test takes; long polls say their own.
const LIMIT: Duration = Duration::from_secs(30);

#[derive(Debug)]
pub struct Response {
    pub status: u16,
    pub content_type: String,
    pub body: String,
}

impl Response {
    pub fn json(&self) -> Result<Value> {
        serde_json::from_str(&self.body).with_context(|| format!("{} {}", self.status, self.body))
    }
}

/// A server, and the token that its requests carry.
#[derive(Clone, Debug)]
pub struct Http {
    address: SocketAddr,
    token: Option<String>,
}

impl Http {
    pub fn new(address: SocketAddr) -> Self {
        Self { address, token: None }
    }

    pub fn token(self, token: impl Into<String>) -> Self {
        Self { token: Some(token.into()), ..self }
    }

    pub async fn get(&self, path: &str) -> Result<Response> {
        self.send("GET", path, None).await
    }

    pub async fn delete(&self, path: &str) -> Result<Response> {
        self.send("DELETE", path, None).await
    }

    pub async fn post(&self, path: &str, body: &Value) -> Result<Response> {
        self.send("POST", path, Some(body)).await
    }

    /// `path` is sent as it is: percent-encoded, with its query.
    pub async fn send(&self, method: &str, path: &str, body: Option<&Value>) -> Result<Response> {
        timeout(LIMIT, self.exchange(method, path, body))
            .await
            .with_context(|| format!("{method} {path} took longer than {LIMIT:?}"))?
            .with_context(|| format!("{method} {path} at {}", self.address))
    }

    async fn exchange(&self, method: &str, path: &str, body: Option<&Value>) -> Result<Response> {
        let stream = TcpStream::connect(self.address).await?;
        let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await?;
        // It ends when the sender is dropped.
        tokio::spawn(connection);
        let mut request = Request::builder().method(method).uri(path).header(HOST, self.address.to_string());
        if let Some(token) = &self.token {
            request = request.header(AUTHORIZATION, format!("Bearer {token}"));
        }
        let content = match body {
            Some(json) => {
                request = request.header(CONTENT_TYPE, "application/json");
                Bytes::from(serde_json::to_vec(json)?)
            }
            None => Bytes::new(),
        };
        let response = sender.send_request(request.body(Full::new(content))?).await?;
        let status = response.status().as_u16();
        let content_type = response.headers().get(CONTENT_TYPE);
        let content_type = content_type.and_then(|value| value.to_str().ok()).unwrap_or_default().to_owned();
        let body = response.into_body().collect().await?.to_bytes();
        Ok(Response { status, content_type, body: String::from_utf8(body.to_vec())? })
    }
}

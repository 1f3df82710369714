//! Bare streams over connections with small windows, so that a reader that does not read is felt soon.

use std::net::SocketAddr;

use asset_proto::v1::{
    Condition, Group, ResolveDependencyRequest, ResolveDependencyResponse, Since, Wait, WatchAssetRequest,
    WatchAssetResponse, asset_service_client::AssetServiceClient,
    dependency_service_client::DependencyServiceClient,
};
use tonic::{
    Streaming,
    transport::{Channel, Endpoint},
};

use crate::KEY;

/// What a stream may send ahead of its reader: a few verdicts, and never a long one.
const WINDOW: u32 = 2_048;

/// Groups that make a verdict many times as long as the window.
const GROUPS: usize = 64;

/// A connection of its own.
pub async fn connection(address: SocketAddr) -> Channel {
    let endpoint = Endpoint::from_shared(format!("http://{address}")).unwrap();
    endpoint.initial_stream_window_size(WINDOW).connect().await.unwrap()
}

/// Waits for the next commit.
pub async fn wait(channel: &Channel, identity: Option<Wait>) -> Streaming<ResolveDependencyResponse> {
    resolve(channel, vec![group(condition(Since::Registered, None))], identity).await
}

/// Waits for the next commit with a condition whose verdict does not fit into the window.
pub async fn long_wait(channel: &Channel) -> Streaming<ResolveDependencyResponse> {
    let far = condition(Since::Exists, Some(1_000_000));
    let mut groups = vec![group(far); GROUPS - 1];
    groups.push(group(condition(Since::Registered, None)));
    resolve(channel, groups, None).await
}

/// Watches all assets.
pub async fn watch(channel: &Channel) -> Streaming<WatchAssetResponse> {
    let mut client = AssetServiceClient::new(channel.clone());
    client.watch_asset(WatchAssetRequest::default()).await.unwrap().into_inner()
}

async fn resolve(
    channel: &Channel,
    groups: Vec<Group>,
    wait: Option<Wait>,
) -> Streaming<ResolveDependencyResponse> {
    let request = ResolveDependencyRequest { groups, wait, ..ResolveDependencyRequest::default() };
    let mut client = DependencyServiceClient::new(channel.clone());
    client.resolve_dependency(request).await.unwrap().into_inner()
}

fn condition(since: Since, min: Option<i64>) -> Condition {
    Condition { asset_key: KEY.to_owned(), min_snapshot_id: min, since: since.into(), ..Condition::default() }
}

fn group(condition: Condition) -> Group {
    Group { conditions: vec![condition], ..Group::default() }
}

//! gRPC as a person with grpcurl meets it, and the plain HTTP pages on the same port.

#![allow(clippy::unwrap_used)]

mod assets;
mod pages;
mod reflection;
mod streams;
mod waits;

const TABLE: &str = "ods.orders";
const KEY: &str = "paimon://lake/ods/orders";
const RESOLVE: &str = "asset.v1.DependencyService/ResolveDependency";
const WATCH: &str = "asset.v1.AssetService/WatchAsset";

//! The contract of the asset agent: the generated types of `asset/v1/*.proto` and their descriptors.
//! Nothing else lives here; what a field means is said in the `.proto` files.

/// Messages, clients and servers of package `asset.v1`.
#[allow(clippy::all, missing_docs)]
pub mod v1 {
    tonic::include_proto!("asset.v1");
}

/// Encoded `FileDescriptorSet` of the whole contract with its comments, for server reflection.
pub const FILE_DESCRIPTOR_SET: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/asset_descriptor.bin"));

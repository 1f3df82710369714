//! The language that a caller reads.

use asset_core::words::Language;
use tonic::metadata::MetadataMap;

/// From the call's `accept-language`.
pub fn of(metadata: &MetadataMap) -> Language {
    let list = metadata.get("accept-language").and_then(|value| value.to_str().ok());
    list.map(Language::accepted).unwrap_or_default()
}

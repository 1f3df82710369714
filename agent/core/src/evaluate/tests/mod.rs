mod cases;
mod model;

use std::collections::BTreeMap;

use super::*;

/// What is known of a few assets.
type World = BTreeMap<AssetKey, Option<Asset>>;

/// Looks up in a world: a key that it lacks is unknown, one without an asset absent.
fn lookup<'a>(world: &'a World) -> impl Fn(&AssetKey) -> Knowledge<'a> {
    move |key| match world.get(key) {
        None => Knowledge::Unknown,
        Some(None) => Knowledge::Absent,
        Some(Some(asset)) => Knowledge::Known(asset),
    }
}

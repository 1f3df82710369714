mod cases;
mod looking_back;
mod model;

use std::collections::BTreeMap;

use super::*;

/// The time of now, which few conditions look at.
const NOW: Millis = 1_000_000;

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

//! Input that makes no sense: each is refused at once, says what is wrong and what is right, and harms
//! nothing else.

#![allow(clippy::unwrap_used)]

mod calls;
mod endpoints;
mod files;
mod limits;
mod settings;
mod start;

use asset_integration::command::{self, Ended};
use asset_integration::scene::{SOON, Scene};

const KEY: &str = "paimon://lake/ods/orders";

/// Runs `asset-sensor` against the agent of a scene.
async fn sensor(scene: &Scene, arguments: &[&str]) -> Ended {
    scene.sensor(arguments).unwrap().ended(SOON).await.unwrap()
}

/// Runs `asset-agent`, which is expected to end by itself.
async fn agent(arguments: &[&str]) -> Ended {
    command::agent(arguments).unwrap().ended(SOON).await.unwrap()
}

/// All of these texts stand in it.
#[track_caller]
fn says(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "`{part}` is not in:\n{text}");
    }
}

//! Baselines: from where on a version counts for one wait.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::{
    asset::{Asset, Knowledge},
    condition::{Dependency, Since},
    key::AssetKey,
    version::Floor,
};

/// Where `since: registered` begins for one asset.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Baseline {
    /// The table had not been read when the wait began: its head at the first successful read.
    FirstRead,
    /// What is above this point.
    Above(Floor),
}

impl Baseline {
    /// The point itself, now that the asset is known.
    pub fn floor(self, asset: &Asset) -> Floor {
        let floor = match self {
            Self::FirstRead => asset.first_head,
            Self::Above(floor) => floor,
        };
        asset.log.carry(floor)
    }
}

/// The baselines of one wait, taken when it began and kept for its whole life.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Baselines(BTreeMap<String, Baseline>);

/// A resume token that this agent did not make.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("not a resume token of this service; pass on the newest one received, or none")]
pub struct TokenError;

/// What a resume token carries. The version tells a later layout apart.
#[derive(Serialize, Deserialize)]
struct Token {
    v: u8,
    b: Baselines,
}

impl Baselines {
    /// Takes the baselines of a wait that begins now.
    pub fn begin<'a>(dependency: &Dependency, lookup: impl Fn(&AssetKey) -> Knowledge<'a>) -> Self {
        let registered = dependency.conditions().filter(|condition| condition.since == Since::Registered);
        let baseline = |key: &AssetKey| match lookup(key) {
            Knowledge::Unknown | Knowledge::Unread(_) => Baseline::FirstRead,
            Knowledge::Absent => Baseline::Above(Floor::BelowAll),
            Knowledge::Known(asset) => Baseline::Above(asset.head()),
        };
        Self(registered.map(|condition| (condition.asset.to_string(), baseline(&condition.asset))).collect())
    }

    /// The baseline of an asset; the caller asks only for those that have one.
    pub fn of(&self, key: &AssetKey) -> Baseline {
        self.0.get(key.as_str()).copied().unwrap_or(Baseline::FirstRead)
    }

    /// Whether each condition that needs a baseline has one, so that these belong to `dependency`.
    pub fn cover(&self, dependency: &Dependency) -> bool {
        dependency
            .conditions()
            .filter(|condition| condition.since == Since::Registered)
            .all(|condition| self.0.contains_key(condition.asset.as_str()))
    }

    /// As an opaque text for a caller to keep.
    pub fn to_token(&self) -> String {
        let token = Token { v: 1, b: self.clone() };
        let json = serde_json::to_vec(&token).unwrap_or_default();
        data_encoding::BASE64URL_NOPAD.encode(&json)
    }

    /// Reads [`Self::to_token`] back.
    pub fn from_token(text: &str) -> Result<Self, TokenError> {
        let json = data_encoding::BASE64URL_NOPAD.decode(text.as_bytes()).map_err(|_| TokenError)?;
        let token: Token = serde_json::from_slice(&json).map_err(|_| TokenError)?;
        (token.v == 1).then_some(token.b).ok_or(TokenError)
    }
}

#[cfg(test)]
mod tests;

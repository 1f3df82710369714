//! What a wait is told.

use std::sync::Arc;

use asset_core::{
    evaluate::{Evaluation, Pin},
    version::Millis,
};

/// A verdict on its way to one reader.
#[derive(Debug, Clone)]
pub struct WaitUpdate {
    /// Revision that it rests on.
    pub revision: i64,
    /// When it was reached.
    pub evaluated_at: Millis,
    /// Id of a wait with identity.
    pub wait_id: Option<Arc<str>>,
    /// For the reader to pass on when it comes back.
    pub resume_token: Arc<str>,
    /// Every condition's verdict; empty where a READY of before is repeated.
    pub evaluation: Arc<Evaluation>,
    /// Where the wait stands.
    pub standing: Standing,
}

/// Where a wait stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standing {
    /// Not yet.
    Blocked,
    /// Released on these versions; nothing comes after.
    Ready(Arc<Vec<Pin>>),
}

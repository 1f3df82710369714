//! Waiting for a condition, never for a time that is hoped to be long enough.

use std::fmt::Display;
use std::time::Duration;

use anyhow::{Result, bail};
use tokio::time::{Instant, sleep, timeout_at};

/// Asks until the answer is something, at most for `limit`; `what` names the condition in the error.
pub async fn until<T>(
    what: impl Display,
    limit: Duration,
    mut ask: impl AsyncFnMut() -> Option<T>,
) -> Result<T> {
    let end = Instant::now() + limit;
    loop {
        match timeout_at(end, ask()).await {
            Ok(Some(answer)) => return Ok(answer),
            Ok(None) if Instant::now() < end => sleep(Duration::from_millis(10)).await,
            Ok(None) | Err(_) => bail!("not so after {limit:?}: {what}"),
        }
    }
}

//! One table: its cursor, and one poll of it.

use asset_core::key::AssetKey;
use asset_sources::{Depth, Poll, PollRequest, Suspicion};
use asset_store::{BatchOutcome, SourceBatch};
use tokio::time::Instant;
use tracing::debug;

use super::{PollContext, health::Read, schedule::Pace};
use crate::observer::PollResult;

/// What is kept of a table between two polls. The cursor is a copy of the stored one; the store
/// refuses a batch that was compared with an older one, and then it is read again.
pub(crate) struct TablePoll {
    key: AssetKey,
    cursor: Cursor,
    suspicion: Option<Suspicion>,
    fast_polls: u32,
    /// Whether the last poll saw everything.
    strict: bool,
    pace: Pace,
}

enum Cursor {
    /// To be read from the store.
    Unknown,
    /// As stored; `None`: the table was never read.
    Known(Option<(String, i64)>),
}

impl TablePoll {
    pub fn new(key: AssetKey) -> Self {
        Self {
            key,
            cursor: Cursor::Unknown,
            suspicion: None,
            fast_polls: 0,
            strict: false,
            pace: Pace::Calm(u32::MAX),
        }
    }

    pub fn key(&self) -> &AssetKey {
        &self.key
    }

    /// The next poll sees everything.
    pub fn next_is_strict(&mut self) {
        self.fast_polls = 0;
    }

    pub fn pace(&self) -> Pace {
        self.pace
    }

    /// Reads the table once, and again at once for as long as the answer says so.
    pub async fn poll(mut self, context: &PollContext) -> Self {
        let began = context.clock.now();
        let timer = Instant::now();
        let (result, error) = match self.read(context).await {
            Ok(result) => (result, None),
            Err(error) => (PollResult::Failed, Some(error)),
        };
        context.observer.polled(&self.key, result, timer.elapsed());
        // A read that was cut short, thrown away or is to be confirmed has not come to the table's head:
        // whoever waits for a fresh read waits for the next one.
        let told = error.is_some() || matches!(self.pace, Pace::Calm(_));
        let read = Read { began, strict: self.strict };
        if told && context.health.record(&self.key, read, error) {
            context.hub.read_differently(self.key.clone()).await;
        }
        self
    }

    async fn read(&mut self, context: &PollContext) -> Result<PollResult, String> {
        // One that was cut short is as strict as its beginning.
        let goes_on = self.pace == Pace::AtOnce && self.strict;
        // A failure is tried again at the usual pace.
        let quiet = match self.pace {
            Pace::AtOnce | Pace::Soon => 0,
            Pace::Calm(quiet) => quiet,
        };
        self.pace = Pace::Calm(quiet.saturating_add(1));

        let catalog = context
            .catalogs
            .of(&self.key)
            .ok_or_else(|| "no configured catalog has this table".to_owned())?;
        let (cursor, read_lock) = self.cursor(context).await?;
        let strict = self.fast_polls == 0 || self.suspicion.is_some() || goes_on;
        self.strict = strict;
        self.fast_polls = (self.fast_polls + 1) % context.strict_every;
        let request = PollRequest {
            cursor: cursor.as_deref(),
            depth: if strict { Depth::Strict } else { Depth::Fast },
            suspicion: self.suspicion.take(),
        };
        let poll = catalog.poll(&self.key, request).await;
        let (changes, cursor, present, more) = match poll.map_err(|error| error.to_string())? {
            Poll::Unchanged => return Ok(PollResult::Unchanged),
            Poll::Suspect(suspicion) => {
                debug!(assetKey = %self.key, ?suspicion, "looks like a break of history");
                self.suspicion = Some(suspicion);
                self.pace = Pace::Soon;
                return Ok(PollResult::Suspect);
            }
            // Still not there: nothing to store.
            Poll::Absent { cursor: now } if cursor.as_ref() == Some(&now) => {
                return Ok(PollResult::Unchanged);
            }
            Poll::Absent { cursor } => (Vec::new(), cursor, false, false),
            Poll::Changed { changes, cursor, more } => (changes, cursor, true, more),
        };

        let batch = SourceBatch {
            key: self.key.clone(),
            read_lock,
            cursor: cursor.clone(),
            present,
            changes,
            observed_at: context.clock.now(),
        };
        // Until the answer is there the cursor may or may not have moved.
        self.cursor = Cursor::Unknown;
        let outcome = context.ingest.apply(batch).await;
        match outcome.map_err(|error| error.to_string())? {
            BatchOutcome::Committed(committed) => {
                self.cursor = Cursor::Known(Some((cursor, committed.cursor_lock)));
                self.pace = if more { Pace::AtOnce } else { Pace::Calm(0) };
                Ok(PollResult::Changed)
            }
            BatchOutcome::Stale => {
                self.pace = Pace::AtOnce;
                Ok(PollResult::Stale)
            }
        }
    }

    /// The cursor's text and lock version.
    async fn cursor(&mut self, context: &PollContext) -> Result<(Option<String>, Option<i64>), String> {
        if matches!(self.cursor, Cursor::Unknown) {
            let stored = context.store.cursor(&self.key).await;
            let stored = stored.map_err(|error| error.to_string())?;
            self.cursor = Cursor::Known(stored.map(|c| (c.cursor, c.lock_version)));
        }
        match &self.cursor {
            Cursor::Known(Some((cursor, lock))) => Ok((Some(cursor.clone()), Some(*lock))),
            _ => Ok((None, None)),
        }
    }
}

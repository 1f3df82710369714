//! Watching the states of assets.

use asset_proto::v1::{
    AssetState, WatchAssetRequest, WatchAssetResponse, asset_service_client::AssetServiceClient,
    watch_asset_response::Event,
};
use tonic::{Status, Streaming, transport::Channel};

use crate::{
    client::Client,
    error::{Error, Trouble},
    stream::{BoxFuture, Returning, Step, Subscription},
};

/// What a watch brings.
#[derive(Debug, Clone, PartialEq)]
pub enum WatchEvent {
    /// The whole state of one asset: as it is, or after it changed.
    State(Box<AssetState>),
    /// No agent is reached at the moment; it is tried again.
    Lost(Trouble),
    /// After a loss the agent at this endpoint answers.
    Back(String),
}

/// A stream of states without end. After a break it goes on after the greatest revision that it saw;
/// from an agent whose store is older than that (a restored backup) it takes everything again.
pub struct Watch {
    stream: Returning<Keys>,
    over: bool,
}

impl Watch {
    pub(crate) fn new(client: Client, asset_keys: Vec<String>) -> Self {
        let keys = Keys(WatchAssetRequest { asset_keys, resume_after_revision: 0 });
        Self { stream: Returning::new(client, keys, None), over: false }
    }

    /// The next event; `None` only after an error. Dropping the call loses nothing.
    ///
    /// # Errors
    /// As of [`crate::Wait::next`].
    pub async fn next(&mut self) -> Result<Option<WatchEvent>, Error> {
        while !self.over {
            let event = match self.stream.next().await {
                Ok(Some(Step::Message(message))) => match message.event {
                    Some(Event::State(state)) => WatchEvent::State(Box::new(state)),
                    Some(Event::Heartbeat(_)) | None => continue,
                },
                Ok(Some(Step::Lost(trouble))) => WatchEvent::Lost(trouble),
                Ok(Some(Step::Back(endpoint))) => WatchEvent::Back(endpoint),
                Ok(None) => {
                    self.over = true;
                    return Ok(None);
                }
                Err(error) => {
                    self.over = true;
                    return Err(error);
                }
            };
            return Ok(Some(event));
        }
        Ok(None)
    }
}

struct Keys(WatchAssetRequest);

impl Subscription for Keys {
    type Message = WatchAssetResponse;

    fn open(&self, channel: Channel) -> BoxFuture<Result<Streaming<WatchAssetResponse>, Status>> {
        let request = self.0.clone();
        Box::pin(async move {
            let mut client = AssetServiceClient::new(channel);
            Ok(client.watch_asset(request).await?.into_inner())
        })
    }

    fn heard(&mut self, message: &WatchAssetResponse, first: bool) {
        // Revisions never go back within a stream. Where a new stream starts lower, the store is
        // another one than before, and a revision of the old one would skip changes of this one.
        let seen = &mut self.0.resume_after_revision;
        *seen = if first { message.revision } else { message.revision.max(*seen) };
    }
}

#[cfg(test)]
mod tests;

//! Waiting for conditions.

use asset_proto::v1::{
    Group, ResolveDependencyRequest, ResolveDependencyResponse, Wait as Identity,
    dependency_service_client::DependencyServiceClient, resolve_dependency_response::Status as Says,
};
use tonic::{Request, Status, Streaming, metadata::AsciiMetadataValue, transport::Channel};

use crate::{
    client::Client,
    deadline::Deadline,
    error::{Error, Trouble},
    stream::{BoxFuture, Returning, Step, Subscription},
};

/// What to wait for.
#[derive(Debug, Clone, Default)]
pub struct WaitRequest {
    /// The conditions: AND inside a group, OR across groups.
    pub groups: Vec<Group>,
    /// Who waits. With an identity the agent stores the wait, and its READY is to be acknowledged.
    pub identity: Option<Identity>,
    /// When to give up. `None`: never.
    pub deadline: Option<Deadline>,
    /// Languages that the reasons are wanted in, as HTTP's `Accept-Language` has them: `zh` or `en`. `None`:
    /// English.
    pub language: Option<String>,
}

/// What happens while waiting.
#[derive(Debug, Clone, PartialEq)]
pub enum WaitEvent {
    /// The conditions do not hold yet; the groups say why.
    Blocked(ResolveDependencyResponse),
    /// The conditions hold; the pins say what to read. The last event.
    Ready(ResolveDependencyResponse),
    /// The deadline has passed. Carries the last verdict, if there was one. The last event.
    TimedOut(Option<ResolveDependencyResponse>),
    /// No agent is reached at the moment; it is tried again.
    Lost(Trouble),
    /// After a loss the agent at this endpoint answers.
    Back(String),
}

/// A wait. It survives whatever happens to agents and connections until its deadline: a new stream
/// takes up the same wait with what the earlier ones brought.
pub struct Wait {
    stream: Returning<Conditions>,
    last: Option<ResolveDependencyResponse>,
    over: bool,
}

impl Wait {
    pub(crate) fn new(client: Client, request: WaitRequest) -> Self {
        let steady = request.deadline.map(|deadline| deadline.steady());
        let request_of = ResolveDependencyRequest {
            groups: request.groups,
            wait: request.identity,
            deadline: request.deadline.map(|deadline| deadline.wall().into()),
            resume_after_revision: 0,
            resume_token: String::new(),
        };
        // One that is no header value asks for nothing.
        let language = request.language.and_then(|list| list.parse().ok());
        let conditions = Conditions(request_of, language);
        Self { stream: Returning::new(client, conditions, steady), last: None, over: false }
    }

    /// The next event; `None` after the last one. Dropping the call loses nothing.
    ///
    /// # Errors
    /// [`Error::NoAgent`] when no agent has ever answered within the connect timeout, and
    /// [`Error::Refused`] when one refuses the request. Both end the wait.
    pub async fn next(&mut self) -> Result<Option<WaitEvent>, Error> {
        while !self.over {
            let event = match self.stream.next().await {
                Ok(Some(Step::Lost(trouble))) => WaitEvent::Lost(trouble),
                Ok(Some(Step::Back(endpoint))) => WaitEvent::Back(endpoint),
                Ok(Some(Step::Message(message))) => match message.status() {
                    Says::Ready => {
                        self.end();
                        WaitEvent::Ready(message)
                    }
                    Says::Blocked => {
                        self.last = Some(message.clone());
                        WaitEvent::Blocked(message)
                    }
                    Says::Timeout => {
                        self.end();
                        WaitEvent::TimedOut(Some(self.last_word(message)))
                    }
                    Says::Heartbeat | Says::Unspecified => continue,
                },
                Ok(None) => {
                    self.over = true;
                    WaitEvent::TimedOut(self.last.take())
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

    /// The agent has said its last word.
    fn end(&mut self) {
        self.over = true;
        self.stream.let_end();
    }

    /// The agent's TIMEOUT, with the last verdict where it has none of its own.
    fn last_word(&mut self, mut timeout: ResolveDependencyResponse) -> ResolveDependencyResponse {
        if let (true, Some(last)) = (timeout.groups.is_empty(), self.last.take()) {
            timeout.groups = last.groups;
        }
        timeout
    }
}

/// The request as it is sent next: with all that was heard so far.
struct Conditions(ResolveDependencyRequest, Option<AsciiMetadataValue>);

impl Subscription for Conditions {
    type Message = ResolveDependencyResponse;

    fn open(&self, channel: Channel) -> BoxFuture<Result<Streaming<ResolveDependencyResponse>, Status>> {
        let mut request = Request::new(self.0.clone());
        if let Some(language) = &self.1 {
            request.metadata_mut().insert("accept-language", language.clone());
        }
        Box::pin(async move {
            let mut client = DependencyServiceClient::new(channel);
            Ok(client.resolve_dependency(request).await?.into_inner())
        })
    }

    fn heard(&mut self, message: &ResolveDependencyResponse, _first: bool) {
        let request = &mut self.0;
        request.resume_after_revision = request.resume_after_revision.max(message.revision);
        if !message.resume_token.is_empty() {
            request.resume_token.clone_from(&message.resume_token);
        }
        if let (Some(wait), false) = (&mut request.wait, message.wait_id.is_empty()) {
            wait.wait_id.clone_from(&message.wait_id);
        }
    }
}

#[cfg(test)]
mod tests;

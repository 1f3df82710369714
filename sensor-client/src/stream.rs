//! A server stream that comes back: opened at one endpoint after the other until one answers, given
//! up when it is silent, opened again when it breaks.

use std::pin::{Pin, pin};

use tokio::time::{Duration, Instant, sleep_until, timeout, timeout_at};
use tonic::{Status, Streaming, transport::Channel};

use crate::{
    attempts::{Attempts, in_time},
    client::Client,
    connections::Connection,
    error::{Error, Fault, Trouble},
};

/// How long after the deadline an open stream may still bring the agent's own last word.
const GRACE: Duration = Duration::from_secs(1);

pub(crate) type BoxFuture<T> = Pin<Box<dyn Future<Output = T> + Send>>;
type Opening<M> = BoxFuture<Result<(Streaming<M>, M), Fault>>;

/// What is asked for, and what was heard of it so far.
pub(crate) trait Subscription {
    type Message: Send + 'static;

    /// Asks for the stream from where it was.
    fn open(&self, channel: Channel) -> BoxFuture<Result<Streaming<Self::Message>, Status>>;

    /// Takes note of a message, the `first` of its stream or a later one.
    fn heard(&mut self, message: &Self::Message, first: bool);
}

/// What a stream brings.
pub(crate) enum Step<M> {
    Message(M),
    /// A try to reach an agent failed, or the stream broke; it is tried again.
    Lost(Trouble),
    /// After at least one loss the agent at this endpoint answers.
    Back(String),
}

enum Phase<M> {
    Pausing {
        until: Instant,
    },
    Opening {
        connection: Connection,
        opening: Opening<M>,
    },
    Open {
        connection: Connection,
        stream: Box<Streaming<M>>,
        first: Option<M>,
        since: Instant,
        heard: Instant,
    },
}

/// A stream that comes back until its deadline.
pub(crate) struct Returning<S: Subscription> {
    subscription: S,
    client: Client,
    attempts: Attempts,
    deadline: Option<Instant>,
    began: Option<Instant>,
    answered: bool,
    lost: bool,
    phase: Phase<S::Message>,
}

impl<S: Subscription> Returning<S> {
    pub(crate) fn new(client: Client, subscription: S, deadline: Option<Instant>) -> Self {
        Self {
            subscription,
            attempts: client.attempts(),
            client,
            deadline,
            began: None,
            answered: false,
            lost: false,
            phase: Phase::Pausing { until: Instant::now() },
        }
    }

    /// The next step; `None` when the deadline has passed. A call that is dropped loses nothing: the
    /// next one goes on where it was.
    pub(crate) async fn next(&mut self) -> Result<Option<Step<S::Message>>, Error> {
        self.began.get_or_insert_with(Instant::now);
        loop {
            let limit = self.limit();
            let fault = match &mut self.phase {
                Phase::Pausing { until } => {
                    sleep_until(limit.map_or(*until, |limit| limit.min(*until))).await;
                    if limit.is_some_and(|limit| limit <= Instant::now()) {
                        return self.give_up();
                    }
                    self.open();
                    continue;
                }
                Phase::Opening { opening, .. } => match until(limit, opening).await {
                    None => return self.give_up(),
                    Some(Ok((stream, first))) => {
                        self.opened(stream, first);
                        continue;
                    }
                    Some(Err(fault)) => fault,
                },
                Phase::Open { connection, stream, first, heard, .. } => {
                    if self.lost {
                        self.lost = false;
                        return Ok(Some(Step::Back(connection.endpoint.clone())));
                    }
                    if let Some(first) = first.take() {
                        self.subscription.heard(&first, true);
                        return Ok(Some(Step::Message(first)));
                    }
                    let silence = self.client.settings.silence_timeout;
                    let patience = earlier(limit, heard.checked_add(silence));
                    let heard_now = until(patience, pin!(stream.message())).await;
                    match heard_now {
                        Some(Ok(Some(message))) => {
                            *heard = Instant::now();
                            self.subscription.heard(&message, false);
                            return Ok(Some(Step::Message(message)));
                        }
                        Some(Ok(None)) => Fault::ended(&connection.endpoint),
                        Some(Err(status)) => Fault::of(&connection.endpoint, &status),
                        None if limit.is_some_and(|limit| limit <= Instant::now()) => {
                            return self.give_up();
                        }
                        None => Fault::silence(&connection.endpoint, silence),
                    }
                }
            };
            match fault {
                Fault::Final(refusal) => return Err(refusal.into()),
                Fault::Passing(trouble) => {
                    self.answered |= trouble.answered;
                    self.pause(trouble.clone());
                    self.lost = true;
                    return Ok(Some(Step::Lost(trouble)));
                }
            }
        }
    }

    /// After the last message: reads on in the background, for a moment at most, to where the agent ends
    /// the stream. A stream that is dropped before is reset, and HTTP/2 closes a connection on which
    /// many streams were reset while the other side was ending them: all others would break with it.
    pub(crate) fn let_end(&mut self) {
        let over = Phase::Pausing { until: Instant::now() };
        if let Phase::Open { mut stream, .. } = std::mem::replace(&mut self.phase, over) {
            tokio::spawn(async move { timeout(GRACE, stream.message()).await.is_ok() });
        }
    }

    /// The moment at which the present phase must end.
    fn limit(&self) -> Option<Instant> {
        if let Phase::Open { .. } = self.phase {
            return self.deadline.and_then(|at| at.checked_add(GRACE));
        }
        earlier(self.deadline, self.search_limit())
    }

    /// When to give up the search for a first answer; `None` once there was one.
    fn search_limit(&self) -> Option<Instant> {
        match self.answered {
            true => None,
            false => self.began?.checked_add(self.client.settings.connect_timeout),
        }
    }

    fn give_up(&mut self) -> Result<Option<Step<S::Message>>, Error> {
        if self.deadline.is_some_and(|at| at <= Instant::now()) {
            return Ok(None);
        }
        if let Phase::Opening { connection, .. } = &self.phase {
            self.attempts.cut_off(connection);
        }
        let within = self.client.settings.connect_timeout;
        Err(self.attempts.no_agent(within).into())
    }

    fn open(&mut self) {
        let connection = self.attempts.connection();
        let open = self.subscription.open(connection.channel.clone());
        let endpoint = connection.endpoint.clone();
        let patience = self.client.settings.answer_timeout;
        let opening = Box::pin(async move {
            let first = async {
                let mut stream = open.await?;
                let first = stream.message().await?;
                Ok::<_, Status>(first.map(|first| (stream, first)))
            };
            match timeout(patience, first).await {
                Ok(Ok(Some(opened))) => Ok(opened),
                Ok(Ok(None)) => Err(Fault::ended(&endpoint)),
                Ok(Err(status)) => Err(Fault::of(&endpoint, &status)),
                Err(_) => Err(Fault::no_answer(&endpoint, patience)),
            }
        });
        self.phase = Phase::Opening { connection, opening };
    }

    fn opened(&mut self, stream: Streaming<S::Message>, first: S::Message) {
        let now = Instant::now();
        self.answered = true;
        if let Phase::Opening { connection, .. } = &self.phase {
            self.phase = Phase::Open {
                connection: connection.clone(),
                stream: Box::new(stream),
                first: Some(first),
                since: now,
                heard: now,
            };
        }
    }

    fn pause(&mut self, trouble: Trouble) {
        let (connection, lived) = match &self.phase {
            Phase::Pausing { .. } => return,
            Phase::Opening { connection, .. } => (connection.clone(), Duration::ZERO),
            Phase::Open { connection, since, .. } => (connection.clone(), since.elapsed()),
        };
        // A stream that breaks soon after each start must not be opened in a tight loop.
        if lived >= self.client.settings.max_pause {
            self.attempts.serves_well();
        }
        let pause = self.attempts.failed(&connection, trouble);
        let limit = earlier(self.deadline, self.search_limit());
        self.phase = Phase::Pausing { until: Instant::now() + in_time(pause, limit) };
    }
}

/// The earlier of two limits; `None` is no limit.
fn earlier(one: Option<Instant>, other: Option<Instant>) -> Option<Instant> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}

/// The future's output, or `None` when the limit comes first.
pub(crate) async fn until<F: Future + Unpin>(limit: Option<Instant>, future: F) -> Option<F::Output> {
    match limit {
        Some(limit) => timeout_at(limit, future).await.ok(),
        None => Some(future.await),
    }
}

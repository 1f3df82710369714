//! Group commit: requests that come while one group is being written form the next.
//!
//! Promises: a caller is answered after its group is on disk. The group grows with the load and
//! nobody waits for a timer. The queue is bounded: a full one holds its callers up.

use tokio::sync::{mpsc, oneshot};

/// Requests that wait for the next group, and the most that one takes.
const QUEUE: usize = 1_024;

/// A group was not written, as far as is known.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GatherError {
    /// The store failed: whether the group is on disk is open.
    #[error("the store failed: {0}")]
    Store(String),
    /// The agent is leaving.
    #[error("the agent is stopping")]
    Stopping,
}

type Answer<A> = oneshot::Sender<Result<A, GatherError>>;

/// Hands requests in.
pub struct Gather<Q, A>(mpsc::Sender<(Q, Answer<A>)>);

impl<Q, A> Clone for Gather<Q, A> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

/// Takes the requests of a [`Gather`] out in groups.
pub struct Groups<Q, A>(mpsc::Receiver<(Q, Answer<A>)>);

impl<Q, A> Gather<Q, A> {
    /// Both ends.
    pub fn new() -> (Self, Groups<Q, A>) {
        let (sender, receiver) = mpsc::channel(QUEUE);
        (Self(sender), Groups(receiver))
    }

    /// Hands a request in; answers when its group is on disk.
    pub async fn ask(&self, request: Q) -> Result<A, GatherError> {
        let (reply, answer) = oneshot::channel();
        let sent = self.0.send((request, reply)).await;
        sent.map_err(|_| GatherError::Stopping)?;
        answer.await.map_err(|_| GatherError::Stopping)?
    }
}

/// The callers of one group, in the order of their requests.
#[must_use = "callers wait for their answers"]
pub struct Callers<A>(Vec<Answer<A>>);

impl<Q, A> Groups<Q, A> {
    /// The next group of requests that together weigh no more than `most`, or of one that weighs more;
    /// `None` when every [`Gather`] is gone and nothing is left.
    pub async fn next_within(
        &mut self,
        most: usize,
        weight: impl Fn(&Q) -> usize,
    ) -> Option<(Vec<Q>, Callers<A>)> {
        let (request, caller) = self.0.recv().await?;
        let mut weighs = weight(&request);
        let (mut requests, mut callers) = (vec![request], vec![caller]);
        while weighs < most {
            let Ok((request, caller)) = self.0.try_recv() else {
                break;
            };
            weighs += weight(&request);
            requests.push(request);
            callers.push(caller);
        }
        Some((requests, Callers(callers)))
    }

    /// The next group; `None` when every [`Gather`] is gone and nothing is left.
    pub async fn next(&mut self) -> Option<(Vec<Q>, Callers<A>)> {
        let mut group = Vec::new();
        if self.0.recv_many(&mut group, QUEUE).await == 0 {
            return None;
        }
        let (requests, callers) = group.into_iter().unzip();
        Some((requests, Callers(callers)))
    }
}

impl<A> Callers<A> {
    /// Answers all of a group. A caller that left needs no answer.
    pub fn answer<E: ToString>(self, outcome: Result<Vec<A>, E>) {
        match outcome {
            Ok(answers) => {
                for (caller, answer) in self.0.into_iter().zip(answers) {
                    let _ = caller.send(Ok(answer));
                }
            }
            Err(error) => {
                let error = GatherError::Store(error.to_string());
                for caller in self.0 {
                    let _ = caller.send(Err(error.clone()));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;

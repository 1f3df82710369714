//! What can go wrong, and what to do about it.

use std::{error::Error as StdError, fmt, time::Duration};

use tonic::{Code, Status};
use tonic_types::StatusExt;

/// Why a call or a stream ended without its result.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// No agent did what was asked in the time given for it. Trying again later may help.
    #[error(transparent)]
    NoAgent(#[from] NoAgent),
    /// An agent answered that it will not do this. Repeating it as it is does not help.
    #[error(transparent)]
    Refused(#[from] Refusal),
}

/// No agent did what was asked in the time given for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoAgent {
    /// How long it was tried.
    pub within: Duration,
    /// The last trouble with each endpoint that was tried, in their order.
    pub troubles: Vec<Trouble>,
}

impl fmt::Display for NoAgent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let within = humantime::format_duration(rounded(self.within));
        if self.troubles.iter().any(|t| t.answered) {
            write!(f, "no agent was able to serve the call within {within}")?;
        } else {
            write!(f, "no agent answered within {within}")?;
        }
        for trouble in &self.troubles {
            write!(f, "\n  {trouble}")?;
        }
        write!(
            f,
            "\n  is `asset-agent serve` running there? Its address is given with --endpoint or ASSET_SENSOR_ENDPOINTS"
        )
    }
}

impl StdError for NoAgent {}

/// To the nearest second, or below ten seconds to the nearest millisecond: what a person can use.
fn rounded(duration: Duration) -> Duration {
    let millis = duration.as_secs_f64() * 1000.0;
    if millis < 10_000.0 {
        Duration::from_millis(millis.round() as u64)
    } else {
        Duration::from_secs((millis / 1000.0).round() as u64)
    }
}

/// A fault that passes: the caller need not act, the client tries again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trouble {
    /// The endpoint that it happened with.
    pub endpoint: String,
    /// What happened.
    pub reason: String,
    /// True when the answer came from an agent, false when nothing that speaks gRPC answered.
    pub answered: bool,
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.endpoint, self.reason)
    }
}

/// An agent's answer that it will not do what was asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The endpoint that answered.
    pub endpoint: String,
    /// Why, as a gRPC code.
    pub code: Code,
    /// Why, in the agent's words.
    pub message: String,
    /// Fields of the request that are wrong, each with what is wrong with it.
    pub violations: Vec<(String, String)>,
}

impl Refusal {
    /// What the caller can do about it.
    fn way_out(&self) -> Option<&'static str> {
        match self.code {
            Code::Unauthenticated => Some("the agent wants to know who calls"),
            Code::PermissionDenied => Some("the agent does not let this caller do that"),
            Code::Unimplemented => Some(
                "what answers there does not serve asset.v1, or an older state of it: check --endpoint, and the agent's version",
            ),
            _ => None,
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} refused: ", self.endpoint)?;
        match self.message.as_str() {
            "" => write!(f, "{}", self.code)?,
            message => write!(f, "{message}")?,
        }
        for (field, description) in &self.violations {
            write!(f, "\n  {field}: {description}")?;
        }
        match self.way_out() {
            Some(way_out) => write!(f, "\n  {way_out}"),
            None => Ok(()),
        }
    }
}

impl StdError for Refusal {}

/// What to make of a status.
#[derive(Debug)]
pub(crate) enum Fault {
    /// Try again.
    Passing(Trouble),
    /// Give up.
    Final(Refusal),
}

impl Fault {
    pub(crate) fn of(endpoint: &str, status: &Status) -> Self {
        // What the client itself made up for a broken transport has a source, an agent's answer none.
        let cause = status.source().map(cause_of);
        let passes = cause.is_some()
            || matches!(
                status.code(),
                Code::Unavailable
                    | Code::ResourceExhausted
                    | Code::DeadlineExceeded
                    | Code::Internal
                    | Code::Unknown
                    | Code::Aborted
                    | Code::Cancelled
            );
        if passes {
            let answered = cause.is_none();
            let reason = cause.unwrap_or_else(|| match status.message() {
                "" => status.code().to_string(),
                message => message.to_owned(),
            });
            return Self::Passing(Trouble { endpoint: endpoint.to_owned(), reason, answered });
        }
        let violations = status
            .get_details_bad_request()
            .map(|details| details.field_violations)
            .unwrap_or_default()
            .into_iter()
            .map(|violation| (violation.field, violation.description))
            .collect();
        Self::Final(Refusal {
            endpoint: endpoint.to_owned(),
            code: status.code(),
            message: status.message().to_owned(),
            violations,
        })
    }

    /// A stream that an agent ended though there was more to say.
    pub(crate) fn ended(endpoint: &str) -> Self {
        Self::Passing(Trouble {
            endpoint: endpoint.to_owned(),
            reason: "the stream ended".to_owned(),
            answered: true,
        })
    }

    /// No answer in the time that an agent needs for one.
    pub(crate) fn no_answer(endpoint: &str, within: Duration) -> Self {
        let within = humantime::format_duration(within);
        Self::mute(endpoint, format!("no answer within {within}; is it an agent?"))
    }

    /// A stream without even a heartbeat.
    pub(crate) fn silence(endpoint: &str, lasting: Duration) -> Self {
        let lasting = humantime::format_duration(lasting);
        Self::mute(endpoint, format!("nothing was heard for {lasting}"))
    }

    fn mute(endpoint: &str, reason: String) -> Self {
        Self::Passing(Trouble { endpoint: endpoint.to_owned(), reason, answered: false })
    }
}

/// The chain of causes in one line. The outer ones only say that the transport failed; each cause
/// that merely repeats the one before it is left out.
fn cause_of(error: &(dyn StdError + 'static)) -> String {
    let mut causes: Vec<String> = Vec::new();
    let mut next = Some(error);
    while let Some(error) = next {
        let text = error.to_string();
        if text != "transport error" && !text.is_empty() {
            match causes.last() {
                Some(last) if last.contains(&text) => {}
                _ => causes.push(text),
            }
        }
        next = error.source();
    }
    if causes.is_empty() {
        return error.to_string();
    }
    causes.join(": ")
}

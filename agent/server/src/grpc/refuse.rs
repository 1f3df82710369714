//! Refusals: gRPC statuses that a program can act upon. `ErrorInfo` has the reason as a code,
//! `BadRequest` each field that is wrong.

use std::collections::HashMap;

use asset_core::condition::Violation;
use asset_engine::EngineError;
use tonic::{Code, Status};
use tonic_types::{ErrorDetails, StatusExt};

/// Domain of the reason codes.
const DOMAIN: &str = "asset.v1";

/// A request with fields that are wrong: all of them are named.
pub fn invalid(violations: &[Violation]) -> Status {
    let mut details = ErrorDetails::new();
    for violation in violations {
        details.add_bad_request_violation(&violation.field, &violation.description);
    }
    details.set_error_info("INVALID_FIELDS", DOMAIN, HashMap::new());
    Status::with_error_details(Code::InvalidArgument, sentences(violations), details)
}

/// What is wrong, for people.
pub fn sentences(violations: &[Violation]) -> String {
    let sentence = |violation: &Violation| format!("{}: {}", violation.field, violation.description);
    violations.iter().map(sentence).collect::<Vec<_>>().join("; ")
}

/// What the engine could not do.
pub fn failed(error: EngineError) -> Status {
    let (code, reason) = match &error {
        EngineError::Stopping => (Code::Unavailable, "AGENT_STOPPING"),
        EngineError::Store(_) => (Code::Unavailable, "STORE_UNREACHABLE"),
        EngineError::ReportsOff => (Code::FailedPrecondition, "REPORTS_OFF"),
        EngineError::NoSuchWait(_) => (Code::NotFound, "NO_SUCH_WAIT"),
        EngineError::NotReady(_) => (Code::FailedPrecondition, "WAIT_NOT_READY"),
        EngineError::NeverRead { .. } => (Code::NotFound, "TABLE_NEVER_READ"),
        EngineError::ReadHere { .. } => (Code::FailedPrecondition, "READ_FROM_CATALOG"),
        EngineError::OtherOrdering { .. } => (Code::FailedPrecondition, "OTHER_ORDERING"),
        EngineError::NoSuchVersion { .. } => (Code::NotFound, "NO_SUCH_SNAPSHOT"),
        EngineError::NoSuchAsset(_) => (Code::NotFound, "NO_SUCH_ASSET"),
    };
    let details = ErrorDetails::with_error_info(reason, DOMAIN, HashMap::new());
    Status::with_error_details(code, error.to_string(), details)
}

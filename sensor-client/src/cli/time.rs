//! Moments as text.

use jiff::Timestamp;

/// A moment in RFC 3339, UTC; `None` when it is none or lies outside the years that have names.
pub fn rfc3339(at: Option<&prost_types::Timestamp>) -> Option<String> {
    let at = at?;
    Some(Timestamp::new(at.seconds, at.nanos).ok()?.to_string())
}

/// Epoch milliseconds in RFC 3339, UTC, or as the number where it is no moment that has a name.
pub fn of_millis(millis: i64) -> String {
    match Timestamp::from_millisecond(millis) {
        Ok(at) => at.to_string(),
        Err(_) => millis.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_read_as_rfc_3339() {
        let at = |seconds, nanos| rfc3339(Some(&prost_types::Timestamp { seconds, nanos }));
        assert_eq!(at(1_795_968_000, 0).as_deref(), Some("2026-11-29T16:00:00Z"));
        assert_eq!(at(0, 5_000_000).as_deref(), Some("1970-01-01T00:00:00.005Z"));
        assert_eq!(at(i64::MAX, 0), None);
        assert_eq!(rfc3339(None), None);
        assert_eq!(of_millis(1_500), "1970-01-01T00:00:01.5Z");
        assert_eq!(of_millis(i64::MIN), i64::MIN.to_string());
    }
}

//! Moments as text.

use jiff::{Timestamp, civil::Date, tz::TimeZone};

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

/// Reads a time as epoch milliseconds: RFC 3339, epoch milliseconds, or a date, which stands for its first
/// moment in UTC. Eight digits are a date.
pub fn millis(text: &str) -> Result<i64, String> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let date = match text.len() {
        8 if digits => Some(format!("{}-{}-{}", &text[..4], &text[4..6], &text[6..])),
        10 if !digits => Some(text.to_owned()),
        _ => None,
    };
    if let Some(date) = date.and_then(|date| date.parse::<Date>().ok()) {
        let first = TimeZone::UTC.to_timestamp(date.at(0, 0, 0, 0)).map_err(|error| error.to_string())?;
        return Ok(first.as_millisecond());
    }
    if let Ok(millis) = text.parse::<i64>() {
        return Ok(millis);
    }
    let moment: Result<Timestamp, _> = text.parse();
    moment.map(Timestamp::as_millisecond).map_err(|_| {
        format!(
            "`{text}` is no time; expected RFC 3339 (2026-11-30T16:00:00Z), epoch milliseconds or a date (20261130)"
        )
    })
}

/// Epoch milliseconds as a message has them.
pub fn timestamp(millis: i64) -> prost_types::Timestamp {
    prost_types::Timestamp {
        seconds: millis.div_euclid(1_000),
        nanos: (millis.rem_euclid(1_000) * 1_000_000) as i32,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read() {
        for (text, expected) in [
            ("2026-11-29T16:00:00Z", 1_795_968_000_000),
            ("2026-11-30T00:00:00+08:00", 1_795_968_000_000),
            ("1795968000000", 1_795_968_000_000),
            ("-1", -1),
            // 2026-11-29 is 20,786 days after 1970-01-01.
            ("20261129", 20_786 * 86_400_000),
            ("2026-11-29", 20_786 * 86_400_000),
        ] {
            assert_eq!(millis(text), Ok(expected), "{text}");
        }
        for text in ["", "noon", "2026-13-01", "2026-11-29T25:00:00Z", "99999999999999999999"] {
            assert!(millis(text).expect_err(text).contains("is no time"), "{text}");
        }
        assert_eq!(timestamp(-1), prost_types::Timestamp { seconds: -1, nanos: 999_000_000 });
    }

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

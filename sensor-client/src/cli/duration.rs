//! Durations as people write them.

use std::time::Duration;

/// Ten years: more than anybody waits, and far from where clocks end.
const LONGEST: Duration = Duration::from_secs(3650 * 24 * 60 * 60);

/// Reads a duration such as `30s`, `5m`, `1h` or `1h 30m`.
pub fn parse(text: &str) -> Result<Duration, String> {
    let text = text.trim();
    let number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    let problem = if text.is_empty() {
        "it is empty"
    } else if text.strip_prefix('-').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit())) {
        "it is negative"
    } else if number(text) {
        "it has no unit"
    } else {
        match humantime::parse_duration(text) {
            Ok(duration) if duration.is_zero() => "it must be longer than nothing",
            Ok(duration) if duration > LONGEST => "it is longer than 3650d",
            Ok(duration) => return Ok(duration),
            Err(_) => "it is no duration",
        }
    };
    Err(format!("{problem}; write for example `30s`, `5m` or `1h`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_durations() {
        for (text, seconds) in [("30s", 30), ("5m", 300), ("1h 30m", 5400), ("3650d", 315_360_000)] {
            assert_eq!(parse(text), Ok(Duration::from_secs(seconds)));
        }
        assert_eq!(parse("1ms"), Ok(Duration::from_millis(1)));
    }

    #[test]
    fn says_what_is_wrong_and_what_is_right() {
        for (text, problem) in [
            ("", "it is empty"),
            ("-5s", "it is negative"),
            ("30", "it has no unit"),
            ("1.5", "it has no unit"),
            ("0", "it has no unit"),
            ("0s", "longer than nothing"),
            ("soon", "it is no duration"),
            ("--asset", "it is no duration"),
            ("5 parsecs", "it is no duration"),
            ("99999999999999999999s", "it is no duration"),
            ("3651d", "longer than 3650d"),
        ] {
            let error = parse(text).expect_err(text);
            assert!(error.starts_with(problem) || error.contains(problem), "{text}: {error}");
            assert!(error.ends_with("`30s`, `5m` or `1h`"), "{error}");
        }
    }
}

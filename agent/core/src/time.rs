//! Moments as people write them, and as they read them.

use jiff::{
    SignedDuration, Span, Timestamp,
    civil::{Date, DateTime},
    tz::{Offset, TimeZone},
};
use thiserror::Error;

use crate::version::Millis;

/// The zone that moments without one of their own are in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Zone(TimeZone);

/// What is wrong with a zone or a moment, and what is expected.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum TimeError {
    /// No such zone.
    #[error(
        "`{0}` is no time zone; expected a name such as `Asia/Shanghai`, an offset such as `+08:00`, or `UTC`"
    )]
    Zone(String),
    /// Not a moment.
    #[error(
        "`{0}` is no time; expected RFC 3339 (`2026-11-30T16:00:00Z`), epoch milliseconds, or a date with an \
         optional offset (`20261130`, `2026-11-30+1d`; units w, d, h, m)"
    )]
    Moment(String),
    /// Beyond the calendar.
    #[error("`{0}` is beyond the years -9999 to 9999")]
    Range(String),
}

impl Default for Zone {
    fn default() -> Self {
        Self::UTC
    }
}

impl Zone {
    /// Coordinated universal time.
    pub const UTC: Self = Self(TimeZone::UTC);

    /// Reads a name of the time zone database or a fixed offset.
    pub fn parse(text: &str) -> Result<Self, TimeError> {
        let unknown = || TimeError::Zone(text.to_owned());
        if text.eq_ignore_ascii_case("utc") || text == "Z" {
            return Ok(Self::UTC);
        }
        if text.starts_with(['+', '-']) {
            return offset(text).map(|offset| Self(TimeZone::fixed(offset))).ok_or_else(unknown);
        }
        TimeZone::get(text).map(Self).map_err(|_| unknown())
    }
}

/// `+08:00`, `+0800` or `+08`.
fn offset(text: &str) -> Option<Offset> {
    let sign = if text.starts_with('-') { -1 } else { 1 };
    let digits: String = text[1..].chars().filter(|c| *c != ':').collect();
    let (hours, minutes) = match digits.len() {
        2 => (digits.as_str(), "0"),
        4 => digits.split_at(2),
        _ => return None,
    };
    let (hours, minutes): (i32, i32) = (hours.parse().ok()?, minutes.parse().ok()?);
    (hours < 24 && minutes < 60).then_some(())?;
    Offset::from_seconds(sign * (hours * 3_600 + minutes * 60)).ok()
}

/// Reads a moment: RFC 3339, epoch milliseconds, or a date or time of DolphinScheduler's or ISO's form
/// in `zone`, with an optional offset behind a date. Eight digits are a date, fourteen a time.
pub fn parse_moment(text: &str, zone: &Zone) -> Result<Millis, TimeError> {
    let text = text.trim();
    let unreadable = || TimeError::Moment(text.to_owned());
    let beyond = || TimeError::Range(text.to_owned());
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let local = |at: DateTime| {
        let moment = zone.0.to_timestamp(at).map_err(|_| beyond())?;
        Ok(moment.as_millisecond())
    };

    if digits(text) && text.len() == 14 {
        let at = DateTime::strptime("%Y%m%d%H%M%S", text).map_err(|_| unreadable())?;
        return local(at);
    }
    if digits(text) && text.len() != 8 || text.strip_prefix('-').is_some_and(digits) {
        let millis: Millis = text.parse().map_err(|_| beyond())?;
        return Timestamp::from_millisecond(millis).map(|_| millis).map_err(|_| beyond());
    }
    for (length, format) in [(8, "%Y%m%d"), (10, "%Y-%m-%d")] {
        let Some((date, rest)) = text.split_at_checked(length) else {
            continue;
        };
        if let (Ok(date), true) =
            (Date::strptime(format, date), rest.is_empty() || rest.starts_with(['+', '-']))
        {
            let span = if rest.is_empty() { Span::new() } else { span(rest).ok_or_else(unreadable)? };
            let at = date.to_datetime(jiff::civil::Time::midnight());
            return local(at.checked_add(span).map_err(|_| beyond())?);
        }
    }
    if let Ok(at) = text.parse::<Timestamp>() {
        return Ok(at.as_millisecond());
    }
    // A time of day without a zone.
    match text.parse::<DateTime>() {
        Ok(at) if text.len() > 10 => local(at),
        _ => Err(unreadable()),
    }
}

/// `+1d`, `-2h`.
fn span(text: &str) -> Option<Span> {
    let sign = if text.starts_with('-') { -1 } else { 1 };
    let (number, unit) = text[1..].split_at_checked(text.len() - 2)?;
    if !number.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let number = sign * number.parse::<i64>().ok()?;
    let span = match unit {
        "w" => Span::new().try_weeks(number),
        "d" => Span::new().try_days(number),
        "h" => Span::new().try_hours(number),
        "m" => Span::new().try_minutes(number),
        _ => return None,
    };
    span.ok()
}

/// A moment as people read it: in UTC, as short as it is exact. What no calendar has (a writer's
/// greatest watermark) is shown as a number.
pub fn show_moment(millis: Millis) -> String {
    Timestamp::from_millisecond(millis).map_or_else(|_| millis.to_string(), |at| at.to_string())
}

/// How long it is from one moment to a later one, in at most two units.
pub fn show_distance(from: Millis, to: Millis) -> String {
    let distance = SignedDuration::from_millis(to.saturating_sub(from));
    let seconds = distance.as_secs();
    let unit = |seconds: i64, one: i64, name: &str, next: i64, next_name: &str| match seconds % one / next {
        0 => format!("{}{name}", seconds / one),
        rest => format!("{}{name} {rest}{next_name}", seconds / one),
    };
    match seconds {
        86_400.. => unit(seconds, 86_400, "d", 3_600, "h"),
        3_600.. => unit(seconds, 3_600, "h", 60, "min"),
        60.. => unit(seconds, 60, "min", 1, "s"),
        1.. => format!("{seconds}s"),
        _ => format!("{}ms", distance.as_millis()),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn shanghai() -> Zone {
        Zone::parse("Asia/Shanghai").unwrap()
    }

    #[test]
    fn every_form() {
        // 2026-11-30T16:00:00Z: 20,787 days (2026-11-30 is day 20787 since the epoch) and 16 hours.
        let four = (20_787 * 24 + 16) * 3_600_000;
        for text in [
            "2026-12-01",
            "20261201",
            "20261130+1d",
            "2026-11-30+1d",
            "20261202-1d",
            "20261208-1w",
            "20261130+24h",
            "2026-12-01T00:00:00",
            "2026-12-01 00:00:00",
            "20261201000000",
            "2026-11-30T16:00:00Z",
            "2026-12-01T00:00:00+08:00",
            " 2026-12-01 ",
            &four.to_string(),
        ] {
            assert_eq!(parse_moment(text, &shanghai()), Ok(four), "{text}");
        }
        let fixed = Zone::parse("+08:00").unwrap();
        assert_eq!(parse_moment("20261201", &fixed), Ok(four));
        assert_eq!(parse_moment("20261130+16h", &Zone::UTC), Ok(four));
        assert_eq!(parse_moment("20261130+960m", &Zone::UTC), Ok(four));
        assert_eq!(parse_moment("-1", &Zone::UTC), Ok(-1));
        assert_eq!(parse_moment("0", &shanghai()), Ok(0));
    }

    #[test]
    fn a_day_is_a_day_where_clocks_change() {
        // In Berlin clocks went back on 2026-10-25: that day had 25 hours.
        let berlin = Zone::parse("Europe/Berlin").unwrap();
        let day = |text| parse_moment(text, &berlin).unwrap();
        assert_eq!(day("20261025+1d") - day("20261025"), 25 * 3_600_000);
        // On 2026-03-29 the hour from 2 to 3 was left out: what never was is taken for the moment after.
        assert_eq!(day("2026-03-29T02:30:00"), day("2026-03-29T03:30:00"));
    }

    #[test]
    fn what_is_no_time() {
        for text in [
            "",
            "tomorrow",
            "2026-13-01",
            "20261301",
            "2026-11-30+1",
            "2026-11-30+d",
            "2026-11-30+1y",
            "2026-11-30*1d",
            "2026-11-30T25:00:00Z",
            "1e3",
            "0x10",
            "2026",
            "12:00",
            "20261130+-1d",
            "２０２６1130",
            "2026-11-30é",
        ]
        .into_iter()
        .filter(|text| *text != "2026")
        {
            let error = parse_moment(text, &Zone::UTC).unwrap_err();
            assert!(matches!(error, TimeError::Moment(_)), "{text}: {error:?}");
            assert!(error.to_string().contains("epoch milliseconds"), "{error}");
        }
        // Four digits are milliseconds, as any other number of them.
        assert_eq!(parse_moment("2026", &Zone::UTC), Ok(2026));
        for text in ["99999999999999999999", "-99999999999999999999", "999999999999999", "20261130+99999999w"]
        {
            let error = parse_moment(text, &Zone::UTC).unwrap_err();
            assert!(matches!(error, TimeError::Range(_) | TimeError::Moment(_)), "{text}: {error:?}");
        }
    }

    #[test]
    fn zones() {
        for text in ["UTC", "utc", "Z", "Asia/Shanghai", "+08:00", "-0330", "+00"] {
            Zone::parse(text).unwrap();
        }
        for text in ["", "Asia/Nowhere", "+24:00", "+8", "+08:60", "GMT+8", "../etc/passwd", "+é0"] {
            let error = Zone::parse(text).unwrap_err().to_string();
            assert!(error.contains("Asia/Shanghai"), "{text}: {error}");
        }
    }

    #[test]
    fn how_moments_and_distances_read() {
        assert_eq!(show_moment(1_796_054_400_000), "2026-11-30T16:00:00Z");
        assert_eq!(show_moment(1_796_054_400_001), "2026-11-30T16:00:00.001Z");
        assert_eq!(show_moment(i64::MAX), i64::MAX.to_string());
        for (distance, text) in [
            (0, "0ms"),
            (999, "999ms"),
            (1_000, "1s"),
            (61_000, "1min 1s"),
            (18 * 60_000, "18min"),
            (3_600_000, "1h"),
            (90 * 60_000, "1h 30min"),
            (86_400_000 + 7_200_000, "1d 2h"),
            (i64::MAX, "106751991167d 7h"),
        ] {
            assert_eq!(show_distance(0, distance), text);
        }
        assert_eq!(show_distance(i64::MIN, i64::MAX), "106751991167d 7h");
    }

    proptest! {
        #[test]
        fn what_is_shown_is_read_again(millis in -377_000_000_000_000_i64..253_000_000_000_000) {
            prop_assert_eq!(parse_moment(&show_moment(millis), &shanghai()), Ok(millis));
        }

        #[test]
        fn any_text_is_answered(text in "\\PC{0,24}", zone in "\\PC{0,12}") {
            let _ = parse_moment(&text, &Zone::UTC);
            let _ = Zone::parse(&zone);
        }

        #[test]
        fn texts_that_are_nearly_times_are_answered(text in "[0-9T:Zz+dhw. -]{0,28}") {
            let _ = parse_moment(&text, &shanghai());
            let _ = Zone::parse(&text);
        }
    }
}

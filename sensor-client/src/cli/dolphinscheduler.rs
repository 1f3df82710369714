//! Pinned versions as `${setValue(name=value)}` lines, which DolphinScheduler takes from a task's
//! output and pastes into the scripts of later tasks. So every value is safe as text in a script.

use std::{
    collections::BTreeSet,
    fmt::Write as _,
    io::{self, Write},
};

use asset_proto::v1::PinnedVersion;
use serde::Serialize;
use serde_json::ser::{CharEscape, Formatter, Serializer};

use super::views;

/// Writes the lines. Returns the names that two pins share, so that only one of them counts.
pub fn write(out: &mut dyn Write, pinned: &[PinnedVersion]) -> io::Result<Vec<String>> {
    let mut names = BTreeSet::new();
    let mut shared = Vec::new();
    for pin in pinned {
        let name = parameter_name(&pin.name);
        set(out, &format!("asset_{name}_snapshot_id"), &plain(&pin.snapshot_id.to_string()))?;
        if let Some(watermark) = pin.watermark {
            set(out, &format!("asset_{name}_watermark"), &plain(&watermark.to_string()))?;
        }
        if !pin.tag.is_empty() {
            set(out, &format!("asset_{name}_tag"), &plain(&pin.tag))?;
        }
        if let Some(name) = names.replace(name) {
            shared.push(name);
        }
    }
    set(out, "asset_pinned", &json(&views::pins(pinned))?)?;
    Ok(shared)
}

fn set(out: &mut dyn Write, name: &str, value: &str) -> io::Result<()> {
    writeln!(out, "${{setValue({name}={value})}}")
}

fn parameter_name(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect()
}

fn is_safe(c: char) -> bool {
    c.is_ascii_alphanumeric() || "_.:/@%+=,-".contains(c)
}

/// The value with everything else percent-encoded.
fn plain(value: &str) -> String {
    let mut safe = String::with_capacity(value.len());
    for c in value.chars() {
        if is_safe(c) {
            safe.push(c);
        } else {
            for byte in c.encode_utf8(&mut [0; 4]).bytes() {
                // Writing to a string does not fail.
                write!(safe, "%{byte:02X}").ok();
            }
        }
    }
    safe
}

/// The value as JSON of safe characters and JSON's own punctuation.
fn json(value: &impl Serialize) -> io::Result<String> {
    let mut text = Vec::new();
    value.serialize(&mut Serializer::with_formatter(&mut text, Safe))?;
    String::from_utf8(text).map_err(io::Error::other)
}

struct Safe;

impl Formatter for Safe {
    fn write_string_fragment<W: ?Sized + Write>(&mut self, out: &mut W, fragment: &str) -> io::Result<()> {
        for c in fragment.chars() {
            if is_safe(c) || "{}[]".contains(c) {
                write!(out, "{c}")?;
            } else {
                escape(out, c)?;
            }
        }
        Ok(())
    }

    fn write_char_escape<W: ?Sized + Write>(&mut self, out: &mut W, escaped: CharEscape) -> io::Result<()> {
        let c = match escaped {
            CharEscape::Quote => '"',
            CharEscape::ReverseSolidus => '\\',
            CharEscape::Solidus => '/',
            CharEscape::Backspace => '\u{8}',
            CharEscape::FormFeed => '\u{c}',
            CharEscape::LineFeed => '\n',
            CharEscape::CarriageReturn => '\r',
            CharEscape::Tab => '\t',
            CharEscape::AsciiControl(byte) => char::from(byte),
        };
        escape(out, c)
    }
}

fn escape<W: ?Sized + Write>(out: &mut W, c: char) -> io::Result<()> {
    for unit in c.encode_utf16(&mut [0; 2]) {
        write!(out, "\\u{unit:04x}")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pin(name: &str, snapshot_id: i64) -> PinnedVersion {
        PinnedVersion {
            asset_key: format!("paimon://lake/ods/{name}"),
            name: name.into(),
            snapshot_id,
            generation: 1,
            ordinal: snapshot_id,
            ..PinnedVersion::default()
        }
    }

    fn lines(pinned: &[PinnedVersion]) -> (String, Vec<String>) {
        let mut out = Vec::new();
        let shared = write(&mut out, pinned).expect("written");
        (String::from_utf8(out).expect("text"), shared)
    }

    #[test]
    fn the_lines_are_as_documented() {
        let orders = PinnedVersion {
            watermark: Some(1_795_968_000_000),
            fingerprint: "u-1".into(),
            ..pin("orders", 7)
        };
        let (text, shared) = lines(&[orders, pin("a-b 表", -1)]);
        assert_eq!(
            text,
            concat!(
                "${setValue(asset_orders_snapshot_id=7)}\n",
                "${setValue(asset_orders_watermark=1795968000000)}\n",
                "${setValue(asset_a_b___snapshot_id=-1)}\n",
                "${setValue(asset_pinned=[{\"assetKey\":\"paimon://lake/ods/orders\",\"name\":\"orders\",\"snapshotId\":7,\"generation\":1,\"ordinal\":7,\"fingerprint\":\"u-1\",\"watermark\":1795968000000},",
                "{\"assetKey\":\"paimon://lake/ods/a-b\\u0020\\u8868\",\"name\":\"a-b\\u0020\\u8868\",\"snapshotId\":-1,\"generation\":1,\"ordinal\":-1}])}\n",
            )
        );
        assert!(shared.is_empty());
    }

    #[test]
    fn no_value_carries_a_command() {
        let evil = "a'\";$(rm -rf ~)`x`\\\n\t|&<>#!*?~^\u{7f}\u{1f600})}${setValue(y=1)}";
        let (text, _) = lines(&[PinnedVersion { fingerprint: evil.into(), ..pin("orders", 7) }]);
        let json = text
            .lines()
            .last()
            .and_then(|line| line.strip_prefix("${setValue(asset_pinned="))
            .and_then(|line| line.strip_suffix(")}"))
            .expect("line");
        assert_eq!(text.lines().count(), 2);
        for (at, c) in json.char_indices() {
            let escape = c == '\\' && json[at..].starts_with("\\u");
            assert!(is_safe(c) || "{}[]\",:".contains(c) || escape, "{c:?} in {json}");
        }
        let back: serde_json::Value = serde_json::from_str(json).expect("JSON");
        assert_eq!(back[0]["fingerprint"], evil);
    }

    #[test]
    fn plain_values_are_percent_encoded() {
        assert_eq!(plain("a b'é$"), "a%20b%27%C3%A9%24");
        assert_eq!(plain("Az09_.:/@%+=,-"), "Az09_.:/@%+=,-");
    }

    #[test]
    fn names_that_fall_together_are_reported() {
        let (_, shared) = lines(&[pin("a-b", 1), pin("a_b", 2)]);
        assert_eq!(shared, ["a_b"]);
    }
}

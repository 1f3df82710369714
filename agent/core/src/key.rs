//! Asset keys: `format://catalog/database/table[/k=v…]`, always held in canonical form.

use std::{fmt, sync::Arc};

use sha2::{Digest, Sha256};
use thiserror::Error;

/// Longest canonical key, in bytes. Keys stand in `VARCHAR(512)` columns.
pub const MAX_KEY_BYTES: usize = 512;

/// Name of a format's default catalog where the configuration names none.
pub const FALLBACK_CATALOG: &str = "default";

/// Canonical key of an asset. Cheap to clone; equal, ordered and hashed by its canonical text.
///
/// Canonical means: lower-case format, catalog spelled out, every segment decoded and encoded again,
/// so that only RFC 3986 unreserved characters stay and all else is upper-case `%XX` of its UTF-8.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AssetKey(Arc<str>);

/// Why a text is no asset key. `at` counts bytes of the input from 0.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("malformed asset key at byte {at}: {reason}")]
pub struct KeyError {
    /// Byte of the input where it broke.
    pub at: usize,
    /// What is wrong there and what is expected.
    pub reason: KeyErrorReason,
}

/// What is wrong with a key.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum KeyErrorReason {
    /// No `://` after the format.
    #[error("expected `format://catalog/database/table`, found no `://`")]
    NoScheme,
    /// The format is not a scheme name.
    #[error("a format starts with a letter and has only letters, digits, `+`, `-` and `.`")]
    BadFormat,
    /// Fewer than two segments.
    #[error("expected `catalog/database/table` or `database/table` after `://`")]
    TooFewSegments,
    /// A segment without content.
    #[error("a segment is empty")]
    EmptySegment,
    /// `.` or `..`.
    #[error("`.` and `..` are no segments")]
    DotSegment,
    /// `%` without two hexadecimal digits.
    #[error("`%` must be followed by two hexadecimal digits")]
    BadEscape,
    /// The decoded bytes are not UTF-8.
    #[error("the escapes of this segment are not UTF-8")]
    NotUtf8,
    /// A segment behind the table that is no partition.
    #[error("behind the table only partition segments `k=v` may stand")]
    NotAPartition,
    /// A partition segment without a name.
    #[error("a partition segment needs a name before `=`")]
    UnnamedPartition,
    /// Longer than [`MAX_KEY_BYTES`].
    #[error("the canonical key would have {0} bytes, at most {MAX_KEY_BYTES} are allowed")]
    TooLong(usize),
}

impl AssetKey {
    /// Reads a key as a person writes it. `default_catalog` names the default catalog of a format;
    /// where it answers `None`, [`FALLBACK_CATALOG`] stands in.
    pub fn parse(text: &str, default_catalog: impl Fn(&str) -> Option<String>) -> Result<Self, KeyError> {
        let fail = |at, reason| Err(KeyError { at, reason });
        let Some(colon) = text.find("://") else {
            let at = text.find([':', '/']).unwrap_or(text.len());
            return fail(at, KeyErrorReason::NoScheme);
        };
        let format = text[..colon].to_ascii_lowercase();
        if let Some(at) = bad_format_byte(&format) {
            return fail(at, KeyErrorReason::BadFormat);
        }

        let path = colon + 3;
        let mut names = Vec::new();
        let mut partitions = Vec::new();
        for (at, raw) in segments(text, path) {
            if raw.is_empty() {
                let reason = if names.is_empty() && at == text.len() {
                    KeyErrorReason::TooFewSegments
                } else {
                    KeyErrorReason::EmptySegment
                };
                return fail(at, reason);
            }
            match raw.find('=') {
                // A bare `=` in one of the first two segments belongs to a name.
                Some(equals) if names.len() >= 2 => {
                    if equals == 0 {
                        return fail(at, KeyErrorReason::UnnamedPartition);
                    }
                    let name = decode(&raw[..equals], at)?;
                    let value = decode(&raw[equals + 1..], at + equals + 1)?;
                    partitions.push(format!("{}={}", encode(&name), encode(&value)));
                }
                _ if names.len() >= 3 || !partitions.is_empty() => {
                    return fail(at, KeyErrorReason::NotAPartition);
                }
                _ => {
                    let name = decode(raw, at)?;
                    if name == "." || name == ".." {
                        return fail(at, KeyErrorReason::DotSegment);
                    }
                    names.push(encode(&name));
                }
            }
        }
        if names.len() < 2 {
            return fail(text.len(), KeyErrorReason::TooFewSegments);
        }
        if names.len() == 2 {
            let catalog = default_catalog(&format).unwrap_or_else(|| FALLBACK_CATALOG.to_owned());
            names.insert(0, encode(&catalog));
        }

        names.append(&mut partitions);
        let canonical = format!("{format}://{}", names.join("/"));
        if canonical.len() > MAX_KEY_BYTES {
            return fail(text.len().min(MAX_KEY_BYTES), KeyErrorReason::TooLong(canonical.len()));
        }
        Ok(Self(canonical.into()))
    }

    /// Reads a key that is already canonical, such as one from the store.
    pub fn from_canonical(text: &str) -> Result<Self, KeyError> {
        Self::parse(text, |_| None)
    }

    /// Builds the key of a table from its decoded names. Fails where the names make no key.
    pub fn of_table(format: &str, catalog: &str, database: &str, table: &str) -> Result<Self, KeyError> {
        let parts = [catalog, database, table].map(encode).join("/");
        Self::from_canonical(&format!("{format}://{parts}"))
    }

    /// The canonical text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Lower-case format, such as `paimon`.
    pub fn format(&self) -> &str {
        self.0.split_once("://").map_or("", |(format, _)| format)
    }

    /// Decoded catalog name.
    pub fn catalog(&self) -> String {
        self.name(0)
    }

    /// Decoded database name.
    pub fn database(&self) -> String {
        self.name(1)
    }

    /// Decoded table name.
    pub fn table(&self) -> String {
        self.name(2)
    }

    /// The partition segments as they stand in the key; `None` for a whole table.
    pub fn partition(&self) -> Option<&str> {
        let path = self.0.split_once("://")?.1;
        path.splitn(4, '/').nth(3)
    }

    /// [`digest`] of the key: fixed length, for indexes that a key is too long for.
    pub fn digest(&self) -> String {
        digest([self.as_str()])
    }

    fn name(&self, index: usize) -> String {
        let path = self.0.split_once("://").map_or("", |(_, path)| path);
        let raw = path.split('/').nth(index).unwrap_or_default();
        decode(raw, 0).unwrap_or_default()
    }
}

impl fmt::Display for AssetKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for AssetKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "AssetKey({})", self.0)
    }
}

/// Hexadecimal SHA-256 over fields, each with its length, so that no two lists of fields run into
/// one: 64 characters.
pub fn digest<'a>(fields: impl IntoIterator<Item = &'a str>) -> String {
    let mut hash = Sha256::new();
    for field in fields {
        hash.update((field.len() as u64).to_be_bytes());
        hash.update(field);
    }
    data_encoding::HEXLOWER.encode(&hash.finalize())
}

fn bad_format_byte(format: &str) -> Option<usize> {
    if format.is_empty() {
        return Some(0);
    }
    format.bytes().enumerate().find_map(|(at, byte)| {
        let good = byte.is_ascii_lowercase()
            || at > 0 && (byte.is_ascii_digit() || matches!(byte, b'+' | b'-' | b'.'));
        (!good).then_some(at)
    })
}

/// The segments behind `start`, each with the byte where it begins.
fn segments(text: &str, start: usize) -> impl Iterator<Item = (usize, &str)> {
    let mut at = start;
    text[start..].split('/').map(move |raw| {
        let here = at;
        at += raw.len() + 1;
        (here, raw)
    })
}

fn decode(raw: &str, at: usize) -> Result<String, KeyError> {
    let bytes = raw.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut next = 0;
    while let Some(&byte) = bytes.get(next) {
        if byte == b'%' {
            let digits = bytes.get(next + 1..next + 3);
            let value = digits
                .and_then(|d| Some(hex_digit(d[0])? * 16 + hex_digit(d[1])?))
                .ok_or(KeyError { at: at + next, reason: KeyErrorReason::BadEscape })?;
            out.push(value);
            next += 3;
        } else {
            out.push(byte);
            next += 1;
        }
    }
    String::from_utf8(out).map_err(|_| KeyError { at, reason: KeyErrorReason::NotUtf8 })
}

fn hex_digit(byte: u8) -> Option<u8> {
    (byte as char).to_digit(16).map(|digit| digit as u8)
}

fn encode(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    for byte in name.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~') {
            out.push(byte as char);
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parse(text: &str) -> Result<AssetKey, KeyError> {
        AssetKey::parse(text, |format| (format == "paimon").then(|| "lake".into()))
    }

    fn canonical(text: &str) -> String {
        parse(text).map(|key| key.to_string()).unwrap()
    }

    #[test]
    fn canonical_form() {
        for (given, expected) in [
            ("paimon://lake/ods/orders", "paimon://lake/ods/orders"),
            ("PAIMON://lake/ods/Orders", "paimon://lake/ods/Orders"),
            ("paimon://ods/orders", "paimon://lake/ods/orders"),
            ("hudi://ods/orders", "hudi://default/ods/orders"),
            ("paimon://lake/ods/orders/dt=2026-11-30", "paimon://lake/ods/orders/dt=2026-11-30"),
            ("paimon://ods/orders/dt=1/h=2", "paimon://lake/ods/orders/dt=1/h=2"),
            ("paimon://lake/ods/%6frders", "paimon://lake/ods/orders"),
            ("paimon://lake/ods/a%2fb", "paimon://lake/ods/a%2Fb"),
            ("paimon://lake/ods/订单", "paimon://lake/ods/%E8%AE%A2%E5%8D%95"),
            ("paimon://lake/ods/a b", "paimon://lake/ods/a%20b"),
            ("paimon://la=ke/ods/orders", "paimon://la%3Dke/ods/orders"),
        ] {
            assert_eq!(canonical(given), expected, "{given}");
        }
    }

    #[test]
    fn malformed_keys_name_the_byte() {
        use KeyErrorReason::*;
        for (given, at, reason) in [
            ("", 0, NoScheme),
            ("orders", 6, NoScheme),
            ("paimon:/lake/ods", 6, NoScheme),
            ("://lake/ods/orders", 0, BadFormat),
            ("pai mon://lake/ods/orders", 3, BadFormat),
            ("1p://lake/ods/orders", 0, BadFormat),
            ("paimon://", 9, TooFewSegments),
            ("paimon://orders", 15, TooFewSegments),
            ("paimon://lake//orders", 14, EmptySegment),
            ("paimon://lake/ods/", 18, EmptySegment),
            ("paimon://lake/../orders", 14, DotSegment),
            ("paimon://lake/%2e%2E/orders", 14, DotSegment),
            ("paimon://lake/ods/or%G1", 20, BadEscape),
            ("paimon://lake/ods/or%4", 20, BadEscape),
            ("paimon://lake/ods/%FF", 18, NotUtf8),
            ("paimon://lake/ods/orders/x", 25, NotAPartition),
            ("paimon://lake/ods/orders/dt=1/x", 30, NotAPartition),
            ("paimon://lake/ods/orders/=1", 25, UnnamedPartition),
        ] {
            assert_eq!(parse(given), Err(KeyError { at, reason }), "{given}");
        }
        let long = format!("paimon://lake/ods/{}", "x".repeat(495));
        assert_eq!(parse(&long).unwrap_err().reason, TooLong(513));
        assert!(parse(&long[..512]).is_ok());
    }

    #[test]
    fn parts() {
        let key = parse("paimon://订/ods db/a%2Fb/dt=1/h=2").unwrap();
        assert_eq!(key.format(), "paimon");
        assert_eq!(key.catalog(), "订");
        assert_eq!(key.database(), "ods db");
        assert_eq!(key.table(), "a/b");
        assert_eq!(key.partition(), Some("dt=1/h=2"));
        assert_eq!(parse("paimon://ods/orders").unwrap().partition(), None);
    }

    proptest! {
        #[test]
        fn any_text_is_answered_and_canonical_keys_stay(text in "\\PC{0,40}|paimon://[a-z%/=.]{0,20}") {
            if let Ok(key) = parse(&text) {
                let again = AssetKey::from_canonical(key.as_str()).unwrap();
                prop_assert_eq!(key, again);
            }
        }

        #[test]
        fn names_survive(catalog in "\\PC{1,8}", database in "\\PC{1,8}", table in "\\PC{1,8}") {
            prop_assume!([&catalog, &database, &table].iter().all(|n| *n != "." && *n != ".."));
            let key = AssetKey::of_table("paimon", &catalog, &database, &table).unwrap();
            prop_assert_eq!((key.catalog(), key.database(), key.table()), (catalog, database, table));
        }
    }
}

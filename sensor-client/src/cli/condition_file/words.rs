//! Values of which there are a few.

use std::{fmt, marker::PhantomData};

use asset_proto::v1::{Assurance, BackfillStatus, Match, Quality, SchemaStatus};
use serde::{
    Deserialize, Deserializer,
    de::{Error, Visitor},
};

/// A value that is one of a few words.
pub trait Word: Copy + 'static {
    /// Key that has it.
    const KEY: &'static str;
    /// The words, each with what it stands for.
    const WORDS: &'static [(&'static str, Self)];
}

impl Word for Quality {
    const KEY: &'static str = "qualityStatus";
    const WORDS: &'static [(&'static str, Self)] = &[("PASSED", Self::Passed), ("FAILED", Self::Failed)];
}

impl Word for SchemaStatus {
    const KEY: &'static str = "schemaStatus";
    const WORDS: &'static [(&'static str, Self)] = &[
        ("COMPATIBLE", Self::Compatible),
        ("PENDING_APPROVAL", Self::PendingApproval),
        ("REJECTED", Self::Rejected),
    ];
}

impl Word for BackfillStatus {
    const KEY: &'static str = "backfillStatus";
    const WORDS: &'static [(&'static str, Self)] =
        &[("NONE", Self::None), ("RUNNING", Self::Running), ("COMPLETED", Self::Completed)];
}

impl Word for Assurance {
    const KEY: &'static str = "assurance";
    const WORDS: &'static [(&'static str, Self)] =
        &[("REPORTED", Self::Reported), ("VERIFIED", Self::Verified)];
}

impl Word for Match {
    const KEY: &'static str = "match";
    const WORDS: &'static [(&'static str, Self)] = &[("HEAD", Self::Head), ("NEWEST", Self::Newest)];
}

/// Reads a word, in any case.
pub fn of<W: Word>(text: &str) -> Option<W> {
    W::WORDS.iter().find(|(word, _)| word.eq_ignore_ascii_case(text)).map(|(_, value)| *value)
}

/// The words, for people.
pub fn list<W: Word>() -> String {
    let quoted: Vec<String> = W::WORDS.iter().map(|(word, _)| format!("`{word}`")).collect();
    quoted.join(" or ")
}

/// A word of a file.
pub struct OneOf<W>(pub W);

impl<'de, W: Word> Deserialize<'de> for OneOf<W> {
    fn deserialize<D: Deserializer<'de>>(json: D) -> Result<Self, D::Error> {
        json.deserialize_str(WordVisitor(PhantomData)).map(Self)
    }
}

struct WordVisitor<W>(PhantomData<W>);

impl<W: Word> Visitor<'_> for WordVisitor<W> {
    type Value = W;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "`{}` as {}", W::KEY, list::<W>())
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<W, E> {
        of(text).ok_or_else(|| E::custom(format!("`{}` is `{text}`; it must be {}", W::KEY, list::<W>())))
    }
}

//! The cursor: what the last read knew of a table, as the text that the caller keeps.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Layout of the text. A cursor of another one is refused, never guessed at.
const LAYOUT: u32 = 1;

/// What was known.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "kebab-case")]
pub enum Cursor {
    /// The catalog had no such table.
    Absent,
    /// A table.
    Table(Known),
}

/// What was known of a table.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Known {
    /// Newest commit that was published; `None` for a table without one.
    pub head: Option<Head>,
    /// Which table it was; `None` while no schema file was seen.
    pub identity: Option<Identity>,
    /// Smallest snapshot id that could be read.
    pub earliest: Option<i64>,
    /// Why the head was not followed; older agents wrote it of rollbacks too.
    pub held: Option<Held>,
    /// Newest schema that was published.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<i64>,
    /// Tags that were published, each with the mark of its file.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub tags: BTreeMap<String, String>,
}

/// A commit, by its id and by what tells it from another with the same id.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Head {
    /// Snapshot id.
    pub id: i64,
    /// Fingerprint.
    pub fingerprint: String,
}

/// Which table stands under a name: its first schema file, which holds the time of its creation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Identity {
    /// Number of the smallest schema file.
    pub schema: i64,
    /// Digest of its content.
    pub digest: String,
}

/// Why a table's head is not followed. Only `absent` is written; the others are what older agents
/// wrote, and are read so that such a table is published at the next poll.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Held {
    /// Another head.
    Rewound,
    /// Another table.
    Recreated,
    /// No table.
    Absent,
}

#[derive(Serialize, Deserialize)]
struct Text<C> {
    layout: u32,
    #[serde(flatten)]
    cursor: C,
}

/// Any cursor, of which only the layout is read.
#[derive(Deserialize)]
struct Nothing {}

impl Cursor {
    /// The text to keep.
    pub fn to_text(&self) -> String {
        let text = Text { layout: LAYOUT, cursor: self };
        // A struct of numbers, texts and enums with named keys can't fail to serialize.
        serde_json::to_string(&text).unwrap_or_default()
    }

    /// Reads a kept text. The error says what is wrong with it.
    pub fn from_text(text: &str) -> Result<Self, String> {
        let read = serde_json::from_str::<Text<Nothing>>(text).map_err(|error| error.to_string())?;
        if read.layout != LAYOUT {
            return Err(format!("its layout is {}, this version reads {LAYOUT}", read.layout));
        }
        let read = serde_json::from_str::<Text<Self>>(text).map_err(|error| error.to_string())?;
        match &read.cursor {
            Self::Table(Known { head: Some(head), .. }) if !(1..i64::MAX).contains(&head.id) => {
                Err(format!("{} is no snapshot id", head.id))
            }
            _ => Ok(read.cursor),
        }
    }

    /// The table that was known, if any was.
    pub fn table(&self) -> Option<&Known> {
        match self {
            Self::Absent => None,
            Self::Table(known) => Some(known),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn table() -> Cursor {
        Cursor::Table(Known {
            head: Some(Head { id: 7, fingerprint: "f\"7".into() }),
            identity: Some(Identity { schema: 0, digest: "sha256:00".into() }),
            earliest: Some(3),
            held: Some(Held::Recreated),
            ..Known::default()
        })
    }

    #[test]
    fn the_text_is_stable() {
        // Stored by agents that run: this must stay readable.
        let text = r#"{"layout":1,"state":"table","head":{"id":7,"fingerprint":"f\"7"},"identity":{"schema":0,"digest":"sha256:00"},"earliest":3,"held":"recreated"}"#;
        assert_eq!(table().to_text(), text);
        for cursor in [table(), Cursor::Absent, Cursor::Table(Known::default())] {
            assert_eq!(Cursor::from_text(&cursor.to_text()).unwrap(), cursor);
        }
        assert_eq!(Cursor::Absent.to_text(), r#"{"layout":1,"state":"absent"}"#);
    }

    #[test]
    fn a_corrupt_text_is_refused() {
        let other = table().to_text().replace("\"layout\":1", "\"layout\":2");
        assert_eq!(Cursor::from_text(&other).unwrap_err(), "its layout is 2, this version reads 1");
        let whole = table().to_text();
        for length in 0..whole.len() {
            assert!(Cursor::from_text(&whole[..length]).is_err(), "{length}");
        }
        for id in ["0", "-1", "9223372036854775807", "1e3", "\"7\""] {
            let text = whole.replace("\"id\":7", &format!("\"id\":{id}"));
            assert!(Cursor::from_text(&text).is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_answered(text in "\\PC{0,60}") {
            let _ = Cursor::from_text(&text);
        }
    }
}

//! Why a source could not answer.

use thiserror::Error;

/// Why a catalog or a table could not be read. Each names the place, the reason and the way out;
/// none carries a credential.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum SourceError {
    /// Storage did not answer, or the warehouse is not there.
    #[error("can't read {path}: {reason}; check that the warehouse exists and is mounted on this machine")]
    Unreachable {
        /// What was to be read.
        path: String,
        /// What storage said.
        reason: String,
    },
    /// Storage refused.
    #[error("not allowed to read {path}; give the agent's user read access to it")]
    Denied {
        /// What was to be read.
        path: String,
    },
    /// A file is not what its format says. A writer may be at work on it: the next poll reads it
    /// again.
    #[error(
        "{file} is malformed: {}expected {expected}, found {found}; it is read again at the next poll, and if it stays so, repair or remove it",
        in_field(.field)
    )]
    Malformed {
        /// The file.
        file: String,
        /// The field of it; `None` where the whole file is meant.
        field: Option<&'static str>,
        /// What should stand there.
        expected: &'static str,
        /// What stands there.
        found: String,
    },
    /// A metadata file beyond what is ever read into memory.
    #[error("{file} has more than {limit} bytes, which no file of this kind has; check what wrote it")]
    TooLarge {
        /// The file.
        file: String,
        /// Most bytes that are read.
        limit: usize,
    },
    /// The configuration asks for something that this version does not read.
    #[error("catalog `{catalog}`: {found} is not supported; this version reads {supported}")]
    Unsupported {
        /// Name of the catalog.
        catalog: String,
        /// What was asked for.
        found: String,
        /// What can be asked for.
        supported: &'static str,
    },
    /// A setting of a catalog makes no sense.
    #[error("catalog `{catalog}`: `{field}` {reason}")]
    Config {
        /// Name of the catalog.
        catalog: String,
        /// The setting.
        field: &'static str,
        /// What is wrong with it and what is expected.
        reason: String,
    },
    /// A stored cursor can't be read.
    #[error("the stored cursor of {key} can't be read: {reason}; reset the asset to read its table afresh")]
    Cursor {
        /// The asset.
        key: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The asset belongs to another catalog: the caller asked the wrong one.
    #[error("{key} is not in the {format} catalog `{catalog}`; ask the catalog that its key names")]
    WrongCatalog {
        /// The asset.
        key: String,
        /// Format of the catalog that was asked.
        format: &'static str,
        /// Name of the catalog that was asked.
        catalog: String,
    },
    /// The table changed under every attempt to read it.
    #[error("{path} changed each time while it was read; the next poll reads it again")]
    Unsettled {
        /// The table.
        path: String,
    },
}

impl SourceError {
    /// Stable label, for metrics and logs.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Unreachable { .. } => "unreachable",
            Self::Denied { .. } => "denied",
            Self::Malformed { .. } => "malformed",
            Self::TooLarge { .. } => "too_large",
            Self::Unsupported { .. } => "unsupported",
            Self::Config { .. } => "config",
            Self::Cursor { .. } => "cursor",
            Self::WrongCatalog { .. } => "wrong_catalog",
            Self::Unsettled { .. } => "unsettled",
        }
    }
}

fn in_field(field: &Option<&'static str>) -> String {
    field.map_or(String::new(), |name| format!("field `{name}`: "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn malformed_names_file_field_and_what_was_expected() {
        let mut error = SourceError::Malformed {
            file: "/wh/a.db/t/snapshot/snapshot-3".into(),
            field: Some("timeMillis"),
            expected: "a 64-bit integer",
            found: "the text \"x\"".into(),
        };
        assert_eq!(
            error.to_string(),
            "/wh/a.db/t/snapshot/snapshot-3 is malformed: field `timeMillis`: expected a 64-bit integer, \
             found the text \"x\"; it is read again at the next poll, and if it stays so, repair or remove it"
        );
        if let SourceError::Malformed { field, .. } = &mut error {
            *field = None;
        }
        assert!(error.to_string().contains("malformed: expected a 64-bit"));
        assert_eq!(error.kind(), "malformed");
    }
}

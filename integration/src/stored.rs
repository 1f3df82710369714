//! What an agent has stored, read with somebody else's SQLite: evidence that no call shows yet.

use std::path::Path;
use std::process::Stdio;

use anyhow::{Context, Result, bail};
use serde_json::Value;
use tokio::process::Command;

use crate::tools;

/// Python's own SQLite; the file is opened read-only, beside the agent that has it.
const SCRIPT: &str = "import json, sqlite3, sys
rows = sqlite3.connect(f'file:{sys.argv[1]}?mode=ro', uri=True)
rows.row_factory = lambda cursor, row: {field[0]: value for field, value in zip(cursor.description, row)}
print(json.dumps(rows.execute(sys.argv[2], sys.argv[3:]).fetchall()))";

/// The rows that a query finds, as objects; `?` stand for the arguments.
pub async fn rows(database: &Path, query: &str, arguments: &[&str]) -> Result<Vec<Value>> {
    let mut command = Command::new(tools::python()?);
    command.args(["-c", SCRIPT]).arg(database).arg(query).args(arguments);
    let output = command.stdin(Stdio::null()).kill_on_drop(true).output().await?;
    if !output.status.success() {
        bail!("{query}: {}", String::from_utf8_lossy(&output.stderr));
    }
    serde_json::from_slice(&output.stdout).with_context(|| query.to_owned())
}

/// The events of an asset of one type, in the order in which they were stored.
pub async fn events(database: &Path, key: &str, kind: &str) -> Result<Vec<Value>> {
    let query = "SELECT * FROM t_ds_asset_event WHERE asset_key = ? AND event_type = ? ORDER BY id";
    rows(database, query, &[key, kind]).await
}

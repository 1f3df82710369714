//! Conditions from a JSON file: one condition, an array of conditions, or `{"groups": […]}`.

mod keys;
mod read;
pub mod words;

use std::{
    fs::File,
    io::{self, Read},
    path::Path,
};

use asset_proto::v1::Group;

use super::failure::Failure;

/// More than an agent takes in one message.
const LONGEST: u64 = 4 * 1024 * 1024;

/// Reads the groups from a file, or from standard input when it is `-`.
pub fn load(file: &Path) -> Result<Vec<Group>, Failure> {
    let is_stdin = file.as_os_str() == "-";
    let name = if is_stdin { "standard input".to_owned() } else { file.display().to_string() };
    let text = if is_stdin { limited(io::stdin().lock()) } else { File::open(file).and_then(limited) };
    let text = text.map_err(|error| Failure::usage(format!("cannot read {name}: {error}")))?;
    if u64::try_from(text.len()).is_ok_and(|length| length > LONGEST) {
        return Err(Failure::usage(format!(
            "{name} is longer than 4 MiB; no agent takes that many conditions"
        )));
    }
    parse(&text).map_err(|error| Failure::usage(format!("{name}: {error}")))
}

fn limited(reader: impl Read) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    reader.take(LONGEST + 1).read_to_end(&mut text)?;
    Ok(text)
}

fn parse(text: &[u8]) -> Result<Vec<Group>, String> {
    let mut json = serde_json::Deserializer::from_slice(text);
    let groups = serde_path_to_error::deserialize::<_, read::Document>(&mut json)
        .map_err(|error| match error.path().to_string().as_str() {
            "." => error.inner().to_string(),
            path => format!("{path}: {}", error.inner()),
        })?
        .0;
    json.end().map_err(|error| error.to_string())?;
    Ok(groups)
}

#[cfg(test)]
mod tests;

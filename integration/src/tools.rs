//! Where the programs are that `make tools` installs.
//!
//! `make` says so in environment variables; without them (an editor, a bare `cargo test`) they are
//! looked for in the checkout's `.tools/`.

use std::env;
use std::path::PathBuf;

use anyhow::{Result, bail};

/// The interpreter that has pypaimon.
pub fn python() -> Result<PathBuf> {
    find("ASSET_TEST_PYTHON", "venv/bin/python")
}

/// The grpcurl program.
pub fn grpcurl() -> Result<PathBuf> {
    find("ASSET_TEST_GRPCURL", "bin/grpcurl")
}

/// The file with the class path of the Java Paimon writer, relative to that file's folder.
pub fn paimon_java() -> Result<PathBuf> {
    find("ASSET_TEST_PAIMON_JAVA", "paimon-java/classpath")
}

/// The folder of this crate.
pub fn here() -> PathBuf {
    // What cargo says now comes first: builds of two checkouts may share one target folder, and then
    // the folder that was compiled in is the other one's.
    match (env::var_os("CARGO_MANIFEST_DIR"), env::var("CARGO_PKG_NAME").as_deref()) {
        (Some(folder), Ok(env!("CARGO_PKG_NAME"))) => PathBuf::from(folder),
        _ => PathBuf::from(env!("CARGO_MANIFEST_DIR")),
    }
}

fn find(variable: &str, in_tools: &str) -> Result<PathBuf> {
    let path = match env::var_os(variable) {
        Some(path) => PathBuf::from(path),
        None => here().join("../.tools").join(in_tools),
    };
    if !path.exists() {
        bail!("{} does not exist: run `make tools` (or set {variable})", path.display());
    }
    Ok(path)
}

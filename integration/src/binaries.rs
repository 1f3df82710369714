//! Where cargo put the programs under test.

use std::env;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};

/// The program `name` of this build: it lies beside the running test, bench or binary.
pub fn find(name: &str) -> Result<PathBuf> {
    let this = env::current_exe().context("this program does not know where it is")?;
    let mut folder = this.parent().context("this program lies in no folder")?;
    // Tests and benches lie one folder deeper than the programs.
    if folder.ends_with("deps") {
        folder = folder.parent().context("deps lies in no folder")?;
    }
    let found = folder.join(name);
    if !found.exists() {
        bail!("{} is not built: run `cargo build --workspace --bins --tests`", found.display());
    }
    Ok(found)
}

//! Compiles `asset/v1` with protox, so that a build needs no protoc.

use std::{env, error::Error, fs, path::PathBuf};

const PROTOS: [&str; 4] =
    ["asset/v1/asset.proto", "asset/v1/condition.proto", "asset/v1/dependency.proto", "asset/v1/event.proto"];

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed=asset");
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or("OUT_DIR is not set")?);

    let mut compiler = protox::Compiler::new(["."])?;
    compiler.include_source_info(true).include_imports(true).open_files(PROTOS)?;
    fs::write(out.join("asset_descriptor.bin"), compiler.encode_file_descriptor_set())?;

    tonic_prost_build::configure().compile_fds(compiler.file_descriptor_set())?;
    Ok(())
}

//! Who may know whom. The tables here are those of the architecture: a new arrow is drawn there
//! first, and then here.

use std::fs;
use std::path::{Path, PathBuf};

use asset_integration::tools;
use cargo_metadata::{Metadata, MetadataCommand};

/// A crate, and the crates of this workspace that it may depend on - in its code, its build script and
/// its tests alike.
const ARROWS: &[(&str, &[&str])] = &[
    ("asset-proto", &[]),
    ("asset-core", &[]),
    ("asset-store", &["asset-core"]),
    ("asset-sources", &["asset-core"]),
    ("asset-scheduler", &["asset-core"]),
    ("asset-lineage", &["asset-core"]),
    ("asset-engine", &["asset-core", "asset-store", "asset-sources", "asset-scheduler"]),
    (
        "asset-agent",
        &["asset-engine", "asset-proto", "asset-core", "asset-store", "asset-sources", "asset-scheduler"],
    ),
    ("asset-sensor", &["asset-proto"]),
    (
        "asset-integration",
        &[
            "asset-proto",
            "asset-core",
            "asset-store",
            "asset-sources",
            "asset-scheduler",
            "asset-lineage",
            "asset-engine",
            "asset-agent",
            "asset-sensor",
        ],
    ),
];

/// Of asset-agent's crates, those that only its module `assembly` may name.
const ASSEMBLY_ONLY: &[&str] = &["asset_store", "asset_sources", "asset_scheduler"];

/// What the core must not depend on, and must not say: it has no IO, no clock, no chance, no log.
const NOT_IN_CORE: &[&str] = &["tokio", "tracing", "log", "rand", "fastrand", "sqlx"];
const NOT_SAID_IN_CORE: &[&str] = &["SystemTime::now", "Instant::now", "std::fs", "std::net", "async fn"];

/// Names of rooms that belong to nobody.
const NOT_A_ROOM: &[&str] = &["util", "utils", "common", "helper", "helpers", "manager", "misc"];

#[test]
fn crates_depend_only_along_the_arrows() {
    let mut wrong = Vec::new();
    let workspace = workspace();
    for package in workspace.workspace_packages() {
        for dependency in &package.dependencies {
            // Only crates of the workspace are named by path.
            if dependency.path.is_some() {
                wrong.extend(forbidden(package.name.as_str(), &dependency.name));
            }
        }
        if row(package.name.as_str()).is_none() {
            wrong.push(format!("{} has no row in the table of arrows", package.name));
        }
    }
    assert_none("tests/architecture.rs, ARROWS", &wrong);
}

#[test]
fn an_arrow_that_is_not_in_the_table_is_named() {
    assert_eq!(forbidden("asset-engine", "asset-store"), None);
    let message = forbidden("asset-store", "asset-engine").expect("the store must not know the engine");
    assert!(message.contains("asset-store -> asset-engine"), "{message}");
    assert!(forbidden("asset-sensor", "asset-integration").is_some(), "nobody may know the tests");
}

#[test]
fn only_the_assembly_of_the_agent_knows_the_rooms_it_puts_together() {
    let source = folder_of("asset-agent").join("src");
    let mut wrong = Vec::new();
    for file in rust_files(&source) {
        let within = file.strip_prefix(&source).expect("a file of this folder");
        if within == Path::new("assembly.rs") || within.starts_with("assembly") {
            continue;
        }
        wrong.extend(said(&file, ASSEMBLY_ONLY));
    }
    assert_none("the agent's module `assembly` alone may name these crates", &wrong);
}

#[test]
fn the_core_is_pure() {
    let workspace = workspace();
    let mut wrong = Vec::new();
    for package in workspace.workspace_packages() {
        if package.name.as_str() == "asset-core" {
            let names = package.dependencies.iter().map(|dependency| dependency.name.as_str());
            let impure = names.filter(|name| NOT_IN_CORE.contains(name));
            wrong.extend(impure.map(|name| format!("asset-core depends on {name}")));
        }
    }
    for file in rust_files(&folder_of("asset-core").join("src")) {
        wrong.extend(said(&file, NOT_SAID_IN_CORE));
    }
    assert_none("clock, chance and IO are passed into the core, never made there", &wrong);
}

#[test]
fn every_room_has_an_owner() {
    let mut wrong = Vec::new();
    for package in workspace().workspace_packages() {
        if package.name.split('-').any(|part| NOT_A_ROOM.contains(&part)) {
            wrong.push(format!("the crate {}", package.name));
        }
        for file in rust_files(&folder_of(package.name.as_str())) {
            let within = file.strip_prefix(root()).expect("a file of this workspace");
            let in_path = within.iter().filter_map(|part| part.to_str()?.split('.').next());
            let text = read(&file);
            let in_text = text.lines().filter_map(module_name);
            let bad = in_path.chain(in_text).filter(|name| NOT_A_ROOM.contains(name));
            wrong.extend(bad.map(|name| format!("`{name}` in {}", within.display())));
        }
    }
    assert_none("a thing belongs to whoever needs it: no room is called so", &wrong);
}

fn row(name: &str) -> Option<&'static [&'static str]> {
    ARROWS.iter().find(|(from, _)| *from == name).map(|(_, to)| *to)
}

fn forbidden(from: &str, to: &str) -> Option<String> {
    let allowed = row(from).unwrap_or_default();
    let message = format!("the arrow {from} -> {to} is not in the table: {from} may know {allowed:?}");
    (!allowed.contains(&to)).then_some(message)
}

/// The lines of a file, comments apart, that contain one of the words.
fn said(file: &Path, words: &[&str]) -> Vec<String> {
    let text = read(file);
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim_start().starts_with("//"));
    let found = lines.flat_map(|(at, line)| {
        words.iter().filter(move |word| line.contains(**word)).map(move |word| (at + 1, word))
    });
    found.map(|(at, word)| format!("`{word}` in {}:{at}", file.display())).collect()
}

/// The name of a module that a line declares.
fn module_name(line: &str) -> Option<&str> {
    let (visibility, rest) = line.trim_start().split_once("mod ")?;
    let declares = visibility.is_empty() || visibility.starts_with("pub");
    declares.then(|| rest.split([' ', ';', '{']).next())?
}

fn workspace() -> Metadata {
    MetadataCommand::new().manifest_path(root().join("Cargo.toml")).no_deps().exec().expect("cargo metadata")
}

fn folder_of(package: &str) -> PathBuf {
    let workspace = workspace();
    let mut packages = workspace.workspace_packages().into_iter();
    let found = packages.find(|candidate| candidate.name.as_str() == package);
    let manifest = &found.unwrap_or_else(|| panic!("the workspace has no {package}")).manifest_path;
    manifest.parent().expect("a manifest lies in a folder").into()
}

fn root() -> PathBuf {
    tools::here().parent().expect("this crate lies in the workspace").into()
}

/// All Rust files below a folder. Build output and installed tools lie at the workspace's root only.
fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display())) {
        let path = entry.expect("a folder that can be listed").path();
        if path.is_dir() {
            found.extend(rust_files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
    found
}

fn read(file: &Path) -> String {
    fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

fn assert_none(rule: &str, wrong: &[String]) {
    assert!(wrong.is_empty(), "{rule}:\n  {}", wrong.join("\n  "));
}

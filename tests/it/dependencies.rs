//! What the product is built from: known sources, known licences, each crate once.

use std::collections::BTreeMap;
use std::process::Command;

use serde_json::Value;

/// Licences that a user of a permissively licensed library expects in its tree.
const LICENCES: [&str; 9] =
    ["MIT", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "BSL-1.0", "ISC", "Zlib", "Unicode-3.0", "Unlicense"];

/// Crates that may stand in the tree in two versions, with the reason.
const TWICE: [(&str, &str); 0] = [];

fn output(command: &mut Command) -> String {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// The packages that dtq itself needs on this platform, and no test or example.
fn packages() -> Vec<Value> {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
    let version = output(Command::new("rustc").arg("-vV"));
    let host = version.lines().find_map(|line| line.strip_prefix("host: ")).unwrap();
    let tree = ["tree", "--locked", "-p", "dtq", "--all-features", "-e", "normal,build", "--prefix", "none"];
    let tree = output(Command::new(env!("CARGO")).current_dir(root).args(tree).args(["--format", "{p}"]));
    let used: Vec<(&str, &str)> = tree
        .lines()
        .filter_map(|line| line.split_once(' '))
        .map(|(name, rest)| (name, rest.split(' ').next().unwrap().trim_start_matches('v')))
        .collect();
    let metadata = ["metadata", "--locked", "--format-version", "1", "--filter-platform", host];
    let metadata = output(Command::new(env!("CARGO")).current_dir(root).args(metadata));
    let metadata: Value = serde_json::from_str(&metadata).unwrap();
    let used = |package: &&Value| {
        let of = |key: &str| package[key].as_str().unwrap();
        used.contains(&(of("name"), of("version")))
    };
    metadata["packages"].as_array().unwrap().iter().filter(used).cloned().collect()
}

fn allowed(licence: &str) -> bool {
    // `A OR B` needs one of them, `A AND B` both.
    let licence = licence.replace('/', " OR ").replace(['(', ')'], "");
    licence.split(" AND ").all(|all| all.split(" OR ").any(|one| LICENCES.contains(&one.trim())))
}

#[test]
fn dependencies_come_from_the_registry_under_known_licences() {
    let packages = packages();
    assert!(packages.len() > 50, "only {} packages were found", packages.len());
    for package in packages {
        let name = package["name"].as_str().unwrap();
        if name.starts_with("dtq") {
            continue;
        }
        let source = package["source"].as_str().unwrap_or("a path");
        assert!(source.starts_with("registry+"), "{name} comes from {source}");
        let licence = package["license"].as_str().unwrap_or("none");
        assert!(allowed(licence), "{name} is licensed as {licence}");
    }
}

#[test]
fn no_dependency_is_there_in_two_versions() {
    let mut versions: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for package in packages() {
        let text = |key: &str| package[key].as_str().unwrap().to_owned();
        versions.entry(text("name")).or_default().push(text("version"));
    }
    versions.retain(|name, versions| versions.len() > 1 && !TWICE.iter().any(|(twice, _)| twice == name));
    assert!(versions.is_empty(), "{versions:?}");
}

#[test]
fn the_tools_of_the_tests_do_not_reach_users() {
    let packages = packages();
    for tool in ["proptest", "stateright", "trybuild", "tempfile"] {
        assert!(packages.iter().all(|package| package["name"] != tool), "dtq depends on {tool}");
    }
}

#[test]
fn the_macros_depend_on_what_macros_need_and_no_more() {
    let packages = packages();
    let macros = packages.iter().find(|package| package["name"] == "dtq-macros").unwrap();
    let mut needed: Vec<_> =
        macros["dependencies"].as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap()).collect();
    needed.sort_unstable();
    assert_eq!(needed, ["proc-macro2", "quote", "syn"]);
}

#[test]
fn an_unknown_licence_would_be_found() {
    assert!(allowed("MIT OR GPL-3.0"));
    assert!(allowed("(MIT OR Apache-2.0) AND Unicode-3.0"));
    assert!(!allowed("MIT AND GPL-3.0"));
    assert!(!allowed("none"));
}

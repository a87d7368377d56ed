//! Crates as users write them (`tests/fixtures`), built by Cargo with nothing but what they name.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

/// Cargo at the fixtures; one at a time, for they share a target folder.
struct Fixtures {
    root: PathBuf,
}

static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// A release build that leaves out whatever seems unused.
const SMALLEST: [&str; 8] = [
    "--config",
    "profile.release.lto = true",
    "--config",
    "profile.release.codegen-units = 1",
    "--config",
    "profile.release.opt-level = \"z\"",
    "--config",
    "profile.release.strip = true",
];

/// A release build in which the linker alone picks what it needs. Only the fixtures are optimised, for speed.
const PLAIN: [&str; 2] = ["--config", "profile.release.package.\"*\".opt-level = 0"];

impl Fixtures {
    /// Copies them beside the build, with the versions that the workspace is locked to: so nothing is fetched, and nothing
    /// is written into the sources.
    fn lay_out() -> Self {
        let tests = Path::new(env!("CARGO_MANIFEST_DIR"));
        let workspace = tests.parent().unwrap();
        let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join("fixtures");
        copy(&tests.join("fixtures"), &root);
        let manifest = root.join("Cargo.toml");
        let text = fs::read_to_string(&manifest).unwrap();
        write(&manifest, &text.replace("../../dtq", workspace.join("dtq").to_str().unwrap()));
        write(&root.join("Cargo.lock"), &fs::read_to_string(workspace.join("Cargo.lock")).unwrap());
        Self { root }
    }

    /// Builds these packages in release.
    fn build(&self, profile: &[&str], packages: &[&str]) {
        self.cargo("build", &[&["--release"], profile, packages].concat());
    }

    /// Runs Cargo, which must succeed.
    fn cargo(&self, verb: &str, arguments: &[&str]) {
        let mut command = Command::new(env!("CARGO"));
        command.current_dir(&self.root).args([verb, "--offline"]).args(arguments);
        let output = command.env("CARGO_TARGET_DIR", self.root.join("target")).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "cargo {verb} {arguments:?} (are the crates there? `cargo fetch`):\n{said}");
    }

    /// What a program that was built in release prints.
    fn prints(&self, program: &str) -> String {
        let output = Command::new(self.root.join("target/release").join(program)).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true => copy(&entry.path(), &target),
            false => write(&target, &fs::read_to_string(entry.path()).unwrap()),
        }
    }
}

/// Writes a file unless it says the same already: Cargo builds anew what was written anew.
fn write(file: &Path, text: &str) {
    if fs::read_to_string(file).ok().as_deref() != Some(text) {
        fs::write(file, text).unwrap();
    }
}

/// The tasks of the program and of the library that it refers to; not those of the crate that it does not.
const FOUND: &str = "deep_in_library\nin_library\nin_program\n";

#[test]
fn tasks_of_libraries_are_found_in_the_smallest_release_build() {
    let _turn = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let fixtures = Fixtures::lay_out();
    for packages in [&["-p", "found"][..], &["-p", "found", "--features", "linkme"]] {
        fixtures.build(&SMALLEST, packages);
        assert_eq!(fixtures.prints("found"), FOUND, "{packages:?}");
    }
}

#[test]
fn tasks_of_libraries_are_found_without_lto() {
    let _turn = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let fixtures = Fixtures::lay_out();
    for packages in [&["-p", "found"][..], &["-p", "found", "--features", "linkme"]] {
        fixtures.build(&PLAIN, packages);
        assert_eq!(fixtures.prints("found"), FOUND, "{packages:?}");
    }
}

#[test]
fn two_crates_with_tasks_of_one_name_are_refused_naming_both_places() {
    let _turn = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let fixtures = Fixtures::lay_out();
    fixtures.build(&PLAIN, &["-p", "twins"]);
    let refusal = fixtures.prints("twins");
    let places = ["twin-a/src/lib.rs:4 (module twin_a)", "twin-b/src/lib.rs:5 (module twin_b::inner)"];
    for words in ["two tasks are named \"sync\"", "#[dtq::task(name = \"..\")]"].iter().chain(&places) {
        assert!(refusal.contains(words), "{words:?} is not in {refusal}");
    }
}

/// Fixtures `renamed`, `alone-2021`, `alone-2024` and `strict`; with `linkme`, generated code holds other things.
#[test]
fn dtq_may_be_renamed_or_the_only_dependency_and_generated_code_passes_the_strictest_lints() {
    let _turn = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let fixtures = Fixtures::lay_out();
    for features in [&[][..], &["--features", "found/linkme"]] {
        fixtures.cargo("clippy", &[&["--workspace"], features, &["--", "-D", "warnings"]].concat());
    }
}

//! The rules, each a question to one file.

use std::fmt;

use super::source::code_of;

/// A place where a rule is broken.
#[derive(Debug)]
pub(super) struct Violation {
    /// The file.
    pub(super) file: String,
    /// The line, from 1.
    pub(super) line: usize,
    /// What is wrong.
    what: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.file, self.line, self.what)
    }
}

/// What the files of a part may name of this crate, by the beginnings of their paths; the first match counts.
const MAY_NAME: &[(&str, &[&str])] = &[
    ("types/", &["types"]),
    ("state.rs", &["types"]),
    ("policy.rs", &["types", "store::Verdict"]),
    ("clock.rs", &["types"]),
    ("failpoint.rs", &[]),
    ("timetable/", &["types", "timetable", "suggest"]),
    ("store/", &["types", "clock", "state", "store", "failpoint"]),
    (
        "testing/",
        &[
            "app::App",
            "client",
            "clock",
            "codec",
            "connect",
            "registry",
            "runtime::WorkerByHand",
            "runtime::WorkerConfig",
            "runtime::tick",
            "shared_state",
            "store",
            "suggest",
            "task::Task",
            "types",
        ],
    ),
];

/// Other crates that only one part may name.
const CRATES: &[(&str, &str)] = &[
    ("jiff", "timetable/"),
    ("redis", "store/redis/"),
    ("rusqlite", "store/sqlite/"),
    ("clap", "cli/"),
    ("tracing_subscriber", "cli/"),
];

/// Names that only one store, and what connects to it, may use.
const STORES: &[(&str, &str)] = &[
    ("store::redis", "store/redis/"),
    ("super::redis", "store/redis/"),
    ("RedisStore", "store/redis/"),
    ("RedisOptions", "store/redis/"),
    ("store::sqlite", "store/sqlite/"),
    ("super::sqlite", "store/sqlite/"),
    ("SqliteStore", "store/sqlite/"),
    ("SqliteOptions", "store/sqlite/"),
];

/// Reads one file of the library.
pub(super) fn check_library(file: &str, text: &str) -> Vec<Violation> {
    let code = code_of(text);
    let mut found = Found { file, code: &code, violations: Vec::new() };
    found.crate_paths();
    found.foreign_crates();
    found.stores();
    found.wall_clock();
    found.violations
}

/// Reads one file of the macros.
pub(super) fn check_macros(file: &str, text: &str) -> Vec<Violation> {
    let code = code_of(text);
    let mut found = Found { file, code: &code, violations: Vec::new() };
    for at in words(&code, "dtq") {
        let rest = code[at + 3..].trim_start();
        let Some(rest) = rest.strip_prefix("::") else { continue };
        if !rest.trim_start().starts_with("__private") {
            found.report(at, "generated code may name only dtq::__private");
        }
    }
    found.violations
}

struct Found<'a> {
    file: &'a str,
    code: &'a str,
    violations: Vec<Violation>,
}

impl Found<'_> {
    fn report(&mut self, at: usize, what: impl Into<String>) {
        let line = self.code[..at].matches('\n').count() + 1;
        self.violations.push(Violation { file: self.file.to_owned(), line, what: what.into() });
    }

    fn is_in(&self, place: &str) -> bool {
        self.file.starts_with(place)
    }

    /// `crate::…` paths, those in braces one by one.
    fn crate_paths(&mut self) {
        let Some((_, allowed)) = MAY_NAME.iter().find(|(part, _)| self.is_in(part)) else { return };
        for at in words(self.code, "crate") {
            let Some(rest) = self.code[at + 5..].strip_prefix("::") else { continue };
            for path in expand(rest) {
                let fits = |name: &&str| path == **name || path.starts_with(&format!("{name}::"));
                if !allowed.iter().any(fits) {
                    self.report(at, format!("crate::{path} is beyond what this part may know: {}", allowed.join(", ")));
                }
            }
        }
    }

    fn foreign_crates(&mut self) {
        for (name, place) in CRATES {
            if self.is_in(place) || (self.is_in("cli.rs") && *place == "cli/") {
                continue;
            }
            for at in words(self.code, name) {
                let used = self.code[at + name.len()..].trim_start().starts_with("::");
                if used && !is_segment(&self.code[..at]) {
                    self.report(at, format!("the crate {name} may be named only in {place}"));
                }
            }
        }
    }

    /// Only `connect` names stores; the facade may re-export them, and each knows itself.
    fn stores(&mut self) {
        if self.is_in("connect") || self.file == "lib.rs" {
            return;
        }
        for (name, home) in STORES.iter().filter(|(_, home)| !self.file.starts_with(home)) {
            for at in words(self.code, name) {
                self.report(at, format!("{name} may be named only in {home} and connect"));
            }
        }
    }

    fn wall_clock(&mut self) {
        if self.file == "clock.rs" {
            return;
        }
        for at in words(self.code, "SystemTime::now") {
            self.report(at, "only clock.rs reads a wall clock");
        }
    }
}

/// Where `word` stands by itself.
fn words<'a>(code: &'a str, word: &'a str) -> impl Iterator<Item = usize> + 'a {
    let part = |char: char| char.is_alphanumeric() || char == '_';
    code.match_indices(word)
        .map(|(at, _)| at)
        .filter(move |&at| !code[..at].ends_with(part) && !code[at + word.len()..].starts_with(part))
}

/// True when what follows is a later segment of a path, and not the name of a crate.
fn is_segment(before: &str) -> bool {
    let before = before.trim_end();
    let Some(path) = before.strip_suffix("::") else {
        // Within the braces of a use tree.
        let statement = before.rsplit(';').next().unwrap_or_default();
        return before.ends_with(['{', ',']) && statement.contains("use ") && statement.contains("::{");
    };
    path.ends_with(|char: char| char.is_alphanumeric() || char == '_' || char == '>')
}

/// The paths of a use tree, such as `store::Claim` and `store::Verdict` of `store::{Claim, Verdict}`.
fn expand(tree: &str) -> Vec<String> {
    let tree = tree.trim_start();
    if let Some(inner) = tree.strip_prefix('{') {
        return branches(inner).into_iter().flat_map(expand).collect();
    }
    let part = |char: char| char.is_alphanumeric() || char == '_';
    let end = tree.find(|char| !part(char)).unwrap_or(tree.len());
    let (name, rest) = tree.split_at(end);
    match rest.strip_prefix("::") {
        Some(rest) if rest.trim_start().starts_with(|char| part(char) || char == '{') => {
            expand(rest).into_iter().map(|path| format!("{name}::{path}")).collect()
        }
        _ => vec![name.to_owned()],
    }
}

/// The parts between the commas of an opened brace.
fn branches(inner: &str) -> Vec<&str> {
    let (mut depth, mut start, mut out) = (0, 0, Vec::new());
    for (at, char) in inner.char_indices() {
        match char {
            '{' => depth += 1,
            '}' if depth > 0 => depth -= 1,
            ',' if depth == 0 => {
                out.push(&inner[start..at]);
                start = at + 1;
            }
            '}' => {
                out.push(&inner[start..at]);
                break;
            }
            _ => {}
        }
    }
    out.retain(|branch| !branch.trim().is_empty());
    out
}

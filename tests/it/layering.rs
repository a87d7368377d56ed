//! Who may know whom: reads the sources and fails, naming file and line, where a layer reaches past its neighbours.

mod rules;
mod source;

use std::path::{Path, PathBuf};

use rules::{Violation, check_library, check_macros};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace").to_owned()
}

/// Every Rust file under a directory: its path within it, and its text.
fn files(dir: &Path) -> Vec<(String, String)> {
    let walk = walkdir::WalkDir::new(dir).sort_by_file_name().into_iter().map(Result::unwrap);
    let rust = walk.filter(|entry| entry.path().extension().is_some_and(|extension| extension == "rs"));
    rust.map(|entry| {
        let name = entry.path().strip_prefix(dir).unwrap().to_string_lossy().replace('\\', "/");
        (name, std::fs::read_to_string(entry.path()).unwrap())
    })
    .collect()
}

fn assert_clean(dir: &Path, check: fn(&str, &str) -> Vec<Violation>) {
    let files = files(dir);
    assert!(!files.is_empty(), "no sources in {}", dir.display());
    let all: Vec<_> = files.iter().flat_map(|(name, text)| check(name, text)).collect();
    let report: String = all.iter().map(|violation| format!("{}/{violation}\n", dir.display())).collect();
    assert!(all.is_empty(), "\n{report}");
}

#[test]
fn no_layer_reaches_past_its_neighbours() {
    assert_clean(&root().join("dtq/src"), check_library);
}

#[test]
fn generated_code_names_only_the_private_module() {
    assert_clean(&root().join("dtq-macros/src"), check_macros);
}

/// Lines that must be reported, each in a file of the given name.
const WRONG: &[(&str, &str)] = &[
    ("types/id.rs", "use crate::store::Store;"),
    ("types/id.rs", "fn f() { crate::clock::now() }"),
    ("state.rs", "use crate::client::Client;"),
    ("policy.rs", "use crate::store::Store;"),
    ("policy.rs", "use crate::store::{Claim, Verdict};"),
    ("policy.rs", "use crate::runtime::Worker;"),
    ("clock.rs", "use crate::store::Store;"),
    ("failpoint.rs", "use crate::types::Lease;"),
    ("timetable/due.rs", "use crate::store::Store;"),
    ("runtime/ticks.rs", "fn f() { jiff::Timestamp::now(); }"),
    ("store/verbs.rs", "use crate::runtime::Worker;"),
    ("store/mod.rs", "use crate::task::Task;"),
    ("store/redis/claim.rs", "use crate::registry::Registry;"),
    ("store/redis/claim.rs", "use crate::store::sqlite::SqliteStore;"),
    ("store/sqlite/claim.rs", "use super::super::redis::RedisStore;"),
    ("store/sqlite/claim.rs", "use crate::client::Client;"),
    ("store/messages.rs", "use crate::store::redis::RedisStore;"),
    ("store/redis/messages/list.rs", "use crate::runtime::Worker;"),
    ("subscriber/message.rs", "use crate::runtime::RunningWorker;"),
    ("subscriber/message.rs", "use crate::store::Store;"),
    ("subscriber/payload.rs", "fn f(value: redis::Value) {}"),
    ("runtime/subscribe/read.rs", "fn f(value: redis::Value) {}"),
    ("runtime/worker.rs", "use crate::store::redis::RedisStore;"),
    ("runtime/worker.rs", "fn f(store: &SqliteStore) {}"),
    ("client/mod.rs", "let it = crate::store::sqlite::SqliteStore::open(path);"),
    ("client/mod.rs", "fn f(client: redis::Client) {}"),
    ("client/mod.rs", "use ::redis::Client;"),
    ("store/mod.rs", "use rusqlite::Connection;"),
    ("store/redis/link.rs", "use rusqlite::Connection;"),
    ("store/sqlite/link.rs", "use redis::Client;"),
    ("app.rs", "use clap::Parser;"),
    ("runtime/log.rs", "tracing_subscriber::fmt().init();"),
    ("runtime/worker.rs", "let now = SystemTime::now();"),
    ("testing/drain.rs", "use crate::execute::run;"),
    ("testing/drain.rs", "use crate::runtime::{RunningWorker, WorkerByHand};"),
    ("testing/mod.rs", "use crate::store::sqlite::SqliteStore;"),
    ("store/sqlite/time.rs", "let now = std::time::SystemTime::now();"),
    ("runtime/worker.rs", "// a comment\n/* two\nlines */ let x = \"text\"; use crate::store::redis;"),
];

/// Lines that must not be reported.
const RIGHT: &[(&str, &str)] = &[
    ("types/id.rs", "use super::name::QueueName; use crate::types::Status;"),
    ("types/id.rs", "// see crate::store::Store\nconst TEXT: &str = \"use crate::store::Store;\";"),
    ("types/id.rs", "const RAW: &str = r#\"crate::store \" redis::\"#; let c = '\"'; fn f<'a>(x: &'a str) {}"),
    ("policy.rs", "use crate::store::Verdict;\nuse crate::types::{Backoff, Policy};"),
    ("store/mod.rs", "#[cfg(feature = \"redis\")]\npub mod redis;\n#[cfg(feature = \"sqlite\")]\npub mod sqlite;"),
    (
        "store/redis/mod.rs",
        "use redis::Client; use super::Store; pub struct RedisStore; use crate::clock::Clock; use crate::failpoint;",
    ),
    ("store/redis/messages/list.rs", "use redis::Value; use crate::store::messages::Inbox; use crate::failpoint;"),
    ("subscriber/message.rs", "use crate::store::StoreError; use crate::store::messages::Ending;"),
    ("store/sqlite/mod.rs", "use rusqlite::Connection; use crate::store::sqlite::SqliteStore; use crate::state;"),
    ("connect.rs", "use crate::store::{redis::RedisStore, sqlite::SqliteStore};"),
    ("connect/url.rs", "use crate::store::redis::RedisOptions;"),
    ("lib.rs", "pub use store::redis::{RedisOptions, RedisStore};\npub use store::sqlite::SqliteStore;"),
    ("cli/mod.rs", "use clap::Parser; use tracing_subscriber::EnvFilter;"),
    ("clock.rs", "SystemTime::now().into()"),
    ("testing/mod.rs", "use crate::connect; use crate::runtime::{WorkerByHand, WorkerConfig}; use super::Drained;"),
    ("runtime/worker.rs", "use std::time::Instant; use crate::store::Store; use crate::types::Lease;"),
];

#[test]
fn every_kind_of_violation_is_found() {
    for (name, text) in WRONG {
        assert!(!check_library(name, text).is_empty(), "not found in {name}: {text}");
    }
    let found = check_library("runtime/worker.rs", WRONG.last().unwrap().1);
    assert_eq!((found[0].file.as_str(), found[0].line), ("runtime/worker.rs", 3));
}

#[test]
fn what_is_allowed_is_not_reported() {
    for (name, text) in RIGHT {
        let found = check_library(name, text);
        assert!(found.is_empty(), "{name}: {text}: {}", found[0]);
    }
}

#[test]
fn macros_that_name_more_than_the_private_module_are_found() {
    for text in [
        "quote! { ::dtq::store::Claim }",
        "quote! { dtq::Client::current() }",
        "quote! {\n ::dtq :: registry\n}",
        "quote! { use ::dtq::{Client}; }",
    ] {
        assert!(!check_macros("expand.rs", text).is_empty(), "not found: {text}");
    }
    for text in [
        "quote! { ::dtq::__private::enqueue::<#name>((#args)) }",
        "/// `#[dtq::task]` makes a task.\nfn f() { error(\"write #[dtq::task]\") }",
        "quote! { #krate::__private::submit! {} }",
    ] {
        assert!(check_macros("expand.rs", text).is_empty(), "reported: {text}");
    }
}

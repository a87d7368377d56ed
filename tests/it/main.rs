//! The conformance suite: every check runs on every store; what only one store has;
//! and workers and programs on every store.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

mod child;
mod conformance;
mod counts;
mod crash_windows;
mod crates;
mod dependencies;
mod exhaustive;
mod gather;
mod layering;
mod model;
mod outage;
mod payload;
mod program;
mod redis_keys;
mod settlement;
mod sqlite_file;
mod timetable;
mod worker;

/// The checks on the embedded store.
mod sqlite {
    crate::conformance::every_topic!(sqlite);
}

/// The checks on a redis-server.
mod redis {
    crate::conformance::every_topic!(redis);
}

//! The harness of dtq's conformance suite: a store of each kind with a clock that moves when told, and short words for
//! what checks do with it.
//!
//! To add a check: write `async fn what_must_hold(w: &World)` into the file of its topic under `it/conformance/` and
//! add its name to the `checks!` list at the end of that file. It then runs as `sqlite::topic::name` and
//! `redis::topic::name`. A check never sleeps: it calls [`World::advance`], or awaits with [`eventually`].
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a harness fails by panicking")]

mod clock_shim;
mod drive;
mod ends;
mod eventually;
mod monitor;
mod queues;
mod redis_server;
mod schedules;
mod tasks;
mod temp_dir;
mod verbs;
mod world;

pub use clock_shim::ServerClock;
pub use drive::{Brought, LIFE};
pub use eventually::{eventually, lasting, promptly};
pub use monitor::Monitor;
pub use redis_server::{RedisServer, ServerKind};
pub use schedules::{NIGHTLY, every, firing};
pub use tasks::{DEFAULT, LEASE, RETENTION, SILENCE, TaskBuilder, failure, in_rows, info, queue, task, want, worker};
pub use temp_dir::TempDir;
pub use verbs::Snapshot;
pub use world::World;

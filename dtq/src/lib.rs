//! A function becomes a task, and every task that was accepted runs at least once.
//!
//! ```no_run
//! use dtq::prelude::*;
//!
//! /// Sends one letter.
//! #[dtq::task(max_attempts = 3, timeout = "30s")]
//! async fn send(address: String) -> Result<(), TaskError> {
//!     if address.is_empty() {
//!         return Err(TaskError::permanent("no address"));
//!     }
//!     Ok(())
//! }
//!
//! #[dtq::main]
//! async fn main() -> Result<(), TaskError> {
//!     send::enqueue("Main Street 1".into()).await?;
//!     Ok(())
//! }
//! ```
//!
//! - Producers need [`Client`] (made by itself from `DTQ_URL`, or by hand) and the `enqueue` that [`macro@task`] writes.
//! - Workers need [`macro@main`], or [`Worker`] inside a program of your own.
//! - Messages that other programs write to Redis streams, lists and channels are handled with [`macro@subscriber`], and sent with
//!   [`publish::Publisher`].
//! - Stores implement [`store::Store`], which is the contract in prose.
//!
//! What is promised, to the letter: `docs/guarantee.md` in the repository.

#[doc(hidden)]
pub mod __private;
mod app;
mod arguments;
mod calls;
#[cfg(feature = "cli")]
mod cli;
mod client;
pub mod clock;
mod codec;
#[cfg(feature = "cli")]
mod config_file;
pub mod connect;
mod context;
mod error;
mod execute;
mod failpoint;
mod finite;
mod key;
mod linked;
mod notes;
mod once;
mod outcome;
mod panics;
mod payload;
pub mod policy;
pub mod prelude;
pub mod publish;
pub mod registry;
mod runtime;
mod shared_state;
pub mod state;
pub mod store;
mod subscriber;
mod suggest;
mod task;
#[cfg(feature = "sqlite")]
pub mod testing;
pub mod timetable;
pub mod types;

pub use app::App;
pub use bytes::Bytes;
pub use client::{
    Answers, BulkReport, Call, CallMany, Client, ClientScope, DeadLetters, EnqueueError, ErrorGroups, Handle, Limits,
    NewSchedule, PurgeFilter, PurgeReport, Requeue, RequeueError, ResultError, ScheduleError, ScheduleInfo, Schedules,
    Sending, Tasks,
};
pub use context::Context;
pub use error::{BoxError, IntoTaskError, Marked, ResultExt, TaskError};
pub use once::{Doing, Remembered};
pub use outcome::{IntoOutcome, NoError, Outcome, TaskOutput};
pub use runtime::{QueueOrder, Readiness, RunningWorker, Stopped, SubscriberStats, Worker, WorkerConfig, WorkerError};
pub use subscriber::{
    AckError, Fields, FromJson, FromMessage, Json, Later, Message, MessageCall, Settles, Subscriber, SubscriberDef,
    SubscriberError, Unacknowledged,
};
pub use task::{ScheduleDef, Task, TaskDef, TimingDef};
#[cfg(feature = "sqlite")]
pub use testing::TestApp;
pub use types::{Idempotency, OnConflict, Unique, Until};

/// Makes a function a task.
///
/// It goes above an `async fn`, or a plain `fn`, which runs on the pool for blocking work. The function stays what it was.
/// Its parameters are the payload, but for `ctx: &Context` and `#[state] x: &T`; a payload parameter may be marked
/// `#[arg(default)]` (older stored tasks lack it) or `#[arg(alias = "old")]` (they have it under another name). It returns
/// nothing, a plain type, `Result<T, E>` or `Outcome<T>`.
///
/// Beside the function stands a type of its name with three associated functions: `enqueue(args..)` and `call(args..)`
/// give a [`Call`] (awaiting it sends it), `enqueue_many(tuples)` a [`CallMany`].
///
/// ```
/// use dtq::prelude::*;
///
/// /// Takes shared state and the context by reference; the rest is the payload.
/// #[dtq::task(queue = "high", max_attempts = 5, backoff = exponential(base = "2s", cap = "5m"))]
/// async fn charge(ctx: &Context, #[state] rates: &Vec<u64>, order: u64, cents: u64) -> Result<u64, TaskError> {
///     let rate = rates.get(ctx.attempt() as usize).ok_or(TaskError::permanent("no such rate"))?;
///     Ok(order + cents * rate)
/// }
///
/// # async fn example(client: &Client) -> Result<(), Box<dyn std::error::Error>> {
/// let job: Handle<u64> = charge::enqueue(17, 500).priority(9).on(client).await?;
/// let many: Vec<Handle<u64>> = charge::enqueue_many((1..100).map(|order| (order, 500))).on(client).await?;
/// # Ok(()) }
/// ```
///
/// # Options
///
/// | option | values | default | |
/// |---|---|---|---|
/// | `name` | text of 1 to 64 letters, digits, `_`, `-`, `.`, `:` | the function's name | the name under which it is stored; unique in a program |
/// | `aliases` | a list of names | `[]` | other stored names that it answers to, such as those it had before |
/// | `queue` | text of 1 to 64 letters, digits, `_`, `-`, `.` | `"default"` | where its calls wait |
/// | `priority` | 0 to 9 | 5 | within its queue; 9 is taken first |
/// | `max_attempts` | 1 or more | 5 | executions before it fails for good, the first one included |
/// | `timeout` | a duration, not zero | none | of one attempt |
/// | `backoff` | `exponential`, `exponential(base, factor, cap, jitter)`, `linear(step, cap)`, `fixed("5s")`, or the path of a `fn(u32) -> Duration` | `exponential(base = "1s", factor = 2, cap = "10m", jitter = 0.2)` | the wait between attempts |
/// | `permanent_if` | the path of a `fn(&E) -> bool` | none | which of its errors no retry can mend |
/// | `retention` | a duration | `"1h"` | how long record and result are kept after its end; `"0s"` keeps nothing |
/// | `ttl` | a duration, not zero | none | it expires when it was not started by then |
/// | `dead_letter` | `true`, `false` | `true` | whether it is kept among the dead letters when it failed for good |
/// | `concurrency` | 1 or more | none | how many of it run at once at most, on all workers together |
/// | `idempotency_key` | a template over the arguments, such as `"order-{order}"`, or `(key = "..", keep = "24h")` | none | one task for all calls of a key, while it is remembered |
/// | `unique` | a template, or `(key = "..", until = "started"` or `"finished", on_conflict = "skip", "replace", "reschedule"` or `"error")`, or `period = "10m"` in place of `until` | none | one task of a key at a time |
/// | `cron` | five fields, such as `"30 2 * * *"` | none | its schedule; all its arguments must be `#[arg(default)]` |
/// | `tz` | a zone of the IANA database, such as `"Europe/Berlin"` | `"UTC"` | the zone of `cron` |
/// | `every` | a duration of a second or more | none | a schedule by interval |
/// | `missed` | `"skip"`, `"once"`, `"all"` | `"once"` | what becomes of ticks that no worker was there for |
/// | `overlap` | `"allow"`, `"skip"` | `"allow"` | whether a tick is left out while the last task is unfinished |
/// | `crate` | a path | `::dtq` | where dtq is found, when it is renamed or re-exported |
///
/// Durations are text such as `"30s"`, `"5m"`, `"1h30m"`. Most options can be set for one call as well: see [`Call`]. More on each:
/// `docs/tasks.md` in the repository.
pub use dtq_macros::task;

/// Makes a function a handler of messages that dtq did not write: of a Redis stream, list or channel. See
/// `docs/settlement.md` for the forms, all options, and what each outcome becomes.
///
/// ```
/// use dtq::prelude::*;
///
/// #[derive(serde::Deserialize)]
/// struct Order { id: u64, cents: u64 }
///
/// /// What other programs write to the stream `orders`.
/// #[dtq::subscriber(stream("orders").group("billing").min_idle("60s"), max_attempts = 5, dead_letter = "orders.dead")]
/// async fn on_order(order: Json<Order>, meta: &Message) -> Outcome {
///     if order.cents == 0 {
///         return Outcome::Drop;
///     }
///     println!("order {} in attempt {}", order.id, meta.attempt());
///     Outcome::Ack(())
/// }
/// ```
pub use dtq_macros::subscriber;

/// Writes a whole worker program around a set-up function: runtime, logging, settings, signals, command line.
///
/// The function is `async`, takes `&mut App` or nothing, and returns `()` or a `Result<(), E>` with any error that a task
/// may return. Settings and exit codes: `docs/workers.md`.
///
/// ```no_run
/// #[dtq::main]
/// async fn main(app: &mut dtq::App) {
///     app.state(String::from("shared with every task that takes #[state] _: &String"));
/// }
/// # #[dtq::task]
/// # fn nothing() {}
/// ```
#[cfg(feature = "cli")]
pub use dtq_macros::main;

/// Makes an async function a test of tasks, with a store, a clock and a runtime of its own: see [`TestApp`].
///
/// The function takes `&TestApp` and returns nothing or a `Result<(), E>`. Everything that it enqueues, spawns or runs goes
/// to its own store in memory, so tests run side by side. Other attributes (`#[ignore]`, `#[should_panic]`) work as ever.
///
/// | option | default | |
/// |---|---|---|
/// | `flavor = ".."` | `"current_thread"` | the runtime: `"multi_thread"` has two threads, as a handler needs that calls `block_in_place` |
/// | `crate = path` | `::dtq` | where dtq is found, when it is renamed or re-exported |
///
/// ```
/// use dtq::prelude::*;
///
/// #[dtq::task]
/// async fn charge(order: u64, cents: u64) -> Result<String, TaskError> {
///     Ok(format!("order {order}: {cents} cents"))
/// }
///
/// async fn place_order(order: u64) {
///     charge::enqueue(order, 500).delay(std::time::Duration::from_secs(600)).await.unwrap();
/// }
///
/// #[dtq::test]
/// async fn order_is_charged(t: &TestApp) {
///     place_order(17).await;
///     t.assert_enqueued::<charge>(|a| a.order == 17);
///     t.advance("10m").await;
///     t.drain().await.assert_all_succeeded();
/// }
/// ```
#[cfg(feature = "sqlite")]
pub use dtq_macros::test;

/// The README's programs compile.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;

/// So do those of the pages.
#[cfg(doctest)]
#[doc = include_str!("../../docs/tasks.md")]
struct TasksPage;

/// See above.
#[cfg(doctest)]
#[doc = include_str!("../../docs/cli.md")]
struct CliPage;

/// See above.
#[cfg(doctest)]
#[doc = include_str!("../../docs/schedules.md")]
struct SchedulesPage;

/// See above.
#[cfg(doctest)]
#[doc = include_str!("../../docs/workers.md")]
struct WorkersPage;

/// See above.
#[cfg(doctest)]
#[doc = include_str!("../../docs/queues.md")]
struct QueuesPage;

/// See above.
#[cfg(doctest)]
#[doc = include_str!("../../docs/keys.md")]
struct KeysPage;

/// See above.
#[cfg(doctest)]
#[doc = include_str!("../../docs/cancellation.md")]
struct CancellationPage;

/// See above.
#[cfg(doctest)]
#[doc = include_str!("../../docs/results.md")]
struct ResultsPage;

/// See above.
#[cfg(doctest)]
#[doc = include_str!("../../docs/progress.md")]
struct ProgressPage;

/// See above.
#[cfg(doctest)]
#[doc = include_str!("../../docs/time-limits.md")]
struct TimeLimitsPage;

/// See above.
#[cfg(all(doctest, feature = "sqlite"))]
#[doc = include_str!("../../docs/testing.md")]
struct TestingPage;

/// See above.
#[cfg(doctest)]
#[doc = include_str!("../../docs/dead-letters.md")]
struct DeadLettersPage;

/// See above.
#[cfg(doctest)]
#[doc = include_str!("../../docs/audit.md")]
struct AuditPage;

/// See above.
#[cfg(doctest)]
#[doc = include_str!("../../docs/listing.md")]
struct ListingPage;

/// See above.
#[cfg(doctest)]
#[doc = include_str!("../../docs/settlement.md")]
struct SettlementPage;

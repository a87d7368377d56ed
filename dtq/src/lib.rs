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
mod linked;
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
pub mod types;

pub use app::App;
pub use client::{Call, CallMany, Client, ClientScope, EnqueueError, Handle, Limits, ResultError, Sending};
pub use context::Context;
pub use error::{BoxError, IntoTaskError, Marked, ResultExt, TaskError};
pub use outcome::{IntoOutcome, NoError, Outcome, TaskOutput};
pub use runtime::{QueueOrder, Readiness, RunningWorker, Stopped, SubscriberStats, Worker, WorkerConfig, WorkerError};
pub use subscriber::{
    AckError, Fields, FromMessage, Json, Later, Message, MessageCall, Settles, Subscriber, SubscriberDef,
    SubscriberError, Unacknowledged,
};
pub use task::{Task, TaskDef};

/// Makes a function a task: see the crate's front page, and `docs/tasks.md` for all options.
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
#[doc = include_str!("../../docs/workers.md")]
struct WorkersPage;

/// See above.
#[cfg(doctest)]
#[doc = include_str!("../../docs/settlement.md")]
struct SettlementPage;

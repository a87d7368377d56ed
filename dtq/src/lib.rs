//! dtq: a function becomes a task, and runs at least once.

#[doc(hidden)]
pub mod __private;
mod app;
#[cfg(feature = "cli")]
mod cli;
mod client;
pub mod clock;
mod codec;
pub mod connect;
mod context;
mod error;
mod execute;
mod outcome;
mod panics;
pub mod policy;
pub mod prelude;
pub mod registry;
mod runtime;
mod shared_state;
pub mod state;
pub mod store;
mod task;
pub mod types;

pub use app::App;
pub use client::{Call, CallMany, Client, ClientScope, EnqueueError, Handle, Limits, ResultError, Sending};
pub use context::Context;
pub use error::{BoxError, IntoTaskError, Marked, ResultExt, TaskError};
pub use outcome::{IntoOutcome, Outcome, TaskOutput, TaskReturn};
pub use runtime::{QueueOrder, RunningWorker, Stopped, Worker, WorkerConfig, WorkerError};
pub use task::{Task, TaskDef};

pub use dtq_macros::{main, task};

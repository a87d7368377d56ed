//! What generated code may name. Nothing here is for people, and all of it may change in any release.

use std::time::Duration;

pub use crate::app::App;
pub use crate::client::{Call, CallMany};
pub use crate::context::Context;
pub use crate::execute::{run, run_blocking};
pub use crate::outcome::TaskReturn;
pub use crate::register_task as register;
pub use crate::registry::{ExecutionCall, HandlerFuture, Registration, StateType};
pub use crate::task::{Task, TaskDef};
pub use crate::types::Backoff;
pub use serde;

#[cfg(not(feature = "linkme"))]
pub use inventory;
#[cfg(feature = "linkme")]
pub use {crate::linked::TASKS, linkme};

#[cfg(feature = "cli")]
pub use crate::cli::{SetUp, main, setup_result};

/// A time of a task's options.
pub const fn millis(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// The backoff `exponential(..)`; times in milliseconds.
pub const fn exponential(base: u64, factor: f64, cap: u64, jitter: f64) -> Backoff {
    Backoff::Exponential { base: millis(base), factor, cap: millis(cap), jitter }
}

/// The backoff `linear(..)`; times in milliseconds.
pub const fn linear(step: u64, cap: u64) -> Backoff {
    Backoff::Linear { step: millis(step), cap: millis(cap) }
}

/// The backoff `fixed(..)`, in milliseconds.
pub const fn fixed(delay: u64) -> Backoff {
    Backoff::Fixed(millis(delay))
}

/// The shared state of a handler. Set-up was checked before any handler ran, so it is there.
///
/// # Panics
/// When it is not, which only a context that belongs to no worker can bring about.
#[allow(clippy::panic, reason = "checked at start; a panic here becomes a failed attempt that names the type")]
pub fn state<T: Send + Sync + 'static>(ctx: &Context) -> &T {
    ctx.state().unwrap_or_else(|| panic!("no state of type {} was given", std::any::type_name::<T>()))
}

/// Asks of an argument's type what running elsewhere needs (what storing it needs is asked by the derived impls);
/// generated code names it with the argument's span.
pub const fn assert_argument<T: Send + 'static>() {}

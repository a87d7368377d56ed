//! What generated code may name. Nothing here is for people, and all of it may change in any release.

use std::time::Duration;

pub use crate::app::App;
pub use crate::arguments::{Argument, Fallback, Fields, Movable, Payload};
pub use crate::client::{Call, CallMany};
pub use crate::context::Context;
pub use crate::execute::{permanent_if, settled};
pub use crate::key::{Key, KeyPart, key};
pub use crate::outcome::{IntoOutcome, Storable};
pub use crate::policy::Ended;
pub use crate::registry::{HandlerFuture, Registration, StateType};
pub use crate::subscriber::{
    FromMessage, Message, MessageCall, Settles, Subscriber, SubscriberDef, SubscriberRegistration, Unacknowledged,
    receive, receive_blocking,
};
use crate::task::TimingDef;
pub use crate::task::{ScheduleDef, Task, TaskDef};
pub use crate::types::{
    Backoff, Channel, DelayedRetry, Form, Idempotency, ListForm, Missed, OnConflict, Overlap, PubSubForm, Start,
    StreamForm, Unique, Until,
};
pub use crate::{register_subscriber, register_task as register, task_calls as calls};

#[cfg(not(feature = "linkme"))]
pub use inventory;
#[cfg(feature = "linkme")]
pub use {
    crate::linked::{SUBSCRIBERS, TASKS},
    linkme,
};

#[cfg(feature = "cli")]
pub use crate::cli::{SetUp, main, setup_result, tool};

#[cfg(feature = "sqlite")]
pub use crate::testing::{TestApp, TestReturn, run as test};

/// What [`Task::write`] gives.
pub type Written = Result<(), serde_json::Error>;

/// What [`Task::read`] gives.
pub type Read<T> = Result<T, serde_json::Error>;

/// A time of a task's options.
pub const fn millis(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// The schedule `cron = ".."`.
pub const fn cron(expression: &'static str, zone: &'static str, missed: Missed, overlap: Overlap) -> ScheduleDef {
    ScheduleDef { timing: TimingDef::Cron { expression, zone }, missed, overlap }
}

/// The schedule `every = ".."`, in milliseconds.
pub const fn every(interval: u64, missed: Missed, overlap: Overlap) -> ScheduleDef {
    ScheduleDef { timing: TimingDef::Every(millis(interval)), missed, overlap }
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

/// A type of shared state.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be shared state of a task: it is not `Send + Sync`",
    label = "handlers on several threads share it, so it must be `Send + Sync` and own what it holds",
    note = "put what changes behind a `std::sync::Mutex` or an atomic, and use `Arc` for `Rc`"
)]
pub trait SharedState: 'static {
    /// The type, for the check at start.
    const TYPE: StateType;

    /// The shared state of a handler. Set-up was checked before any handler ran, so it is there.
    ///
    /// # Panics
    /// When it is not, which only a context that belongs to no worker can bring about.
    fn of(ctx: &Context) -> &Self;

    /// The same for a handler of messages.
    ///
    /// # Panics
    /// When it is not there, which only a message that belongs to no worker can bring about.
    fn of_message(message: &Message) -> &Self;
}

#[diagnostic::do_not_recommend]
impl<T: Send + Sync + 'static> SharedState for T {
    const TYPE: StateType = StateType::of::<T>();

    #[allow(clippy::panic, reason = "checked at start; a panic here becomes a failed attempt that names the type")]
    fn of(ctx: &Context) -> &T {
        ctx.state().unwrap_or_else(|| panic!("no state of type {} was given", std::any::type_name::<T>()))
    }

    #[allow(clippy::panic, reason = "checked at start; a panic here becomes a failed attempt that names the type")]
    fn of_message(message: &Message) -> &T {
        message.state().unwrap_or_else(|| panic!("no state of type {} was given", std::any::type_name::<T>()))
    }
}

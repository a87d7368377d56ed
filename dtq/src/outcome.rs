//! What a handler returns, and what it means.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use serde::Serialize;

use crate::error::{IntoTaskError, TaskError};

/// What a task's handler wants to become of its task.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Outcome<T = ()> {
    /// Done, with a result.
    Ack(T),
    /// Run it again after the backoff, while attempts are left.
    Retry,
    /// Run it again after this delay, while attempts are left.
    RetryAfter(Duration),
    /// Give the task up: no retry, no dead letter; its status becomes `cancelled`.
    Drop,
    /// Run it again after this delay; no attempt is burnt.
    Snooze(Duration),
}

/// Names the result type behind a handler's return type.
///
/// Implemented for `()`, [`Result`], [`Outcome`], the common standard types, and every type that is marked as
/// [`TaskOutput`].
#[diagnostic::on_unimplemented(
    message = "a task cannot return `{Self}`",
    label = "not a task's return type",
    note = "return `()`, `Result<T, E>`, `dtq::Outcome<T>` or a plain standard type",
    note = "to return a type of your own without `Result`, mark it: `impl dtq::TaskOutput for {Self} {{}}`"
)]
pub trait TaskReturn {
    /// The result type: what [`Handle::result`](crate::Handle::result) gives.
    type Output;
}

/// A handler's return value, turned into an outcome. `M` is found by inference and tells how errors convert.
#[diagnostic::on_unimplemented(
    message = "a task cannot return `{Self}`",
    label = "not a task's return type",
    note = "in `Result<T, E>`, `E` is any `std::error::Error + Send + Sync`, `dtq::TaskError`, a boxed error, or (feature \"anyhow\") `anyhow::Error`"
)]
pub trait IntoOutcome<M>: TaskReturn<Output: Serialize> {
    /// The outcome, or the error that stands for one.
    ///
    /// # Errors
    /// When the handler returned an error.
    fn into_outcome(self) -> Result<Outcome<Self::Output>, TaskError>;
}

/// Marks a type of your own as one that a task returns bare, without `Result` or [`Outcome`] around it.
///
/// ```
/// #[derive(serde::Serialize, serde::Deserialize)]
/// struct Summary { lines: u64 }
/// impl dtq::TaskOutput for Summary {}
///
/// #[dtq::task]
/// fn summarise(text: String) -> Summary {
///     Summary { lines: text.lines().count() as u64 }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "a task cannot return `{Self}` by itself",
    label = "not marked as a task's result",
    note = "return `Result<{Self}, E>`, or mark your own type: `impl dtq::TaskOutput for {Self} {{}}`"
)]
pub trait TaskOutput: Serialize + Send + 'static {}

/// Marker for return types that carry no error.
#[derive(Debug)]
pub struct Infallible;

impl<T: TaskOutput> TaskReturn for T {
    type Output = T;
}

impl<T: TaskOutput> IntoOutcome<Infallible> for T {
    fn into_outcome(self) -> Result<Outcome<T>, TaskError> {
        Ok(Outcome::Ack(self))
    }
}

impl<T> TaskReturn for Outcome<T> {
    type Output = T;
}

impl<T: Serialize> IntoOutcome<Infallible> for Outcome<T> {
    fn into_outcome(self) -> Result<Self, TaskError> {
        Ok(self)
    }
}

impl<T, E> TaskReturn for Result<T, E> {
    type Output = T;
}

impl<T: Serialize, E: IntoTaskError<M>, M> IntoOutcome<M> for Result<T, E> {
    fn into_outcome(self) -> Result<Outcome<T>, TaskError> {
        self.map(Outcome::Ack).map_err(IntoTaskError::into_task_error)
    }
}

macro_rules! plain_outputs {
    ($($type:ty),* $(,)?) => { $(impl TaskOutput for $type {})* };
}

plain_outputs! {
    (), bool, char, String, PathBuf, SystemTime, u8, u16, u32, u64, u128, usize, i8, i16, i32, i64, i128, isize, f32, f64, Duration,
    serde_json::Value,
}

impl<T: TaskOutput> TaskOutput for Option<T> {}
impl<T: TaskOutput> TaskOutput for Box<T> {}
impl<T: TaskOutput> TaskOutput for Vec<T> {}
impl<T: TaskOutput> TaskOutput for VecDeque<T> {}
impl<T: TaskOutput> TaskOutput for BTreeSet<T> {}
impl<T: TaskOutput, S: Send + 'static> TaskOutput for HashSet<T, S> {}
impl<K: TaskOutput, V: TaskOutput> TaskOutput for BTreeMap<K, V> {}
impl<K: TaskOutput, V: TaskOutput, S: Send + 'static> TaskOutput for HashMap<K, V, S> {}

macro_rules! tuple_outputs {
    ($(($($name:ident)*))*) => { $(impl<$($name: TaskOutput),*> TaskOutput for ($($name,)*) {})* };
}

tuple_outputs! { (A) (A B) (A B C) (A B C D) (A B C D E) (A B C D E F) (A B C D E F G) (A B C D E F G H) }

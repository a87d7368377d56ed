//! What a handler returns, and what it means.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use serde::Serialize;

use crate::codec;

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

/// What a handler may return, and what its value means.
///
/// Implemented for `()`, [`Result`], [`Outcome`], the common standard types, and every type that is marked as
/// [`TaskOutput`].
#[diagnostic::on_unimplemented(
    message = "a task cannot return `{Self}` by itself",
    label = "not a task's return type",
    note = "return it in a `Result`, such as `Result<{Self}, TaskError>`, or in `dtq::Outcome<{Self}>`",
    note = "or mark your own type: `impl dtq::TaskOutput for {Self} {{}}`"
)]
pub trait IntoOutcome {
    /// The result type: what [`Handle::result`](crate::Handle::result) gives.
    type Output;
    /// The error type, which must be one that [`IntoTaskError`](crate::IntoTaskError) knows.
    type Error;

    /// The outcome, or the error that stands for one.
    ///
    /// # Errors
    /// When the handler returned an error.
    fn into_outcome(self) -> Result<Outcome<Self::Output>, Self::Error>;
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
// The words of `IntoOutcome`: whichever of the two the compiler misses, the user's mistake is the same.
#[diagnostic::on_unimplemented(
    message = "a task cannot return `{Self}` by itself",
    label = "not a task's return type",
    note = "return it in a `Result`, such as `Result<{Self}, TaskError>`, or in `dtq::Outcome<{Self}>`",
    note = "or mark your own type: `impl dtq::TaskOutput for {Self} {{}}`"
)]
pub trait TaskOutput: Serialize + Send + 'static {}

/// The error type of a task that returns no `Result`.
#[derive(Debug, thiserror::Error)]
pub enum NoError {}

#[diagnostic::do_not_recommend]
impl<T: TaskOutput> IntoOutcome for T {
    type Output = T;
    type Error = NoError;

    fn into_outcome(self) -> Result<Outcome<T>, NoError> {
        Ok(Outcome::Ack(self))
    }
}

impl<T> IntoOutcome for Outcome<T> {
    type Output = T;
    type Error = NoError;

    fn into_outcome(self) -> Result<Self, NoError> {
        Ok(self)
    }
}

impl<T, E> IntoOutcome for Result<T, E> {
    type Output = T;
    type Error = E;

    fn into_outcome(self) -> Result<Outcome<T>, E> {
        self.map(Outcome::Ack)
    }
}

/// A result that can be stored.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the result of a task: it is not `Serialize`",
    label = "a task's result is stored, so this type and all inside it must be `Serialize`",
    note = "derive it where the type is defined: `#[derive(serde::Serialize, serde::Deserialize)]`",
    note = "return `()` when nobody asks for the result"
)]
pub trait Storable {
    /// The bytes that are stored; none for what carries nothing.
    ///
    /// # Errors
    /// What the type's `Serialize` says, or what JSON cannot hold.
    fn stored(&self) -> Result<Option<Bytes>, String>;
}

// `Serialize` is no supertrait: the compiler would tell of that instead.
#[diagnostic::do_not_recommend]
impl<T: Serialize> Storable for T {
    fn stored(&self) -> Result<Option<Bytes>, String> {
        codec::encode_result(self)
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

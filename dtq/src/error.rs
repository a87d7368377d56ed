//! Errors of a task's handler, and what they ask for.

use std::error::Error as StdError;
use std::fmt;
use std::time::Duration;

/// A boxed error.
pub type BoxError = Box<dyn StdError + Send + Sync>;

/// What an error asks for. [`Directive::Retry`] unless something else is said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Directive {
    Retry,
    RetryAfter(Duration),
    Snooze(Duration),
    Permanent,
}

/// Why a handler did not succeed, and whether a retry can help.
///
/// Every `std::error::Error` converts with `?` and is retried; [`TaskError::permanent`] and
/// [`ResultExt::permanent`] say that a retry cannot help. Like `anyhow::Error`, it is not itself a
/// `std::error::Error`.
pub struct TaskError {
    directive: Directive,
    source: BoxError,
}

impl TaskError {
    /// An error that is retried.
    pub fn new(error: impl Into<BoxError>) -> Self {
        Self::from_boxed(error.into())
    }

    /// An error that no retry can mend: the task fails at once.
    pub fn permanent(error: impl Into<BoxError>) -> Self {
        Self { directive: Directive::Permanent, source: error.into() }
    }

    /// An error after which the next attempt comes in `delay`, instead of after the backoff.
    pub fn retry_after(delay: Duration, error: impl Into<BoxError>) -> Self {
        Self { directive: Directive::RetryAfter(delay), source: error.into() }
    }

    /// Not an error, but not ready either: the same attempt comes again in `delay`.
    pub fn snooze(delay: Duration) -> Self {
        Self { directive: Directive::Snooze(delay), source: "snoozed".into() }
    }

    /// The same error, which no retry can mend.
    pub(crate) fn made_permanent(self) -> Self {
        Self { directive: Directive::Permanent, ..self }
    }

    /// True when no retry will be made.
    pub fn is_permanent(&self) -> bool {
        self.directive == Directive::Permanent
    }

    pub(crate) fn directive(&self) -> Directive {
        self.directive
    }

    fn from_boxed(error: BoxError) -> Self {
        match error.downcast::<Marked>() {
            Ok(marked) => Self { directive: marked.directive, source: marked.source },
            Err(source) => Self { directive: Directive::Retry, source },
        }
    }
}

/// The error and its causes, joined by `: `.
impl fmt::Display for TaskError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.source)?;
        let mut cause = self.source.source();
        while let Some(error) = cause {
            write!(f, ": {error}")?;
            cause = error.source();
        }
        Ok(())
    }
}

impl fmt::Debug for TaskError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {self}", self.directive)
    }
}

impl<E: StdError + Send + Sync + 'static> From<E> for TaskError {
    fn from(error: E) -> Self {
        Self::from_boxed(Box::new(error))
    }
}

/// An error with a directive, as a `std::error::Error`, so that it passes through `?` into any error type that keeps
/// its source whole: [`TaskError`], a boxed error, or `anyhow::Error`.
pub struct Marked {
    directive: Directive,
    source: BoxError,
}

impl From<TaskError> for Marked {
    fn from(error: TaskError) -> Self {
        Self { directive: error.directive, source: error.source }
    }
}

impl fmt::Display for Marked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.source, f)
    }
}

impl fmt::Debug for Marked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {:?}", self.directive, self.source)
    }
}

impl StdError for Marked {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.source.source()
    }
}

/// Says of a `Result`'s error what a retry can do about it.
///
/// ```
/// use dtq::prelude::*;
///
/// #[dtq::task]
/// async fn import(row: String) -> Result<u64, TaskError> {
///     let id: u64 = row.parse().permanent()?; // the same text will not parse better tomorrow
///     Ok(id)
/// }
/// ```
pub trait ResultExt<T> {
    /// No retry can mend this error.
    ///
    /// # Errors
    /// The error of `self`, marked.
    fn permanent(self) -> Result<T, Marked>;

    /// Try again in `delay`.
    ///
    /// # Errors
    /// The error of `self`, marked.
    fn retry_after(self, delay: Duration) -> Result<T, Marked>;
}

impl<T, E: Into<BoxError>> ResultExt<T> for Result<T, E> {
    fn permanent(self) -> Result<T, Marked> {
        self.map_err(|error| Marked { directive: Directive::Permanent, source: error.into() })
    }

    fn retry_after(self, delay: Duration) -> Result<T, Marked> {
        self.map_err(|error| Marked { directive: Directive::RetryAfter(delay), source: error.into() })
    }
}

/// Error types that a task may return. `M` is found by inference; one type has one way.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the error of a task",
    label = "not an error that a task can return",
    note = "implement `std::error::Error` for it (it must be Send + Sync + 'static), or return `dtq::TaskError`",
    note = "a boxed error must say that it is sent: `Box<dyn std::error::Error + Send + Sync>`",
    note = "`anyhow::Error` needs dtq's feature \"anyhow\""
)]
pub trait IntoTaskError<M> {
    /// The same error, as one of a task.
    fn into_task_error(self) -> TaskError;
}

/// Marker: any `std::error::Error`.
#[derive(Debug)]
pub struct ViaStdError;
/// Marker: [`TaskError`] itself.
#[derive(Debug)]
pub struct ViaTaskError;
/// Marker: [`BoxError`].
#[derive(Debug)]
pub struct ViaBoxError;
/// Marker: `anyhow::Error`.
#[cfg(feature = "anyhow")]
#[derive(Debug)]
pub struct ViaAnyhow;

#[diagnostic::do_not_recommend]
impl<E: StdError + Send + Sync + 'static> IntoTaskError<ViaStdError> for E {
    fn into_task_error(self) -> TaskError {
        self.into()
    }
}

impl IntoTaskError<ViaTaskError> for TaskError {
    fn into_task_error(self) -> TaskError {
        self
    }
}

impl IntoTaskError<ViaBoxError> for BoxError {
    fn into_task_error(self) -> TaskError {
        TaskError::from_boxed(self)
    }
}

#[cfg(feature = "anyhow")]
impl IntoTaskError<ViaAnyhow> for anyhow::Error {
    fn into_task_error(self) -> TaskError {
        let directive = self.downcast_ref::<Marked>().map_or(Directive::Retry, |marked| marked.directive);
        TaskError { directive, source: self.into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<u8, TaskError> {
        Ok(text.parse::<u8>().permanent()?)
    }

    #[test]
    fn a_mark_survives_the_question_mark() {
        assert!(parse("x").unwrap_err().is_permanent());
        let boxed: BoxError = "x".parse::<u8>().permanent().unwrap_err().into();
        assert!(boxed.into_task_error().is_permanent());
        let plain: TaskError = "x".parse::<u8>().unwrap_err().into();
        assert!(!plain.is_permanent());
    }

    #[cfg(feature = "anyhow")]
    #[test]
    fn a_mark_survives_anyhow_and_its_contexts() {
        let error = anyhow::Error::new("x".parse::<u8>().permanent().unwrap_err()).context("row 7");
        let error = error.into_task_error();
        assert!(error.is_permanent());
        assert_eq!(error.to_string(), "row 7: invalid digit found in string");
    }
}

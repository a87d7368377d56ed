//! What a user writes under `#[dtq::main]`.

use std::future::Future;
use std::pin::Pin;

use crate::error::{BoxError, IntoTaskError};

/// The user's set-up, running.
pub type SetUp<'a> = Pin<Box<dyn Future<Output = Result<(), BoxError>> + 'a>>;

/// What a set-up function returned, as what the program understands.
///
/// # Errors
/// When set-up failed.
pub fn setup_result<R: SetUpResult<M>, M>(returned: R) -> Result<(), BoxError> {
    returned.into_result()
}

/// What a set-up function may return.
#[diagnostic::on_unimplemented(
    message = "a set-up function cannot return `{Self}`",
    label = "not the result of a set-up",
    note = "return `()` or `Result<(), E>`, where `E` is any error that a task may return, such as `anyhow::Error`"
)]
pub trait SetUpResult<M> {
    /// The same as a `Result` with a boxed error.
    ///
    /// # Errors
    /// When set-up failed.
    fn into_result(self) -> Result<(), BoxError>;
}

/// Marker: a set-up that cannot fail.
#[derive(Debug)]
pub struct Unfailing;

impl SetUpResult<Unfailing> for () {
    fn into_result(self) -> Result<(), BoxError> {
        Ok(())
    }
}

impl<E: IntoTaskError<M>, M> SetUpResult<M> for Result<(), E> {
    fn into_result(self) -> Result<(), BoxError> {
        self.map_err(|error| error.into_task_error().to_string().into())
    }
}

//! How a command ends when it does not end well.

use crate::error::BoxError;

/// Exit codes, stable for scripts and supervisors; [`super::args::EXIT_CODES`] tells them.
pub(super) mod exit {
    /// Something failed at work, or a question was answered with no.
    pub(in crate::cli) const FAILURE: u8 = 1;
    /// A setting, an option or a task definition is not usable.
    pub(in crate::cli) const USAGE: u8 = 2;
    /// Set-up failed.
    pub(in crate::cli) const SET_UP: u8 = 3;
    /// Some tasks did not finish within the drain timeout and were given back.
    pub(in crate::cli) const NOT_DRAINED: u8 = 4;
    /// A second signal cut the shutdown short.
    pub(in crate::cli) const INTERRUPTED: u8 = 130;
}

/// What a command comes to.
pub(super) type Done<T = ()> = Result<T, Failure>;

/// A failure with the exit code it means.
#[derive(Debug)]
pub(super) struct Failure {
    pub(super) code: u8,
    /// Empty when all was said already.
    pub(super) message: String,
}

impl Failure {
    pub(super) fn usage(error: impl ToString) -> Self {
        Self { code: exit::USAGE, message: error.to_string() }
    }

    pub(super) fn set_up(error: BoxError) -> Self {
        Self { code: exit::SET_UP, message: format!("set-up: {error}") }
    }

    pub(super) fn work(error: impl ToString) -> Self {
        Self { code: exit::FAILURE, message: error.to_string() }
    }

    /// An end that needs no more words.
    pub(super) fn silent(code: u8) -> Self {
        Self { code, message: String::new() }
    }
}

impl From<crate::store::StoreError> for Failure {
    fn from(error: crate::store::StoreError) -> Self {
        Self::work(error)
    }
}

//! What a handler of messages may return.

use std::time::Duration;

use crate::outcome::{NoError, Outcome};

/// What a handler wants to become of a message that cannot be acknowledged: of a list, or of a channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Later {
    /// Nothing more.
    Done,
    /// A copy comes back after this delay, while attempts are left.
    RetryAfter(Duration),
}

/// What a handler of messages may return, and what it means: `()`, [`Outcome`], [`Later`], or one of them in a `Result` with any
/// error that a task may return. An error has the message tried again after the backoff.
#[diagnostic::on_unimplemented(
    message = "a subscriber cannot return `{Self}`",
    label = "not a subscriber's return type",
    note = "return `()`, `dtq::Outcome`, or a `Result` of one of them, such as `Result<(), TaskError>`",
    note = "a message has no result that somebody could ask for"
)]
pub trait Settles {
    /// The error type.
    type Error;

    /// Whether it can ask for what needs an acknowledgement.
    const ASKS: bool;

    /// The outcome, or the error that stands for one.
    ///
    /// # Errors
    /// When the handler returned an error.
    fn into_outcome(self) -> Result<Outcome, Self::Error>;
}

impl Settles for () {
    type Error = NoError;
    const ASKS: bool = false;

    fn into_outcome(self) -> Result<Outcome, NoError> {
        Ok(Outcome::Ack(()))
    }
}

impl Settles for Outcome {
    type Error = NoError;
    const ASKS: bool = true;

    fn into_outcome(self) -> Result<Outcome, NoError> {
        Ok(self)
    }
}

impl Settles for Later {
    type Error = NoError;
    const ASKS: bool = false;

    fn into_outcome(self) -> Result<Outcome, NoError> {
        Ok(match self {
            Self::Done => Outcome::Ack(()),
            Self::RetryAfter(delay) => Outcome::RetryAfter(delay),
        })
    }
}

impl<T: Settles<Error = NoError>, E> Settles for Result<T, E> {
    type Error = E;
    const ASKS: bool = T::ASKS;

    fn into_outcome(self) -> Result<Outcome, E> {
        match self.map(T::into_outcome) {
            Ok(Ok(outcome)) => Ok(outcome),
            Ok(Err(never)) => match never {},
            Err(error) => Err(error),
        }
    }
}

/// What a handler may return whose messages cannot be acknowledged.
#[diagnostic::on_unimplemented(
    message = "messages of a list or a channel cannot be acknowledged, retried or dropped, which `{Self}` may ask for",
    label = "asks for what a list or a channel does not have",
    note = "return `()`, `dtq::Later` to ask for a later attempt, or a `Result` of one of them",
    note = "or read a `reliable_list`, whose messages stay on the server until they are acknowledged"
)]
pub trait Unacknowledged {
    /// Makes the compiler look.
    const CHECK: () = ();
}

impl Unacknowledged for () {}
impl Unacknowledged for Later {}
impl<T: Unacknowledged, E> Unacknowledged for Result<T, E> {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_outcome_asks_for_an_acknowledgement() {
        const {
            assert!(<Outcome as Settles>::ASKS && <Result<Outcome, NoError> as Settles>::ASKS);
            assert!(!<() as Settles>::ASKS && !<Result<Later, NoError> as Settles>::ASKS);
        }
        let later = Later::RetryAfter(Duration::from_secs(7));
        assert!(matches!(later.into_outcome(), Ok(Outcome::RetryAfter(delay)) if delay.as_secs() == 7));
    }
}

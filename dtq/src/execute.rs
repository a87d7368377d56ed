//! From encoded arguments through a user's function to the way the attempt ended. Generic, so kept thin.

use futures_util::FutureExt;

use crate::error::{Directive, IntoTaskError, TaskError};
use crate::outcome::{Outcome, Storable};
use crate::panics;
use crate::policy::Ended;
use crate::registry::{ExecutionCall, HandlerFuture};
use crate::task::Task;
use crate::types::{ErrorKind, Failure};

/// Runs an attempt of an async function.
pub(crate) fn run<T: Task>(call: ExecutionCall) -> HandlerFuture {
    Box::pin(async move {
        call.ctx.begin();
        // The arguments are moved on before the first await: they need not be `Send` here a second time.
        let running = match T::from_payload(&call.payload) {
            Ok(args) => T::handler(call.ctx, args),
            Err(error) => return undecodable(&error),
        };
        running.await
    })
}

/// Runs an attempt of a plain function, on the pool for blocking work.
pub(crate) fn run_blocking<T: Task>(call: ExecutionCall) -> HandlerFuture {
    Box::pin(panics::spawn_blocking(move || {
        call.ctx.begin();
        match T::from_payload(&call.payload) {
            // Polled by hand: a plain function may start a runtime, which it could not within another's `block_on`.
            Ok(args) => T::handler(call.ctx, args).now_or_never().unwrap_or_else(waits),
            Err(error) => undecodable(&error),
        }
    }))
}

/// Only a `Task` written by hand can come to this.
fn waits() -> Ended {
    Ended::Fatal(Failure::new(ErrorKind::Error, "a task with `TaskDef::blocking` waited; it must not await anything"))
}

/// How an attempt ended that came to this outcome.
pub fn settled<T: Storable, E: IntoTaskError<M>, M>(outcome: Result<Outcome<T>, E>) -> Ended {
    ended(outcome.map_err(IntoTaskError::into_task_error))
}

/// The same for a task with `permanent_if = rule`: errors of which the rule says so are permanent, whatever directive the
/// handler gave them.
pub fn permanent_if<T, E, M>(outcome: Result<Outcome<T>, E>, rule: fn(&E) -> bool) -> Ended
where
    T: Storable,
    E: IntoTaskError<M>,
{
    ended(outcome.map_err(|error| {
        let permanent = rule(&error);
        let error = error.into_task_error();
        if permanent { error.made_permanent() } else { error }
    }))
}

fn ended<T: Storable>(returned: Result<Outcome<T>, TaskError>) -> Ended {
    match returned {
        Ok(outcome) => acknowledged(outcome),
        Err(error) => failed(&error),
    }
}

fn acknowledged<T: Storable>(outcome: Outcome<T>) -> Ended {
    match outcome {
        Outcome::Ack(value) => match value.stored() {
            Ok(bytes) => Ended::Done(bytes),
            Err(error) => Ended::Fatal(Failure::new(ErrorKind::Unencodable, format!("result: {error}"))),
        },
        Outcome::Retry => Ended::Again { after: None, failure: asked() },
        Outcome::RetryAfter(delay) => Ended::Again { after: Some(delay), failure: asked() },
        Outcome::Drop => Ended::Drop("dropped by its handler".into()),
        Outcome::Snooze(delay) => Ended::Snooze(delay),
    }
}

fn asked() -> Failure {
    Failure::new(ErrorKind::Retry, "the handler asked to be run again")
}

fn failed(error: &TaskError) -> Ended {
    let failure = |kind| Failure::new(kind, error.to_string());
    match error.directive() {
        Directive::Permanent => Ended::Fatal(failure(ErrorKind::Permanent)),
        Directive::Retry => Ended::Again { after: None, failure: failure(ErrorKind::Error) },
        Directive::RetryAfter(delay) => Ended::Again { after: Some(delay), failure: failure(ErrorKind::Error) },
        Directive::Snooze(delay) => Ended::Snooze(delay),
    }
}

fn undecodable(error: &str) -> Ended {
    let message = format!("the stored arguments do not fit the function: {error}");
    Ended::Fatal(Failure::new(ErrorKind::Undecodable, message))
}

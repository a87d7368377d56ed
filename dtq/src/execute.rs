//! From encoded arguments through a user's function to the way the attempt ended. Generic, so kept thin.

use std::future::Future;

use serde::Serialize;

use crate::codec;
use crate::context::Context;
use crate::error::{Directive, TaskError};
use crate::outcome::{IntoOutcome, Outcome};
use crate::panics;
use crate::policy::Ended;
use crate::registry::{ExecutionCall, HandlerFuture};
use crate::task::Task;
use crate::types::{ErrorKind, Failure};

/// Runs an async function.
pub fn run<T, F, Fut, M>(call: ExecutionCall, function: F) -> HandlerFuture
where
    T: Task,
    F: FnOnce(Context, T) -> Fut + Send + 'static,
    Fut: Future + Send,
    Fut::Output: IntoOutcome<M>,
{
    Box::pin(async move {
        call.ctx.begin();
        match codec::decode(&call.payload) {
            Ok(args) => ended(function(call.ctx, args).await),
            Err(error) => undecodable(&error),
        }
    })
}

/// Runs a plain function on the pool for blocking work.
pub fn run_blocking<T, F, R, M>(call: ExecutionCall, function: F) -> HandlerFuture
where
    T: Task,
    F: FnOnce(Context, T) -> R + Send + 'static,
    R: IntoOutcome<M>,
{
    Box::pin(panics::spawn_blocking(move || {
        call.ctx.begin();
        match codec::decode(&call.payload) {
            Ok(args) => ended(function(call.ctx, args)),
            Err(error) => undecodable(&error),
        }
    }))
}

fn ended<R: IntoOutcome<M>, M>(returned: R) -> Ended {
    match returned.into_outcome() {
        Ok(outcome) => acknowledged(outcome),
        Err(error) => failed(&error),
    }
}

fn acknowledged<T: Serialize>(outcome: Outcome<T>) -> Ended {
    match outcome {
        Outcome::Ack(value) => match codec::encode_result(&value) {
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

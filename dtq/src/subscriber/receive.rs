//! From a message through a user's function to the way the attempt ended. Generic, so kept thin.

use std::future::Future;

use super::message::{Message, MessageCall};
use crate::panics;
use crate::policy::Ended;
use crate::registry::HandlerFuture;
use crate::types::{ErrorKind, Failure};

/// Runs an async function on what `decode` makes of the message. `settle` makes of its return value what it means.
pub fn receive<P, D, F, Fut, S>(call: MessageCall, decode: D, function: F, settle: S) -> HandlerFuture
where
    D: FnOnce(&Message) -> Result<P, String> + Send + 'static,
    F: FnOnce(Message, P) -> Fut + Send + 'static,
    Fut: Future + Send,
    S: FnOnce(Fut::Output) -> Ended + Send + 'static,
{
    Box::pin(async move {
        call.message.begin();
        // The payload is moved on before the first await: it need not be `Send` here a second time.
        let running = match decode(&call.message) {
            Ok(payload) => function(call.message, payload),
            Err(error) => return undecodable(&error),
        };
        settle(running.await)
    })
}

/// Runs a plain function on the pool for blocking work, on what `decode` makes of the message. `settle` makes of its return value what it means.
pub fn receive_blocking<P, D, F, R, S>(call: MessageCall, decode: D, function: F, settle: S) -> HandlerFuture
where
    D: FnOnce(&Message) -> Result<P, String> + Send + 'static,
    F: FnOnce(Message, P) -> R + Send + 'static,
    S: FnOnce(R) -> Ended + Send + 'static,
{
    Box::pin(panics::spawn_blocking(move || {
        call.message.begin();
        match decode(&call.message) {
            Ok(payload) => settle(function(call.message, payload)),
            Err(error) => undecodable(&error),
        }
    }))
}

fn undecodable(error: &str) -> Ended {
    let message = format!("the message does not fit the function: {error}");
    Ended::Fatal(Failure::new(ErrorKind::Undecodable, message))
}

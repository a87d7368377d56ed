//! Calling a task off.

use super::RedisStore;
use super::link::Link;
use super::record;
use super::reply;
use super::scripts::SCRIPTS;
use crate::store::{CancelOutcome, CancelRequest, Result};
use crate::types::{ErrorKind, Failure};

const OPERATION: &str = "cancel";

pub(super) async fn cancel(store: &RedisStore, request: &CancelRequest) -> Result<CancelOutcome> {
    let script = &SCRIPTS.cancel;
    // The reason becomes a line of the history, so it is bounded like any other failure's.
    let reason = Failure::new(ErrorKind::Cancelled, request.by.reason.as_str()).message;
    let mut call = Link::call(script, &store.keys.root(request.id.queue()));
    call.arg(store.link.options().event_log).arg(request.id.uuid().to_string()).arg(record::escape(&reason));
    call.arg(request.id.to_string()).arg(&request.by.actor).arg(&request.by.reason);
    let answer = store.link.eval(OPERATION, script, &call).await?;
    let letter = reply::text(answer).and_then(|answer| answer.chars().next());
    match letter {
        Some('N') => Ok(CancelOutcome::NotFound),
        Some('C') => Ok(CancelOutcome::Cancelled),
        Some('W') => Ok(CancelOutcome::Requested),
        other => other
            .and_then(|letter| record::finished(letter.to_ascii_uppercase()))
            .map(CancelOutcome::AlreadyFinished)
            .ok_or_else(|| store.link.corrupt(OPERATION, format!("the record of {} cannot be read", request.id))),
    }
}

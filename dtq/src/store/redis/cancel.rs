//! Calling a task off.

use redis::Value;

use super::RedisStore;
use super::reply;
use super::scripts::SCRIPTS;
use super::steer;
use crate::store::{CancelOutcome, CancelRequest, Result, Steer, Steered, Steering};

const OPERATION: &str = "cancel";

pub(super) async fn cancel(store: &RedisStore, request: &CancelRequest) -> Result<CancelOutcome> {
    let step = Steering {
        queue: request.id.queue().clone(),
        targets: vec![request.id.clone().into()],
        action: Steer::Cancel { statuses: Vec::new() },
        words: request.id.to_string(),
        by: request.by.clone(),
    };
    let call = steer::cancel(store, &step, &[]);
    let answer = store.link.eval(OPERATION, &SCRIPTS.cancel, &call).await?;
    outcome(answer).ok_or_else(|| store.link.corrupt(OPERATION, format!("the record of {} cannot be read", request.id)))
}

fn outcome(answer: Value) -> Option<CancelOutcome> {
    Some(match steer::steered(reply::list(answer)?.pop()?)? {
        Steered::Done => CancelOutcome::Cancelled,
        Steered::Requested => CancelOutcome::Requested,
        Steered::NotFound => CancelOutcome::NotFound,
        Steered::Unfit(status) => CancelOutcome::AlreadyFinished(status),
        Steered::Discarded | Steered::Changed => return None,
    })
}

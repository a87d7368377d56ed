//! What a store's refusals are to the caller.

use std::collections::HashSet;
use std::sync::Arc;

use super::error::EnqueueError;
use crate::store::{Accepted, Full, Refusal};
use crate::types::{NewTask, TaskId};

/// What is needed to tell of a refusal for a key.
pub(super) struct Sent {
    /// The ids that were sent.
    ids: HashSet<TaskId>,
    /// By place: task, idempotency key, unique key.
    keys: Vec<(String, Option<String>, Option<String>)>,
}

impl Sent {
    /// `None` when no task has a key, so that none can be refused for one.
    pub(super) fn of(tasks: &[NewTask]) -> Option<Self> {
        tasks.iter().any(|task| task.idempotency.is_some() || task.unique.is_some()).then(|| Self {
            ids: tasks.iter().map(|task| task.id.clone()).collect(),
            keys: tasks
                .iter()
                .map(|task| {
                    let idempotency = task.idempotency.as_ref().map(|it| it.key.clone());
                    (task.task.clone(), idempotency, task.unique.as_ref().map(|it| it.key.clone()))
                })
                .collect(),
        })
    }
}

/// The answers for the caller, in the order of the store's.
pub(super) fn judge(answers: Vec<Accepted>, sent: Option<&Sent>) -> Vec<Result<Accepted, EnqueueError>> {
    let kept: Arc<[TaskId]> = match answers.iter().any(Accepted::found_no_room) {
        true => answers.iter().filter(|answer| answer.refused.is_none()).map(|answer| answer.id.clone()).collect(),
        false => Arc::default(),
    };
    let judged = answers.into_iter().enumerate().map(|(place, answer)| match answer.refused {
        None => Ok(answer),
        Some(Refusal::Full(full)) => Err(no_room(&answer.id, full, kept.clone())),
        Some(refusal) => refused_for_a_key(place, answer, refusal, sent),
    });
    judged.collect()
}

fn no_room(id: &TaskId, full: Full, accepted: Arc<[TaskId]>) -> EnqueueError {
    let Full { depth, limit, retry_after } = full;
    EnqueueError::QueueFull { queue: id.queue().clone(), depth, limit, retry_after, accepted }
}

/// Two submissions of one idempotency key in one call are one task, and no error.
fn refused_for_a_key(
    place: usize,
    answer: Accepted,
    refusal: Refusal,
    sent: Option<&Sent>,
) -> Result<Accepted, EnqueueError> {
    let (task, idempotency, unique) = sent.and_then(|sent| sent.keys.get(place)).cloned().unwrap_or_default();
    match refusal {
        Refusal::InProgress if sent.is_some_and(|sent| sent.ids.contains(&answer.id)) => {
            Ok(Accepted { refused: None, ..answer })
        }
        Refusal::InProgress => {
            Err(EnqueueError::InProgress { task, key: idempotency.unwrap_or_default(), id: answer.id })
        }
        _ => Err(EnqueueError::Unique { task, key: unique.unwrap_or_default(), holder: answer.id }),
    }
}

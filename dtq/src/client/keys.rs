//! Tasks by their idempotency keys, and what is refused because of a key.

use std::collections::HashSet;

use super::{Client, EnqueueError};
use crate::store::{Accepted, CancelOutcome, Refusal, StoreError};
use crate::types::{NewTask, QueueName, TaskId};

impl Client {
    /// The task of an idempotency key, finished or not; `None` when the queue has none under this key, or does not remember
    /// the key any more.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn find_by_key(&self, queue: &QueueName, key: &str) -> Result<Option<TaskId>, StoreError> {
        self.inner.store.find_by_key(queue, key).await
    }

    /// Calls the task of an idempotency key off. The reason is kept in its record.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn cancel_by_key(
        &self,
        queue: &QueueName,
        key: &str,
        reason: impl Into<String>,
    ) -> Result<CancelOutcome, StoreError> {
        match self.find_by_key(queue, key).await? {
            // A key passes on only from a task that is finished, which the store then says.
            Some(id) => self.cancel(&id, reason).await,
            None => Ok(CancelOutcome::NotFound),
        }
    }
}

/// What is needed to tell of a refusal.
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

    /// The answer for the caller. Two submissions of one idempotency key in one call are one task, and no error.
    pub(super) fn judge(&self, place: usize, answer: Accepted) -> Result<Accepted, EnqueueError> {
        let Some(refusal) = answer.refused else { return Ok(answer) };
        let (task, idempotency, unique) = self.keys.get(place).cloned().unwrap_or_default();
        match refusal {
            Refusal::InProgress if self.ids.contains(&answer.id) => Ok(Accepted { refused: None, ..answer }),
            Refusal::InProgress => {
                Err(EnqueueError::InProgress { task, key: idempotency.unwrap_or_default(), id: answer.id })
            }
            Refusal::Unique => Err(EnqueueError::Unique { task, key: unique.unwrap_or_default(), holder: answer.id }),
        }
    }
}

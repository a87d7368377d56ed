//! Tasks by their idempotency keys.

use super::Client;
use crate::store::{CancelOutcome, StoreError};
use crate::types::{QueueName, TaskId};

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

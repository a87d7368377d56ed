//! A task that was enqueued, seen from the outside.

use std::fmt;
use std::marker::PhantomData;
use std::time::Duration;

use serde::de::DeserializeOwned;
use tokio::time::Instant;

use super::{Client, ResultError};
use crate::codec;
use crate::store::{Accepted, CancelOutcome, StoreError};
use crate::types::{Record, Status, TaskId};

/// A task that was enqueued; `T` is its result type.
pub struct Handle<T> {
    client: Client,
    id: TaskId,
    created: bool,
    result: PhantomData<fn() -> T>,
}

impl<T> Handle<T> {
    pub(super) fn new(client: Client, answer: Accepted) -> Self {
        Self { client, id: answer.id, created: answer.created, result: PhantomData }
    }

    /// The task's id.
    pub fn id(&self) -> &TaskId {
        &self.id
    }

    /// True when a task of this id existed already, so that enqueuing made no new one.
    pub fn is_duplicate(&self) -> bool {
        !self.created
    }

    /// Everything that is known of it; `None` when it is finished and its retention is over.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn record(&self) -> Result<Option<Record>, StoreError> {
        self.client.get(&self.id).await
    }

    /// Its status; `None` when it is finished and its retention is over.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn status(&self) -> Result<Option<Status>, StoreError> {
        Ok(self.record().await?.map(|record| record.status))
    }

    /// Calls it off.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn cancel(&self, reason: impl Into<String>) -> Result<CancelOutcome, StoreError> {
        self.client.cancel(&self.id, reason).await
    }
}

impl<T: DeserializeOwned> Handle<T> {
    /// Waits for the task to end and gives its result.
    ///
    /// # Errors
    /// When it ended without success, when it does not end within `timeout` (it goes on then), when its record is not
    /// kept, or when the store fails.
    pub async fn result(&self, timeout: Duration) -> Result<T, ResultError> {
        // From before the first look, so that an end between look and wait is not missed.
        let mut ended = self.client.inner.watch.subscribe(&self.id);
        let deadline = Instant::now().checked_add(timeout);
        loop {
            let seen = ended.status();
            match self.record().await? {
                Some(record) if record.status.is_terminal() => return self.read(record),
                Some(_) => {}
                None => return self.read_forgotten(seen),
            }
            if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                return Err(ResultError::Timeout { id: self.id.clone(), after: timeout });
            }
            ended.changed(deadline).await;
        }
    }

    fn read(&self, record: Record) -> Result<T, ResultError> {
        let id = || self.id.clone();
        if record.status != Status::Succeeded {
            let failure = record.last_failure().cloned();
            return Err(ResultError::NotSucceeded { id: id(), status: record.status, failure });
        }
        codec::decode_result(record.result.as_ref()).map_err(|detail| ResultError::Undecodable { id: id(), detail })
    }

    /// The record is gone: with a retention of zero that is what an end looks like, and the event has told which.
    fn read_forgotten(&self, seen: Option<Status>) -> Result<T, ResultError> {
        let not_kept = || ResultError::NotKept { id: self.id.clone() };
        match seen {
            Some(Status::Succeeded) => codec::decode_result(None).map_err(|_| not_kept()),
            Some(status) => Err(ResultError::NotSucceeded { id: self.id.clone(), status, failure: None }),
            None => Err(not_kept()),
        }
    }
}

impl<T> Clone for Handle<T> {
    fn clone(&self) -> Self {
        Self { client: self.client.clone(), id: self.id.clone(), created: self.created, result: PhantomData }
    }
}

impl<T> fmt::Debug for Handle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Handle").field(&self.id).finish()
    }
}

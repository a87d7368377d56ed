//! A task that was enqueued, seen from the outside.

use std::fmt;
use std::marker::PhantomData;
use std::time::Duration;

use serde::de::DeserializeOwned;
use tokio::time::Instant;

use super::{Client, ResultError};
use crate::codec;
use crate::store::{Accepted, CancelOutcome, StoreError};
use crate::types::{Progress, Record, Status, TaskId};

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

    /// True when enqueuing made no new task: one of this id existed already, or one that stands for the key of the call. How
    /// that one fares, or fared, its record tells.
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

    /// What it told last of how far it is, see [`Context::progress`](crate::Context::progress).
    ///
    /// # Errors
    /// When the store fails.
    pub async fn progress(&self) -> Result<Option<Progress>, StoreError> {
        Ok(self.record().await?.and_then(|record| record.progress))
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
    /// Waits for the task to end and gives its result. The store tells of the end: however many wait in a process, one
    /// reader of the event log wakes them.
    ///
    /// # Errors
    /// When it ended without success, when it does not end within `timeout` (it goes on then), when its record is not
    /// kept, or when the store fails.
    pub async fn result(&self, timeout: Duration) -> Result<T, ResultError> {
        // From before the first look, so that an end between look and wait is not missed.
        let mut ended = self.client.inner.watch.subscribe(&self.id);
        let deadline = Instant::now().checked_add(timeout);
        let mut missed = false;
        loop {
            let seen = ended.status();
            let last = deadline.is_some_and(|deadline| Instant::now() >= deadline);
            match self.record_by(deadline).await {
                Some(Ok(Some(record))) if record.status.is_terminal() => return self.read(record),
                // With a retention of zero the record goes with the end; the event that tells of it may be on its way.
                Some(Ok(None)) if seen.is_none() && !last && !std::mem::replace(&mut missed, true) => {
                    ended.changed_soon(deadline).await;
                }
                Some(Ok(None)) => return self.read_forgotten(seen),
                // An outage may end in time.
                Some(Err(error)) if last || !error.is_transient() => return Err(error.into()),
                None => return Err(ResultError::Timeout { id: self.id.clone(), after: timeout }),
                Some(_) if last => return Err(ResultError::Timeout { id: self.id.clone(), after: timeout }),
                Some(_) => ended.changed(deadline).await,
            }
        }
    }

    /// The record, or `None` when the store did not answer in time. A first look is granted also when no time is left.
    async fn record_by(&self, deadline: Option<Instant>) -> Option<Result<Option<Record>, StoreError>> {
        const SHORTEST_LOOK: Duration = Duration::from_millis(250);
        match deadline.map(|deadline| deadline.max(Instant::now() + SHORTEST_LOOK)) {
            Some(deadline) => tokio::time::timeout_at(deadline, self.record()).await.ok(),
            None => Some(self.record().await),
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
            Some(Status::Succeeded) => {
                codec::decode_result(None).map_err(|_| ResultError::ResultNotKept { id: self.id.clone() })
            }
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

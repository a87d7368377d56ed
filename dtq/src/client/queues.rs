//! Steering whole queues: pause, limits, purge.

use super::Client;
use crate::store::{LimitsRequest, PauseRequest, Purge, StoreError};
use crate::types::{LimitChanges, QueueLimits, QueueName, Uuid, check_task_name};

/// What a purge drops: all that waits in its queue, unless told otherwise.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PurgeFilter {
    task: Option<String>,
    stop_running: bool,
}

impl PurgeFilter {
    /// All that waits.
    pub fn new() -> Self {
        Self::default()
    }

    /// Only tasks of this name.
    #[must_use]
    pub fn task(mut self, name: impl Into<String>) -> Self {
        self.task = Some(name.into());
        self
    }

    /// Asks what runs to stop, too.
    #[must_use]
    pub fn stop_running(mut self) -> Self {
        self.stop_running = true;
        self
    }
}

/// What a purge did, or would do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PurgeReport {
    /// Tasks that waited, and are cancelled.
    pub dropped: u64,
    /// Running tasks that were asked to stop, and had not been asked before.
    pub stopping: u64,
}

/// Queues as a whole: see `docs/queues.md`.
impl Client {
    /// Pauses a queue: workers start nothing more of it, what runs finishes, and enqueuing goes on. False when it is paused
    /// already; then who did it first, and why, stands.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn pause(&self, queue: &QueueName, reason: impl Into<String>) -> Result<bool, StoreError> {
        self.set_paused(queue, true, reason.into()).await
    }

    /// Lets a paused queue go on, at once; false when it is not paused.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn resume(&self, queue: &QueueName, reason: impl Into<String>) -> Result<bool, StoreError> {
        self.set_paused(queue, false, reason.into()).await
    }

    async fn set_paused(&self, queue: &QueueName, pause: bool, reason: String) -> Result<bool, StoreError> {
        self.inner.store.pause(PauseRequest { queue: queue.clone(), pause, by: self.by(reason) }).await
    }

    /// Changes a queue's limits, from now on and for all workers; what is not named in `changes` stays as it is.
    ///
    /// # Errors
    /// When a task's name breaks the rules, or the store fails.
    pub async fn set_limits(
        &self,
        queue: &QueueName,
        changes: LimitChanges,
        reason: impl Into<String>,
    ) -> Result<(), StoreError> {
        changes.task_names().try_for_each(check_task_name).map_err(|error| StoreError::Rejected {
            operation: "set_limits",
            store: self.inner.store.address().to_owned(),
            detail: error.to_string(),
        })?;
        self.inner.store.set_limits(LimitsRequest { queue: queue.clone(), changes, by: self.by(reason) }).await
    }

    /// What holds a queue back: whether it is paused, its limits, and how much of each is used.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn limits_of(&self, queue: &QueueName) -> Result<QueueLimits, StoreError> {
        self.inner.store.limits(queue).await
    }

    /// Cancels what waits in a queue (ready, delayed or waiting for a retry), step by step. The records stay for their
    /// retention, with the reason. What is enqueued meanwhile may be dropped, too.
    ///
    /// # Errors
    /// When the store fails: then some of it may be dropped already; the audit log tells how many.
    pub async fn purge(
        &self,
        queue: &QueueName,
        filter: PurgeFilter,
        reason: impl Into<String>,
    ) -> Result<PurgeReport, StoreError> {
        self.purge_steps(queue, filter, false, reason.into()).await
    }

    /// What [`Client::purge`] would do now. Nothing changes.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn count_purge(&self, queue: &QueueName, filter: PurgeFilter) -> Result<PurgeReport, StoreError> {
        self.purge_steps(queue, filter, true, String::new()).await
    }

    async fn purge_steps(
        &self,
        queue: &QueueName,
        filter: PurgeFilter,
        dry_run: bool,
        reason: String,
    ) -> Result<PurgeReport, StoreError> {
        let PurgeFilter { task, stop_running } = filter;
        let (queue, by, run) = (queue.clone(), self.by(reason), Uuid::now_v7());
        let mut purge = Purge { queue, task, stop_running, dry_run, by, run, after: None };
        let mut report = PurgeReport::default();
        loop {
            let step = self.inner.store.purge(purge.clone()).await?;
            report.dropped += step.dropped;
            report.stopping += step.stopping;
            match step.next {
                Some(next) => purge.after = Some(next),
                None => return Ok(report),
            }
        }
    }
}

//! What a client's calls can fail with.

use std::sync::Arc;
use std::time::Duration;

use crate::store::StoreError;
use crate::types::{ErrorKind, Failure, NameError, QueueName, Status, TaskId};

/// Why a task was not enqueued. [`EnqueueError::Store`], [`EnqueueError::InProgress`], [`EnqueueError::Unique`] and
/// [`EnqueueError::QueueFull`] are the store's answer; for the others nothing was sent.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum EnqueueError {
    /// A queue or task name breaks the rules.
    #[error(transparent)]
    Name(#[from] NameError),
    /// An option cannot be what it is.
    #[error("task {task:?}: {option} is not usable: {rule}")]
    Invalid {
        /// The task.
        task: String,
        /// The option.
        option: &'static str,
        /// The rule.
        rule: &'static str,
    },
    /// The encoded arguments are too large.
    #[error(
        "task {task:?}: its arguments take {size} bytes, the limit is {limit}; store large data elsewhere and pass a \
         reference, or raise Limits::max_payload"
    )]
    PayloadTooLarge {
        /// The task.
        task: String,
        /// Bytes.
        size: usize,
        /// Bytes.
        limit: usize,
    },
    /// A key is too long.
    #[error(
        "task {task:?}: {option} has {size} bytes, the limit is {limit}; make it of ids, or of a hash of what it is about"
    )]
    KeyTooLong {
        /// The task.
        task: String,
        /// The option that gives the key.
        option: &'static str,
        /// Bytes.
        size: usize,
        /// Bytes.
        limit: usize,
    },
    /// The delay is too long.
    #[error(
        "task {task:?}: a delay of {} is longer than the limit of {} (Limits::max_delay)",
        days(*.delay), days(*.limit)
    )]
    DelayTooLong {
        /// The task.
        task: String,
        /// The delay asked for.
        delay: Duration,
        /// The longest one.
        limit: Duration,
    },
    /// The arguments do not encode as JSON.
    #[error("task {task:?}: its arguments do not encode: {detail}")]
    Unencodable {
        /// The task.
        task: String,
        /// The encoder's words.
        detail: String,
    },
    /// The given id is of another queue.
    #[error("task {task:?}: the id {id} does not belong to queue {queue:?}")]
    OtherQueue {
        /// The task.
        task: String,
        /// The id.
        id: TaskId,
        /// The queue the call goes to.
        queue: String,
    },
    /// The queue has as many ready and scheduled tasks as it takes.
    #[error(
        "queue {queue:?} is full: it holds {depth} ready and scheduled tasks and takes {limit}; try again in {}{}",
        humantime::format_duration(*.retry_after),
        match .accepted.len() { 0 => String::new(), some => format!(" ({some} tasks of this call were accepted)") }
    )]
    QueueFull {
        /// The queue.
        queue: QueueName,
        /// Ready and scheduled tasks in it.
        depth: u64,
        /// How many it takes.
        limit: u32,
        /// When there may be room: by how fast its tasks ended lately, or 5 s where that is not known.
        retry_after: Duration,
        /// The tasks of this call that the store has: in their order, as many as there was room for, and those that it knew.
        /// All can be sent again with the same ids.
        accepted: Arc<[TaskId]>,
    },
    /// The task of its idempotency key is not finished.
    #[error("task {task:?}: the idempotency key {key:?} is in use: its task {id} is not finished")]
    InProgress {
        /// The task that was to be enqueued.
        task: String,
        /// The key.
        key: String,
        /// The task that is in progress.
        id: TaskId,
    },
    /// Another task holds its unique key, and cannot be changed any more, or was not to be.
    #[error("task {task:?}: the unique key {key:?} is held by task {holder}")]
    Unique {
        /// The task that was to be enqueued.
        task: String,
        /// The key.
        key: String,
        /// The task that holds it.
        holder: TaskId,
    },
    /// The attempt that enqueues it has used its own time up, see [`Context::deadline`](crate::Context::deadline).
    #[error("task {task:?}: nothing is left of the time of the attempt that enqueues it (Call::within)")]
    NoTimeLeft {
        /// The task.
        task: String,
    },
    /// The store failed. The task may have been accepted all the same: enqueue again with the same id, which makes no
    /// second task. Of many, any may have been: send the same [`CallMany`](super::CallMany) again.
    #[error("{cause} ({})", again(.id.as_ref(), *.tasks))]
    Store {
        /// The id that was sent; of many, the first one.
        id: Option<TaskId>,
        /// How many tasks were sent.
        tasks: usize,
        /// The store's error. It is part of this error's text, so it is not its `source` as well.
        cause: StoreError,
    },
}

/// What to do when tasks may have been accepted or not.
fn again(first: Option<&TaskId>, tasks: usize) -> String {
    let id = first.map(|id| format!(", {id}")).unwrap_or_default();
    if tasks > 1 {
        return format!(
            "any of the {tasks} tasks may have been accepted all the same: send the same call again, or enqueue all with the \
             same ids (the first one{id}), which makes no second task"
        );
    }
    format!("it may have been accepted all the same: enqueue again with the same id{id}, which makes no second task")
}

/// Why no result came.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum ResultError {
    /// The task ended without a result.
    #[error("task {id} ended as {status}{}", .failure.as_ref().map(|failure| format!(": {failure}")).unwrap_or_default())]
    NotSucceeded {
        /// The task.
        id: TaskId,
        /// How it ended.
        status: Status,
        /// Why, where it is known.
        failure: Option<Failure>,
    },
    /// It did not end in time; it goes on.
    #[error("task {id} did not finish within {}", humantime::format_duration(*.after))]
    Timeout {
        /// The task.
        id: TaskId,
        /// The time that was given.
        after: Duration,
    },
    /// The task is unknown, or finished and its retention is over.
    #[error("nothing is known of task {id}: it never existed, or its retention (option `retention`) is over")]
    NotKept {
        /// The task.
        id: TaskId,
    },
    /// It succeeded, as the event log told, and its result is gone: at once, with a retention of zero.
    #[error("task {id} succeeded, but its result is not kept: its retention (option `retention`) is over, or zero")]
    ResultNotKept {
        /// The task.
        id: TaskId,
    },
    /// The stored result is not of the type asked for.
    #[error("the result of task {id} does not decode: {detail}")]
    Undecodable {
        /// The task.
        id: TaskId,
        /// The decoder's words.
        detail: String,
    },
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl ResultError {
    /// How the task ended, where this tells it.
    pub fn status(&self) -> Option<Status> {
        match self {
            Self::NotSucceeded { status, .. } => Some(*status),
            Self::ResultNotKept { .. } | Self::Undecodable { .. } => Some(Status::Succeeded),
            _ => None,
        }
    }

    /// Why the task did not succeed: the error of its last attempt, or the reason for which it was called off.
    pub fn failure(&self) -> Option<&Failure> {
        match self {
            Self::NotSucceeded { failure, .. } => failure.as_ref(),
            _ => None,
        }
    }

    /// The class of that error: [`ErrorKind::Panic`], [`ErrorKind::Timeout`], ...
    pub fn kind(&self) -> Option<ErrorKind> {
        self.failure().map(|failure| failure.kind)
    }
}

/// A long time as it is written on a command line: in days, not in the years and months of an almanac.
fn days(duration: Duration) -> String {
    const DAY: u64 = 86_400;
    let (days, rest) = (duration.as_secs() / DAY, Duration::from_secs(duration.as_secs() % DAY));
    match (days, rest.is_zero()) {
        (0, _) => humantime::format_duration(duration).to_string(),
        (days, true) => format!("{days}d"),
        (days, false) => format!("{days}d {}", humantime::format_duration(rest)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::QueueName;

    #[test]
    fn a_failure_says_how_many_tasks_may_have_been_accepted() {
        let id = TaskId::generate(QueueName::default());
        assert!(again(Some(&id), 1).starts_with("it may have been accepted"));
        assert!(again(Some(&id), 1).contains(&format!("the same id, {id}, which")));
        let many = again(Some(&id), 300);
        assert!(many.starts_with("any of the 300 tasks") && many.contains(&format!("(the first one, {id})")), "{many}");
    }
}

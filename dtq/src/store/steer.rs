//! What is done by hand to many tasks of one queue in one step.

use std::fmt;

use bytes::Bytes;

use crate::types::{AuditAction, By, QueueName, Status, TaskId, Timestamp};

/// An action on tasks of one queue.
#[derive(Debug, Clone)]
pub struct Steering {
    /// The queue.
    pub queue: QueueName,
    /// The tasks, [`super::BATCH`] at most.
    pub targets: Vec<Target>,
    /// What is done to them.
    pub action: Steer,
    /// What the audit log names as the target: an id, or a filter in words.
    pub words: String,
    /// By whom, and why.
    pub by: By,
}

/// A task that is meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// Which.
    pub id: TaskId,
    /// When it had finished when it was looked at: if it has finished another time since, it is left alone.
    pub finished_at: Option<Timestamp>,
}

impl From<TaskId> for Target {
    fn from(id: TaskId) -> Self {
        Self { id, finished_at: None }
    }
}

/// What is done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Steer {
    /// Puts finished tasks back into their queue, at the end of their band: `queued`, attempt 1, all attempts before it.
    /// What was noted of earlier attempts stays. A time to live begins anew. No limit of the queue refuses it.
    Requeue {
        /// Which finished tasks may be.
        from: RequeueFrom,
        /// Arguments in place of the stored ones.
        payload: Option<Bytes>,
    },
    /// Takes dead letters off the list. Their records stay for the rest of their retention, marked.
    Discard,
    /// Removes dead letters: their records, too.
    Purge,
    /// Calls unfinished tasks off, as [`super::Store::cancel`] does.
    Cancel {
        /// Only those of these statuses; of any unfinished one when empty.
        statuses: Vec<Status>,
    },
}

impl Steer {
    /// What the audit log calls it.
    pub const fn audited_as(&self) -> AuditAction {
        match self {
            Self::Requeue { .. } => AuditAction::Requeue,
            Self::Discard => AuditAction::Discard,
            Self::Purge => AuditAction::PurgeDeadLetters,
            Self::Cancel { .. } => AuditAction::Cancel,
        }
    }
}

/// Which finished tasks may be requeued.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequeueFrom {
    /// Those on the dead-letter list.
    DeadLetters,
    /// Those that did not succeed, discarded dead letters among them.
    Unsuccessful,
    /// All. The result of one that succeeded is forgotten.
    Finished,
}

impl RequeueFrom {
    /// True when a task of this finished status may be.
    pub const fn allows(self, status: Status, discarded: bool) -> bool {
        match self {
            Self::DeadLetters => matches!(status, Status::DeadLettered) && !discarded,
            Self::Unsuccessful => status.is_terminal() && !matches!(status, Status::Succeeded),
            Self::Finished => status.is_terminal(),
        }
    }
}

/// What became of one target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Steered {
    /// It was done.
    Done,
    /// It is running; its worker will be told to stop.
    Requested,
    /// Nothing changed: the action is not for a task of this status.
    Unfit(Status),
    /// Nothing changed: its dead letter was discarded.
    Discarded,
    /// Nothing changed: it has finished another time since it was looked at.
    Changed,
    /// Nothing is known of it: it never existed, was purged, or its retention is over.
    NotFound,
}

impl fmt::Display for Steered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Done => f.write_str("done"),
            Self::Requested => f.write_str("it is running; its worker will be told to stop"),
            Self::Unfit(status) => write!(f, "nothing changed: it is {status}"),
            Self::Discarded => f.write_str("nothing changed: its dead letter was discarded"),
            Self::Changed => f.write_str("nothing changed: it ran and finished again meanwhile"),
            Self::NotFound => f.write_str("nothing is known of it"),
        }
    }
}

//! Tasks as a listing shows them, and which of them are meant.

use std::fmt;
use std::time::Duration;

use super::dead_letter::Words;
use super::id::TaskId;
use super::name::Priority;
use super::record::{Failure, Record};
use super::status::Status;
use super::timestamp::Timestamp;

/// A task in a listing: its record without what may be large.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskSummary {
    /// Identity, with the queue.
    pub id: TaskId,
    /// The registered name.
    pub task: String,
    /// Where it is in its life.
    pub status: Status,
    /// The current or last attempt; the first is 1, also before it starts.
    pub attempt: u32,
    /// Attempts it may have.
    pub max_attempts: u32,
    /// The band within its queue.
    pub priority: Priority,
    /// When it was accepted.
    pub enqueued_at: Timestamp,
    /// When a pending or retrying task becomes ready.
    pub due_at: Option<Timestamp>,
    /// When it reached its terminal status.
    pub finished_at: Option<Timestamp>,
    /// Why the latest attempt that ended did not succeed.
    pub failure: Option<Failure>,
    /// How often it was requeued by hand.
    pub requeues: u32,
    /// True when a running task was asked to stop.
    pub cancel_requested: bool,
}

impl From<&Record> for TaskSummary {
    fn from(record: &Record) -> Self {
        Self {
            id: record.id.clone(),
            task: record.task.clone(),
            status: record.status,
            attempt: record.attempt,
            max_attempts: record.policy.max_attempts,
            priority: record.priority,
            enqueued_at: record.enqueued_at,
            due_at: record.due_at,
            finished_at: record.finished_at,
            failure: record.last_failure().cloned(),
            requeues: record.requeued.as_ref().map_or(0, |requeued| requeued.times),
            cancel_requested: record.cancel_requested,
        }
    }
}

/// Which tasks are meant: those that fit all that is set. The default fits all. Spans hold their first instant and not
/// their last.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TaskFilter {
    /// Of this registered name.
    pub task: Option<String>,
    /// Accepted at this instant or later.
    pub enqueued_from: Option<Timestamp>,
    /// Accepted before.
    pub enqueued_before: Option<Timestamp>,
    /// Finished at this instant or later.
    pub finished_from: Option<Timestamp>,
    /// Finished before.
    pub finished_before: Option<Timestamp>,
    /// Accepted longer ago than this, by the store's clock.
    pub older_than: Option<Duration>,
}

impl TaskFilter {
    /// True when a task fits. `now` is the store's clock.
    pub fn fits(&self, task: &TaskSummary, now: Timestamp) -> bool {
        let finished = |fits: &dyn Fn(Timestamp) -> bool| task.finished_at.is_some_and(fits);
        self.task.as_ref().is_none_or(|name| *name == task.task)
            && self.enqueued_from.is_none_or(|from| task.enqueued_at >= from)
            && self.enqueued_before.is_none_or(|end| task.enqueued_at < end)
            && self.finished_from.is_none_or(|from| finished(&|at| at >= from))
            && self.finished_before.is_none_or(|end| finished(&|at| at < end))
            && self.older_than.is_none_or(|limit| now.since(task.enqueued_at) > limit)
    }
}

/// In words, as the audit log keeps it.
impl fmt::Display for TaskFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("tasks")?;
        let mut words = Words { f, first: true };
        words.add("named", self.task.as_ref())?;
        words.add("enqueued from", self.enqueued_from.as_ref())?;
        words.add("enqueued before", self.enqueued_before.as_ref())?;
        words.add("finished from", self.finished_from.as_ref())?;
        words.add("finished before", self.finished_before.as_ref())?;
        words.add("older than", self.older_than.map(humantime::format_duration).as_ref())
    }
}

/// From which end a listing begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ListOrder {
    /// What is handed out, due or forgotten first.
    #[default]
    OldestFirst,
    /// The exact reverse.
    NewestFirst,
}

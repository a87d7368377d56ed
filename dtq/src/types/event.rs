//! What happened, as told in the same atomic step in which it happened.

use std::fmt;

use super::id::TaskId;
use super::timestamp::Timestamp;
use super::worker::WorkerId;

/// Kinds of lifecycle events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EventKind {
    /// Accepted, ready or delayed; or promoted when its delay was over.
    Queued,
    /// Claimed by a worker: an attempt begins.
    Started,
    /// Finished well.
    Succeeded,
    /// An attempt failed (or asked to wait) and another one is scheduled.
    RetryScheduled,
    /// The scheduled retry became ready.
    Retried,
    /// Failed for good, kept among the dead letters.
    DeadLettered,
    /// Failed for good.
    Failed,
    /// Called off or dropped.
    Cancelled,
    /// Not started within its time to live.
    Expired,
    /// A duplicate entry or a stale settle was absorbed: nothing changed.
    DuplicateAbsorbed,
    /// An owner was lost: this attempt ended without a settle and the task was taken over for the next one.
    Reclaimed,
    /// An owner gave the task back unfinished, at shutdown.
    Released,
    /// Put back into its queue by hand, after it had finished: its attempts begin anew.
    Requeued,
    /// A worker's first heartbeat.
    WorkerStarted,
    /// A worker took its leave.
    WorkerStopped,
}

impl EventKind {
    /// Every kind.
    pub const ALL: [Self; 15] = [
        Self::Queued,
        Self::Started,
        Self::Succeeded,
        Self::RetryScheduled,
        Self::Retried,
        Self::DeadLettered,
        Self::Failed,
        Self::Cancelled,
        Self::Expired,
        Self::DuplicateAbsorbed,
        Self::Reclaimed,
        Self::Released,
        Self::Requeued,
        Self::WorkerStarted,
        Self::WorkerStopped,
    ];

    /// The contract's name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Queued => "TASK_QUEUED",
            Self::Started => "TASK_STARTED",
            Self::Succeeded => "TASK_SUCCEEDED",
            Self::RetryScheduled => "TASK_RETRY_SCHEDULED",
            Self::Retried => "TASK_RETRIED",
            Self::DeadLettered => "TASK_DEAD_LETTERED",
            Self::Failed => "TASK_FAILED",
            Self::Cancelled => "TASK_CANCELLED",
            Self::Expired => "TASK_EXPIRED",
            Self::DuplicateAbsorbed => "TASK_DUPLICATE_ABSORBED",
            Self::Reclaimed => "TASK_RECLAIMED",
            Self::Released => "TASK_RELEASED",
            Self::Requeued => "TASK_REQUEUED",
            Self::WorkerStarted => "WORKER_STARTED",
            Self::WorkerStopped => "WORKER_STOPPED",
        }
    }

    /// One letter for compact storage; unique per kind.
    pub const fn code(self) -> char {
        match self {
            Self::Queued => 'Q',
            Self::Started => 'B',
            Self::Succeeded => 'S',
            Self::RetryScheduled => 'R',
            Self::Retried => 'T',
            Self::DeadLettered => 'D',
            Self::Failed => 'F',
            Self::Cancelled => 'C',
            Self::Expired => 'X',
            Self::DuplicateAbsorbed => 'A',
            Self::Reclaimed => 'L',
            Self::Released => 'V',
            Self::Requeued => 'U',
            Self::WorkerStarted => 'W',
            Self::WorkerStopped => 'Z',
        }
    }

    /// The kind of a stored letter.
    pub fn from_code(code: char) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.code() == code)
    }

    /// True when the task it tells of is finished.
    pub const fn is_terminal(self) -> bool {
        matches!(self, Self::Succeeded | Self::DeadLettered | Self::Failed | Self::Cancelled | Self::Expired)
    }
}

impl fmt::Display for EventKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// One event. `task` and `attempt` are set for task events, `worker` for worker events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// What happened.
    pub kind: EventKind,
    /// When, by the store's clock.
    pub at: Timestamp,
    /// The task it happened to.
    pub task: Option<TaskId>,
    /// The attempt it happened in.
    pub attempt: u32,
    /// The worker it happened to.
    pub worker: Option<WorkerId>,
}

/// A place in a store's event log: opaque text, valid for the store it came from.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct EventCursor(pub(crate) String);

impl EventCursor {
    /// Before the oldest event that is still kept.
    pub fn start() -> Self {
        Self::default()
    }

    /// After everything that was written so far; it is resolved by the store at the first read.
    pub fn end() -> Self {
        Self(Self::END.into())
    }

    /// The text of [`EventCursor::end`].
    pub(crate) const END: &'static str = "$";

    /// A cursor from its text.
    pub fn from_text(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The cursor as text, to be stored and given back later.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Events in order, and where to read on.
#[derive(Debug, Clone, Default)]
pub struct EventPage {
    /// The events after the given cursor.
    pub events: Vec<Event>,
    /// The place after the last of them.
    pub next: EventCursor,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_its_own_code() {
        for kind in EventKind::ALL {
            assert_eq!(EventKind::from_code(kind.code()), Some(kind));
        }
    }
}

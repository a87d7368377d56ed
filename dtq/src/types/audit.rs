//! Who steered the fleet by hand: what was done, by whom, and why.

use std::fmt;

use super::name::QueueName;
use super::record::cut;
use super::timestamp::Timestamp;

/// Who asks for something, and why. Both are kept with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct By {
    /// A person or a program; cut after [`By::MAX_ACTOR`] bytes.
    pub actor: String,
    /// In the actor's words; cut after [`By::MAX_REASON`] bytes.
    pub reason: String,
}

impl By {
    /// The longest actor that is kept, in bytes.
    pub const MAX_ACTOR: usize = 128;
    /// The longest reason that is kept, in bytes.
    pub const MAX_REASON: usize = super::record::Failure::MAX_MESSAGE;

    /// Cuts what is overlong, with a mark.
    pub fn new(actor: impl Into<String>, reason: impl Into<String>) -> Self {
        Self { actor: cut(actor.into(), Self::MAX_ACTOR), reason: cut(reason.into(), Self::MAX_REASON) }
    }
}

/// What was done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum AuditAction {
    /// Tasks were called off.
    Cancel,
    /// Dead letters went back to their queue.
    Requeue,
    /// Dead letters were marked as done with.
    Discard,
    /// Dead letters were removed.
    PurgeDeadLetters,
    /// What waited in a queue was dropped.
    Purge,
    /// A queue stopped handing out tasks.
    Pause,
    /// A queue goes on.
    Resume,
    /// Limits of a queue, or of a task, were set.
    SetLimits,
    /// A schedule was added.
    AddSchedule,
    /// A schedule was changed.
    ChangeSchedule,
    /// A schedule stopped.
    PauseSchedule,
    /// A schedule goes on.
    ResumeSchedule,
    /// A schedule was removed.
    RemoveSchedule,
    /// A schedule's task was enqueued by hand.
    RunSchedule,
    /// Something that a newer version does.
    Other,
}

impl AuditAction {
    const ALL: [Self; 14] = [
        Self::Cancel,
        Self::Requeue,
        Self::Discard,
        Self::PurgeDeadLetters,
        Self::Purge,
        Self::Pause,
        Self::Resume,
        Self::SetLimits,
        Self::AddSchedule,
        Self::ChangeSchedule,
        Self::PauseSchedule,
        Self::ResumeSchedule,
        Self::RemoveSchedule,
        Self::RunSchedule,
    ];

    /// The name used in stores, JSON and the command line.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Cancel => "cancel",
            Self::Requeue => "requeue",
            Self::Discard => "discard",
            Self::PurgeDeadLetters => "purge_dead_letters",
            Self::Purge => "purge",
            Self::Pause => "pause",
            Self::Resume => "resume",
            Self::SetLimits => "set_limits",
            Self::AddSchedule => "add_schedule",
            Self::ChangeSchedule => "change_schedule",
            Self::PauseSchedule => "pause_schedule",
            Self::ResumeSchedule => "resume_schedule",
            Self::RemoveSchedule => "remove_schedule",
            Self::RunSchedule => "run_schedule",
            Self::Other => "other",
        }
    }

    /// The action of that name; unknown names (from a newer version) read as [`AuditAction::Other`].
    pub fn from_name(name: &str) -> Self {
        Self::ALL.into_iter().find(|action| action.as_str() == name).unwrap_or(Self::Other)
    }
}

impl fmt::Display for AuditAction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// One administrative action, written in the same step as what it did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditEntry {
    /// Position in the queue's log: pass it as `before` to read on.
    pub position: String,
    /// When it was done, by the store's clock.
    pub at: Timestamp,
    /// The queue it belongs to.
    pub queue: QueueName,
    /// What was done.
    pub action: AuditAction,
    /// To what: a task's id, a queue, a schedule, or a filter in words.
    pub target: String,
    /// How many tasks it reached.
    pub tasks: u64,
    /// By whom, and why.
    pub by: By,
}

impl AuditEntry {
    /// How many entries each queue's log keeps at least: the latest ones.
    pub const KEPT: usize = 10_000;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_read_back() {
        for action in AuditAction::ALL {
            assert_eq!(AuditAction::from_name(action.as_str()), action);
        }
        assert_eq!(AuditAction::from_name("of a newer version"), AuditAction::Other);
    }

    #[test]
    fn what_is_overlong_is_cut() {
        let by = By::new("é".repeat(100), "x".repeat(5000));
        assert!(by.actor.len() <= By::MAX_ACTOR && by.actor.ends_with(" [cut]"));
        assert_eq!(by.reason.len(), By::MAX_REASON);
    }
}

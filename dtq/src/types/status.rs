//! The nine statuses of a task.

use std::fmt;
use std::str::FromStr;

/// Where a task is in its life. `state.rs` holds the allowed moves between these.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Status {
    /// Accepted, due later.
    Pending,
    /// Ready for a worker.
    Queued,
    /// Leased to a worker.
    Running,
    /// Failed, due again later.
    Retrying,
    /// Done.
    Succeeded,
    /// Failed for good, with dead letters turned off.
    Failed,
    /// Failed for good and kept among the dead letters.
    DeadLettered,
    /// Called off before it finished, or dropped by its own handler.
    Cancelled,
    /// Not started before its time to live ran out.
    Expired,
}

impl Status {
    /// Every status, in the order of a task's life.
    pub const ALL: [Self; 9] = [
        Self::Pending,
        Self::Queued,
        Self::Running,
        Self::Retrying,
        Self::Succeeded,
        Self::Failed,
        Self::DeadLettered,
        Self::Cancelled,
        Self::Expired,
    ];

    /// The name used in stores, JSON and the command line.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Queued => "queued",
            Self::Running => "running",
            Self::Retrying => "retrying",
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
            Self::DeadLettered => "dead_lettered",
            Self::Cancelled => "cancelled",
            Self::Expired => "expired",
        }
    }

    /// True when the task will not run again by itself.
    pub const fn is_terminal(self) -> bool {
        matches!(self, Self::Succeeded | Self::Failed | Self::DeadLettered | Self::Cancelled | Self::Expired)
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for Status {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let known = || Self::ALL.map(Self::as_str).join(", ");
        Self::ALL
            .into_iter()
            .find(|status| status.as_str() == text)
            .ok_or_else(|| format!("{text:?} is not a status; the statuses are {}", known()))
    }
}

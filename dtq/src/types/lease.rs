//! A worker's claim on one attempt of one task.

use std::hash::{Hash, Hasher};

use bytes::Bytes;

use super::id::TaskId;
use super::name::Priority;
use super::options::Policy;
use super::timestamp::Timestamp;

/// The right to settle one attempt. A store refuses it once the attempt was taken over, settled or released.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lease {
    /// The task that is held.
    pub task: TaskId,
    /// The attempt this lease is for; the first is 1.
    pub attempt: u32,
    /// The store's fencing token: opaque, different for every grant of the same attempt.
    pub token: String,
}

/// By the task alone: it is rare that a worker has two leases of one task.
impl Hash for Lease {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.task.hash(state);
    }
}

/// One attempt handed to a worker.
#[derive(Debug, Clone)]
pub struct Delivery {
    /// Identity, attempt and fencing token.
    pub lease: Lease,
    /// The registered name of the function to run.
    pub task: String,
    /// The encoded arguments.
    pub payload: Bytes,
    /// The band it came from.
    pub priority: Priority,
    /// What the task was stored with.
    pub policy: Policy,
    /// When the store accepted the task.
    pub enqueued_at: Timestamp,
    /// When the store granted this lease: the attempt's start.
    pub claimed_at: Timestamp,
    /// True when an earlier owner lost this task (its worker died, or was paused past its lease).
    pub reclaimed: bool,
    /// True when a checkpoint is stored with the task: the record has it.
    pub resumes: bool,
}

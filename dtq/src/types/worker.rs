//! Who runs tasks.

use std::fmt;

use uuid::Uuid;

use super::name::QueueName;
use super::timestamp::Timestamp;

/// A worker's identity: random for each start, so two containers with one host name and process id never meet.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct WorkerId(String);

impl WorkerId {
    /// A fresh identity.
    pub fn random() -> Self {
        Self(Uuid::new_v4().simple().to_string())
    }

    /// An identity of the caller's choice, for tools and tests. It must be unique among live workers.
    pub fn named(name: impl Into<String>) -> Self {
        Self(name.into())
    }

    /// The identity as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for WorkerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for WorkerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A worker's heartbeat record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkerInfo {
    /// Identity.
    pub id: WorkerId,
    /// The queues it reads, in order.
    pub queues: Vec<QueueName>,
    /// The names that its tasks answer to; empty when it does not tell.
    pub tasks: Vec<String>,
    /// Tasks it runs at once at most.
    pub concurrency: u32,
    /// Tasks it holds now: those that run or wait for a slot, and those that have ended and whose ends the store has not taken yet. So
    /// it can be more than `concurrency`.
    pub running: u32,
    /// First heartbeat, by the store's clock. Ignored in what a worker sends.
    pub started_at: Timestamp,
    /// Latest heartbeat, by the store's clock. Ignored in what a worker sends.
    pub seen_at: Timestamp,
}

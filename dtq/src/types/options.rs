//! What travels with a task when it is stored, and what its handler's side decides.

use std::time::Duration;

use bytes::Bytes;

use super::id::TaskId;
use super::keys::{Idempotency, Unique};
use super::name::Priority;
use super::timestamp::Timestamp;

/// The part of a task's options that the store itself enforces; stored with the task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Policy {
    /// Executions before the task fails for good; at least 1.
    pub max_attempts: u32,
    /// Longest run of one attempt; `None` means no limit.
    pub timeout: Option<Duration>,
    /// How long the record and the result of a finished task are kept; zero keeps nothing.
    pub retention: Duration,
    /// Whether a task that failed for good is kept among the dead letters.
    pub dead_letter: bool,
    /// The task expires when it was not started this long after it was enqueued.
    pub ttl: Option<Duration>,
}

impl Policy {
    /// 5 attempts, no timeout, one hour of retention, dead letters kept, no time to live.
    pub const DEFAULT: Self =
        Self { max_attempts: 5, timeout: None, retention: Duration::from_secs(3600), dead_letter: true, ttl: None };

    /// How long dead letters are kept.
    pub const DEAD_LETTER_RETENTION: Duration = Duration::from_secs(30 * 24 * 3600);
}

impl Default for Policy {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// When a task becomes ready.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Deferral {
    /// At once.
    #[default]
    None,
    /// This long after the store accepted it, by the store's clock.
    After(Duration),
    /// At an instant of the store's clock; one in the past means at once.
    At(Timestamp),
}

/// A task on its way into a store. Begin with [`NewTask::new`]: fields are added from release to release.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewTask {
    /// Identity, with the queue.
    pub id: TaskId,
    /// The registered name of the function that runs it.
    pub task: String,
    /// The encoded arguments: a JSON object by argument name.
    pub payload: Bytes,
    /// The band within the queue.
    pub priority: Priority,
    /// When it becomes ready.
    pub deferral: Deferral,
    /// What the store enforces.
    pub policy: Policy,
    /// The idempotency key it is submitted under.
    pub idempotency: Option<Idempotency>,
    /// The key of which there is one task at a time.
    pub unique: Option<Unique>,
}

impl NewTask {
    /// A task of the usual priority and policy, ready at once. Set the fields that shall differ.
    pub fn new(id: TaskId, task: impl Into<String>, payload: impl Into<Bytes>) -> Self {
        Self {
            id,
            task: task.into(),
            payload: payload.into(),
            priority: Priority::default(),
            deferral: Deferral::None,
            policy: Policy::DEFAULT,
            idempotency: None,
            unique: None,
        }
    }

    /// Submits it under an idempotency key. The policy's retention is raised to the time for which the key is remembered:
    /// a submission that is answered with a task shall find that task.
    pub fn idempotent(mut self, key: impl Into<Idempotency>) -> Self {
        let key = key.into();
        self.policy.retention = self.policy.retention.max(key.keep);
        self.idempotency = Some(key);
        self
    }
}

/// How long to wait before the next attempt. Delays never pass `cap` and are spread by `jitter`.
#[derive(Debug, Clone, Copy)]
pub enum Backoff {
    /// `base * factor^(attempt - 1)`.
    Exponential {
        /// Delay after the first attempt.
        base: Duration,
        /// Growth from attempt to attempt.
        factor: f64,
        /// The longest delay.
        cap: Duration,
        /// Share of the delay, 0.0 to 1.0, by which it may be shorter or longer.
        jitter: f64,
    },
    /// `step * attempt`, up to `cap`.
    Linear {
        /// Growth from attempt to attempt.
        step: Duration,
        /// The longest delay.
        cap: Duration,
    },
    /// The same delay each time.
    Fixed(Duration),
    /// The user's own function of the attempt that failed (1 for the first).
    Custom(fn(u32) -> Duration),
}

impl Backoff {
    /// Base 1 s, factor 2, cap 10 min, jitter 20 %.
    pub const DEFAULT: Self =
        Self::Exponential { base: Duration::from_secs(1), factor: 2.0, cap: Duration::from_secs(600), jitter: 0.2 };
}

impl Default for Backoff {
    fn default() -> Self {
        Self::DEFAULT
    }
}

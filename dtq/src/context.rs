//! What a handler may ask about the attempt it runs in.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio_util::sync::CancellationToken;

use crate::shared_state::States;
use crate::types::{Delivery, QueueName, TaskId, Timestamp};

/// The attempt a handler runs in. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Context {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    id: TaskId,
    attempt: u32,
    max_attempts: u32,
    enqueued_at: Timestamp,
    deadline: Option<Instant>,
    cancellation: CancellationToken,
    states: Arc<States>,
}

impl Context {
    pub(crate) fn of(delivery: &Delivery, cancellation: CancellationToken, states: Arc<States>) -> Self {
        let inner = Inner {
            id: delivery.lease.task.clone(),
            attempt: delivery.lease.attempt,
            max_attempts: delivery.policy.max_attempts,
            enqueued_at: delivery.enqueued_at,
            deadline: delivery.policy.timeout.and_then(|timeout| Instant::now().checked_add(timeout)),
            cancellation,
            states,
        };
        Self { inner: Arc::new(inner) }
    }

    /// A context that belongs to no worker, for calling a task's function by hand, as unit tests do: first attempt of
    /// one, no deadline, never cancelled.
    pub fn detached() -> Self {
        let inner = Inner {
            id: TaskId::generate(QueueName::default()),
            attempt: 1,
            max_attempts: 1,
            enqueued_at: Timestamp::default(),
            deadline: None,
            cancellation: CancellationToken::new(),
            states: Arc::default(),
        };
        Self { inner: Arc::new(inner) }
    }

    /// The task's id.
    pub fn task_id(&self) -> &TaskId {
        &self.inner.id
    }

    /// Which execution this is; the first is 1. It rises with every retry and when a lost worker's task is taken over.
    pub fn attempt(&self) -> u32 {
        self.inner.attempt
    }

    /// Executions before the task fails for good.
    pub fn max_attempts(&self) -> u32 {
        self.inner.max_attempts
    }

    /// True when an error now would be final.
    pub fn is_last_attempt(&self) -> bool {
        self.inner.attempt >= self.inner.max_attempts
    }

    /// When the store accepted the task.
    pub fn enqueued_at(&self) -> Timestamp {
        self.inner.enqueued_at
    }

    /// Time left until the attempt's timeout; `None` when it has none.
    pub fn time_left(&self) -> Option<Duration> {
        self.inner.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()))
    }

    /// Fires when the task is called off, when the attempt ran longer than its timeout, when this worker lost its lease,
    /// or when shutdown will not wait any longer.
    pub fn cancellation(&self) -> &CancellationToken {
        &self.inner.cancellation
    }

    /// True once [`Context::cancellation`] has fired.
    pub fn is_cancelled(&self) -> bool {
        self.inner.cancellation.is_cancelled()
    }

    pub(crate) fn state<T: Send + Sync + 'static>(&self) -> Option<&T> {
        self.inner.states.get()
    }
}

//! Short words for tasks, queues, workers and claims.

use std::sync::LazyLock;
use std::time::Duration;

use bytes::Bytes;
use dtq::store::{BATCH, Claim};
use dtq::types::{
    Deferral, ErrorKind, Failure, Idempotency, NewTask, Policy, Priority, QueueName, TaskId, Timestamp, Unique,
    WorkerId, WorkerInfo,
};
use uuid::Uuid;

/// The queue of checks that need only one.
pub const DEFAULT: &str = QueueName::DEFAULT;

/// The lease time of checks: long, so that real time passing on a busy machine decides nothing.
pub const LEASE: Duration = Duration::from_secs(600);

/// The retention of tasks that say nothing else.
pub const RETENTION: Duration = Policy::DEFAULT.retention;

/// How long the workers of checks may be silent: longer than any lease, so that it decides nothing unless a check wants it.
pub const SILENCE: Duration = Duration::from_secs(10_000 * 24 * 3600);

/// A queue's name.
///
/// # Panics
/// When the name is not allowed.
pub fn queue(name: &str) -> QueueName {
    QueueName::new(name).expect("a usable queue name")
}

/// A worker's identity.
pub fn worker(name: &str) -> WorkerId {
    WorkerId::named(name)
}

/// What a worker with one slot says of itself.
pub fn info(name: &str) -> WorkerInfo {
    WorkerInfo {
        id: worker(name),
        queues: vec![queue(DEFAULT)],
        tasks: Vec::new(),
        concurrency: 1,
        running: 0,
        started_at: Timestamp::default(),
        seen_at: Timestamp::default(),
    }
}

/// An ordinary failure.
pub fn failure(message: &str) -> Failure {
    Failure::new(ErrorKind::Error, message)
}

/// A wish of worker `w1` for up to `max` tasks of the default queue, without a sweep. Vary it by struct update.
pub fn want(max: usize) -> Claim {
    Claim {
        queue: queue(DEFAULT),
        worker: worker("w1"),
        max,
        lease: LEASE,
        silence: SILENCE,
        sweep: false,
        holding: None,
        watch: false,
    }
}

/// A task to enqueue: in the default queue, with a fresh id, ready at once, unless said otherwise.
pub fn task(name: &str) -> TaskBuilder {
    static IN_ROWS: LazyLock<bool> = LazyLock::new(|| std::env::var_os(ROWS).is_some());
    let mut id = TaskId::generate(queue(DEFAULT));
    if *IN_ROWS {
        id = TaskId::new(queue(DEFAULT), in_row(id.uuid(), 0));
    }
    TaskBuilder(NewTask::new(id, name, &br#"{"n":1}"#[..]))
}

/// When this variable is set, every task's uuid says that it stands in a row, so that a store that keeps tasks of a row
/// together does so with each.
const ROWS: &str = "DTQ_TEST_ROWS";

fn in_row(first: Uuid, number: u8) -> Uuid {
    let mut bytes = first.into_bytes();
    bytes[14..].copy_from_slice(&[0xb0, number]);
    Uuid::from_bytes(bytes)
}

/// Gives tasks the uuids that `enqueue_many` gives to its calls: in rows of [`BATCH`].
pub fn in_rows(mut tasks: Vec<NewTask>) -> Vec<NewTask> {
    for row in tasks.chunks_mut(BATCH) {
        let first = row[0].id.uuid();
        for (task, number) in row.iter_mut().zip(0..) {
            task.id = TaskId::new(task.id.queue().clone(), in_row(first, number));
        }
    }
    tasks
}

/// A task being described.
#[derive(Debug, Clone)]
pub struct TaskBuilder(NewTask);

impl TaskBuilder {
    /// Puts it into a queue, with a fresh id.
    #[must_use]
    pub fn queue(mut self, name: &str) -> Self {
        self.0.id = TaskId::new(queue(name), self.0.id.uuid());
        self
    }

    /// Gives it an id, and the queue of that id.
    #[must_use]
    pub fn id(mut self, id: &TaskId) -> Self {
        self.0.id = id.clone();
        self
    }

    /// Gives it a uuid, within its queue.
    #[must_use]
    pub fn uuid(mut self, uuid: Uuid) -> Self {
        self.0.id = TaskId::new(self.0.id.queue().clone(), uuid);
        self
    }

    /// Sets its priority, 0 to 9.
    ///
    /// # Panics
    /// When the level is out of range.
    #[must_use]
    pub fn priority(mut self, level: u8) -> Self {
        self.0.priority = Priority::new(level).expect("a priority from 0 to 9");
        self
    }

    /// Sets its arguments.
    #[must_use]
    pub fn payload(mut self, payload: impl Into<Bytes>) -> Self {
        self.0.payload = payload.into();
        self
    }

    /// Makes it due this long after it was accepted.
    #[must_use]
    pub fn delay(mut self, delay: Duration) -> Self {
        self.0.deferral = Deferral::After(delay);
        self
    }

    /// Makes it due at an instant.
    #[must_use]
    pub fn at(mut self, at: Timestamp) -> Self {
        self.0.deferral = Deferral::At(at);
        self
    }

    /// Sets how often it may run.
    #[must_use]
    pub fn max_attempts(mut self, attempts: u32) -> Self {
        self.0.policy.max_attempts = attempts;
        self
    }

    /// Sets how long it is remembered once it is finished.
    #[must_use]
    pub fn retention(mut self, retention: Duration) -> Self {
        self.0.policy.retention = retention;
        self
    }

    /// Sets its time to live.
    #[must_use]
    pub fn ttl(mut self, ttl: Duration) -> Self {
        self.0.policy.ttl = Some(ttl);
        self
    }

    /// Sets the longest run of an attempt.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.0.policy.timeout = Some(timeout);
        self
    }

    /// Lets it fail without a dead letter.
    #[must_use]
    pub fn no_dead_letter(mut self) -> Self {
        self.0.policy.dead_letter = false;
        self
    }

    /// Submits it under an idempotency key. Its own retention stays as it is.
    #[must_use]
    pub fn key(mut self, key: impl Into<Idempotency>) -> Self {
        self.0.idempotency = Some(key.into());
        self
    }

    /// Gives it a unique key.
    #[must_use]
    pub fn unique(mut self, key: impl Into<Unique>) -> Self {
        self.0.unique = Some(key.into());
        self
    }

    /// The finished description.
    pub fn build(self) -> NewTask {
        self.0
    }
}

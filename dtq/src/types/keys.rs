//! Names under which a task is enqueued once: idempotency keys and unique keys.

use std::time::Duration;

/// The most bytes that a key may have, of either kind. A key is any text.
pub const MAX_KEY: usize = 512;

/// Ties a submission to a key of its queue. While the key's task is not finished another submission with the key is
/// refused; once it is, the submission is answered with that task, as long as the key is remembered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Idempotency {
    /// The key; any text of 1 to [`MAX_KEY`] bytes.
    pub key: String,
    /// How long the key is remembered, from the end of its task on. Until then it does not lapse.
    pub keep: Duration,
}

impl Idempotency {
    /// How long a key is remembered that says nothing else: 24 hours.
    pub const KEEP: Duration = Duration::from_secs(24 * 3600);

    /// A key that is remembered for [`Idempotency::KEEP`].
    pub fn new(key: impl Into<String>) -> Self {
        Self { key: key.into(), keep: Self::KEEP }
    }

    /// Remembers it for this long after the end of its task; longer than zero.
    pub fn keep(mut self, keep: Duration) -> Self {
        self.keep = keep;
        self
    }
}

/// Lets there be one task of a key at a time. Keys belong to a queue and a task name: `order-17` of `charge` and
/// `order-17` of `ship` are two.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unique {
    /// The key; any text of 1 to [`MAX_KEY`] bytes.
    pub key: String,
    /// How long a task holds it.
    pub until: Until,
    /// What becomes of a submission while another task holds it.
    pub on_conflict: OnConflict,
}

impl Unique {
    /// A key that is held until the task is finished; while it is held, another submission is skipped.
    pub fn new(key: impl Into<String>) -> Self {
        Self { key: key.into(), until: Until::default(), on_conflict: OnConflict::default() }
    }

    /// Sets how long a task holds it.
    pub fn until(mut self, until: Until) -> Self {
        self.until = until;
        self
    }

    /// Sets what becomes of a submission while another task holds it.
    pub fn on_conflict(mut self, on_conflict: OnConflict) -> Self {
        self.on_conflict = on_conflict;
        self
    }
}

/// How long a task holds its unique key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Until {
    /// Until its first attempt is handed to a worker, or it ends before that. What is enqueued from then on is another
    /// task. A retry, a snooze or a release does not take the key back: another task may hold it.
    Started,
    /// Until it ends, in whatever way; also while it waits for a retry.
    #[default]
    Finished,
    /// For this long after it was accepted, also when it succeeds before. It is free earlier when the task ends without
    /// success, and when the period ends before the task does.
    Period(Duration),
}

/// What becomes of a submission while another task holds its unique key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum OnConflict {
    /// Nothing changes; the submission is answered with the holder.
    #[default]
    Skip,
    /// The holder gets the new arguments in place of its own, and keeps the rest: id, place, due time, options. One that is
    /// running or finished cannot: then the submission is refused.
    Replace,
    /// The holder gets the new due time, and keeps the rest. One that is running or finished cannot: then the submission
    /// is refused.
    Reschedule,
    /// The submission is refused.
    Error,
}

impl From<&str> for Idempotency {
    fn from(key: &str) -> Self {
        Self::new(key)
    }
}

impl From<String> for Idempotency {
    fn from(key: String) -> Self {
        Self::new(key)
    }
}

impl From<&str> for Unique {
    fn from(key: &str) -> Self {
        Self::new(key)
    }
}

impl From<String> for Unique {
    fn from(key: String) -> Self {
        Self::new(key)
    }
}

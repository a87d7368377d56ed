//! What a store tells about a task.

use std::fmt;
use std::str::FromStr;

use bytes::Bytes;

use super::id::TaskId;
use super::name::Priority;
use super::notes::{LogLine, Progress};
use super::options::Policy;
use super::status::Status;
use super::timestamp::Timestamp;

/// Why an attempt did not succeed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// The handler returned an error.
    Error,
    /// The handler returned an error that no retry can mend.
    Permanent,
    /// The handler panicked.
    Panic,
    /// The attempt ran longer than its timeout.
    Timeout,
    /// The stored arguments do not decode to the handler's types.
    Undecodable,
    /// The result could not be encoded.
    Unencodable,
    /// No handler of that name is registered.
    UnknownTask,
    /// The worker died, or lost its lease.
    WorkerLost,
    /// The handler asked to be run again.
    Retry,
    /// The task was called off.
    Cancelled,
}

impl ErrorKind {
    const ALL: [Self; 10] = [
        Self::Error,
        Self::Permanent,
        Self::Panic,
        Self::Timeout,
        Self::Undecodable,
        Self::Unencodable,
        Self::UnknownTask,
        Self::WorkerLost,
        Self::Retry,
        Self::Cancelled,
    ];

    /// The name used in stores, JSON and logs.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Permanent => "permanent",
            Self::Panic => "panic",
            Self::Timeout => "timeout",
            Self::Undecodable => "undecodable",
            Self::Unencodable => "unencodable",
            Self::UnknownTask => "unknown_task",
            Self::WorkerLost => "worker_lost",
            Self::Retry => "retry",
            Self::Cancelled => "cancelled",
        }
    }

    /// The kind of that name; unknown names (from a newer version) read as [`ErrorKind::Error`].
    pub fn from_name(name: &str) -> Self {
        Self::ALL.into_iter().find(|kind| kind.as_str() == name).unwrap_or(Self::Error)
    }
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// Only the names of today: what somebody types is not of a newer version.
impl FromStr for ErrorKind {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let known = || Self::ALL.map(Self::as_str).join(", ");
        Self::ALL
            .into_iter()
            .find(|kind| kind.as_str() == text)
            .ok_or_else(|| format!("{text:?} is not a kind of error; the kinds are {}", known()))
    }
}

/// One failure, as kept in a task's record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// The class of failure.
    pub kind: ErrorKind,
    /// The error's own words, bounded to [`Failure::MAX_MESSAGE`] bytes.
    pub message: String,
}

impl Failure {
    /// The longest message that is kept, in bytes; the rest is cut with a mark.
    pub const MAX_MESSAGE: usize = 4096;

    /// Makes a failure, cutting an overlong message at a character boundary.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: cut(message.into(), Self::MAX_MESSAGE) }
    }
}

/// The text, cut at a character boundary and marked when it takes more than `limit` bytes.
pub(crate) fn cut(mut text: String, limit: usize) -> String {
    const MARK: &str = " [cut]";
    if text.len() > limit {
        let mut end = limit - MARK.len();
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        text.truncate(end);
        text.push_str(MARK);
    }
    text
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.kind.as_str(), self.message)
    }
}

/// One attempt that ended without success. Stores keep the latest [`Attempt::KEPT`] of a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attempt {
    /// Its number; the first is 1.
    pub number: u32,
    /// When it was claimed.
    pub started_at: Timestamp,
    /// When it was settled or found lost.
    pub ended_at: Timestamp,
    /// Why it did not succeed.
    pub failure: Failure,
}

impl Attempt {
    /// How many ended attempts a record keeps: the latest ones.
    pub const KEPT: usize = 20;
}

/// Everything a store knows of one task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// Identity, with the queue.
    pub id: TaskId,
    /// The registered name.
    pub task: String,
    /// Where it is in its life.
    pub status: Status,
    /// The current or last attempt; the first is 1, also before it starts.
    pub attempt: u32,
    /// The band within its queue.
    pub priority: Priority,
    /// What it was stored with.
    pub policy: Policy,
    /// The encoded arguments.
    pub payload: Bytes,
    /// The encoded result of a succeeded task, while it is kept.
    pub result: Option<Bytes>,
    /// When it was accepted.
    pub enqueued_at: Timestamp,
    /// When a pending or retrying task becomes ready; or when it expires, if its time to live ends before.
    pub due_at: Option<Timestamp>,
    /// When it reached its terminal status.
    pub finished_at: Option<Timestamp>,
    /// Attempts that ended without success, oldest first.
    pub attempts: Vec<Attempt>,
    /// True when a running task was asked to stop.
    pub cancel_requested: bool,
    /// The idempotency key it was submitted under.
    pub idempotency_key: Option<String>,
    /// Its unique key, whether it still holds it or not.
    pub unique_key: Option<String>,
    /// What it told last of how far it is.
    pub progress: Option<Progress>,
    /// The latest lines of its log, oldest first.
    pub log: Vec<LogLine>,
    /// The state it saved last, encoded.
    pub checkpoint: Option<Bytes>,
    /// How often it was requeued by hand, and when; `None` when it never was.
    pub requeued: Option<Requeued>,
    /// When its dead letter was discarded.
    pub discarded_at: Option<Timestamp>,
}

/// What a record keeps of the lives that a task had before it was requeued.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Requeued {
    /// How often it was requeued.
    pub times: u32,
    /// The attempts that its earlier lives had reached, all together. [`Record::attempt`] counts the present one's only.
    pub attempts: u32,
    /// When it was last requeued. Its time to live counts from here.
    pub at: Timestamp,
}

impl Record {
    /// The attempts of all its lives.
    pub fn attempts_in_all(&self) -> u64 {
        u64::from(self.attempt) + self.requeued.map_or(0, |requeued| u64::from(requeued.attempts))
    }

    /// The most recent failure.
    pub fn last_failure(&self) -> Option<&Failure> {
        self.attempts.last().map(|attempt| &attempt.failure)
    }
}

/// Counts of one queue. The first four are of now, the rest since the queue exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct QueueStats {
    /// Delayed, not due yet.
    pub pending: u64,
    /// Ready.
    pub queued: u64,
    /// Leased to workers.
    pub running: u64,
    /// Waiting for their next attempt.
    pub retrying: u64,
    /// Ever succeeded.
    pub succeeded: u64,
    /// Ever failed for good without dead letter.
    pub failed: u64,
    /// Ever dead-lettered.
    pub dead_lettered: u64,
    /// Ever cancelled or dropped.
    pub cancelled: u64,
    /// Ever expired.
    pub expired: u64,
    /// Retries ever scheduled.
    pub retries: u64,
}

impl QueueStats {
    /// The count of one status.
    pub const fn of(&self, status: Status) -> u64 {
        match status {
            Status::Pending => self.pending,
            Status::Queued => self.queued,
            Status::Running => self.running,
            Status::Retrying => self.retrying,
            Status::Succeeded => self.succeeded,
            Status::Failed => self.failed,
            Status::DeadLettered => self.dead_lettered,
            Status::Cancelled => self.cancelled,
            Status::Expired => self.expired,
        }
    }

    /// Tasks that are not finished.
    pub const fn unfinished(&self) -> u64 {
        self.pending + self.queued + self.running + self.retrying
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_read_back() {
        for kind in ErrorKind::ALL {
            assert_eq!((kind.to_string().parse(), ErrorKind::from_name(kind.as_str())), (Ok(kind), kind));
        }
        let error = "pannic".parse::<ErrorKind>().unwrap_err();
        assert!(error.contains("\"pannic\"") && error.contains("worker_lost"), "{error}");
        assert_eq!(ErrorKind::from_name("of a newer version"), ErrorKind::Error);
    }

    #[test]
    fn long_messages_are_cut_at_a_character() {
        let failure = Failure::new(ErrorKind::Error, "é".repeat(4000));
        assert!(failure.message.len() <= Failure::MAX_MESSAGE);
        assert!(failure.message.ends_with(" [cut]"));
    }
}

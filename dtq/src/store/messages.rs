//! The contract of servers that hold messages which dtq did not write.
//!
//! Rules for every form:
//!
//! - Reading has a connection of its own; nothing else goes out on it.
//! - A message is acknowledged last: its copy, or its dead letter, is written before.
//! - Everything may be sent twice: what repeats is a duplicate, never a loss.
//! - Who lost a message to another consumer changes nothing any more.
//! - Time is the server's. Callers pass durations.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;

use super::Result;
use crate::types::{DelayedRetry, ErrorKind, Form, Incoming, WorkerId};

/// A server that holds messages.
#[async_trait]
pub trait Broker: fmt::Debug + Send + Sync + 'static {
    /// Where it is, without a password.
    fn address(&self) -> &str;

    /// Reaches the server. Called once at start.
    ///
    /// # Errors
    /// When it cannot be reached, or does not let this program in.
    async fn probe(&self) -> Result<()>;

    /// One subscriber's access to its messages. Sends nothing yet.
    fn open(&self, subscription: Subscription) -> Arc<dyn Inbox>;

    /// Sends messages in the order given, in one round trip; the answers stand in the same order. When `atomic`, the server
    /// does all of it in one step; otherwise one that it refuses does not keep it from taking the others.
    ///
    /// # Errors
    /// The first thing that went wrong. Without `atomic`, some of the messages may have been taken.
    async fn publish(&self, messages: Vec<Outgoing>, atomic: bool) -> Result<Vec<Published>>;
}

/// What a worker asks for when it opens a subscriber's messages.
#[derive(Debug, Clone)]
pub struct Subscription {
    /// Where they come from.
    pub form: Form,
    /// Who reads them: different for each subscriber of a worker.
    pub worker: WorkerId,
    /// How a delayed retry waits.
    pub delayed_retry: DelayedRetry,
    /// Where messages go that are given up: a stream, a list or a channel, as the form is.
    pub dead_letter: Option<&'static str>,
}

/// One subscriber's messages, as one worker reads and settles them.
#[async_trait]
pub trait Inbox: Send + Sync + 'static {
    /// Makes what is read from, where it is missing.
    ///
    /// # Errors
    /// When the server cannot be reached, or what is there is of another kind.
    async fn prepare(&self) -> Result<()>;

    /// Gives at most `max` messages, in the order in which they came; when there are none, waits for at most `block`. First
    /// it moves back what is due of the delayed copies, at most [`BATCH`](super::BATCH).
    ///
    /// The future must not be dropped: what it would have brought is unknown then, until it is recovered.
    ///
    /// # Errors
    /// When the server fails. What is read from is made again by the next call, should it be gone.
    async fn read(&self, max: usize, block: Duration) -> Result<Vec<Incoming>>;

    /// Ends one delivery.
    ///
    /// # Errors
    /// When the server fails: the same call may be sent again.
    async fn settle(&self, message: &Incoming, ending: &Ending) -> Result<Settling>;

    /// Sends a copy back to where the message came from.
    ///
    /// # Errors
    /// When the server fails: the same call may be sent again.
    async fn put_back(&self, message: &Incoming, counted: bool) -> Result<()>;

    /// Gives a sign of life for every message that was read here and is not settled; gives the ids of those that are another
    /// consumer's by now.
    ///
    /// # Errors
    /// When the server fails.
    async fn renew(&self) -> Result<Vec<String>>;

    /// Takes back what workers left behind that are gone, forgets those of them that hold nothing, and deletes what every
    /// reader has acknowledged, as far as the form has such things. The amount of work is bounded.
    ///
    /// # Errors
    /// When the server fails.
    async fn tidy(&self) -> Result<Tidied>;

    /// Takes leave, when nothing is held any more.
    ///
    /// # Errors
    /// When the server fails; then the others notice by themselves.
    async fn leave(&self) -> Result<()>;

    /// The same messages over connections that the calling runtime drives.
    fn dedicated(&self) -> Arc<dyn Inbox>;
}

/// What becomes of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ending {
    /// It is done.
    Ack,
    /// It is to be tried again at once.
    Retry,
    /// It is to be tried again after a delay that the server keeps.
    Later {
        /// The delay.
        delay: Duration,
        /// Whether this attempt counts.
        counted: bool,
    },
    /// It is given up, without a trace.
    Drop,
    /// It is given up, with a dead letter when the subscription has a place for them.
    Dead {
        /// What kind of failure it was.
        kind: ErrorKind,
        /// Why, in words.
        reason: String,
    },
    /// The worker stops before it is done; this attempt does not count.
    Release,
}

/// What became of a settlement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Settling {
    /// It holds.
    Done,
    /// The message belongs to another consumer by now, and nothing was changed.
    Lost,
}

/// What was tidied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tidied {
    /// Messages taken back from workers that are gone.
    pub recovered: usize,
    /// Workers forgotten.
    pub forgotten: usize,
    /// Entries deleted.
    pub trimmed: usize,
}

/// A message to be sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outgoing {
    /// Where it goes.
    pub to: Destination,
    /// Headers: names without a prefix.
    pub headers: Vec<(String, Bytes)>,
    /// What it says.
    pub body: Body,
}

/// What a message says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Body {
    /// One payload.
    Payload(Bytes),
    /// The fields of a stream's entry.
    Fields(Vec<(Bytes, Bytes)>),
}

/// Where a message goes.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Destination {
    /// A stream: the entry is appended.
    Stream {
        /// The stream.
        key: String,
        /// The field of a payload.
        payload: String,
        /// What the names of headers begin with.
        headers: String,
        /// About how many entries the stream keeps; all of them, unless set. What is trimmed may not have been read.
        max_len: Option<u64>,
    },
    /// A list: the value is pushed on its left end.
    List {
        /// The list.
        key: String,
    },
    /// A channel.
    Channel {
        /// The channel.
        name: String,
        /// Whether it is one of a shard (`SPUBLISH`).
        sharded: bool,
    },
}

/// What the server said to a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Published {
    /// The id of the stream's entry.
    Entry(String),
    /// The length of the list after it.
    Length(u64),
    /// How many subscribers got it; nobody ever gets what went to none.
    Receivers(u64),
}

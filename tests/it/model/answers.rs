//! What is played, what is answered, and what can be seen: the words that the model and a store have in common.

use std::collections::BTreeMap;

use dtq::store::{Refusal, Steered};
use dtq::types::{ErrorKind, EventKind, QueueStats, Status};

use super::verbs::{End, Hand, New, Ticks, Wish};

/// A verb with its tasks and leases found out.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Step {
    Enqueue(Vec<(usize, New)>),
    Claim(Wish),
    Settle(Vec<(usize, End)>),
    Renew { worker: usize, leases: Vec<usize>, lease: Ticks },
    Cancel(usize),
    Pause { queue: usize, pause: bool },
    Purge(usize),
    Steer(usize, Hand),
    Advance(Ticks),
    Reopen,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Answer {
    Accepted(Vec<Stood>),
    Claimed {
        handed: Vec<Handed>,
        more: bool,
        /// Whether something is due later.
        later: bool,
        paused: bool,
    },
    /// The status that each was settled to; `None` for a stale one.
    Settled(Vec<Option<Status>>),
    Renewed(Vec<Renewed>),
    Cancelled(Cancelled),
    /// Whether that changed anything.
    Paused(bool),
    /// How many were dropped.
    Purged(usize),
    Steered(Steered),
    Nothing,
}

/// The answer to one submission: which task stands for it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Stood {
    pub(super) task: usize,
    pub(super) created: bool,
    pub(super) refused: Option<Refusal>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Handed {
    pub(super) task: usize,
    pub(super) attempt: u32,
    pub(super) reclaimed: bool,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Renewed {
    Held,
    AskedToStop,
    Lost,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Cancelled {
    Now,
    Asked,
    Finished(Status),
    NotFound,
}

/// What can be seen after a verb.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Seen {
    pub(super) tasks: BTreeMap<usize, Option<SeenTask>>,
    pub(super) stats: Vec<QueueStats>,
    /// By queue, sorted: in which order the dead letters of one step stand is not promised.
    pub(super) dead_letters: Vec<Vec<(usize, u32, ErrorKind)>>,
    /// The events of this verb by task, with the attempt of each.
    pub(super) events: BTreeMap<usize, Vec<(EventKind, u32)>>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct SeenTask {
    pub(super) status: Status,
    pub(super) attempt: u32,
    pub(super) attempts: Vec<(u32, ErrorKind, String)>,
    pub(super) due: bool,
    pub(super) finished: bool,
    pub(super) result: Option<String>,
    pub(super) cancel_requested: bool,
    pub(super) priority: u8,
    pub(super) payload: String,
    /// How often it was requeued, and the attempts of its earlier lives.
    pub(super) lives: (u32, u32),
    pub(super) discarded: bool,
}

/// The result of a task that gives one.
pub(super) const RESULT: &str = "1";

/// Why an attempt did not succeed, in the words that the verbs use.
pub(super) type Why = (ErrorKind, &'static str);
pub(super) const AGAIN: Why = (ErrorKind::Error, "again");
pub(super) const NO: Why = (ErrorKind::Error, "no");
pub(super) const MOOT: Why = (ErrorKind::Cancelled, "moot");
pub(super) const CALLED_OFF: Why = (ErrorKind::Cancelled, "called off");
/// Here the words are the store's own.
pub(super) const LOST: Why = (ErrorKind::WorkerLost, "");

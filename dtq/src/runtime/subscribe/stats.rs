//! What became of a subscriber's messages in this worker, counted.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::store::messages::Ending;

/// What became of a subscriber's messages, since its worker started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct SubscriberStats {
    /// The subscriber's name.
    pub subscriber: &'static str,
    /// Messages read.
    pub read: u64,
    /// Messages that are done.
    pub acked: u64,
    /// Attempts after which there is another one.
    pub retried: u64,
    /// Messages dropped, by their handler or because there is no place for dead letters.
    pub dropped: u64,
    /// Messages that became dead letters.
    pub dead_lettered: u64,
    /// Attempts whose end was refused: the message was another consumer's by then.
    pub lost: u64,
}

#[derive(Debug, Default)]
pub(super) struct Counters {
    pub(super) read: AtomicU64,
    acked: AtomicU64,
    retried: AtomicU64,
    dropped: AtomicU64,
    dead_lettered: AtomicU64,
    pub(super) lost: AtomicU64,
}

impl Counters {
    /// Counts an ending that holds.
    pub(super) fn ended(&self, ending: &Ending, keeps_dead_letters: bool) {
        let counter = match ending {
            Ending::Ack => &self.acked,
            Ending::Retry | Ending::Later { .. } => &self.retried,
            Ending::Dead { .. } if keeps_dead_letters => &self.dead_lettered,
            Ending::Dead { .. } | Ending::Drop => &self.dropped,
            Ending::Release => return,
        };
        counter.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn stats(&self, subscriber: &'static str) -> SubscriberStats {
        let of = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        SubscriberStats {
            subscriber,
            read: of(&self.read),
            acked: of(&self.acked),
            retried: of(&self.retried),
            dropped: of(&self.dropped),
            dead_lettered: of(&self.dead_lettered),
            lost: of(&self.lost),
        }
    }
}

//! The queues that this worker keeps watch for: it comes back when something becomes due there, and others rely on that.

use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::types::QueueName;

#[derive(Debug, Default)]
pub(super) struct Watches {
    queues: Mutex<HashSet<QueueName>>,
}

impl Watches {
    /// Notes what a claim told of a queue.
    pub(super) fn note(&self, queue: &QueueName, watches: bool) {
        match watches {
            true => drop(self.lock().insert(queue.clone())),
            false => drop(self.lock().remove(queue)),
        }
    }

    /// True when others rely on this worker.
    pub(super) fn keeps(&self, queue: &QueueName) -> bool {
        self.lock().contains(queue)
    }

    /// True when others rely on this worker anywhere.
    pub(super) fn any(&self) -> bool {
        !self.lock().is_empty()
    }

    /// Gives a watch up; true when there was one.
    pub(super) fn give_up(&self, queue: &QueueName) -> bool {
        self.lock().remove(queue)
    }

    fn lock(&self) -> MutexGuard<'_, HashSet<QueueName>> {
        self.queues.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

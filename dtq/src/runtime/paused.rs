//! Which queues are paused, so that it is logged once and not with each claim.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

use crate::types::QueueName;

#[derive(Debug, Default)]
pub(super) struct Paused {
    queues: Mutex<HashSet<QueueName>>,
}

impl Paused {
    /// Notes what a claim told of a queue.
    pub(super) fn note(&self, queue: &QueueName, paused: bool) {
        let mut queues = self.queues.lock().unwrap_or_else(PoisonError::into_inner);
        if paused == queues.contains(queue) {
            return;
        }
        if paused {
            queues.insert(queue.clone());
            tracing::info!(%queue, "the queue is paused: nothing of it starts until it is resumed; what runs goes on");
        } else {
            queues.remove(queue);
            tracing::info!(%queue, "the queue goes on");
        }
    }
}

//! Claims whose answers may have been lost: the store has handed out tasks that this worker never heard of. Unless it asks
//! for them, they wait for their leases to end, and lose an attempt that never began.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use crate::types::QueueName;

/// How often a queue is asked for them. The store compares all that the worker holds, so not with every claim.
const INTERVAL: Duration = Duration::from_secs(1);

/// The queues in which there may be some.
#[derive(Debug, Default)]
pub(super) struct Unheard {
    queues: HashMap<QueueName, Doubt>,
}

#[derive(Debug, Clone, Copy)]
struct Doubt {
    /// A claim that is still on its way may arrive after the next one. After a lease's time the lease decides.
    until: Instant,
    next: Instant,
}

impl Unheard {
    /// Notes that the answer to a claim may have been lost.
    pub(super) fn doubt(&mut self, queue: &QueueName, lease: Duration, now: Instant) {
        self.queues.insert(queue.clone(), Doubt { until: now + lease, next: now });
    }

    /// True when the next claim of this queue should ask.
    pub(super) fn is_due(&self, queue: &QueueName, now: Instant) -> bool {
        self.queues.get(queue).is_some_and(|doubt| doubt.next <= now)
    }

    /// True when the next claim of some queue should ask.
    pub(super) fn any_due(&self, now: Instant) -> bool {
        self.queues.values().any(|doubt| doubt.next <= now)
    }

    /// Notes that a claim that asked was answered.
    pub(super) fn asked(&mut self, queue: &QueueName, now: Instant) {
        self.queues.retain(|known, doubt| known != queue || now < doubt.until);
        if let Some(doubt) = self.queues.get_mut(queue) {
            doubt.next = now + INTERVAL;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_queue_is_asked_at_once_then_every_second_until_a_lease_has_passed() {
        let (mut unheard, began) = (Unheard::default(), Instant::now());
        let (queue, other) = (QueueName::default(), QueueName::new("other").unwrap());
        let lease = Duration::from_secs(30);
        assert!(!unheard.is_due(&queue, began));
        unheard.doubt(&queue, lease, began);
        assert!(unheard.is_due(&queue, began) && !unheard.is_due(&other, began));
        unheard.asked(&queue, began);
        assert!(!unheard.is_due(&queue, began) && unheard.is_due(&queue, began + INTERVAL));
        unheard.asked(&queue, began + lease);
        assert!(!unheard.is_due(&queue, began + 2 * lease));
    }
}

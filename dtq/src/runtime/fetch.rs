//! The one loop that claims: never more than there is room for.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;

use super::config::{QueueOrder, WorkerConfig};
use super::execute::Executor;
use super::outage::{Outage, Trouble};
use crate::store::{BATCH, Claim, Claimed, Result, Store, Wait};
use crate::types::{QueueName, WorkerId};

pub(super) struct Fetcher {
    pub(super) store: Arc<dyn Store>,
    pub(super) executor: Arc<Executor>,
    pub(super) worker: WorkerId,
    pub(super) config: WorkerConfig,
    /// One permit per task this worker may hold: running, waiting for a slot, or being settled.
    pub(super) rooms: Arc<Semaphore>,
    pub(super) stopping: CancellationToken,
    pub(super) trouble: Arc<Trouble>,
}

impl Fetcher {
    /// Fetches until the worker stops. A claim on its way is never dropped: what it brings would be unknown here, and
    /// wait for its lease to run out.
    pub(super) async fn run(&self) {
        let mut outage = Outage::new("fetch", &self.trouble);
        while let Some(Some(room)) = self.unless_stopping(self.some_room()).await {
            let result = match self.round(room).await {
                Ok(Round::Claimed) => Ok(()),
                Ok(Round::Empty { next_due }) => self.wait(next_due).await,
                Err(error) => Err(error),
            };
            match result {
                Ok(()) => outage.over(),
                Err(error) => {
                    self.unless_stopping(tokio::time::sleep(outage.failed(&error))).await;
                }
            }
        }
    }

    async fn wait(&self, next_due: Option<Duration>) -> Result<()> {
        let timeout = next_due.unwrap_or(self.config.poll).min(self.config.poll);
        let wait = Wait { queues: self.queues(), timeout };
        self.unless_stopping(self.store.wait(wait)).await.unwrap_or(Ok(()))
    }

    /// `None` when the worker stops first.
    async fn unless_stopping<T>(&self, future: impl Future<Output = T>) -> Option<T> {
        tokio::select! {
            biased;
            () = self.stopping.cancelled() => None,
            done = future => Some(done),
        }
    }

    /// Waits for room for at least one task and takes all there is, up to a batch.
    async fn some_room(&self) -> Option<OwnedSemaphorePermit> {
        let mut room = self.rooms.clone().acquire_owned().await.ok()?;
        let more = self.rooms.available_permits().min(BATCH - 1);
        if let Ok(rest) = self.rooms.clone().try_acquire_many_owned(u32::try_from(more).unwrap_or(0)) {
            room.merge(rest);
        }
        Some(room)
    }

    /// One pass over the queues with the room at hand.
    async fn round(&self, mut room: OwnedSemaphorePermit) -> Result<Round> {
        let mut next_due: Option<Duration> = None;
        let mut claimed_any = false;
        for queue in self.order() {
            let claimed = self.claim(queue, room.num_permits()).await?;
            claimed_any |= !claimed.deliveries.is_empty();
            next_due = next_due.into_iter().chain(claimed.next_due).min();
            for delivery in claimed.deliveries {
                // A store that hands out more than was asked for breaks its contract; the rest runs out and comes back.
                let Some(one) = room.split(1) else { break };
                self.executor.start(delivery, one);
            }
            if room.num_permits() == 0 {
                break;
            }
        }
        Ok(if claimed_any { Round::Claimed } else { Round::Empty { next_due } })
    }

    async fn claim(&self, queue: QueueName, max: usize) -> Result<Claimed> {
        let worker = self.worker.clone();
        self.store.claim(Claim { queue, worker, max, lease: self.config.lease, sweep: false }).await
    }

    fn queues(&self) -> Vec<QueueName> {
        self.config.queues.iter().map(|(queue, _)| queue.clone()).collect()
    }

    /// The order of this round.
    fn order(&self) -> Vec<QueueName> {
        match self.config.order {
            QueueOrder::Strict => self.queues(),
            QueueOrder::Weighted => weighted(&self.config.queues, fastrand::f64),
        }
    }
}

enum Round {
    Claimed,
    Empty { next_due: Option<Duration> },
}

/// Draws an order in which each queue's chance to come next is its share of the weights left.
fn weighted(queues: &[(QueueName, u32)], mut roll: impl FnMut() -> f64) -> Vec<QueueName> {
    let mut left: Vec<_> = queues.to_vec();
    let mut order = Vec::with_capacity(left.len());
    while !left.is_empty() {
        let total: f64 = left.iter().map(|(_, weight)| f64::from(*weight)).sum();
        let mut point = roll() * total;
        let chosen = left.iter().position(|(_, weight)| {
            point -= f64::from(*weight);
            point < 0.0
        });
        order.push(left.remove(chosen.unwrap_or(left.len() - 1)).0);
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_weighted_order_names_every_queue_once_and_follows_the_weights() {
        let name = |name| QueueName::new(name).unwrap();
        let queues = [(name("a"), 1), (name("b"), 3)];
        assert_eq!(weighted(&queues, || 0.2), [name("a"), name("b")]);
        assert_eq!(weighted(&queues, || 0.3), [name("b"), name("a")]);
        assert_eq!(weighted(&queues, || 1.0).len(), 2);
    }
}

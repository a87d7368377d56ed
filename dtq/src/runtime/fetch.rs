//! The one loop that claims: never more than there is room for.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;

use super::config::{QueueOrder, WorkerConfig};
use super::execute::Executor;
use super::outage::{Outage, Trouble};
use super::readiness::Heart;
use super::unheard::Unheard;
use crate::store::{BATCH, Claim, Claimed, Result, Store, StoreError, Wait};
use crate::types::{Delivery, QueueName, WorkerId};

pub(super) struct Fetcher {
    pub(super) store: Arc<dyn Store>,
    pub(super) executor: Arc<Executor>,
    pub(super) worker: WorkerId,
    pub(super) config: WorkerConfig,
    /// One permit per task this worker may hold: running, waiting for a slot, or being settled.
    pub(super) rooms: Arc<Semaphore>,
    pub(super) stopping: CancellationToken,
    pub(super) trouble: Arc<Trouble>,
    pub(super) heart: Arc<Heart>,
    pub(super) unheard: Mutex<Unheard>,
}

impl Fetcher {
    /// Fetches until the worker stops. A claim on its way is never dropped: what it brings would be unknown here, and
    /// wait for its lease to run out.
    pub(super) async fn run(&self) {
        if self.config.queues.is_empty() {
            // A worker that only subscribes.
            self.heart.reached();
            return self.stopping.cancelled().await;
        }
        let mut outage = Outage::new("fetch", &self.trouble);
        while let Some(Some(room)) = self.unless_stopping(self.some_room()).await {
            let Round { claimed, next_due, failed } = self.round(room).await;
            let failed = match failed {
                None if !claimed => self.wait(next_due).await.err(),
                failed => failed,
            };
            match failed {
                None => outage.over(),
                Some(error) => {
                    let pause = outage.failed(&error);
                    // One queue that cannot be read must not hold up the others.
                    if !claimed {
                        self.unless_stopping(tokio::time::sleep(pause)).await;
                    }
                }
            }
        }
    }

    async fn wait(&self, next_due: Option<Duration>) -> Result<()> {
        let timeout = next_due.unwrap_or(self.config.poll).min(self.config.poll);
        let wait = Wait { queues: self.queues(), timeout };
        self.heart.tries(Instant::now() + timeout);
        let waited = self.unless_stopping(self.store.wait(wait)).await.unwrap_or(Ok(()));
        waited.inspect(|()| self.heart.reached())
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
    async fn round(&self, mut room: OwnedSemaphorePermit) -> Round {
        let mut round = Round::default();
        for queue in self.order() {
            match self.claim(queue, room.num_permits()).await {
                Ok(claimed) => {
                    // More without any: the step was spent on promotion or expiry, and the next one goes on.
                    round.claimed |= claimed.more || !claimed.deliveries.is_empty();
                    round.next_due = round.next_due.into_iter().chain(claimed.next_due).min();
                    self.start(claimed.deliveries, &mut room);
                }
                Err(error) => round.failed = Some(error),
            }
            if room.num_permits() == 0 {
                break;
            }
        }
        round
    }

    fn start(&self, deliveries: Vec<Delivery>, room: &mut OwnedSemaphorePermit) {
        let mut lost = deliveries.iter().filter(|delivery| delivery.reclaimed);
        if let Some(first) = lost.next() {
            let (id, task, attempt) = (&first.lease.task, &first.task, first.lease.attempt);
            tracing::warn!(%id, task, attempt, more = lost.count(), "took over from a lost worker; the record says which");
        }
        for delivery in deliveries {
            // A store that hands out more than was asked for breaks its contract; the rest runs out and comes back.
            let Some(one) = room.split(1) else { break };
            self.executor.start(delivery, one);
        }
    }

    async fn claim(&self, queue: QueueName, max: usize) -> Result<Claimed> {
        crate::failpoint::reach("claim", "before");
        let (worker, lease, silence) = (self.worker.clone(), self.config.lease, self.config.silence());
        let asks = self.unheard().is_due(&queue, Instant::now());
        let holding = asks.then(|| self.executor.held.of_queue(&queue));
        self.heart.tries(Instant::now());
        let claim = Claim { queue: queue.clone(), worker, max, lease, silence, sweep: false, holding };
        let claimed = self.store.claim(claim).await;
        match &claimed {
            Ok(_) => {
                self.heart.reached();
                if asks {
                    self.unheard().asked(&queue, Instant::now());
                }
            }
            Err(error) if error.may_be_applied() => self.unheard().doubt(&queue, lease, Instant::now()),
            Err(_) => {}
        }
        claimed
    }

    fn unheard(&self) -> MutexGuard<'_, Unheard> {
        self.unheard.lock().unwrap_or_else(PoisonError::into_inner)
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

/// What a pass over the queues brought.
#[derive(Default)]
struct Round {
    /// Something was claimed, or is there to be claimed at once.
    claimed: bool,
    /// When the next task becomes due.
    next_due: Option<Duration>,
    /// A queue could not be read.
    failed: Option<StoreError>,
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

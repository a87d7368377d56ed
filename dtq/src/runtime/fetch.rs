//! The one loop that claims: never more than there is room for.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use futures_util::StreamExt;
use futures_util::future::join_all;
use futures_util::stream::FuturesUnordered;
use tokio_util::sync::CancellationToken;

use super::config::{QueueOrder, WorkerConfig};
use super::declared_limits::DeclaredLimits;
use super::execute::Executor;
use super::outage::{Outage, Trouble};
use super::paused::Paused;
use super::readiness::Heart;
use super::rooms::{Room, Rooms};
use super::ticks::{self, Ticks};
use super::unheard::Unheard;
use super::watches::Watches;
use crate::store::{BATCH, Claim, Claimed, Result, Store, StoreError, WATCH_LATE, Wait};
use crate::types::{Delivery, QueueName, WorkerId};

pub(super) struct Fetcher {
    pub(super) store: Arc<dyn Store>,
    pub(super) executor: Arc<Executor>,
    pub(super) worker: WorkerId,
    pub(super) config: WorkerConfig,
    pub(super) rooms: Rooms,
    pub(super) stopping: CancellationToken,
    pub(super) trouble: Arc<Trouble>,
    pub(super) heart: Arc<Heart>,
    pub(super) unheard: Mutex<Unheard>,
    pub(super) declared: DeclaredLimits,
    pub(super) paused: Paused,
    pub(super) watches: Watches,
    pub(super) ticks: Ticks,
}

/// Passes that are on their way at once while the queues are long.
const LANES: usize = 4;

/// How long there is no room until others come back for what this worker watches. Where tasks are shorter, it is back itself.
const SOON: Duration = Duration::from_millis(50);

impl Fetcher {
    /// Fetches until the worker stops. While one pass over the queues is on its way, room gathers for the next one; where
    /// the queues are long, several are on their way at once, so that the time of a round trip is not lost. A claim on its way is
    /// never dropped: what it brings would be unknown here, and wait for its lease to run out.
    pub(super) async fn run(&self) {
        if self.config.queues.is_empty() {
            // A worker that only subscribes.
            self.heart.reached();
            return self.stopping.cancelled().await;
        }
        let mut outage = Outage::new("fetch", &self.trouble);
        let mut passes = FuturesUnordered::new();
        let (mut lanes, mut asking) = (1, false);
        // What those told that are on their way together.
        let (mut again, mut next_due) = (false, None);
        // A wake-up was spent, and no pass has followed.
        let mut woken = false;
        // Also when there is room all the time: the queues before may take it all.
        while self.unless_stopping(self.look_for_ticks()).await.is_some() {
            let asks = self.unheard().any_due(Instant::now());
            let most = if asks || asking { 1 } else { lanes };
            let least = if passes.is_empty() { 1 } else { BATCH };
            let pass = tokio::select! {
                biased;
                () = self.stopping.cancelled() => break,
                Some(pass) = passes.next() => pass,
                Some(room) = self.rooms.some(least, BATCH), if passes.len() < most => {
                    asking = asks;
                    passes.push(self.pass(room, asks, std::mem::take(&mut woken)));
                    continue;
                }
                () = tokio::time::sleep(SOON), if passes.is_empty() && self.watches.any() => {
                    self.hand_on(&self.queues(), false).await;
                    continue;
                }
                () = tokio::time::sleep(ticks::LOOK), if !self.ticks.is_empty() => continue,
            };
            asking = false;
            lanes = if pass.full { LANES } else { 1 };
            again |= pass.again;
            next_due = pass.next_due.into_iter().chain(next_due).min();
            let idle = passes.is_empty() && !again;
            let failed = match pass.failed {
                None if idle => self.wait(next_due).await.map(|heard| woken = heard).err(),
                failed => failed,
            };
            match failed {
                None => outage.over(),
                Some(error) => {
                    let pause = outage.failed(&error);
                    // One queue that cannot be read must not hold up the others.
                    if idle {
                        self.unless_stopping(tokio::time::sleep(pause)).await;
                    }
                }
            }
            if passes.is_empty() {
                (again, next_due) = (false, None);
            }
        }
        while passes.next().await.is_some() {}
        // Others look in by then themselves.
        let _ = tokio::time::timeout(WATCH_LATE, self.hand_on(&self.queues(), woken)).await;
    }

    /// True when the wait ended before the worker is to stop: then it may have been woken.
    async fn wait(&self, next_due: Option<Duration>) -> Result<bool> {
        let look = self.config.look();
        let timeout = next_due.unwrap_or(look).min(look);
        let wait = Wait { queues: self.queues(), timeout };
        self.heart.tries(Instant::now() + timeout);
        let waited = self.unless_stopping(self.store.wait(wait)).await.transpose()?;
        self.heart.reached();
        Ok(waited.is_some())
    }

    /// `None` when the worker stops first.
    async fn unless_stopping<T>(&self, future: impl Future<Output = T>) -> Option<T> {
        tokio::select! {
            biased;
            () = self.stopping.cancelled() => None,
            done = future => Some(done),
        }
    }

    async fn look_for_ticks(&self) {
        for queue in self.ticks.overdue() {
            // Who has no room goes on watching, unless it was handed on.
            let watch = self.watches.keeps(&queue);
            self.look(&queue, watch).await;
        }
    }

    /// Leaves it to others to come back when something becomes due.
    ///
    /// woken: this worker was, perhaps for one of these queues, and does not get to them: whatever that was, another is woken.
    async fn hand_on(&self, queues: &[QueueName], woken: bool) {
        let looks = queues.iter().filter_map(|queue| {
            let watched = self.watches.give_up(queue);
            // Who would watch, had it room, wakes another where nobody does.
            (watched || woken).then(|| self.look(queue, !watched))
        });
        join_all(looks).await;
    }

    /// Claims nothing.
    async fn look(&self, queue: &QueueName, watch: bool) {
        match self.claim(queue.clone(), 0, false, watch).await {
            Ok(claimed) => drop(self.ticks.fire(&*self.store, &claimed.ticks).await),
            // That the store is away is told by those who need it more; others look by themselves.
            Err(error) => tracing::debug!(%queue, %error, "a queue could not be looked at"),
        }
    }

    /// One pass over the queues with the room at hand, which is a batch at most.
    ///
    /// asks: also for what this worker was handed unheard. Who does must know of all its claims, so such a pass is alone.
    /// woken: it follows a wake-up.
    async fn pass(&self, mut room: Room, asks: bool, woken: bool) -> Pass {
        let mut pass = Pass::default();
        let order = self.order();
        for (place, queue) in order.iter().enumerate() {
            match self.claim(queue.clone(), room.count(), asks, true).await {
                Ok(claimed) => {
                    pass.again |= claimed.more;
                    pass.full |= claimed.more && claimed.deliveries.len() == BATCH;
                    pass.next_due = pass.next_due.into_iter().chain(claimed.next_due).chain(claimed.look_in).min();
                    self.start(claimed.deliveries, &mut room);
                    // What fires is ready to be claimed, perhaps by this very worker; else it knows by now when to
                    // come back.
                    pass.again |= self.ticks.fire(&*self.store, &claimed.ticks).await;
                }
                Err(error) => pass.failed = Some(error),
            }
            if room.count() == 0 {
                // Whoever waits must have room for what it is woken for.
                pass.again = true;
                self.hand_on(&order[place + 1..], woken).await;
                break;
            }
        }
        pass
    }

    fn start(&self, deliveries: Vec<Delivery>, room: &mut Room) {
        let mut lost = deliveries.iter().filter(|delivery| delivery.reclaimed);
        if let Some(first) = lost.next() {
            let (id, task, attempt) = (&first.lease.task, &first.task, first.lease.attempt);
            tracing::warn!(%id, task, attempt, more = lost.count(), "took over from a lost worker; the record says which");
        }
        for delivery in deliveries {
            // A store that hands out more than was asked for breaks its contract; the rest runs out and comes back.
            let Some(one) = room.split() else { break };
            self.executor.start(delivery, one);
        }
    }

    async fn claim(&self, queue: QueueName, max: usize, asks: bool, watch: bool) -> Result<Claimed> {
        self.heart.tries(Instant::now());
        self.declared.renew(&*self.store, &queue).await?;
        crate::failpoint::reach("claim", "before");
        let (worker, lease, silence) = (self.worker.clone(), self.config.lease, self.config.silence());
        let asks = asks && self.unheard().is_due(&queue, Instant::now());
        let holding = asks.then(|| self.executor.held.of_queue(&queue));
        let claim = Claim { queue: queue.clone(), worker, max, lease, silence, sweep: false, holding, watch };
        let claimed = self.store.claim(claim).await;
        match &claimed {
            Ok(claimed) => {
                self.heart.reached();
                self.paused.note(&queue, claimed.paused);
                self.watches.note(&queue, claimed.watches);
                self.ticks.looked_at(&queue, !claimed.ticks.is_empty());
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

    /// The order of this pass.
    fn order(&self) -> Vec<QueueName> {
        match self.config.order {
            QueueOrder::Strict => self.queues(),
            QueueOrder::Weighted => weighted(&self.config.queues, fastrand::f64),
        }
    }
}

/// What a pass over the queues brought.
#[derive(Default)]
struct Pass {
    /// There may be more to be claimed at once.
    again: bool,
    /// A whole batch was, and there is more.
    full: bool,
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

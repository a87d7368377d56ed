//! A worker without loops, threads and a clock of its own: whoever holds it says when it claims, and sees each end. What an
//! attempt is, and what becomes of its task, is decided by the same code as in any worker.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::{Semaphore, mpsc};
use tokio_util::sync::{CancellationToken, DropGuard};

use super::config::WorkerConfig;
use super::declare::Declarations;
use super::execute::Executor;
use super::held::{Held, Revoked};
use super::report::Reporter;
use super::rooms::Rooms;
use super::settle::Finished;
use super::ticks::Ticks;
use crate::client::Client;
use crate::notes::Notebook;
use crate::registry::Registry;
use crate::shared_state::States;
use crate::store::{BATCH, Claim, Claimed, Renewal, Renewed, Result, Settled, Settlement, Store};
use crate::types::{Delivery, QueueName, ScheduleSpec, WorkerId};

/// The worker.
pub(crate) struct WorkerByHand {
    store: Arc<dyn Store>,
    executor: Arc<Executor>,
    finished: mpsc::UnboundedReceiver<Finished>,
    id: WorkerId,
    config: WorkerConfig,
    rooms: Rooms,
    /// Ends the reporting of what attempts tell of themselves.
    _reporting: DropGuard,
}

/// Writes what attempts tell of themselves as they tell it, until the guard is dropped.
fn report(store: Arc<dyn Store>, notebook: Arc<Notebook>) -> DropGuard {
    let stop = CancellationToken::new();
    let guard = stop.clone().drop_guard();
    tokio::spawn(async move {
        let trouble = Arc::default();
        Reporter { store: &*store, notebook: &notebook, trouble: &trouble, stop: &stop }.run().await;
    });
    guard
}

impl WorkerByHand {
    pub(crate) fn new(client: Client, registry: Registry, states: States, config: WorkerConfig) -> Self {
        let (sender, finished) = mpsc::unbounded_channel();
        let store = client.store().clone();
        let notebook = Arc::new(Notebook::default());
        let reporting = report(store.clone(), notebook.clone());
        let executor = Executor {
            client,
            registry: Arc::new(registry),
            states: Arc::new(states),
            held: Arc::new(Held::default()),
            notebook,
            finished: sender,
            slots: Arc::new(Semaphore::new(config.concurrency)),
            tracker: Default::default(),
            stopping: Default::default(),
            abort: Default::default(),
            cancel_grace: config.cancel_grace,
            max_result: config.max_result,
        };
        // Whoever holds it settles by hand: until then an end keeps its room.
        let rooms = Rooms::new(config.concurrency, 0);
        Self {
            store,
            executor: Arc::new(executor),
            finished,
            id: WorkerId::random(),
            config,
            rooms,
            _reporting: reporting,
        }
    }

    /// Attempts that have not been settled.
    pub(crate) fn running(&self) -> usize {
        self.executor.held.count()
    }

    /// Claims what is ready in one queue, as far as there is room, and starts nothing.
    pub(crate) async fn claim(&self, queue: QueueName) -> Result<Claimed> {
        let max = self.rooms.free().min(BATCH);
        if max == 0 {
            return Ok(Claimed::default());
        }
        let (lease, silence) = (self.config.lease, self.config.silence());
        // Lost tasks are looked for each time: nobody waits here for the next look.
        let (worker, holding, watch) = (self.id.clone(), None, false);
        let claim = Claim { queue, worker, max, lease, silence, sweep: true, holding, watch };
        self.store.claim(claim).await
    }

    /// Starts what was claimed.
    pub(crate) fn start(&self, delivery: Delivery) {
        // No more is claimed than there is room for.
        if let Some(room) = self.rooms.take(1) {
            self.executor.start(delivery, room);
        }
    }

    /// Waits for an end, but not longer than so, and settles all that have come by then.
    pub(crate) async fn settle(&mut self, longest: Duration) -> Result<Vec<(Settlement, Settled)>> {
        let mut batch = Vec::new();
        // Only the waiting may be cut off: what was received must be settled.
        let _ = tokio::time::timeout(longest, self.finished.recv_many(&mut batch, BATCH)).await;
        let settlements: Vec<_> = batch.iter().map(|one| one.settlement.clone()).collect();
        let answers = self.store.settle(settlements).await?;
        let settled = batch.into_iter().zip(answers).map(|(one, answer)| {
            self.executor.held.release(&one.settlement.delivery.lease);
            (one.settlement, answer)
        });
        Ok(settled.collect())
    }

    /// Renews all leases, and tells handlers whose task was called off or taken over.
    pub(crate) async fn renew(&self) -> Result<()> {
        let held = &self.executor.held;
        let leases = held.older_than(Duration::ZERO);
        if leases.is_empty() {
            return Ok(());
        }
        let began = Instant::now();
        let renewal = Renewal { worker: self.id.clone(), leases: leases.clone(), lease: self.config.lease };
        for (lease, answer) in leases.iter().zip(self.store.renew(renewal).await?) {
            match answer {
                Renewed::Held => held.renewed(lease, began),
                Renewed::CancelRequested(reason) => held.revoke(lease, Revoked::Cancelled(reason)),
                Renewed::Lost => held.revoke(lease, Revoked::Lost),
            }
        }
        Ok(())
    }
}

/// Rounds of firing before what is due is left for the next time.
const ROUNDS: usize = 100;

/// Declares schedules, fires what is due of them, and tells when the next thing falls due in their queues.
pub(crate) async fn tick(store: &dyn Store, schedules: &[ScheduleSpec]) -> Result<Option<Duration>> {
    let mut queues: Vec<_> = schedules.iter().map(|spec| spec.id.queue().clone()).collect();
    queues.dedup();
    Declarations::new(schedules.to_vec(), &queues).declare(store).await?;
    let (ticks, worker, config, mut next) = (Ticks::default(), WorkerId::random(), WorkerConfig::new(), None);
    for queue in queues {
        for _ in 0..ROUNDS {
            let (queue, worker, lease, silence) = (queue.clone(), worker.clone(), config.lease, config.silence());
            let (max, sweep, holding, watch) = (0, false, None, false);
            let claim = Claim { queue, worker, max, lease, silence, sweep, holding, watch };
            let claimed = store.claim(claim).await?;
            if !ticks.fire(store, &claimed.ticks).await {
                next = [next, claimed.next_due].into_iter().flatten().min();
                break;
            }
        }
    }
    Ok(next)
}

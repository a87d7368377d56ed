//! Group commit: while one settle is on its way, finished tasks gather for the next. No timer.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use tokio::sync::mpsc;

use super::held::Held;
use super::outage::{Outage, Trouble};
use super::rooms::{self, Unsettled};
use crate::failpoint;
use crate::store::{BATCH, Result, Settled, Settlement, Store, Verdict};
use crate::types::Status;

/// An ended attempt, with what it takes up in this worker until the store knows of its end.
pub(super) struct Finished {
    pub(super) settlement: Settlement,
    pub(super) room: Unsettled,
}

pub(super) struct Settler {
    pub(super) store: Arc<dyn Store>,
    pub(super) held: Arc<Held>,
    pub(super) trouble: Arc<Trouble>,
    /// Set when an end was thrown away.
    pub(super) unsettled: Arc<AtomicBool>,
}

/// Full batches that are on their way at once, so that the time of a round trip is not lost.
const LANES: usize = 4;

impl Settler {
    /// Settles until every sender is gone.
    pub(super) async fn run(&self, finished: &mut mpsc::UnboundedReceiver<Finished>) {
        let mut batch = Vec::with_capacity(BATCH);
        let mut on_their_way = FuturesUnordered::new();
        let mut open = true;
        while open || !batch.is_empty() || !on_their_way.is_empty() {
            let idle = on_their_way.is_empty() && !batch.is_empty();
            if idle && open && batch.len() < BATCH {
                // Those that were claimed together often end together: they go along.
                tokio::task::yield_now().await;
                while batch.len() < BATCH
                    && let Ok(more) = finished.try_recv()
                {
                    batch.push(more);
                }
            }
            if idle || batch.len() == BATCH && on_their_way.len() < LANES {
                on_their_way.push(self.settle(std::mem::replace(&mut batch, Vec::with_capacity(BATCH))));
                continue;
            }
            let room = BATCH - batch.len();
            tokio::select! {
                biased;
                Some(()) = on_their_way.next() => {}
                more = finished.recv_many(&mut batch, room), if open && room > 0 => open = more > 0,
            }
        }
    }

    async fn settle(&self, batch: Vec<Finished>) {
        let mut outage = Outage::new("settle", &self.trouble);
        let (settlements, rooms): (Vec<_>, Vec<_>) = batch.into_iter().map(|one| (one.settlement, one.room)).unzip();
        if self.send(&settlements, &mut outage).await.is_err() {
            self.settle_singly(&settlements, &mut outage).await;
        }
        settlements.iter().for_each(|one| self.held.release(&one.delivery.lease));
        rooms::free(rooms);
    }

    /// One that the store cannot take must not spoil the others.
    async fn settle_singly(&self, settlements: &[Settlement], outage: &mut Outage) {
        for one in settlements {
            // One that was refused by itself would be refused again.
            let refused = settlements.len() == 1 || self.send(std::slice::from_ref(one), outage).await.is_err();
            self.unsettled.fetch_or(refused, Ordering::AcqRel);
        }
    }

    /// Sends until the store has taken or refused it. Sending again is safe: what was applied before changes nothing.
    async fn send(&self, settlements: &[Settlement], outage: &mut Outage) -> Result<()> {
        failpoint::reach("settle", "before");
        loop {
            match self.store.settle(settlements.to_vec()).await {
                Ok(answers) => {
                    outage.over();
                    settlements.iter().zip(answers).for_each(|(one, answer)| log(one, answer));
                    return Ok(());
                }
                // Also when the store must be mended first (a changed password, a moved file): the leases are kept meanwhile.
                Err(error) if !error.is_of_the_call() => tokio::time::sleep(outage.failed(&error)).await,
                Err(error) => {
                    // It answers.
                    outage.over();
                    let tasks: Vec<_> = settlements.iter().map(|one| &one.delivery.lease.task).collect();
                    tracing::error!(%error, ?tasks, "attempts could not be settled; unless they can be one by one, they run \
                        again when their leases end, or when this worker is gone");
                    return Err(error);
                }
            }
        }
    }
}

fn log(one: &Settlement, answer: Settled) {
    let (id, attempt) = (&one.delivery.lease.task, one.delivery.lease.attempt);
    let task = one.delivery.task.as_str();
    match answer {
        Settled::Stale => tracing::warn!(
            %id, task, attempt,
            "lease lost: this attempt's end was refused (was the worker paused longer than its lease?)"
        ),
        Settled::Applied(status @ (Status::Failed | Status::DeadLettered)) => {
            let error = match &one.verdict {
                Verdict::Failed { failure } => failure.to_string(),
                _ => String::new(),
            };
            tracing::error!(%id, task, attempt, %status, ?error, "failed for good");
        }
        Settled::Applied(Status::Queued) => {
            tracing::info!(%id, task, attempt, "given back unfinished; its attempt does not count");
        }
        Settled::Applied(status) => tracing::debug!(%id, task, attempt, %status, "settled"),
    }
}

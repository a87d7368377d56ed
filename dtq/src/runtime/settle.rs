//! Group commit: while one settle is on its way, finished tasks gather for the next. No timer.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, mpsc};

use super::held::Held;
use super::outage::{Outage, Trouble};
use crate::store::{BATCH, Settled, Settlement, Store};
use crate::types::Status;

/// An ended attempt, with the room it takes in this worker until the store knows of its end.
pub(super) struct Finished {
    pub(super) settlement: Settlement,
    pub(super) room: OwnedSemaphorePermit,
}

pub(super) struct Settler {
    pub(super) store: Arc<dyn Store>,
    pub(super) held: Arc<Held>,
    pub(super) trouble: Arc<Trouble>,
}

impl Settler {
    /// Settles until every sender is gone.
    pub(super) async fn run(&self, finished: &mut mpsc::UnboundedReceiver<Finished>) {
        let mut batch = Vec::with_capacity(BATCH);
        let mut outage = Outage::new("settle", &self.trouble);
        while finished.recv_many(&mut batch, BATCH).await > 0 {
            self.settle(batch.drain(..), &mut outage).await;
        }
    }

    async fn settle(&self, batch: impl Iterator<Item = Finished>, outage: &mut Outage) {
        let (settlements, rooms): (Vec<_>, Vec<_>) = batch.map(|one| (one.settlement, one.room)).unzip();
        loop {
            match self.store.settle(settlements.clone()).await {
                Ok(answers) => {
                    outage.over();
                    settlements.iter().zip(answers).for_each(|(one, answer)| log(one, answer));
                    break;
                }
                // Sending it again is safe: a settlement that was applied before changes nothing.
                Err(error) if error.is_transient() => tokio::time::sleep(outage.failed(&error)).await,
                Err(error) => {
                    tracing::error!(%error, tasks = settlements.len(), "attempts could not be settled; they run again");
                    break;
                }
            }
        }
        settlements.iter().for_each(|one| self.held.release(&one.delivery.lease));
        drop(rooms);
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
            tracing::error!(%id, task, attempt, %status, "failed for good");
        }
        Settled::Applied(status) => tracing::debug!(%id, task, attempt, %status, "settled"),
    }
}

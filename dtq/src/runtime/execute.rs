//! One attempt: run the handler within its bounds, and decide what becomes of the task.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::{Semaphore, SemaphorePermit, mpsc};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::held::{Held, Revoked};
use super::outage::shown;
use super::rooms::Room;
use super::settle::Finished;
use crate::client::Client;
use crate::context::Context;
use crate::notes::Notebook;
use crate::panics;
use crate::policy::{self, Ended};
use crate::registry::{ExecutionCall, Registry};
use crate::shared_state::States;
use crate::store::{Settlement, StoreError, Verdict};
use crate::types::{Backoff, Delivery, ErrorKind, Failure};

/// How long to wait before asking again for a checkpoint while the store is away.
const FIRST_PAUSE: Duration = Duration::from_millis(20);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// What all attempts of a worker share.
pub(super) struct Executor {
    /// The client that handlers enqueue through, unless they name another.
    pub(super) client: Client,
    pub(super) registry: Arc<Registry>,
    pub(super) states: Arc<States>,
    pub(super) held: Arc<Held>,
    pub(super) notebook: Arc<Notebook>,
    pub(super) finished: mpsc::UnboundedSender<Finished>,
    /// One permit per task that may run at once.
    pub(super) slots: Arc<Semaphore>,
    pub(super) tracker: TaskTracker,
    /// Fires when shutdown begins: what has not started is given back.
    pub(super) stopping: CancellationToken,
    /// Fires when shutdown waits no longer: what still runs is dropped and given back.
    pub(super) abort: CancellationToken,
    pub(super) cancel_grace: Duration,
    pub(super) max_result: usize,
}

impl Executor {
    /// Starts an attempt on its own task. `room` is the worker's bound on what it holds.
    pub(super) fn start(self: &Arc<Self>, delivery: Delivery, room: Room) {
        // Held from here on, so that it is renewed also while it waits for a slot.
        let token = self.held.take(delivery.lease.clone());
        let this = self.clone();
        // Boxed, since what is spawned is moved several times before it runs, and once more when it has ended.
        self.tracker.spawn(Box::pin(async move {
            let begun = OnceLock::new();
            let attempt = panics::caught(this.attempt(&delivery, token, &begun)).await;
            let verdict = attempt.unwrap_or_else(|panicked| this.outside(&delivery, panicked));
            let room = room.ended();
            if let Some(ctx) = begun.get() {
                // Once the attempt is settled, the store takes no more of it.
                Context::notes_written(ctx).await;
            }
            let settlement = Settlement { delivery, verdict };
            // The receiver outlives every executor; were it gone, the lease would run out and the task run again.
            let _ = this.finished.send(Finished { settlement, room });
        }));
    }

    /// `begun` gets the context of an attempt whose handler begins.
    async fn attempt(&self, delivery: &Delivery, token: CancellationToken, begun: &OnceLock<Context>) -> Verdict {
        let Some(_slot) = self.slot(&token).await else { return self.revoked(delivery).unwrap_or(Verdict::Release) };
        let Some(registration) = self.registry.get(&delivery.task) else {
            return Verdict::Failed { failure: unknown_task(&delivery.task) };
        };
        let mut checkpoint = None;
        if delivery.resumes {
            // Boxed, so that an attempt without one, as nearly all are, has no room for it.
            checkpoint = match Box::pin(self.checkpoint(delivery)).await {
                Ok(checkpoint) => checkpoint,
                Err(Some(failure)) => return self.decide(delivery, &registration.def.backoff, failure),
                Err(None) => return Verdict::Release,
            };
        }
        let (states, store, notebook) = (self.states.clone(), self.client.store().clone(), self.notebook.clone());
        let ctx = Context::of(delivery, token.clone(), states, store, notebook, checkpoint);
        let ctx = begun.get_or_init(|| ctx);
        let call = ExecutionCall { ctx: ctx.clone(), payload: delivery.payload.clone() };
        let lease = &delivery.lease;
        tracing::debug!(id = %lease.task, task = %delivery.task, attempt = lease.attempt, "started");
        tokio::select! {
            biased;
            ended = self.client.scope(panics::caught_in(|| (registration.handler)(call))) => {
                self.decide(delivery, &registration.def.backoff, ended)
            }
            () = ctx.timed_out() => {
                // A plain function cannot be stopped: it is told, at least.
                token.cancel();
                self.decide(delivery, &registration.def.backoff, timed_out(delivery))
            }
            () = self.revoked_for_long(&token) => self.revoked(delivery).unwrap_or(Verdict::Release),
            () = self.abort.cancelled() => {
                token.cancel();
                Verdict::Release
            }
        }
    }

    /// The right to run; `None` when the worker stops first, or the task was called off or lost.
    async fn slot(&self, token: &CancellationToken) -> Option<SemaphorePermit<'_>> {
        if self.stopping.is_cancelled() || token.is_cancelled() {
            return None;
        }
        // Mostly there is one at once; who waits for one comes first all the same.
        if let Ok(slot) = self.slots.try_acquire() {
            return Some(slot);
        }
        let slot = tokio::select! {
            biased;
            () = self.stopping.cancelled() => None,
            () = token.cancelled() => None,
            slot = self.slots.acquire() => slot.ok(),
        };
        slot.filter(|_| !token.is_cancelled())
    }

    /// What an earlier attempt left. `None` as an error: the lease is lost, or shutdown waits no longer.
    async fn checkpoint(&self, delivery: &Delivery) -> Result<Option<Bytes>, Option<Ended>> {
        let id = &delivery.lease.task;
        let mut tries = 0;
        while self.held.revoked(&delivery.lease).is_none() {
            let pause = policy::growing_pause(FIRST_PAUSE, LONGEST_PAUSE, tries, fastrand::f64());
            let found = tokio::select! {
                found = self.client.store().get(id) => found,
                () = self.abort.cancelled() => return Err(None),
            };
            match found {
                Ok(record) => return record.map(|record| record.checkpoint).ok_or(None),
                Err(error) if error.is_of_the_call() => return Err(Some(unreadable(&error))),
                // Without it the work would begin anew, and the state that was saved be overwritten.
                Err(error) => tracing::debug!(%id, %error, "an attempt waits for its checkpoint"),
            }
            tokio::time::sleep(pause).await;
            tries += 1;
        }
        Err(None)
    }

    async fn revoked_for_long(&self, token: &CancellationToken) {
        token.cancelled().await;
        tokio::time::sleep(self.cancel_grace).await;
    }

    /// A task that was called off ends as cancelled, unless it succeeded: a finish wins over a cancellation.
    fn decide(&self, delivery: &Delivery, backoff: &Backoff, ended: Ended) -> Verdict {
        let ended = self.bounded(ended);
        let lease = &delivery.lease;
        if !matches!(ended, Ended::Done(_))
            && let Some(cancelled) = self.called_off(delivery)
        {
            return cancelled;
        }
        let failure = match &ended {
            Ended::Again { failure, .. } | Ended::Fatal(failure) => Some(failure.clone()),
            _ => None,
        };
        let verdict = policy::decide(ended, lease.attempt, &delivery.policy, backoff, fastrand::f64());
        if let Some(failure) = failure {
            let retry_in = match &verdict {
                Verdict::Retry { delay, .. } => Some(shown(*delay).to_string()),
                _ => None,
            };
            tracing::warn!(id = %lease.task, task = %delivery.task, attempt = lease.attempt, error = ?failure.message,
                kind = failure.kind.as_str(), max_attempts = delivery.policy.max_attempts, retry_in, "attempt failed");
        }
        verdict
    }

    /// A result that is too large fails its task: the store might never take it.
    fn bounded(&self, ended: Ended) -> Ended {
        match ended {
            Ended::Done(Some(result)) if result.len() > self.max_result => {
                let (size, limit) = (result.len(), self.max_result);
                let message = format!("the result takes {size} bytes, the limit is {limit} (WorkerConfig::max_result)");
                Ended::Fatal(Failure::new(ErrorKind::Unencodable, message))
            }
            ended => ended,
        }
    }

    /// User code also runs outside of the handler: when an unfinished one is dropped, and in a backoff function, which
    /// is not asked again. Without an end the task would be held, and renewed, for ever.
    fn outside(&self, delivery: &Delivery, panicked: Ended) -> Verdict {
        self.decide(delivery, &Backoff::DEFAULT, panicked)
    }

    /// What becomes of a task that was called off, or lost, before its handler ended.
    fn revoked(&self, delivery: &Delivery) -> Option<Verdict> {
        match self.held.revoked(&delivery.lease)? {
            Revoked::Cancelled(reason) => Some(Verdict::Cancelled { reason }),
            // The store refuses it: the task is another worker's.
            Revoked::Lost => Some(Verdict::Release),
        }
    }

    fn called_off(&self, delivery: &Delivery) -> Option<Verdict> {
        self.revoked(delivery).filter(|verdict| matches!(verdict, Verdict::Cancelled { .. }))
    }
}

fn timed_out(delivery: &Delivery) -> Ended {
    let limit = humantime::format_duration(delivery.policy.timeout.unwrap_or_default());
    let failure = Failure::new(ErrorKind::Timeout, format!("ran longer than its timeout of {limit}"));
    Ended::Again { after: None, failure }
}

fn unreadable(error: &StoreError) -> Ended {
    let failure = Failure::new(ErrorKind::Error, format!("the last checkpoint cannot be read: {error}"));
    Ended::Again { after: None, failure }
}

fn unknown_task(name: &str) -> Failure {
    let message = format!(
        "no task named {name:?} is registered in this worker: is its crate linked in, was it renamed, or should another \
         program read this queue?"
    );
    Failure::new(ErrorKind::UnknownTask, message)
}

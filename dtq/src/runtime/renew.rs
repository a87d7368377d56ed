//! Lease renewal and heartbeats, on a thread and a runtime of their own: a handler that blocks the main runtime
//! starves neither.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use super::declare::Declarations;
use super::held::{Held, Revoked};
use super::outage::{Outage, Trouble};
use super::readiness::Readiness;
use super::report::Reporter;
use super::supervise::supervise;
use crate::notes::Notebook;
use crate::store::{BATCH, Heartbeat, Renewal, Renewed, Result, StopQuery, Store};
use crate::types::{Lease, ScheduleSpec, WorkerInfo};

/// How long one look for cancellations waits: a worker that runs something asks so often.
const STOPS_WAIT: Duration = Duration::from_secs(10);

/// What the thread needs.
pub(super) struct Renewer {
    pub(super) store: Arc<dyn Store>,
    pub(super) held: Arc<Held>,
    pub(super) notebook: Arc<Notebook>,
    pub(super) worker: WorkerInfo,
    pub(super) lease: Duration,
    pub(super) heartbeat: Duration,
    /// How long a heartbeat lives.
    pub(super) silence: Duration,
    /// The schedules that this worker's code has.
    pub(super) schedules: Vec<ScheduleSpec>,
    pub(super) stop: CancellationToken,
    pub(super) trouble: Arc<Trouble>,
    /// Its changes are logged from here, also when handlers block the main runtime.
    pub(super) readiness: Readiness,
}

impl Renewer {
    /// Starts the thread; the answer resolves when it has ended.
    pub(super) fn start(self) -> std::io::Result<oneshot::Receiver<()>> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let (ended, when_ended) = oneshot::channel();
        std::thread::Builder::new().name("dtq-renew".into()).spawn(move || {
            runtime.spawn(self.readiness.clone().log_changes());
            runtime.block_on(supervise("renew", || self.run()));
            self.notebook.close();
            // Nobody may be waiting any more; then there is nobody to tell.
            let _ = ended.send(());
        })?;
        Ok(when_ended)
    }

    async fn run(&self) {
        let Some(store) = self.own_connection().await else { return };
        let reporter = Reporter { store: &*store, notebook: &self.notebook, trouble: &self.trouble, stop: &self.stop };
        tokio::join!(
            self.renew(&*store),
            self.heed_stops(&*store),
            self.renew_asked(&*store),
            self.beat(&*store),
            self.declare(&*store),
            reporter.run()
        );
    }

    async fn own_connection(&self) -> Option<Arc<dyn Store>> {
        let mut outage = Outage::new("connect for renewal", &self.trouble);
        loop {
            match self.store.dedicated().await {
                Ok(store) => {
                    outage.over();
                    return Some(store);
                }
                Err(error) => self.pause(outage.failed(&error)).await?,
            }
        }
    }

    async fn renew(&self, store: &dyn Store) {
        // A third of the lease: two lost replies still leave time. Looked at three times as often, so that a lease
        // taken between two looks is not renewed late.
        let age = self.lease / 3;
        let mut outage = Outage::new("renew leases", &self.trouble);
        while self.pause(age / 3).await.is_some() {
            let due = self.held.older_than(age);
            if due.is_empty() {
                // What failed to be renewed has ended since: this loop has nothing more to say of the store.
                outage.over();
            }
            for leases in due.chunks(BATCH) {
                if let Err(error) = self.renew_batch(store, leases).await {
                    self.pause(outage.failed(&error)).await;
                    break;
                }
                outage.over();
            }
        }
    }

    /// Hears of tasks that were asked to stop. While nothing runs, nothing is asked of the store.
    async fn heed_stops(&self, store: &dyn Store) {
        let mut outage = Outage::new("watch for cancellations", &self.trouble);
        let (mut after, mut wait) = (None, STOPS_WAIT);
        loop {
            if self.held.count() == 0 {
                // Until something runs this loop has nothing to say of the store.
                outage.over();
            }
            let Some(()) = self.unless_stopped(self.held.some()).await else { return };
            let query = StopQuery { queues: self.worker.queues.clone(), after: after.clone(), wait };
            let Some(answer) = self.unless_stopped(store.stops(query)).await else { return };
            match answer {
                Ok(stops) => {
                    outage.over();
                    (after, wait) = (stops.next, STOPS_WAIT);
                    self.held.ask(stops.tasks);
                    if stops.incomplete {
                        self.held.ask_all();
                    }
                }
                Err(error) => {
                    // Hears of all that is known after a break: of the same tasks again, rather than of too few. It does
                    // not wait for news then, so that the end of the outage is seen.
                    (after, wait) = (None, Duration::ZERO);
                    self.pause(outage.failed(&error)).await;
                }
            }
        }
    }

    /// Renews at once what was asked to stop: the answer tells the handler.
    async fn renew_asked(&self, store: &dyn Store) {
        let mut outage = Outage::new("renew leases", &self.trouble);
        while let Some(leases) = self.unless_stopped(self.held.urgent()).await {
            for leases in leases.chunks(BATCH) {
                while let Err(error) = self.renew_batch(store, leases).await {
                    if self.pause(outage.failed(&error)).await.is_none() {
                        return;
                    }
                }
                outage.over();
            }
        }
    }

    async fn renew_batch(&self, store: &dyn Store, leases: &[Lease]) -> Result<()> {
        let began = Instant::now();
        let renewal = Renewal { worker: self.worker.id.clone(), leases: leases.to_vec(), lease: self.lease };
        let answers = store.renew(renewal).await?;
        for (lease, answer) in leases.iter().zip(answers) {
            match answer {
                Renewed::Held => self.held.renewed(lease, began),
                Renewed::CancelRequested(reason) => {
                    self.held.renewed(lease, began);
                    self.held.revoke(lease, Revoked::Cancelled(reason));
                }
                // A settle on its way is the usual cause; only a lease that is still held here was really lost.
                Renewed::Lost => self.held.revoke(lease, Revoked::Lost),
            }
        }
        Ok(())
    }

    async fn beat(&self, store: &dyn Store) {
        let mut outage = Outage::new("send a heartbeat", &self.trouble);
        loop {
            let running = u32::try_from(self.held.count()).unwrap_or(u32::MAX);
            let worker = WorkerInfo { running, ..self.worker.clone() };
            let beat = Heartbeat { worker, ttl: self.silence, holding: self.held.queues() };
            if self.pause_after(store.heartbeat(beat).await, &mut outage).await.is_none() {
                break;
            }
        }
        // A courtesy: without it the heartbeat lapses by itself.
        if let Ok(Err(error)) = tokio::time::timeout(self.heartbeat, store.farewell(&self.worker.id)).await {
            tracing::debug!(%error, "the store did not take this worker's leave");
        }
    }

    /// With each heartbeat, so that what a store lost is there again as soon as the worker itself is.
    async fn declare(&self, store: &dyn Store) {
        let mut declarations = Declarations::new(self.schedules.clone(), &self.worker.queues);
        let mut outage = Outage::new("declare schedules", &self.trouble);
        while !declarations.is_empty() {
            if self.pause_after(declarations.declare(store).await, &mut outage).await.is_none() {
                break;
            }
        }
    }

    /// Waits for the next heartbeat's time, or for the next try after a failure.
    async fn pause_after(&self, outcome: Result<()>, outage: &mut Outage) -> Option<()> {
        let pause = match outcome {
            Ok(()) => {
                outage.over();
                self.heartbeat
            }
            Err(error) => outage.failed(&error),
        };
        self.pause(pause).await
    }

    /// `None` when it is time to stop.
    async fn pause(&self, duration: Duration) -> Option<()> {
        self.unless_stopped(tokio::time::sleep(duration)).await
    }

    async fn unless_stopped<T>(&self, future: impl Future<Output = T>) -> Option<T> {
        tokio::select! {
            () = self.stop.cancelled() => None,
            done = future => Some(done),
        }
    }
}

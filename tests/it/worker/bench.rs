//! What checks of workers share: a client, a worker, and a probe that handlers write to.

use std::cell::Cell;
use std::future::Future;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use dtq::types::{ErrorKind, Record, Status};
use dtq::{App, Client, Handle, RunningWorker, Worker, WorkerConfig};
use dtq_tests::{DEFAULT, World, eventually, queue};
use tokio::sync::Semaphore;

/// The longest lease there is.
const DAY: Duration = Duration::from_secs(24 * 3600);

/// How long a result is waited for.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

/// Shared state of every task of this program: what handlers did, and a gate that they can wait at.
#[derive(Debug, Clone)]
pub(crate) struct Probe(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    notes: Mutex<Vec<String>>,
    gate: Semaphore,
    inside: AtomicUsize,
    most: AtomicUsize,
}

impl Probe {
    fn new() -> Self {
        let (inside, most) = Default::default();
        Self(Arc::new(Inner { notes: Mutex::default(), gate: Semaphore::new(0), inside, most }))
    }

    /// Writes something down.
    pub(crate) fn note(&self, text: impl Into<String>) {
        self.0.notes.lock().unwrap().push(text.into());
    }

    /// Everything that was written down, in order.
    pub(crate) fn notes(&self) -> Vec<String> {
        self.0.notes.lock().unwrap().clone()
    }

    /// How often this was written down.
    pub(crate) fn count(&self, text: &str) -> usize {
        self.notes().iter().filter(|note| *note == text).count()
    }

    /// Waits until this was written down `times` times.
    pub(crate) async fn noted(&self, text: &str, times: usize) {
        eventually(&format!("{times} times {text:?}"), || async { (self.count(text) >= times).then_some(()) }).await;
    }

    /// Waits until the test lets one more through.
    pub(crate) async fn gate(&self) {
        self.0.gate.acquire().await.unwrap().forget();
    }

    /// Lets so many through the gate.
    pub(crate) fn open(&self, tasks: usize) {
        self.0.gate.add_permits(tasks);
    }

    /// Counts a handler as inside while the future runs.
    pub(crate) async fn inside<T>(&self, future: impl Future<Output = T>) -> T {
        let now = self.0.inside.fetch_add(1, Ordering::SeqCst) + 1;
        self.0.most.fetch_max(now, Ordering::SeqCst);
        let done = future.await;
        self.0.inside.fetch_sub(1, Ordering::SeqCst);
        done
    }

    /// How many are inside.
    pub(crate) fn now_inside(&self) -> usize {
        self.0.inside.load(Ordering::SeqCst)
    }

    /// The most that ever were inside at once.
    pub(crate) fn most_inside(&self) -> usize {
        self.0.most.load(Ordering::SeqCst)
    }
}

/// A client and a probe on a world.
pub(crate) struct Bench<'w> {
    pub(crate) w: &'w World,
    pub(crate) client: Client,
    pub(crate) probe: Probe,
}

impl<'w> Bench<'w> {
    pub(crate) fn new(w: &'w World) -> Self {
        Self { w, client: Client::with_store(w.store()), probe: Probe::new() }
    }

    /// An app with the state that all tasks of this program take.
    pub(crate) fn app(&self) -> App {
        let mut app = App::new();
        app.state(self.probe.clone());
        app
    }

    /// Settings that suit checks: a lease that outlasts what checks advance the clock by while a task runs, a clock that is looked at often.
    pub(crate) fn config() -> WorkerConfig {
        let mut config = WorkerConfig::new().queues([queue(DEFAULT)]).concurrency(8).lease(DAY);
        config.poll = Duration::from_millis(20);
        config.heartbeat = Duration::from_secs(1);
        config
    }

    /// Starts a worker of the default queue.
    pub(crate) async fn worker(&self) -> RunningWorker {
        self.worker_with(Self::config()).await
    }

    /// Starts a worker with these settings.
    pub(crate) async fn worker_with(&self, config: WorkerConfig) -> RunningWorker {
        Worker::new(self.client.clone(), self.app(), config).unwrap().start().await.unwrap()
    }

    /// The record of a task that is in this status, awaited.
    pub(crate) async fn reaches<T>(&self, handle: &Handle<T>, status: Status) -> Record {
        eventually(&format!("{} is {status}", handle.id()), || async {
            self.w.get(handle.id()).await.filter(|record| record.status == status)
        })
        .await
    }

    /// Lets an hour pass once for each wait of a task, until it has ended. (Once: an hour that passed while an attempt
    /// runs would cost it its lease.)
    pub(crate) async fn runs_out<T>(&self, handle: &Handle<T>) -> Record {
        let waited = Cell::new(None);
        eventually(&format!("{} ends", handle.id()), || async {
            let record = self.w.get(handle.id()).await?;
            let waits = matches!(record.status, Status::Retrying | Status::Pending);
            if waits && waited.replace(record.due_at) != record.due_at {
                self.w.advance(Duration::from_secs(3600));
            }
            record.status.is_terminal().then_some(record)
        })
        .await
    }
}

/// The failed attempts of a record: number, kind and message.
pub(crate) fn failures(record: &Record) -> Vec<(u32, ErrorKind, &str)> {
    record.attempts.iter().map(|one| (one.number, one.failure.kind, one.failure.message.as_str())).collect()
}

/// Lets a world's clock go with the time that really passes (on Redis it does so by itself).
pub(crate) struct RealTime<'w> {
    w: &'w World,
    seen: Cell<Instant>,
}

impl<'w> RealTime<'w> {
    pub(crate) fn of(w: &'w World) -> Self {
        Self { w, seen: Cell::new(Instant::now()) }
    }

    /// Catches up.
    pub(crate) fn tick(&self) {
        let millis = Duration::from_millis(u64::try_from(self.seen.get().elapsed().as_millis()).unwrap());
        if self.w.slack().is_zero() {
            self.w.advance(millis);
        }
        self.seen.set(self.seen.get() + millis);
    }
}

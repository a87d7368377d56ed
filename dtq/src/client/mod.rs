//! The enqueuing and asking side. Knows the store contract, never a store.

mod actor;
mod call;
mod current;
mod dead_letters;
mod error;
mod gather;
mod handle;
mod keys;
mod limits;
mod payloads;
mod queues;
mod refusals;
mod schedules;
mod steer;
mod tasks;
mod watch;

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

pub use call::{Answers, Call, CallMany, Sending};
pub use current::ClientScope;
pub use dead_letters::{DeadLetters, ErrorGroups};
pub use error::{EnqueueError, ResultError};
pub use handle::Handle;
pub use limits::Limits;
pub use queues::{PurgeFilter, PurgeReport};
pub use schedules::{NewSchedule, ScheduleError, ScheduleInfo, Schedules};
pub use steer::{BulkReport, Requeue, RequeueError};
pub use tasks::Tasks;

use crate::connect;
use crate::failpoint;
use crate::store::{
    Accepted, AuditQuery, CancelOutcome, CancelRequest, Description, EventQuery, Store, StoreError, Warning,
};
use crate::types::{AuditEntry, By, EventPage, LogLine, NewTask, QueueName, QueueStats, Record, TaskId, WorkerInfo};

use gather::Gather;
use watch::Watch;

/// A connection to a store: enqueues, asks, cancels. Cheap to clone; clones share the connection.
#[derive(Clone)]
pub struct Client {
    inner: Arc<Inner>,
    /// Who acts, for the audit log.
    actor: Arc<str>,
}

struct Inner {
    store: Arc<dyn Store>,
    gather: Arc<Gather>,
    limits: Limits,
    watch: Watch,
    /// Is told of what the store accepted.
    recorder: Option<Recorder>,
}

/// Is told of each task that a client sent, and of the store's answer to it.
pub(crate) type Recorder = Arc<dyn Fn(NewTask, &Accepted) + Send + Sync>;

impl Client {
    /// Opens the store that a URL names: `sqlite:FILE`, `sqlite::memory:`, `redis://HOST:PORT/DB` or `unix:PATH`.
    /// A Redis store is reached at the first call, not here.
    ///
    /// # Errors
    /// When the URL is not understood, or the file cannot be opened.
    pub fn connect(url: &str) -> Result<Self, StoreError> {
        Ok(Self::with_store(connect::open(url)?))
    }

    /// A client of a store made by hand.
    pub fn with_store(store: Arc<dyn Store>) -> Self {
        Self::with_limits(store, Limits::default())
    }

    /// A client of a store made by hand, with limits other than the default ones.
    pub fn with_limits(store: Arc<dyn Store>, limits: Limits) -> Self {
        Self::new(store, limits, None)
    }

    /// A client that tells of what it sends.
    #[cfg(feature = "sqlite")]
    pub(crate) fn recorded(store: Arc<dyn Store>, recorder: Recorder) -> Self {
        Self::new(store, Limits::default(), Some(recorder))
    }

    fn new(store: Arc<dyn Store>, limits: Limits, recorder: Option<Recorder>) -> Self {
        let (gather, watch) = (Gather::new(store.clone()), Watch::new(store.clone()));
        Self { inner: Arc::new(Inner { store, gather, limits, watch, recorder }), actor: actor::default() }
    }

    /// The same client, acting for somebody: the audit log names them. Without this it names what `DTQ_ACTOR` says,
    /// else this program.
    #[must_use]
    pub fn acting_as(&self, actor: impl Into<String>) -> Self {
        Self { inner: self.inner.clone(), actor: actor.into().into() }
    }

    fn by(&self, reason: impl Into<String>) -> By {
        By::new(&*self.actor, reason)
    }

    /// The process's client: the one of the surrounding [`Client::scope`], else one made at first use from `DTQ_URL`,
    /// else from the `url` in dtq.toml, else of the file `dtq.db` in the working folder.
    ///
    /// # Errors
    /// When it has to be made and cannot.
    pub fn current() -> Result<Self, StoreError> {
        current::get()
    }

    /// Makes this client the process's own, unless one is in use already; says whether it was taken.
    pub fn make_current(&self) -> bool {
        current::set(self.clone())
    }

    /// Runs a future in which [`Client::current`] is this client, also for every `enqueue` inside. What the future spawns
    /// is outside: there it is the process's client again.
    pub fn scope<F: Future>(&self, future: F) -> ClientScope<F> {
        current::scope(self.clone(), future)
    }

    /// Makes this client the current one of this thread, outside of any scope; gives the one before it.
    #[cfg(feature = "sqlite")]
    pub(crate) fn replace_of_thread(client: Option<Self>) -> Option<Self> {
        current::replace_of_thread(client)
    }

    pub(crate) fn carry<R>(function: impl FnOnce() -> R) -> impl FnOnce() -> R {
        current::carry(function)
    }

    /// The store behind this client.
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.inner.store
    }

    /// What this client refuses to send.
    pub fn limits(&self) -> &Limits {
        &self.inner.limits
    }

    /// Reaches the store and looks for settings that endanger tasks.
    ///
    /// # Errors
    /// When the store cannot be reached or must not be used.
    pub async fn check(&self) -> Result<Vec<Warning>, StoreError> {
        self.inner.store.probe().await
    }

    /// What the store is, what its clock shows, and how it is set up.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn describe(&self) -> Result<Description, StoreError> {
        self.inner.store.describe().await
    }

    /// Enqueues tasks by name, without their Rust types; the answers stand in the order given. Typed code calls
    /// `enqueue` of a task instead.
    ///
    /// # Errors
    /// When a limit is passed (then nothing is sent) or the store fails.
    pub async fn enqueue_raw(&self, tasks: Vec<NewTask>) -> Result<Vec<Handle<serde_json::Value>>, EnqueueError> {
        self.enqueue_each(tasks).await?.into_iter().collect()
    }

    /// The same with an answer for each task: one that is refused, because of a key of its own or because its queue is
    /// full, says nothing of the others.
    ///
    /// # Errors
    /// When a limit is passed (then nothing is sent) or the store fails.
    pub async fn enqueue_each(
        &self,
        tasks: Vec<NewTask>,
    ) -> Result<Vec<Result<Handle<serde_json::Value>, EnqueueError>>, EnqueueError> {
        let answers = self.submit(tasks).await?.into_iter();
        Ok(answers.map(|answer| Ok(Handle::new(self.clone(), answer?))).collect())
    }

    async fn submit(&self, tasks: Vec<NewTask>) -> Result<Vec<Result<Accepted, EnqueueError>>, EnqueueError> {
        for task in &tasks {
            self.inner.limits.check(task)?;
        }
        failpoint::reach("enqueue", "before");
        let (first, count) = (tasks.first().map(|task| task.id.clone()), tasks.len());
        let sent = refusals::Sent::of(&tasks);
        let recorded = self.inner.recorder.as_ref().map(|recorder| (recorder, tasks.clone()));
        let (store, after) = (&self.inner.store, self.inner.limits.time_for(tasks.len()));
        let too_late = || Err(StoreError::Timeout { operation: "enqueue", store: store.address().to_owned(), after });
        let accepted = within(after, self.inner.gather.send(tasks)).await.unwrap_or_else(too_late);
        let accepted = accepted.map_err(|cause| EnqueueError::Store { id: first, tasks: count, cause })?;
        if let Some((recorder, tasks)) = recorded {
            tasks.into_iter().zip(&accepted).for_each(|(task, answer)| recorder(task, answer));
        }
        Ok(refusals::judge(accepted, sent.as_ref()))
    }

    /// The record of a task; `None` when it is unknown or its retention is over.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn get(&self, id: &TaskId) -> Result<Option<Record>, StoreError> {
        self.inner.store.get(id).await
    }

    /// The latest lines of a task's own log, oldest first: none when it wrote none, is unknown, or its retention is over.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn logs(&self, id: &TaskId) -> Result<Vec<LogLine>, StoreError> {
        Ok(self.get(id).await?.map(|record| record.log).unwrap_or_default())
    }

    /// Calls a task off. The reason is kept in its record, and in the audit log with who asked.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn cancel(&self, id: &TaskId, reason: impl Into<String>) -> Result<CancelOutcome, StoreError> {
        self.inner.store.cancel(CancelRequest { id: id.clone(), by: self.by(reason) }).await
    }

    /// A handle to a task that was enqueued elsewhere. `T` is its result type.
    pub fn handle<T>(&self, id: TaskId) -> Handle<T> {
        Handle::new(self.clone(), Accepted::new(id, false))
    }

    /// Counts of one queue.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn stats(&self, queue: &QueueName) -> Result<QueueStats, StoreError> {
        self.inner.store.stats(queue).await
    }

    /// All queues that ever held a task.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn queues(&self) -> Result<Vec<QueueName>, StoreError> {
        self.inner.store.queues().await
    }

    /// Live workers.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn workers(&self) -> Result<Vec<WorkerInfo>, StoreError> {
        self.inner.store.workers().await
    }

    /// What was done to a queue by hand, newest first.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn audit(&self, query: AuditQuery) -> Result<Vec<AuditEntry>, StoreError> {
        self.inner.store.audit(query).await
    }

    /// Events after a cursor; with a `wait`, a live subscription: call it again with [`EventPage::next`].
    ///
    /// # Errors
    /// When the store fails.
    pub async fn events(&self, query: EventQuery) -> Result<EventPage, StoreError> {
        self.inner.store.events(query).await
    }
}

/// The future's value, or `None` when it takes longer. The time that really passes counts: where a test pauses tokio's
/// clock, its timers end as soon as nothing else is to be done.
async fn within<T>(limit: Duration, future: impl Future<Output = T>) -> Option<T> {
    let began = Instant::now();
    let mut future = std::pin::pin!(future);
    loop {
        let left = limit.saturating_sub(began.elapsed());
        match tokio::time::timeout(left, &mut future).await {
            Ok(value) => return Some(value),
            Err(_) if began.elapsed() >= limit => return None,
            Err(_) => {}
        }
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("limits", &self.inner.limits).finish_non_exhaustive()
    }
}

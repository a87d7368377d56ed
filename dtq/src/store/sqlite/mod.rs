//! The embedded store: one SQLite file, no server. Several processes may share the file.
//!
//! Writes of one process go through one thread that commits them in groups; reads have a thread and a connection of
//! their own. A claim, an enqueue or a settle is one transaction, so what the contract asks to be one step is one.

mod audit;
mod cancel;
mod claim;
mod connect;
mod dead_letters;
mod enqueue;
mod errors;
mod eventlog;
mod events;
mod forget;
mod inspect;
mod keys;
mod kinds;
mod limits;
mod listing;
mod migrations;
mod moves;
mod notes;
mod once;
mod options;
mod plans;
mod probe;
mod purge;
mod queue;
mod reader;
mod reclaim;
mod renew;
mod row;
mod schedules;
mod settle;
mod signals;
mod steer;
mod stops;
mod ticks;
mod time;
mod token;
mod txn;
mod unheard;
mod wait;
mod wakes;
mod watch;
mod workers;
mod writer;

#[cfg(test)]
mod tests;

use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::Sender;

use async_trait::async_trait;
use tokio::sync::oneshot;

pub use options::{SqliteOptions, Synchronous};

use connect::Place;
use errors::{Fault, Outcome, unusable};
use reader::{Reader, Reading, View};
use signals::{Signals, Watcher};
use time::StoreTime;
use txn::Txn;
use watch::Watch;
use writer::{Call, Message, Writer};

use crate::store::{
    Accepted, AuditQuery, BATCH, CancelOutcome, CancelRequest, Claim, Claimed, DeadLetterPage, DeadLetterQuery,
    Declaration, Declared, Description, EventQuery, Fire, Fired, Heartbeat, LimitsDeclaration, LimitsRequest, OnceEnd,
    OnceRequest, OnceState, PauseRequest, Purge, Purged, Renewal, Renewed, Report, Result, ScheduleOutcome,
    ScheduleRequest, Schedules, Settled, Settlement, Steered, Steering, StopQuery, Stops, Store, StoreError, TaskPage,
    TaskQuery, Wait, Warning,
};
use crate::types::{
    AuditEntry, EventPage, NewTask, QueueLimits, QueueName, QueueStats, Record, TaskId, WorkerId, WorkerInfo,
};

/// Tasks in one SQLite database. A clone is another handle on the same store; its threads end with the last handle.
#[derive(Clone)]
pub struct SqliteStore {
    inner: Arc<Inner>,
}

struct Inner {
    /// The path, for messages.
    name: Arc<str>,
    options: SqliteOptions,
    time: Arc<StoreTime>,
    signals: Arc<Signals>,
    writer: Sender<Message>,
    /// `None` in memory: there the writer's connection is the only one that sees the database.
    reader: Option<Sender<Reading>>,
}

impl SqliteStore {
    /// Opens the database at `path`, making the file when it is missing; its directory must exist.
    ///
    /// # Errors
    /// [`StoreError::Unusable`] when the file cannot be made, read or written, is not a database, belongs to another
    /// program or was written by a newer version; [`StoreError::Refused`] when another process holds it for longer
    /// than the busy timeout, or the disk is full.
    pub fn open(path: impl AsRef<Path>, options: SqliteOptions) -> Result<Self> {
        let path = path.as_ref();
        let name: Arc<str> = path.to_string_lossy().into();
        if path.as_os_str() == ":memory:" {
            return Self::in_memory(options);
        }
        // Absolute: a later change of directory must not matter, and no name is special to SQLite then.
        let path = std::path::absolute(path).map_err(|error| unusable(&name, error.to_string()))?;
        Self::start(&Place::File(&path), name, options)
    }

    /// A new database in this process's memory, seen by this handle and its clones only. It ends with the last of
    /// them.
    ///
    /// # Errors
    /// [`StoreError::Unusable`] when the machine has no memory or no thread to spare.
    pub fn in_memory(options: SqliteOptions) -> Result<Self> {
        Self::start(&Place::Memory, ":memory:".into(), options)
    }

    fn start(place: &Place<'_>, name: Arc<str>, options: SqliteOptions) -> Result<Self> {
        let refuse = |fault: Fault| fault.to_open_error(&name);
        let contended = Arc::default();
        let conn = connect::writer(place, &options, Arc::clone(&contended)).map_err(refuse)?;
        let time = Arc::new(StoreTime::new(options.clock.clone()));
        let signals = Arc::new(Signals::default());
        let reader = match place {
            Place::File(path) => {
                let conn = connect::reader(path, &options).map_err(refuse)?;
                let reader = Reader { conn, time: Arc::clone(&time) };
                Some(reader.spawn().map_err(|error| no_thread(&name, &error))?)
            }
            Place::Memory => None,
        };
        let watch = Watch { signals: Arc::clone(&signals), shared: reader.is_some(), seen: None };
        let writer = Writer::new(conn, Arc::clone(&time), watch, options.event_log, contended);
        let writer = writer.spawn().map_err(|error| no_thread(&name, &error))?;
        Ok(Self { inner: Arc::new(Inner { name, options, time, signals, writer, reader }) })
    }

    /// Queues `work` for the writer. It runs even if the returned receiver is dropped.
    fn submit<T, F>(&self, operation: &'static str, work: F) -> Result<Answer<T>>
    where
        T: Send + 'static,
        F: Fn(&mut Txn<'_>) -> Outcome<T> + Send + 'static,
    {
        let (reply, answer) = oneshot::channel();
        let store = Arc::clone(&self.inner.name);
        let job = Box::new(Call { operation, store, work, value: None, reply });
        self.inner.writer.send(Message::Job(job)).map_err(|_| self.ended(operation))?;
        Ok(answer)
    }

    /// Counts the caller among those who wait for news, of other processes too, until the guard is dropped.
    fn watch(&self) -> Watcher<'_> {
        let watcher = self.inner.signals.watch();
        if self.inner.reader.is_some() && !self.inner.signals.is_looked_for() {
            // A writer that has ended says so to the next call.
            let _ = self.inner.writer.send(Message::Look);
        }
        watcher
    }

    async fn write<T, F>(&self, operation: &'static str, work: F) -> Result<T>
    where
        T: Send + 'static,
        F: Fn(&mut Txn<'_>) -> Outcome<T> + Send + 'static,
    {
        let answer = self.submit(operation, work)?;
        self.await_answer(operation, answer).await
    }

    /// Writes a long list in steps of [`BATCH`]. All steps are queued at once, so they can share a commit.
    async fn write_batches<I, T, F>(&self, operation: &'static str, items: Vec<I>, work: F) -> Result<Vec<T>>
    where
        I: Send + 'static,
        T: Send + 'static,
        F: Fn(&mut Txn<'_>, &[I]) -> Outcome<Vec<T>> + Clone + Send + 'static,
    {
        let mut answers = Vec::with_capacity(items.len().div_ceil(BATCH));
        for batch in batches(items) {
            let work = work.clone();
            answers.push(self.submit(operation, move |txn| work(txn, &batch))?);
        }
        let mut all = Vec::new();
        for answer in answers {
            all.extend(self.await_answer(operation, answer).await?);
        }
        Ok(all)
    }

    async fn read<T, F>(&self, operation: &'static str, work: F) -> Result<T>
    where
        T: Send + 'static,
        F: Fn(&View<'_>) -> Outcome<T> + Send + 'static,
    {
        let Some(reader) = &self.inner.reader else {
            return self.write(operation, move |txn| work(&txn.view()?)).await;
        };
        let (reply, answer) = oneshot::channel();
        let name = Arc::clone(&self.inner.name);
        let job = Box::new(move |reader: &Reader| {
            // The caller may have gone.
            let _ = reply.send(reader.view(work).map_err(|fault| fault.to_error(operation, &name)));
        });
        reader.send(job).map_err(|_| self.ended(operation))?;
        self.await_answer(operation, answer).await
    }

    async fn await_answer<T>(&self, operation: &'static str, answer: Answer<T>) -> Result<T> {
        answer.await.unwrap_or_else(|_| Err(self.ended(operation)))
    }

    /// Only a panic ends a thread before its last handle: a defect, not a state to recover from.
    fn ended(&self, operation: &'static str) -> StoreError {
        unusable(&self.inner.name, format!("{operation}: the store's thread has ended; open the store again"))
    }
}

type Answer<T> = oneshot::Receiver<Result<T>>;

fn no_thread(name: &str, error: &std::io::Error) -> StoreError {
    unusable(name, format!("no thread can be started: {error}"))
}

fn batches<I>(items: Vec<I>) -> Vec<Vec<I>> {
    if items.len() <= BATCH {
        return if items.is_empty() { Vec::new() } else { vec![items] };
    }
    let mut items = items.into_iter();
    std::iter::from_fn(|| Some(items.by_ref().take(BATCH).collect::<Vec<_>>()).filter(|batch| !batch.is_empty()))
        .collect()
}

impl std::fmt::Debug for SqliteStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SqliteStore").field("path", &self.inner.name).finish_non_exhaustive()
    }
}

#[async_trait]
impl Store for SqliteStore {
    fn address(&self) -> &str {
        &self.inner.name
    }

    async fn probe(&self) -> Result<Vec<Warning>> {
        self.look_for_dangers().await
    }

    async fn describe(&self) -> Result<Description> {
        self.look_at_settings().await
    }

    async fn dedicated(&self) -> Result<Arc<dyn Store>> {
        // All I/O is on the store's own threads already.
        Ok(Arc::new(self.clone()))
    }

    async fn enqueue(&self, tasks: Vec<NewTask>) -> Result<Vec<Accepted>> {
        self.write_batches("enqueue", tasks, enqueue::run).await
    }

    async fn claim(&self, claim: Claim) -> Result<Claimed> {
        self.write("claim", move |txn| claim::run(txn, &claim)).await
    }

    async fn settle(&self, settlements: Vec<Settlement>) -> Result<Vec<Settled>> {
        self.write_batches("settle", settlements, settle::run).await
    }

    async fn renew(&self, renewal: Renewal) -> Result<Vec<Renewed>> {
        let Renewal { worker, leases, lease } = renewal;
        self.write_batches("renew", leases, move |txn, leases| renew::run(txn, &worker, leases, lease)).await
    }

    async fn wait(&self, wait: Wait) -> Result<()> {
        self.wait_for_work(wait).await
    }

    async fn cancel(&self, request: CancelRequest) -> Result<CancelOutcome> {
        self.write("cancel", move |txn| cancel::run(txn, &request)).await
    }

    async fn stops(&self, query: StopQuery) -> Result<Stops> {
        self.await_stops(query).await
    }

    async fn report(&self, reports: Vec<Report>) -> Result<Vec<bool>> {
        self.write_batches("report", reports, notes::run).await
    }

    async fn begin_once(&self, request: OnceRequest) -> Result<OnceState> {
        self.write("begin_once", move |txn| once::begin(txn, &request)).await
    }

    async fn end_once(&self, end: OnceEnd) -> Result<bool> {
        self.write("end_once", move |txn| once::end(txn, &end)).await
    }

    async fn find_by_key(&self, queue: &QueueName, key: &str) -> Result<Option<TaskId>> {
        let (queue, key) = (queue.clone(), key.to_owned());
        self.read("find_by_key", move |view| keys::find(view, &queue, &key)).await
    }

    async fn declare_schedules(&self, declaration: Declaration) -> Result<Declared> {
        self.write("declare_schedules", move |txn| plans::declare(txn, &declaration)).await
    }

    async fn steer_schedule(&self, request: ScheduleRequest) -> Result<ScheduleOutcome> {
        self.write("steer_schedule", move |txn| plans::steer(txn, &request)).await
    }

    async fn fire(&self, fire: Fire) -> Result<Fired> {
        self.write("fire", move |txn| ticks::fire(txn, &fire)).await
    }

    async fn schedules(&self, queue: &QueueName) -> Result<Schedules> {
        let queue = queue.clone();
        self.read("schedules", move |view| schedules::list(view, &queue)).await
    }

    async fn get(&self, id: &TaskId) -> Result<Option<Record>> {
        let id = id.clone();
        self.read("get", move |view| inspect::get(view, &id)).await
    }

    async fn dead_letters(&self, query: DeadLetterQuery) -> Result<DeadLetterPage> {
        self.read("dead_letters", move |view| dead_letters::list(view, &query)).await
    }

    async fn steer(&self, mut steering: Steering) -> Result<Vec<Steered>> {
        let (operation, targets) = (steering.action.audited_as().as_str(), std::mem::take(&mut steering.targets));
        self.write_batches(operation, targets, move |txn, targets| steer::run(txn, &steering, targets)).await
    }

    async fn list(&self, query: TaskQuery) -> Result<TaskPage> {
        self.read("list", move |view| listing::list(view, &query)).await
    }

    async fn stats(&self, queue: &QueueName) -> Result<QueueStats> {
        let queue = queue.clone();
        self.read("stats", move |view| inspect::stats(view, &queue)).await
    }

    async fn pause(&self, request: PauseRequest) -> Result<bool> {
        self.write("pause", move |txn| limits::pause(txn, &request)).await
    }

    async fn set_limits(&self, request: LimitsRequest) -> Result<()> {
        self.write("set_limits", move |txn| limits::set(txn, &request)).await
    }

    async fn declare_limits(&self, declaration: LimitsDeclaration) -> Result<()> {
        self.write("declare_limits", move |txn| limits::declare(txn, &declaration)).await
    }

    async fn limits(&self, queue: &QueueName) -> Result<QueueLimits> {
        let queue = queue.clone();
        self.read("limits", move |view| limits::limits(view, &queue)).await
    }

    async fn purge(&self, purge: Purge) -> Result<Purged> {
        self.write("purge", move |txn| purge::run(txn, &purge)).await
    }

    async fn queues(&self) -> Result<Vec<QueueName>> {
        self.read("queues", inspect::queues).await
    }

    async fn audit(&self, query: AuditQuery) -> Result<Vec<AuditEntry>> {
        self.read("audit", move |view| audit::list(view, &query)).await
    }

    async fn events(&self, query: EventQuery) -> Result<EventPage> {
        self.read_events(query).await
    }

    async fn heartbeat(&self, heartbeat: Heartbeat) -> Result<()> {
        self.write("heartbeat", move |txn| workers::heartbeat(txn, &heartbeat)).await
    }

    async fn farewell(&self, worker: &WorkerId) -> Result<()> {
        let worker = worker.clone();
        self.write("farewell", move |txn| workers::farewell(txn, &worker)).await
    }

    async fn workers(&self) -> Result<Vec<WorkerInfo>> {
        self.read("workers", workers::workers).await
    }
}

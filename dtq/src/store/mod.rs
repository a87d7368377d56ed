//! The store contract: the verbs that clients and workers are built on, and what each must hold to.
//!
//! Rules for every store:
//!
//! - Each call is one atomic step in the store (per queue where a batch spans several): all of it is seen, or none.
//! - Time is the store's. Callers pass durations; only stores turn them into instants.
//! - The events of a step are written in that step.
//! - A task that is not finished is never removed, trimmed or given a time to live.
//! - Every write may be sent twice: the reply to the first may have been lost.
//! - Work per call is bounded: [`BATCH`] tasks promoted, reclaimed or expired at most.

#[cfg(feature = "redis")]
pub mod redis;
#[cfg(feature = "sqlite")]
pub mod sqlite;

#[cfg(any(feature = "redis", feature = "sqlite"))]
mod definition;
mod error;
mod listing;
pub mod messages;
mod schedules;
mod steer;
mod verbs;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;

pub use error::StoreError;
pub use listing::{DeadLetterPage, DeadLetterQuery, LOOKED_AT, TaskPage, TaskQuery};
pub use schedules::{
    DECLARED_FOR, Declaration, DeclareOutcome, Declared, Fire, Fired, MOST_SCHEDULES, ScheduleAction, ScheduleOutcome,
    ScheduleRequest, Schedules, TICK_HELD, Tick, UNDECLARED_KEPT,
};
pub use steer::{RequeueFrom, Steer, Steered, Steering, Target};
pub use verbs::{
    Accepted, AuditQuery, CancelOutcome, CancelRequest, Claim, Claimed, Description, EventQuery, Full, Heartbeat,
    LimitsDeclaration, LimitsRequest, OnceEnd, OnceRequest, OnceState, PauseRequest, Purge, Purged, Refusal, Renewal,
    Renewed, Report, Settled, Settlement, StopQuery, Stops, Verdict, Wait, Warning,
};

use crate::types::{
    AuditEntry, EventPage, NewTask, QueueLimits, QueueName, QueueStats, Record, TaskId, WorkerId, WorkerInfo,
};
#[cfg(doc)]
use crate::types::{OnConflict, Until};

/// The most tasks that one atomic step takes; longer batches are split.
pub const BATCH: usize = 128;

/// When a full queue is to be tried again, where it is not known how fast its tasks end.
pub const RETRY_AFTER: Duration = Duration::from_secs(5);

/// The longest and the shortest time after which a full queue is to be tried again.
pub const RETRY_BETWEEN: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(60));

/// How much later others look in, where one worker keeps watch for the next due time: so late is what becomes due when that
/// worker has died meanwhile.
pub const WATCH_LATE: Duration = Duration::from_secs(1);

/// How long it is remembered that work is in progress which is to be done at most once.
pub const ONCE_IN_PROGRESS: Duration = Duration::from_secs(7 * 24 * 3600);

/// The result of a store call.
pub type Result<T, E = StoreError> = std::result::Result<T, E>;

/// Where tasks live.
#[async_trait]
pub trait Store: Send + Sync + 'static {
    /// Where it is, as errors show it: without a password.
    fn address(&self) -> &str;

    /// Reaches the store and looks for settings that endanger tasks. Called once at start.
    ///
    /// # Errors
    /// When the store cannot be reached, is too old, or would delete unfinished tasks.
    async fn probe(&self) -> Result<Vec<Warning>>;

    /// What it is, what its clock shows, and how it is set up. Judges nothing: [`Store::probe`] does.
    async fn describe(&self) -> Result<Description>;

    /// The messages of the same server that dtq did not write; `None` when there is no such server.
    fn broker(&self) -> Option<Arc<dyn messages::Broker>> {
        None
    }

    /// A handle whose I/O is driven by the runtime that calls this, so that a blocked main runtime cannot starve it.
    async fn dedicated(&self) -> Result<Arc<dyn Store>>;

    /// Accepts tasks; one step per queue and [`BATCH`]. The answers stand in the order of `tasks`.
    ///
    /// For each task in turn:
    /// 1. One whose id is known (whatever its status, and also within one batch) is not made again: its answer says
    ///    so and nothing changes.
    /// 2. One whose idempotency key has a task is not made: refused while that task is not finished, answered with it
    ///    once it is. A key whose task is gone is free, and one that is not remembered any more.
    /// 3. One whose unique key is held by another task is not made: what becomes of it is its [`OnConflict`]. A key
    ///    that was left behind by a task that is gone or finished is free, unless it is held for a period.
    /// 4. Where the queue has a depth limit and no room, it is refused as [`Refusal::Full`]. The depth is what is pending,
    ///    queued or retrying; what is in a queue already never meets the limit again, nor does what a schedule fires.
    /// 5. Else the task is made, and its keys are its own: `queued`, or `pending` when deferred. Event: `Queued`.
    ///    A holder that is put off instead: `RetryScheduled`.
    ///
    /// Wherever a task ends, in the same step and after the event, its idempotency key begins to be remembered for its
    /// time, and its unique key is freed as its [`Until`] says, if it still is its own.
    async fn enqueue(&self, tasks: Vec<NewTask>) -> Result<Vec<Accepted>>;

    /// Hands ready tasks of one queue to a worker, highest priority first, oldest first within a priority.
    ///
    /// Of a paused queue nothing is moved and nothing handed out, except by 2 below: what is due becomes ready, schedules
    /// fire, and what was lost is taken over, once the queue goes on. The answer says that it is paused.
    ///
    /// In one step, in this order:
    /// 1. Due `pending` and `retrying` tasks become `queued` (at most [`BATCH`]). A retry's attempt rises by one here.
    ///    Event: `Retried` for a retry, `Queued` for a delayed task.
    /// 2. With `Claim::holding`, what this worker has of this queue beyond that was handed out and never heard of: it is
    ///    handed out again, with the attempt it has and a new lease (at most [`BATCH`]). No event: no attempt began.
    /// 3. Running tasks are taken over whose lease ran out, or whose worker was silent for its `Claim::silence` (at
    ///    most [`BATCH`]; a store may look for them less often than at each claim, at least every quarter of a lease
    ///    and every second, but always when `Claim::sweep` is set). The attempt rises by one, the lost attempt is noted
    ///    as `WorkerLost`, the caller gets the task with a new lease. Events: `Reclaimed`, then `Started`. A task with
    ///    no attempt left is failed instead, exactly as [`Verdict::Failed`] would with `WorkerLost`; one that was asked
    ///    to cancel is cancelled. When no worker at all was heard of for half a silence, the store itself was away:
    ///    then nobody is judged by silence for the length of one.
    /// 4. Queued tasks become `running` until `max` are handed out. Event: `Started`. A task past its time to live
    ///    becomes `expired` instead (queued here, pending and retrying when they come due).
    ///    No more start than the queue's limit leaves, counted over all workers; a task that none of its own limit is left
    ///    for is passed over: it stays `queued`, holds nobody up, and starts before what came after it once there is one
    ///    left. A task counts from its claim to the end of its attempt; one that is taken over counts once. What is passed
    ///    over or dropped is bounded by [`BATCH`], too.
    /// 5. A duplicate entry (its task is finished, unknown, or queued under another entry) is removed, with a
    ///    `DuplicateAbsorbed` event, and never handed out.
    ///
    /// The first of these looks at schedules, too. One that is due is answered among `Claimed::ticks`, and hidden from
    /// other claims for [`TICK_HELD`]: whoever got it reckons the next tick and calls [`Store::fire`]. A schedule of the
    /// code that no worker declared for [`DECLARED_FOR`] is put aside instead, and forgotten after [`UNDECLARED_KEPT`].
    async fn claim(&self, claim: Claim) -> Result<Claimed>;

    /// Ends attempts; one step per queue and [`BATCH`], the answers in the order given.
    ///
    /// Each settlement whose lease is current is applied in the contract's order: record, result, event,
    /// acknowledgement last. A stale lease changes nothing: the answer is [`Settled::Stale`], and a
    /// `DuplicateAbsorbed` event is written unless the same settlement had been applied before.
    async fn settle(&self, settlements: Vec<Settlement>) -> Result<Vec<Settled>>;

    /// Extends leases to a full lease time from now; the answers in the order given.
    async fn renew(&self, renewal: Renewal) -> Result<Vec<Renewed>>;

    /// Waits until a task of one of the queues may be ready to start, or a queue goes on, or until the timeout. May wake for nothing; moves no
    /// task. Dropping the future is safe. A wake-up that this caller cannot use is not lost to other workers for
    /// longer than their own timeout.
    async fn wait(&self, wait: Wait) -> Result<()>;

    /// Calls a task off: at once when it is pending, queued or retrying (event: `Cancelled`); a running one is marked,
    /// and its worker learns of it by [`Store::stops`] or at its next renewal. From then on it ends as succeeded, when
    /// its handler succeeds, or else as cancelled, whatever its worker settles and whoever takes it over. The first
    /// reason stands. What changed something is in the audit log.
    async fn cancel(&self, request: CancelRequest) -> Result<CancelOutcome>;

    /// Running tasks that were asked to stop since an earlier answer; waits for the first one. What one of them is asked is
    /// told by its next renewal: that is the truth, and this only says when to look. So it may name tasks that have
    /// ended, or were not asked.
    async fn stops(&self, query: StopQuery) -> Result<Stops>;

    /// Keeps what running attempts tell of themselves, in the order given; true for each whose lease is current, of the
    /// others nothing is kept. It lives as long as the task's record. No event.
    async fn report(&self, reports: Vec<Report>) -> Result<Vec<bool>>;

    /// Asks for work that is done at most once per key. It is the asking attempt's when there is no record of it, or when
    /// the attempt that began it is not current any more, or is the asking one: then this run takes the place of that one. A record of work in progress lasts
    /// [`ONCE_IN_PROGRESS`] at most.
    async fn begin_once(&self, request: OnceRequest) -> Result<OnceState>;

    /// Ends such work: keeps its result, or forgets that it was begun. True when that was done, now or by an earlier copy
    /// of the same call; false when the work is not this attempt's any more: then nothing changes.
    async fn end_once(&self, end: OnceEnd) -> Result<bool>;

    /// The task of an idempotency key, finished or not; `None` when the key has none, or is not remembered any more.
    async fn find_by_key(&self, queue: &QueueName, key: &str) -> Result<Option<TaskId>>;

    /// Declares the schedules of a worker's code, all of one queue. New ones are made; one that differs from what stands
    /// takes its place when this worker's stamp is the later one, or when nobody declares the other any more. A pause
    /// outlasts both.
    async fn declare_schedules(&self, declaration: Declaration) -> Result<Declared>;

    /// Makes, changes, pauses, resumes or removes a schedule. What stands in the code of a task is paused and
    /// resumed only. What changed something is in the audit log.
    async fn steer_schedule(&self, request: ScheduleRequest) -> Result<ScheduleOutcome>;

    /// Makes the tasks of a schedule's ticks and sets its next tick, in one step, if it still stands as it was when this was
    /// reckoned and its queue is not paused: so each tick fires once, whoever reckons it. With [`crate::types::Overlap::Skip`] no task is made
    /// while the last one is pending, queued, running or retrying. What somebody asked for is in the audit log. Events:
    /// `Queued`.
    async fn fire(&self, fire: Fire) -> Result<Fired>;

    /// A queue's schedules, by name.
    async fn schedules(&self, queue: &QueueName) -> Result<Schedules>;

    /// Everything known of a task; `None` when it never existed or its retention is over.
    async fn get(&self, id: &TaskId) -> Result<Option<Record>>;

    /// A queue's dead letters, oldest first: those that were not requeued, discarded or purged, for
    /// [`Policy::DEAD_LETTER_RETENTION`](crate::types::Policy::DEAD_LETTER_RETENTION). One call looks at [`LOOKED_AT`] of
    /// them at most, so a page may hold fewer than there are: read on until [`DeadLetterPage::next`] is `None`.
    async fn dead_letters(&self, query: DeadLetterQuery) -> Result<DeadLetterPage>;

    /// Requeues, discards, purges or cancels tasks of one queue; the answers in the order of the targets. Each task is
    /// judged as it is in this step, so of two actions on one task that exclude each other one is done, and the other is
    /// told what the task has become. The step is one entry of the audit log, unless it changed nothing. Event of a
    /// requeue: `Requeued`; a discard and a purge have none.
    async fn steer(&self, steering: Steering) -> Result<Vec<Steered>>;

    /// A queue's tasks, one status after the other. Within a status they stand in the order in which they are handed out
    /// (queued), were handed out or accepted (running), come due (pending, retrying), died (dead letters; those that were
    /// discarded are left out) or end their retention (other finished ones); or in the reverse order.
    ///
    /// A task whose status does not change while pages are read is on exactly one of them. One call looks at [`LOOKED_AT`]
    /// tasks at most, or, on Redis for `succeeded`, `failed`, `cancelled` and `expired` ones, at all keys of the server in
    /// small steps.
    async fn list(&self, query: TaskQuery) -> Result<TaskPage>;

    /// Counts of one queue; zeros for a queue that never held a task.
    async fn stats(&self, queue: &QueueName) -> Result<QueueStats>;

    /// Pauses a queue, or lets it go on; false when it is so already: then nothing changes. Whoever waits for a queue that
    /// goes on learns of it at once.
    async fn pause(&self, request: PauseRequest) -> Result<bool>;

    /// Changes limits of a queue, from now on: what runs over a lower one goes on. What was passed over starts as soon as
    /// a new limit lets it. What changed something is in the audit log.
    async fn set_limits(&self, request: LimitsRequest) -> Result<()>;

    /// Notes what limits workers declare; what was set by hand goes before it.
    async fn declare_limits(&self, declaration: LimitsDeclaration) -> Result<()>;

    /// What holds a queue back.
    async fn limits(&self, queue: &QueueName) -> Result<QueueLimits>;

    /// Cancels what waits in a queue, looking at [`BATCH`] tasks at most: pending, retrying and queued ones; running ones
    /// are asked to stop if that is wanted. Each is told of and kept as a cancelled one. The audit log has one entry a
    /// purge, which counts up with its steps. What is enqueued while a purge goes on may be dropped, too.
    async fn purge(&self, purge: Purge) -> Result<Purged>;

    /// The names of all queues that ever held a task, or were paused or limited, sorted.
    async fn queues(&self) -> Result<Vec<QueueName>>;

    /// What was done to a queue by hand, newest first: [`AuditEntry::KEPT`] entries at least. Each was written in the step
    /// that did it.
    async fn audit(&self, query: AuditQuery) -> Result<Vec<AuditEntry>>;

    /// Events after a cursor, oldest first; waits up to `wait` for the first one. The log is bounded: very old events
    /// are dropped, whether anybody read them or not.
    async fn events(&self, query: EventQuery) -> Result<EventPage>;

    /// Writes a worker's heartbeat, which lives for its `ttl` by the store's clock: until then what the worker holds in
    /// the queues that it names is lost only by run-out leases. The first one is a `WorkerStarted` event.
    async fn heartbeat(&self, heartbeat: Heartbeat) -> Result<()>;

    /// Removes a worker's heartbeat. Event: `WorkerStopped`. What it still holds stays its own until the heartbeat would
    /// have ended.
    async fn farewell(&self, worker: &WorkerId) -> Result<()>;

    /// Workers whose heartbeat lives, by start time.
    async fn workers(&self) -> Result<Vec<WorkerInfo>>;
}

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

mod error;
pub mod messages;
mod verbs;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;

pub use error::StoreError;
pub use verbs::{
    Accepted, AuditQuery, CancelOutcome, CancelRequest, Claim, Claimed, DeadLetterQuery, EventQuery, Heartbeat,
    OnceEnd, OnceRequest, OnceState, Renewal, Renewed, Settled, Settlement, Verdict, Wait, Warning,
};

use crate::types::{
    AuditEntry, DeadLetter, EventPage, NewTask, QueueName, QueueStats, Record, TaskId, WorkerId, WorkerInfo,
};

/// The most tasks that one atomic step takes; longer batches are split.
pub const BATCH: usize = 128;

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

    /// The messages of the same server that dtq did not write; `None` when there is no such server.
    fn broker(&self) -> Option<Arc<dyn messages::Broker>> {
        None
    }

    /// A handle whose I/O is driven by the runtime that calls this, so that a blocked main runtime cannot starve it.
    async fn dedicated(&self) -> Result<Arc<dyn Store>>;

    /// Accepts tasks; one step per queue and [`BATCH`]. The answers stand in the order of `tasks`.
    ///
    /// A task whose id is known (whatever its status, and also within one batch) is not made again: its answer says
    /// so and nothing changes. A new task is `queued`, or `pending` when deferred. Event: `Queued`.
    async fn enqueue(&self, tasks: Vec<NewTask>) -> Result<Vec<Accepted>>;

    /// Hands ready tasks of one queue to a worker, highest priority first, oldest first within a priority.
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
    /// 5. A duplicate entry (its task is finished, unknown, or queued under another entry) is removed, with a
    ///    `DuplicateAbsorbed` event, and never handed out.
    async fn claim(&self, claim: Claim) -> Result<Claimed>;

    /// Ends attempts; one step per queue and [`BATCH`], the answers in the order given.
    ///
    /// Each settlement whose lease is current is applied in the contract's order: record, result, event,
    /// acknowledgement last. A stale lease changes nothing: the answer is [`Settled::Stale`], and a
    /// `DuplicateAbsorbed` event is written unless the same settlement had been applied before.
    async fn settle(&self, settlements: Vec<Settlement>) -> Result<Vec<Settled>>;

    /// Extends leases to a full lease time from now; the answers in the order given.
    async fn renew(&self, renewal: Renewal) -> Result<Vec<Renewed>>;

    /// Waits until a task of one of the queues may be ready, or until the timeout. May wake for nothing; moves no
    /// task. Dropping the future is safe. A wake-up that this caller cannot use is not lost to other workers for
    /// longer than their own timeout.
    async fn wait(&self, wait: Wait) -> Result<()>;

    /// Calls a task off: at once when it is pending, queued or retrying (event: `Cancelled`); a running one is marked
    /// and its worker learns of it at its next renewal. What changed something is in the audit log.
    async fn cancel(&self, request: CancelRequest) -> Result<CancelOutcome>;

    /// Asks for work that is done at most once per key. It is the asking attempt's when there is no record of it, or when
    /// the attempt that began it is not current any more, or is the asking one: then this run takes the place of that one. A record of work in progress lasts
    /// [`ONCE_IN_PROGRESS`] at most.
    async fn begin_once(&self, request: OnceRequest) -> Result<OnceState>;

    /// Ends such work: keeps its result, or forgets that it was begun. True when that was done, now or by an earlier copy
    /// of the same call; false when the work is not this attempt's any more: then nothing changes.
    async fn end_once(&self, end: OnceEnd) -> Result<bool>;

    /// Everything known of a task; `None` when it never existed or its retention is over.
    async fn get(&self, id: &TaskId) -> Result<Option<Record>>;

    /// A queue's dead letters, oldest first.
    async fn dead_letters(&self, query: DeadLetterQuery) -> Result<Vec<DeadLetter>>;

    /// Counts of one queue; zeros for a queue that never held a task.
    async fn stats(&self, queue: &QueueName) -> Result<QueueStats>;

    /// The names of all queues that ever held a task, sorted.
    async fn queues(&self) -> Result<Vec<QueueName>>;

    /// What was done to a queue by hand, newest first: [`AuditEntry::KEPT`] entries at least. Each was written in the step
    /// that did it.
    async fn audit(&self, query: AuditQuery) -> Result<Vec<AuditEntry>>;

    /// Events after a cursor, oldest first; waits up to `wait` for the first one. The log is bounded: very old events
    /// are dropped, whether anybody read them or not.
    async fn events(&self, query: EventQuery) -> Result<EventPage>;

    /// Writes a worker's heartbeat, which lives for its `ttl` by the store's clock: until then what the worker holds in
    /// its queues is lost only by run-out leases. The first one is a `WorkerStarted` event.
    async fn heartbeat(&self, heartbeat: Heartbeat) -> Result<()>;

    /// Removes a worker's heartbeat. Event: `WorkerStopped`. What it still holds stays its own until the heartbeat would
    /// have ended.
    async fn farewell(&self, worker: &WorkerId) -> Result<()>;

    /// Workers whose heartbeat lives, by start time.
    async fn workers(&self) -> Result<Vec<WorkerInfo>>;
}

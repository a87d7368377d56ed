//! What each verb of a store takes and gives.

use std::time::Duration;

use bytes::Bytes;

use super::schedules::Tick;
use crate::types::{
    By, Delivery, EventCursor, Failure, Lease, LimitChanges, QueueName, Share, Status, TaskId, Timestamp, Uuid,
    WorkerId, WorkerInfo,
};

/// A setting of the store that users should know of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning(pub String);

/// What a store says of itself, for people who look after it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Description {
    /// What it is: `SQLite`, `Redis` or `Valkey`.
    pub product: &'static str,
    /// Its version; empty when it does not tell.
    pub version: String,
    /// The instant that its clock shows.
    pub now: Timestamp,
    /// Settings that bear on what it keeps, by the names that they have there; empty when it does not tell.
    pub settings: Vec<(&'static str, String)>,
}

/// The answer to one enqueued task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Accepted {
    /// The id of the task that stands for the submission: its own, or that of the task that holds its key.
    pub id: TaskId,
    /// False when no new task was made.
    pub created: bool,
    /// Why the submission was refused, if it was. When that is for a key, `id` is that of the task in its way.
    pub refused: Option<Refusal>,
}

impl Accepted {
    /// The answer for a new task, or for one whose id was known.
    pub const fn new(id: TaskId, created: bool) -> Self {
        Self { id, created, refused: None }
    }

    /// True when the submission was refused because its queue is full.
    pub(crate) const fn found_no_room(&self) -> bool {
        matches!(self.refused, Some(Refusal::Full(_)))
    }
}

/// Why a submission was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refusal {
    /// The task of its idempotency key is not finished.
    InProgress,
    /// Another task holds its unique key.
    Unique,
    /// The queue is full.
    Full(Full),
}

/// A queue that has no room for more tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Full {
    /// Ready and scheduled tasks in it.
    pub depth: u64,
    /// Its limit.
    pub limit: u32,
    /// When there may be room for all that the step refused, by how fast tasks ended lately; [`super::RETRY_AFTER`] where
    /// that is not known.
    pub retry_after: Duration,
}

/// A worker's wish for work.
#[derive(Debug, Clone)]
pub struct Claim {
    /// The queue to take from.
    pub queue: QueueName,
    /// Who asks.
    pub worker: WorkerId,
    /// Tasks wanted at most; a store hands out no more than [`super::BATCH`] at a time. Where it leaves ready tasks, and none
    /// were wanted, one of those who wait is woken.
    pub max: usize,
    /// How long the leases last without renewal. Each lease is judged by its own length, whoever looks for lost tasks.
    pub lease: Duration,
    /// How long the worker may be silent: with no heartbeat, and no claim that brought it something, for this long, it
    /// counts as gone and what it holds as lost, however long the leases last.
    pub silence: Duration,
    /// Look for lost tasks now, however recently that was done.
    pub sweep: bool,
    /// All that the worker holds of this queue, when the answer to an earlier claim of its may have been lost.
    pub holding: Option<Vec<Lease>>,
    /// The worker has room and waits, so it can come back when the next task becomes due; then a store may rely on one such
    /// worker for all of them, see [`Claimed::watches`]. Without it the worker watches no more.
    pub watch: bool,
}

/// What a claim brought.
#[derive(Debug, Clone, Default)]
pub struct Claimed {
    /// Attempts to run now.
    pub deliveries: Vec<Delivery>,
    /// True when more tasks were ready than were handed out.
    pub more: bool,
    /// How long until the next pending or retrying task, or the next tick, of this queue becomes due. `None` also where
    /// another worker keeps watch for it.
    pub next_due: Option<Duration>,
    /// How long until a worker that holds tasks of this queue may be found gone, or one that keeps watch should have been
    /// back; `None` while there is none.
    pub look_in: Option<Duration>,
    /// True when this worker is the one that comes back for the next due time: others rely on it until its next claim of the
    /// queue. One that can not come back claims without [`Claim::watch`], and another takes its place.
    pub watches: bool,
    /// True when the queue is paused.
    pub paused: bool,
    /// Schedules that are due.
    pub ticks: Vec<Tick>,
}

/// The end of one attempt.
#[derive(Debug, Clone)]
pub struct Settlement {
    /// The delivery that is settled: its lease, and what the store needs to write the record.
    pub delivery: Delivery,
    /// How it ends.
    pub verdict: Verdict,
}

/// How an attempt ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// `running` to `succeeded`; the result is kept for the policy's retention, `None` (a unit result) takes no room.
    Succeeded {
        /// The encoded result.
        result: Option<Bytes>,
    },
    /// `running` to `retrying`: due after `delay`, when the attempt rises by one. Event: `RetryScheduled`.
    Retry {
        /// Time until the next attempt.
        delay: Duration,
        /// Why this one did not succeed.
        failure: Failure,
    },
    /// `running` to `pending`: due after `delay` with the same attempt number. Event: `RetryScheduled`.
    Snooze {
        /// Time until the attempt is repeated.
        delay: Duration,
    },
    /// `running` to `dead_lettered`, or to `failed` when the policy wants no dead letters.
    Failed {
        /// Why.
        failure: Failure,
    },
    /// `running` to `cancelled`: dropped by its handler, or obeying a cancellation.
    Cancelled {
        /// Why.
        reason: String,
    },
    /// `running` back to `queued`, as if never started: same attempt, a new fencing token. Event: `Released`.
    Release,
}

/// The answer to one settlement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Settled {
    /// Applied, now or by an earlier copy of the same call: the task has this status.
    Applied(Status),
    /// The lease was not current; nothing changed.
    Stale,
}

/// Work that an attempt wants to do at most once per key. Keys belong to the queue of the attempt's task.
#[derive(Debug, Clone)]
pub struct OnceRequest {
    /// The attempt.
    pub lease: Lease,
    /// What the work is known by.
    pub key: String,
    /// Which run of the work this is: another number for each, so that an attempt that dropped a run and asks again ends
    /// the second one only.
    pub run: u64,
}

/// The answer to an [`OnceRequest`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OnceState {
    /// The work is this attempt's to do: nobody has done it, and nobody else is at it.
    Begun,
    /// It was done, with this result.
    Done(Bytes),
    /// Another attempt, whose lease is current, is at it.
    Busy,
    /// The asking attempt's lease is not current.
    Lost,
}

/// The end of work that an [`OnceRequest`] began.
#[derive(Debug, Clone)]
pub struct OnceEnd {
    /// The attempt that did it.
    pub lease: Lease,
    /// What the work is known by.
    pub key: String,
    /// The run that ends.
    pub run: u64,
    /// Its result, and how long that is remembered; `None` when the work failed and may begin anew.
    pub done: Option<(Bytes, Duration)>,
}

/// A worker's sign of life.
#[derive(Debug, Clone)]
pub struct Heartbeat {
    /// Who, and what it says of itself. The store dates it.
    pub worker: WorkerInfo,
    /// How long it counts as alive from now.
    pub ttl: Duration,
    /// The queues of which it holds tasks: there a silence is what takes them from it. One that holds nothing is missed by
    /// nobody.
    pub holding: Vec<QueueName>,
}

/// Leases to extend. `worker` must hold them.
#[derive(Debug, Clone)]
pub struct Renewal {
    /// Who holds them.
    pub worker: WorkerId,
    /// Which.
    pub leases: Vec<Lease>,
    /// How long they last from now.
    pub lease: Duration,
}

/// The answer to one renewed lease.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Renewed {
    /// Extended.
    Held,
    /// Extended, and the task is asked to stop, with the reason.
    CancelRequested(String),
    /// Not current any more: taken over, settled or gone.
    Lost,
}

/// Queues to watch.
#[derive(Debug, Clone)]
pub struct Wait {
    /// Which; never empty.
    pub queues: Vec<QueueName>,
    /// How long at most.
    pub timeout: Duration,
}

/// A task to call off.
#[derive(Debug, Clone)]
pub struct CancelRequest {
    /// Which.
    pub id: TaskId,
    /// By whom, and why: the reason is kept in the record, all of it in the audit log.
    pub by: By,
}

/// What became of a cancellation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CancelOutcome {
    /// It will not run.
    Cancelled,
    /// It is running; its worker will be told.
    Requested,
    /// It was finished already, with this status.
    AlreadyFinished(Status),
    /// No such task.
    NotFound,
}

/// A question after running tasks that were asked to stop.
#[derive(Debug, Clone)]
pub struct StopQuery {
    /// The queues; never empty.
    pub queues: Vec<QueueName>,
    /// [`Stops::next`] of the latest answer; `None` to hear of all.
    pub after: Option<String>,
    /// How long to wait for the first one.
    pub wait: Duration,
}

/// The answer to a [`StopQuery`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stops {
    /// Tasks that were asked to stop while they ran. They may have ended since.
    pub tasks: Vec<TaskId>,
    /// True when there may have been more: then any running task may have been asked.
    pub incomplete: bool,
    /// Where to ask on.
    pub next: Option<String>,
}

/// What a running attempt tells of itself.
#[derive(Debug, Clone)]
pub struct Report {
    /// The attempt.
    pub lease: Lease,
    /// How far it is; takes the place of what was told before.
    pub progress: Option<(Share, String)>,
    /// Lines for its log. Each has a number, counted from zero in each lease, so that none is kept twice.
    pub lines: Vec<String>,
    /// The number of the first of them.
    pub first_line: u64,
    /// Its state, for the next attempt; takes the place of the one before.
    pub checkpoint: Option<Bytes>,
}

/// A window on a queue's audit log.
#[derive(Debug, Clone)]
pub struct AuditQuery {
    /// The queue.
    pub queue: QueueName,
    /// The `position` of the last entry already seen.
    pub before: Option<String>,
    /// Entries at most.
    pub limit: usize,
}

/// A wish to pause a queue, or to let it go on.
#[derive(Debug, Clone)]
pub struct PauseRequest {
    /// The queue; it need not exist yet.
    pub queue: QueueName,
    /// True to pause it.
    pub pause: bool,
    /// By whom, and why.
    pub by: By,
}

/// Limits to change.
#[derive(Debug, Clone)]
pub struct LimitsRequest {
    /// The queue; it need not exist yet.
    pub queue: QueueName,
    /// What changes.
    pub changes: LimitChanges,
    /// By whom, and why.
    pub by: By,
}

/// What a worker says of the tasks that it knows of a queue.
#[derive(Debug, Clone)]
pub struct LimitsDeclaration {
    /// The queue.
    pub queue: QueueName,
    /// The tasks, each with how many of it may run at once; `None`: as many as may be.
    pub tasks: Vec<(String, Option<u32>)>,
}

/// One step of dropping what waits in a queue. A purge is a row of steps that share all but `after`.
#[derive(Debug, Clone)]
pub struct Purge {
    /// The queue.
    pub queue: QueueName,
    /// Only tasks of this name.
    pub task: Option<String>,
    /// Ask what runs to stop, too.
    pub stop_running: bool,
    /// Only count.
    pub dry_run: bool,
    /// By whom, and why: the reason is kept in the records, all of it in the audit log.
    pub by: By,
    /// What the steps of one purge have in common: they share one entry of the audit log.
    pub run: Uuid,
    /// The [`Purged::next`] of the step before; `None` in the first one.
    pub after: Option<String>,
}

/// What one step of a purge did.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Purged {
    /// Tasks that are cancelled now; in a dry run, those that would be.
    pub dropped: u64,
    /// Running tasks that were asked to stop; in a dry run, those that would be.
    pub stopping: u64,
    /// Where the next step goes on; `None` when this was the last one.
    pub next: Option<String>,
}

/// A window on the event log.
#[derive(Debug, Clone)]
pub struct EventQuery {
    /// Queues whose task events are wanted. Worker events belong to no queue and always come.
    pub queues: Vec<QueueName>,
    /// Where to read on.
    pub after: EventCursor,
    /// Events wanted at about most: a store may pass it by the rest of one step's events.
    pub limit: usize,
    /// How long to wait for the first event.
    pub wait: Duration,
}

impl Purge {
    /// What it drops, as the audit log names it.
    pub fn target(&self) -> String {
        match &self.task {
            Some(task) => format!("{} task={task}", self.queue),
            None => self.queue.to_string(),
        }
    }
}

impl Verdict {
    /// The event-free summary of where the task goes, for logs.
    pub fn target(&self, dead_letter: bool) -> Status {
        match self {
            Self::Succeeded { .. } => Status::Succeeded,
            Self::Retry { .. } => Status::Retrying,
            Self::Snooze { .. } => Status::Pending,
            Self::Failed { .. } if dead_letter => Status::DeadLettered,
            Self::Failed { .. } => Status::Failed,
            Self::Cancelled { .. } => Status::Cancelled,
            Self::Release => Status::Queued,
        }
    }
}

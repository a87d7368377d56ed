//! The store's verbs as checks use them: on the default queue, by worker `w1`, panicking on errors.

use std::time::Duration;

use bytes::Bytes;
use dtq::store::{
    Accepted, CancelOutcome, CancelRequest, Claim, Claimed, DeadLetterQuery, EventQuery, Heartbeat, Renewal, Renewed,
    RequeueFrom, Settled, Settlement, Steer, Steered, Steering, Target, TaskQuery, Verdict,
};
use dtq::types::{
    By, DeadLetter, Delivery, Event, EventCursor, EventKind, Lease, NewTask, QueueName, QueueStats, Record, Status,
    TaskId, TaskSummary, Timestamp, WorkerInfo,
};

use crate::{DEFAULT, LEASE, TaskBuilder, World, failure, in_rows, queue, want, worker};

/// What can be seen of a task and its queue: compare two to find that nothing changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    /// The task's record.
    pub record: Option<Record>,
    /// Its queue's counts.
    pub stats: QueueStats,
    /// Its queue's dead letters.
    pub dead_letters: Vec<DeadLetter>,
}

/// Each panics when the store answers with an error.
#[allow(clippy::missing_panics_doc, reason = "said once above")]
impl World {
    /// Enqueues a new task.
    pub async fn enqueue(&self, task: TaskBuilder) -> TaskId {
        let accepted = self.enqueue_again(task).await;
        assert!(accepted.created, "{} existed already", accepted.id);
        accepted.id
    }

    /// Enqueues a task that may be known already.
    pub async fn enqueue_again(&self, task: TaskBuilder) -> Accepted {
        self.enqueue_all(vec![task.build()]).await.remove(0)
    }

    /// Sends a heartbeat.
    pub async fn beat(&self, worker: WorkerInfo, ttl: Duration) {
        let holding = worker.queues.clone();
        self.store().heartbeat(Heartbeat { worker, ttl, holding }).await.expect("heartbeat");
    }

    /// Enqueues a batch.
    pub async fn enqueue_all(&self, tasks: Vec<NewTask>) -> Vec<Accepted> {
        self.store().enqueue(tasks).await.expect("enqueue")
    }

    /// Enqueues `count` like tasks, in one batch, with payloads `0`, `1`, ….
    pub async fn enqueue_many(&self, count: usize, like: impl Fn() -> TaskBuilder) -> Vec<TaskId> {
        let tasks = (0..count).map(|n| like().payload(n.to_string()).build()).collect();
        self.enqueue_all(in_rows(tasks)).await.into_iter().map(|accepted| accepted.id).collect()
    }

    /// Claims up to `max` tasks of the default queue for worker `w1`.
    pub async fn claim(&self, max: usize) -> Vec<Delivery> {
        self.claim_with(want(max)).await.deliveries
    }

    /// Claims as told.
    pub async fn claim_with(&self, claim: Claim) -> Claimed {
        let max = claim.max;
        let claimed = self.store().claim(claim).await.expect("claim");
        assert!(claimed.deliveries.len() <= max, "{} handed out, {max} wanted", claimed.deliveries.len());
        claimed
    }

    /// Claims the one task that is ready in the default queue.
    pub async fn claim_one(&self) -> Delivery {
        self.claim_one_of(DEFAULT).await
    }

    /// Claims the one task that is ready in a queue.
    pub async fn claim_one_of(&self, name: &str) -> Delivery {
        let mut claimed = self.claim_with(Claim { queue: queue(name), ..want(1) }).await;
        assert_eq!(claimed.deliveries.len(), 1, "no task was handed out of queue {name}");
        claimed.deliveries.remove(0)
    }

    /// Claims for worker `w2`, looking for run-out leases.
    pub async fn sweep(&self, max: usize) -> Vec<Delivery> {
        self.claim_with(Claim { worker: worker("w2"), sweep: true, ..want(max) }).await.deliveries
    }

    /// Enqueues a task and claims it.
    pub async fn running(&self, task: TaskBuilder) -> Delivery {
        let id = self.enqueue(task).await;
        let delivery = self.claim_one_of(id.queue().as_str()).await;
        assert_eq!(delivery.lease.task, id);
        delivery
    }

    /// Claims again and again until nothing is handed out and nothing more is ready.
    pub async fn drain(&self, claim: Claim) -> Vec<Delivery> {
        let mut all = Vec::new();
        // Every call may take 128 at most, so even a thousand tasks need few calls.
        for _ in 0..200 {
            let claimed = self.claim_with(claim.clone()).await;
            let done = claimed.deliveries.is_empty() && !claimed.more;
            all.extend(claimed.deliveries);
            if done {
                return all;
            }
        }
        panic!("claiming does not come to an end; {} were handed out", all.len());
    }

    /// Settles one delivery.
    pub async fn settle(&self, delivery: &Delivery, verdict: Verdict) -> Settled {
        let settlements = vec![Settlement { delivery: delivery.clone(), verdict }];
        self.store().settle(settlements).await.expect("settle").remove(0)
    }

    /// Settles one delivery whose lease must be current.
    pub async fn settle_to(&self, delivery: &Delivery, verdict: Verdict, status: Status) {
        assert_eq!(self.settle(delivery, verdict).await, Settled::Applied(status));
    }

    /// Lets it succeed, with the result `"done"`.
    pub async fn succeed(&self, delivery: &Delivery) {
        self.settle_to(delivery, done(), Status::Succeeded).await;
    }

    /// Lets it fail for good.
    pub async fn fail(&self, delivery: &Delivery) {
        let status = if delivery.policy.dead_letter { Status::DeadLettered } else { Status::Failed };
        self.settle_to(delivery, Verdict::Failed { failure: failure("no way") }, status).await;
    }

    /// Schedules another attempt.
    pub async fn retry(&self, delivery: &Delivery, delay: Duration) {
        self.settle_to(delivery, Verdict::Retry { delay, failure: failure("not yet") }, Status::Retrying).await;
    }

    /// Puts it off.
    pub async fn snooze(&self, delivery: &Delivery, delay: Duration) {
        self.settle_to(delivery, Verdict::Snooze { delay }, Status::Pending).await;
    }

    /// Gives it back.
    pub async fn release(&self, delivery: &Delivery) {
        self.settle_to(delivery, Verdict::Release, Status::Queued).await;
    }

    /// Lets its handler drop it.
    pub async fn drop_task(&self, delivery: &Delivery) {
        self.settle_to(delivery, Verdict::Cancelled { reason: "not needed".into() }, Status::Cancelled).await;
    }

    /// Renews leases of worker `w1`.
    pub async fn renew(&self, leases: &[&Lease]) -> Vec<Renewed> {
        self.renew_as("w1", leases).await
    }

    /// Renews leases of a worker.
    pub async fn renew_as(&self, name: &str, leases: &[&Lease]) -> Vec<Renewed> {
        let leases = leases.iter().map(|&lease| lease.clone()).collect();
        self.store().renew(Renewal { worker: worker(name), leases, lease: LEASE }).await.expect("renew")
    }

    /// Calls a task off, for the reason `"called off"`.
    pub async fn cancel(&self, id: &TaskId) -> CancelOutcome {
        let request = CancelRequest { id: id.clone(), by: By::new("tests", "called off") };
        self.store().cancel(request).await.expect("cancel")
    }

    /// The task of an idempotency key of the default queue.
    pub async fn find_by_key(&self, key: &str) -> Option<TaskId> {
        self.store().find_by_key(&queue(DEFAULT), key).await.expect("find_by_key")
    }

    /// Acts on tasks of one queue by hand, as `tests`, for the reason `"by hand"`.
    pub async fn steer(&self, targets: Vec<Target>, action: Steer) -> Vec<Steered> {
        let Some(first) = targets.first() else { return Vec::new() };
        let (queue, words) = (first.id.queue().clone(), format!("{} targets", targets.len()));
        let steering = Steering { queue, targets, action, words, by: By::new("tests", "by hand") };
        self.store().steer(steering).await.expect("steer")
    }

    /// The same for one task.
    pub async fn steer_one(&self, id: &TaskId, action: Steer) -> Steered {
        self.steer(vec![id.clone().into()], action).await.remove(0)
    }

    /// Requeues a task that did not succeed.
    pub async fn requeue(&self, id: &TaskId) {
        let action = Steer::Requeue { from: RequeueFrom::Unsuccessful, payload: None };
        assert_eq!(self.steer_one(id, action).await, Steered::Done);
    }

    /// All that a query lists, read in pages of its limit.
    pub async fn list(&self, mut query: TaskQuery) -> Vec<TaskSummary> {
        let mut all = Vec::new();
        for _ in 0..1000 {
            let page = self.store().list(query.clone()).await.expect("list");
            assert!(page.tasks.len() <= query.limit, "{} listed, {} wanted", page.tasks.len(), query.limit);
            all.extend(page.tasks);
            query.after = page.next;
            if query.after.is_none() {
                return all;
            }
        }
        panic!("the listing does not come to an end");
    }

    /// A task's record, if there is one.
    pub async fn get(&self, id: &TaskId) -> Option<Record> {
        self.store().get(id).await.expect("get")
    }

    /// A task's record.
    pub async fn record(&self, id: &TaskId) -> Record {
        self.get(id).await.unwrap_or_else(|| panic!("{id} has no record"))
    }

    /// A task's status.
    pub async fn status(&self, id: &TaskId) -> Status {
        self.record(id).await.status
    }

    /// The counts of the default queue.
    pub async fn stats(&self) -> QueueStats {
        self.stats_of(DEFAULT).await
    }

    /// The counts of a queue.
    pub async fn stats_of(&self, name: &str) -> QueueStats {
        self.store().stats(&queue(name)).await.expect("stats")
    }

    /// The dead letters of the default queue.
    pub async fn dead_letters(&self) -> Vec<DeadLetter> {
        self.dead_letters_of(&queue(DEFAULT)).await
    }

    /// The dead letters of a queue.
    pub async fn dead_letters_of(&self, queue: &QueueName) -> Vec<DeadLetter> {
        let query = DeadLetterQuery::first(queue.clone(), 1000);
        self.store().dead_letters(query).await.expect("dead_letters").letters
    }

    /// Everything in the event log of some queues, oldest first.
    pub async fn events(&self, queues: &[QueueName]) -> Vec<Event> {
        let mut all = Vec::new();
        let mut after = EventCursor::start();
        for _ in 0..1000 {
            let query = EventQuery { queues: queues.to_vec(), after, limit: 500, wait: Duration::ZERO };
            let page = self.store().events(query).await.expect("events");
            if page.events.is_empty() {
                return all;
            }
            all.extend(page.events);
            after = page.next;
        }
        panic!("the event log does not come to an end");
    }

    /// The events of one task, in full.
    pub async fn full_events_of(&self, id: &TaskId) -> Vec<Event> {
        let mut events = self.events(std::slice::from_ref(id.queue())).await;
        events.retain(|event| event.task.as_ref() == Some(id));
        events
    }

    /// What happened to one task, in order.
    pub async fn events_of(&self, id: &TaskId) -> Vec<EventKind> {
        self.full_events_of(id).await.into_iter().map(|event| event.kind).collect()
    }

    /// What can be seen of a task.
    pub async fn snapshot(&self, id: &TaskId) -> Snapshot {
        Snapshot {
            record: self.get(id).await,
            stats: self.stats_of(id.queue().as_str()).await,
            dead_letters: self.dead_letters_of(id.queue()).await,
        }
    }

    /// Asserts that a duration is the expected one, or shorter by what real time has passed.
    pub fn assert_left(&self, left: Option<Duration>, expected: Duration) {
        let left = left.expect("something is due later");
        let fits = left <= expected && left + self.slack() >= expected;
        assert!(fits, "{left:?} left, expected {expected:?}");
    }

    /// Asserts that two instants are of one step: the same, or apart by what a server's clock moves within a step.
    pub fn assert_same_step(&self, one: Timestamp, other: Timestamp) {
        let apart = one.since(other).max(other.since(one));
        assert!(apart <= self.slack() / 100, "{one} and {other} are {apart:?} apart");
    }

    /// Asserts that a span by the store's clock is the expected one, or longer by what real time has passed.
    pub fn assert_passed(&self, passed: Duration, expected: Duration) {
        let fits = passed >= expected && passed <= expected + self.slack();
        assert!(fits, "{passed:?} passed, expected {expected:?}");
    }
}

/// The verdict of a handler that returned `"done"`.
fn done() -> Verdict {
    Verdict::Succeeded { result: Some(Bytes::from_static(b"\"done\"")) }
}

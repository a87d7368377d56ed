//! Handing out ready tasks.

use std::time::Duration;

use dtq::store::{BATCH, Claim};
use dtq::types::{EventKind, Priority, Status};
use dtq_tests::{LEASE, World, task, want, worker};

pub(crate) async fn an_empty_queue_gives_nothing(w: &World) {
    let claimed = w.claim_with(want(10)).await;
    assert!(claimed.deliveries.is_empty() && !claimed.more);
    assert_eq!(claimed.next_due, None);
}

pub(crate) async fn a_delivery_carries_all_of_the_task(w: &World) {
    let new = task("billing::charge").priority(8).payload("{\"a\":[]}").max_attempts(3);
    let new = new.ttl(Duration::from_secs(900)).timeout(Duration::from_secs(7)).retention(Duration::from_secs(11));
    let policy = new.clone().build().policy;
    let id = w.enqueue(new).await;
    w.advance(Duration::from_secs(60));
    let delivery = w.claim_one().await;
    assert_eq!((&delivery.lease.task, delivery.lease.attempt, delivery.reclaimed), (&id, 1, false));
    assert_eq!((delivery.task.as_str(), delivery.payload.as_ref()), ("billing::charge", &b"{\"a\":[]}"[..]));
    assert_eq!((delivery.priority, delivery.policy), (Priority::new(8).unwrap(), policy));
    assert_eq!(delivery.enqueued_at, w.record(&id).await.enqueued_at);
    w.assert_passed(delivery.claimed_at.since(delivery.enqueued_at), Duration::from_secs(60));
    assert!(!delivery.lease.token.is_empty());
}

pub(crate) async fn a_claimed_task_is_running(w: &World) {
    let delivery = w.running(task("a")).await;
    let record = w.record(&delivery.lease.task).await;
    assert_eq!((record.status, record.attempt, record.due_at), (Status::Running, 1, None));
    let stats = w.stats().await;
    assert_eq!((stats.queued, stats.running), (0, 1));
}

pub(crate) async fn a_start_is_told_with_its_attempt(w: &World) {
    let delivery = w.running(task("a")).await;
    let events = w.full_events_of(&delivery.lease.task).await;
    let kinds: Vec<_> = events.iter().map(|event| event.kind).collect();
    assert_eq!(kinds, [EventKind::Queued, EventKind::Started]);
    assert_eq!(events[1].attempt, 1);
    w.assert_same_step(events[1].at, delivery.claimed_at);
}

pub(crate) async fn a_claim_takes_no_more_than_it_wants(w: &World) {
    w.enqueue_many(10, || task("a")).await;
    assert_eq!(w.claim(3).await.len(), 3);
    let stats = w.stats().await;
    assert_eq!((stats.queued, stats.running), (7, 3));
}

pub(crate) async fn a_claim_for_none_gets_none(w: &World) {
    let id = w.enqueue(task("a")).await;
    assert!(w.claim(0).await.is_empty());
    assert_eq!(w.status(&id).await, Status::Queued);
}

pub(crate) async fn a_claim_tells_whether_more_is_ready(w: &World) {
    w.enqueue_many(5, || task("a")).await;
    w.enqueue(task("low").priority(0)).await;
    assert!(w.claim_with(want(3)).await.more);
    assert!(w.claim_with(want(2)).await.more, "the task of another priority counts");
    assert!(!w.claim_with(want(5)).await.more);
}

pub(crate) async fn a_full_hand_does_not_promise_what_is_not_there(w: &World) {
    // A band that held a task, and one that held a task which was called off.
    let done = w.running(task("a")).await;
    w.succeed(&done).await;
    let moot = w.enqueue(task("a").priority(0)).await;
    w.cancel(&moot).await;
    w.enqueue(task("a").priority(9)).await;
    let claimed = w.claim_with(Claim { sweep: true, ..want(1) }).await;
    assert_eq!((claimed.deliveries.len(), claimed.more), (1, false));
    assert!(!w.claim_with(want(0)).await.more);
    w.enqueue(task("a").priority(0)).await;
    assert!(w.claim_with(want(0)).await.more);
}

pub(crate) async fn a_running_task_is_not_handed_out_again(w: &World) {
    w.running(task("a")).await;
    assert!(w.claim(10).await.is_empty());
    assert!(w.sweep(10).await.is_empty());
}

pub(crate) async fn one_claim_never_takes_more_than_a_batch(w: &World) {
    w.enqueue_many(BATCH * 2, || task("a")).await;
    let claimed = w.claim_with(want(BATCH * 2)).await;
    assert!(!claimed.deliveries.is_empty() && claimed.deliveries.len() <= BATCH);
    assert!(claimed.more);
}

pub(crate) async fn a_full_batch_comes_in_one_claim(w: &World) {
    w.enqueue_many(BATCH, || task("a")).await;
    assert_eq!(w.claim(BATCH).await.len(), BATCH);
}

pub(crate) async fn different_workers_get_different_tasks(w: &World) {
    w.enqueue_many(6, || task("a")).await;
    let mut seen = std::collections::HashSet::new();
    for name in ["w1", "w2", "w3"] {
        let claim = Claim { worker: worker(name), ..want(2) };
        for delivery in w.claim_with(claim).await.deliveries {
            assert!(seen.insert(delivery.lease.task), "handed out twice");
        }
    }
    assert_eq!(seen.len(), 6);
}

pub(crate) async fn a_ready_task_waits_for_ever(w: &World) {
    let id = w.enqueue(task("a")).await;
    w.advance(Duration::from_secs(400 * 86_400));
    assert_eq!(w.status(&id).await, Status::Queued);
    let delivery = w.claim_one().await;
    assert_eq!((delivery.lease.task, delivery.lease.attempt), (id, 1));
}

pub(crate) async fn a_sweep_on_a_healthy_queue_is_an_ordinary_claim(w: &World) {
    let id = w.enqueue(task("a")).await;
    let deliveries = w.sweep(1).await;
    assert_eq!((&deliveries[0].lease.task, deliveries[0].reclaimed), (&id, false));
    w.advance(LEASE / 2);
    assert!(w.sweep(1).await.is_empty());
    assert_eq!(w.events_of(&id).await, [EventKind::Queued, EventKind::Started]);
}

checks! {
    claim:
    an_empty_queue_gives_nothing,
    a_delivery_carries_all_of_the_task,
    a_claimed_task_is_running,
    a_start_is_told_with_its_attempt,
    a_claim_takes_no_more_than_it_wants,
    a_claim_for_none_gets_none,
    a_claim_tells_whether_more_is_ready,
    a_full_hand_does_not_promise_what_is_not_there,
    a_running_task_is_not_handed_out_again,
    one_claim_never_takes_more_than_a_batch,
    a_full_batch_comes_in_one_claim,
    different_workers_get_different_tasks,
    a_ready_task_waits_for_ever,
    a_sweep_on_a_healthy_queue_is_an_ordinary_claim,
}

//! Times to live.

use std::time::Duration;

use dtq::store::Verdict;
use dtq::types::{EventKind, Status};
use dtq_tests::{LEASE, World, failure, task, want};

const MINUTE: Duration = Duration::from_secs(60);
const SECOND: Duration = Duration::from_secs(1);

pub(crate) async fn a_queued_task_past_its_time_expires_and_is_not_handed_out(w: &World) {
    let id = w.enqueue(task("a").ttl(MINUTE)).await;
    w.advance(MINUTE + SECOND);
    assert!(w.claim(10).await.is_empty());
    let record = w.record(&id).await;
    assert_eq!((record.status, record.attempt), (Status::Expired, 1));
    w.assert_passed(record.finished_at.unwrap().since(record.enqueued_at), MINUTE + SECOND);
    assert_eq!(w.events_of(&id).await, [EventKind::Queued, EventKind::Expired]);
    let stats = w.stats().await;
    assert_eq!((stats.expired, stats.queued, stats.cancelled), (1, 0, 0));
}

pub(crate) async fn a_task_within_its_time_is_handed_out(w: &World) {
    let id = w.enqueue(task("a").ttl(MINUTE)).await;
    w.advance(MINUTE - w.slack() - SECOND);
    assert_eq!(w.claim_one().await.lease.task, id);
}

pub(crate) async fn a_running_task_does_not_expire(w: &World) {
    let delivery = w.running(task("a").ttl(MINUTE)).await;
    w.advance(MINUTE * 2);
    assert!(w.sweep(1).await.is_empty());
    w.succeed(&delivery).await;
}

pub(crate) async fn a_lost_task_past_its_time_is_taken_over_since_it_had_started(w: &World) {
    let lost = w.running(task("a").ttl(MINUTE)).await;
    w.advance(LEASE + MINUTE);
    let taken = w.sweep(1).await;
    assert_eq!(taken.len(), 1, "running to expired is no allowed move");
    assert_eq!((&taken[0].lease.task, taken[0].lease.attempt), (&lost.lease.task, 2));
}

pub(crate) async fn a_delayed_task_expires_when_its_time_ends_and_not_when_it_is_due(w: &World) {
    let id = w.enqueue(task("a").ttl(MINUTE).delay(MINUTE * 5)).await;
    let claimed = w.claim_with(want(1)).await;
    w.assert_left(claimed.next_due, MINUTE);
    let record = w.record(&id).await;
    w.assert_same_step(record.due_at.unwrap(), record.enqueued_at.plus(MINUTE));
    w.advance(MINUTE);
    assert!(w.claim(10).await.is_empty());
    assert_eq!(w.status(&id).await, Status::Expired);
    assert_eq!(w.events_of(&id).await.last(), Some(&EventKind::Expired));
    assert!(!w.events_of(&id).await.contains(&EventKind::Started));
    assert_eq!((w.stats().await.pending, w.stats().await.queued, w.stats().await.expired), (0, 0, 1));
}

pub(crate) async fn a_retrying_task_expires_when_its_time_ends_and_not_when_it_is_due(w: &World) {
    let delivery = w.running(task("a").ttl(MINUTE)).await;
    w.settle(&delivery, Verdict::Retry { delay: MINUTE * 2, failure: failure("x") }).await;
    w.assert_left(w.claim_with(want(1)).await.next_due, MINUTE);
    w.advance(MINUTE);
    assert!(w.claim(10).await.is_empty());
    let record = w.record(&delivery.lease.task).await;
    assert_eq!((record.status, record.attempts.len()), (Status::Expired, 1));
    assert_eq!((w.stats().await.retrying, w.stats().await.expired), (0, 1));
}

pub(crate) async fn a_snoozed_task_expires_when_its_time_ends(w: &World) {
    let delivery = w.running(task("a").ttl(MINUTE)).await;
    w.snooze(&delivery, MINUTE * 2).await;
    w.advance(MINUTE);
    assert!(w.claim(10).await.is_empty());
    assert_eq!(w.status(&delivery.lease.task).await, Status::Expired);
}

pub(crate) async fn the_time_to_live_counts_from_acceptance(w: &World) {
    let id = w.enqueue(task("a").ttl(MINUTE * 3).delay(MINUTE * 2)).await;
    w.advance(MINUTE * 2);
    assert_eq!(w.claim_one().await.lease.task, id);
    let late = w.enqueue(task("b").ttl(MINUTE * 3).delay(MINUTE * 2)).await;
    w.advance(MINUTE * 3 + SECOND);
    assert!(w.claim(1).await.is_empty());
    assert_eq!(w.status(&late).await, Status::Expired);
}

pub(crate) async fn expired_tasks_take_no_room_in_a_claim(w: &World) {
    w.enqueue_many(5, || task("old").ttl(MINUTE)).await;
    let live = w.enqueue(task("live")).await;
    w.advance(MINUTE + SECOND);
    assert_eq!(w.claim_one().await.lease.task, live);
    assert!(w.drain(want(1)).await.is_empty());
    assert_eq!(w.stats().await.expired, 5);
}

pub(crate) async fn an_expired_task_stays_expired(w: &World) {
    let id = w.bring_to(Status::Expired).await.id;
    w.advance(LEASE * 2);
    assert!(w.drain(dtq::store::Claim { queue: id.queue().clone(), sweep: true, ..want(10) }).await.is_empty());
    assert_eq!(w.status(&id).await, Status::Expired);
}

pub(crate) async fn many_expired_tasks_are_cleared_in_the_end(w: &World) {
    w.enqueue_many(300, || task("old").ttl(MINUTE)).await;
    w.advance(MINUTE + SECOND);
    let live = w.enqueue(task("live")).await;
    let mut got = Vec::new();
    // Bounded work per call: the live one may come only after a few calls.
    for _ in 0..10 {
        got.extend(w.claim(1).await);
    }
    assert_eq!(got.len(), 1);
    assert_eq!(got[0].lease.task, live);
    assert_eq!((w.stats().await.expired, w.stats().await.queued), (300, 0));
}

pub(crate) async fn an_expired_task_is_forgotten_after_its_retention(w: &World) {
    let id = w.enqueue(task("a").ttl(MINUTE).retention(MINUTE)).await;
    w.advance(MINUTE + SECOND);
    w.claim(1).await;
    assert_eq!(w.status(&id).await, Status::Expired);
    w.advance(MINUTE + SECOND);
    assert_eq!(w.get(&id).await, None);
}

checks! {
    expire:
    a_queued_task_past_its_time_expires_and_is_not_handed_out,
    a_task_within_its_time_is_handed_out,
    a_running_task_does_not_expire,
    a_lost_task_past_its_time_is_taken_over_since_it_had_started,
    a_delayed_task_expires_when_its_time_ends_and_not_when_it_is_due,
    a_retrying_task_expires_when_its_time_ends_and_not_when_it_is_due,
    a_snoozed_task_expires_when_its_time_ends,
    the_time_to_live_counts_from_acceptance,
    expired_tasks_take_no_room_in_a_claim,
    an_expired_task_stays_expired,
    many_expired_tasks_are_cleared_in_the_end,
    an_expired_task_is_forgotten_after_its_retention,
}

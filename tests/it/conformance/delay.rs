//! Tasks that are due later.

use std::time::Duration;

use dtq::types::{EventKind, Status, Timestamp};
use dtq_tests::{World, task, want};

const MINUTE: Duration = Duration::from_secs(60);

pub(crate) async fn a_delayed_task_is_pending_until_it_is_due(w: &World) {
    let id = w.enqueue(task("a").delay(MINUTE)).await;
    assert_eq!((w.status(&id).await, w.stats().await.pending), (Status::Pending, 1));
    w.advance(MINUTE / 2);
    assert!(w.claim(10).await.is_empty());
    w.advance(MINUTE / 2);
    assert_eq!(w.claim_one().await.lease.task, id);
    assert_eq!(w.stats().await.pending, 0);
}

pub(crate) async fn a_delay_counts_from_acceptance(w: &World) {
    let id = w.enqueue(task("a").delay(MINUTE)).await;
    let record = w.record(&id).await;
    assert_eq!(record.due_at, Some(record.enqueued_at.plus(MINUTE)));
}

pub(crate) async fn a_task_can_be_due_at_an_instant(w: &World) {
    let now = w.record(&w.enqueue(task("probe").queue("other")).await).await.enqueued_at;
    let id = w.enqueue(task("a").at(now.plus(MINUTE))).await;
    assert_eq!((w.status(&id).await, w.record(&id).await.due_at), (Status::Pending, Some(now.plus(MINUTE))));
    w.advance(MINUTE / 2);
    assert!(w.claim(10).await.is_empty());
    w.advance(MINUTE / 2);
    assert_eq!(w.claim_one().await.lease.task, id);
}

pub(crate) async fn an_instant_in_the_past_means_at_once(w: &World) {
    for past in [Timestamp::from_millis(0), Timestamp::from_millis(1), Timestamp::from_millis(-5)] {
        let id = w.enqueue(task("a").at(past)).await;
        assert_eq!(w.status(&id).await, Status::Queued);
        assert_eq!(w.claim_one().await.lease.task, id);
        assert_eq!(w.events_of(&id).await, [EventKind::Queued, EventKind::Started]);
    }
}

pub(crate) async fn no_delay_is_ready_at_once(w: &World) {
    let id = w.enqueue(task("a").delay(Duration::ZERO)).await;
    assert_eq!(w.claim_one().await.lease.task, id);
}

pub(crate) async fn promotion_is_told_as_a_second_queued_event(w: &World) {
    let id = w.enqueue(task("a").delay(MINUTE)).await;
    w.advance(MINUTE);
    let delivery = w.claim_one().await;
    assert_eq!(w.events_of(&id).await, [EventKind::Queued, EventKind::Queued, EventKind::Started]);
    let events = w.full_events_of(&id).await;
    w.assert_passed(events[1].at.since(events[0].at), MINUTE);
    w.assert_same_step(events[2].at, delivery.claimed_at);
}

pub(crate) async fn promotion_does_not_raise_the_attempt(w: &World) {
    let id = w.enqueue(task("a").delay(MINUTE)).await;
    w.advance(MINUTE);
    let delivery = w.claim_one().await;
    assert_eq!((delivery.lease.attempt, delivery.reclaimed), (1, false));
    assert_eq!(w.record(&id).await.attempt, 1);
    assert_eq!(w.record(&id).await.due_at, None);
}

pub(crate) async fn a_claim_tells_when_the_next_task_is_due(w: &World) {
    w.enqueue(task("late").delay(MINUTE * 10)).await;
    w.enqueue(task("soon").delay(MINUTE * 2)).await;
    w.enqueue(task("later").delay(MINUTE * 5)).await;
    w.assert_left(w.claim_with(want(1)).await.next_due, MINUTE * 2);
    w.advance(MINUTE);
    w.assert_left(w.claim_with(want(1)).await.next_due, MINUTE);
    w.advance(MINUTE);
    let claimed = w.claim_with(want(1)).await;
    assert_eq!(claimed.deliveries.len(), 1);
    w.assert_left(claimed.next_due, MINUTE * 3);
}

pub(crate) async fn a_claim_tells_of_retries_too(w: &World) {
    let delivery = w.running(task("a")).await;
    w.enqueue(task("late").delay(MINUTE * 10)).await;
    w.retry(&delivery, MINUTE).await;
    w.assert_left(w.claim_with(want(1)).await.next_due, MINUTE);
}

pub(crate) async fn nothing_waiting_means_nothing_due(w: &World) {
    w.enqueue(task("a")).await;
    w.enqueue(task("elsewhere").queue("other").delay(MINUTE)).await;
    assert_eq!(w.claim_with(want(1)).await.next_due, None);
    assert_eq!(w.claim_with(want(1)).await.next_due, None);
}

pub(crate) async fn a_wait_of_a_century_is_kept(w: &World) {
    let century = Duration::from_secs(100 * 365 * 86_400);
    let id = w.enqueue(task("a").delay(century)).await;
    assert_eq!(w.status(&id).await, Status::Pending);
    w.assert_left(w.claim_with(want(1)).await.next_due, century);
}

pub(crate) async fn an_endless_delay_does_not_overflow(w: &World) {
    let id = w.enqueue(task("a").delay(Duration::MAX)).await;
    let far = w.enqueue(task("a").at(Timestamp::from_millis(i64::MAX))).await;
    assert!(w.claim(10).await.is_empty());
    assert_eq!((w.status(&id).await, w.status(&far).await), (Status::Pending, Status::Pending));
}

pub(crate) async fn a_waiting_task_is_not_mistaken_for_a_lost_one(w: &World) {
    // A delay longer than any lease: redelivering it would be the fault that visibility timeouts are known for.
    let id = w.enqueue(task("a").delay(dtq_tests::LEASE * 10)).await;
    for _ in 0..4 {
        w.advance(dtq_tests::LEASE * 2);
        assert!(w.sweep(10).await.is_empty());
    }
    assert_eq!(w.events_of(&id).await, [EventKind::Queued]);
}

checks! {
    delay:
    a_delayed_task_is_pending_until_it_is_due,
    a_delay_counts_from_acceptance,
    a_task_can_be_due_at_an_instant,
    an_instant_in_the_past_means_at_once,
    no_delay_is_ready_at_once,
    promotion_is_told_as_a_second_queued_event,
    promotion_does_not_raise_the_attempt,
    a_claim_tells_when_the_next_task_is_due,
    a_claim_tells_of_retries_too,
    nothing_waiting_means_nothing_due,
    a_wait_of_a_century_is_kept,
    an_endless_delay_does_not_overflow,
    a_waiting_task_is_not_mistaken_for_a_lost_one,
}

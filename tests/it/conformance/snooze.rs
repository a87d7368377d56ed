//! Handlers that ask to wait, without burning an attempt.

use std::time::Duration;

use dtq::store::{CancelOutcome, Settled, Verdict};
use dtq::types::{EventKind, Status};
use dtq_tests::{World, task, want};

const MINUTE: Duration = Duration::from_secs(60);

pub(crate) async fn a_snoozed_task_is_pending_until_it_is_due(w: &World) {
    let first = w.running(task("a")).await;
    assert_eq!(w.settle(&first, Verdict::Snooze { delay: MINUTE }).await, Settled::Applied(Status::Pending));
    let record = w.record(&first.lease.task).await;
    assert_eq!((record.status, record.attempt), (Status::Pending, 1));
    w.assert_passed(record.due_at.unwrap().since(first.claimed_at), MINUTE);
    assert_eq!((w.stats().await.pending, w.stats().await.running), (1, 0));
    w.advance(MINUTE / 2);
    let claimed = w.claim_with(want(1)).await;
    assert!(claimed.deliveries.is_empty());
    w.assert_left(claimed.next_due, MINUTE / 2);
}

pub(crate) async fn a_snooze_keeps_the_attempt_and_changes_the_token(w: &World) {
    let first = w.running(task("a").payload("[]")).await;
    w.snooze(&first, MINUTE).await;
    w.advance(MINUTE);
    let second = w.claim_one().await;
    assert_eq!((second.lease.attempt, second.reclaimed), (1, false));
    assert_ne!(second.lease.token, first.lease.token);
    assert_eq!(second.payload, first.payload);
}

pub(crate) async fn a_snooze_is_no_failure(w: &World) {
    let first = w.running(task("a")).await;
    w.snooze(&first, MINUTE).await;
    assert_eq!(w.record(&first.lease.task).await.attempts, []);
    let stats = w.stats().await;
    assert_eq!((stats.retrying, stats.failed), (0, 0));
}

pub(crate) async fn a_snooze_is_told_as_scheduled_and_then_queued(w: &World) {
    use EventKind::{Queued, RetryScheduled, Started};
    let first = w.running(task("a")).await;
    w.snooze(&first, MINUTE).await;
    w.advance(MINUTE);
    w.claim_one().await;
    assert_eq!(w.events_of(&first.lease.task).await, [Queued, Started, RetryScheduled, Queued, Started]);
}

pub(crate) async fn the_last_attempt_can_be_snoozed_again_and_again(w: &World) {
    let mut delivery = w.running(task("a").max_attempts(1)).await;
    for _ in 0..10 {
        w.snooze(&delivery, MINUTE).await;
        w.advance(MINUTE);
        delivery = w.claim_one().await;
        assert_eq!(delivery.lease.attempt, 1);
    }
    w.succeed(&delivery).await;
}

pub(crate) async fn the_lease_before_a_snooze_is_stale_although_the_attempt_is_the_same(w: &World) {
    let first = w.running(task("a")).await;
    w.snooze(&first, MINUTE).await;
    let late = Verdict::Succeeded { result: None };
    assert_eq!(w.settle(&first, late.clone()).await, Settled::Stale);
    w.advance(MINUTE);
    let second = w.claim_one().await;
    assert_eq!(w.settle(&first, late).await, Settled::Stale);
    assert_eq!(w.status(&first.lease.task).await, Status::Running);
    w.succeed(&second).await;
}

pub(crate) async fn a_snooze_of_no_time_is_ready_at_once(w: &World) {
    let first = w.running(task("a")).await;
    w.snooze(&first, Duration::ZERO).await;
    assert_eq!(w.claim_one().await.lease.task, first.lease.task);
}

pub(crate) async fn a_snoozed_task_can_be_called_off(w: &World) {
    let first = w.running(task("a")).await;
    w.snooze(&first, MINUTE).await;
    assert_eq!(w.cancel(&first.lease.task).await, CancelOutcome::Cancelled);
    w.advance(MINUTE * 2);
    assert!(w.claim(1).await.is_empty());
    assert_eq!(w.stats().await.pending, 0);
}

checks! {
    snooze:
    a_snoozed_task_is_pending_until_it_is_due,
    a_snooze_keeps_the_attempt_and_changes_the_token,
    a_snooze_is_no_failure,
    a_snooze_is_told_as_scheduled_and_then_queued,
    the_last_attempt_can_be_snoozed_again_and_again,
    the_lease_before_a_snooze_is_stale_although_the_attempt_is_the_same,
    a_snooze_of_no_time_is_ready_at_once,
    a_snoozed_task_can_be_called_off,
}

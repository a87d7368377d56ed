//! Writes that are sent twice, since the reply to the first was lost.

use std::time::Duration;

use dtq::store::{CancelOutcome, CancelRequest, Renewed, Settled, Verdict};
use dtq::types::{By, EventKind, Status};
use dtq_tests::{LEASE, World, failure, info, task, worker};

const MINUTE: Duration = Duration::from_secs(60);

/// Settles twice and expects the same answer and no further change, event or failure.
async fn twice(w: &World, verdict: Verdict) {
    let delivery = w.running(task("a")).await;
    let id = &delivery.lease.task;
    let first = w.settle(&delivery, verdict.clone()).await;
    assert_eq!(first, Settled::Applied(verdict.target(true)));
    let before = (w.snapshot(id).await, w.events_of(id).await);
    assert_eq!(w.settle(&delivery, verdict).await, first);
    assert_eq!((w.snapshot(id).await, w.events_of(id).await), before);
}

pub(crate) async fn a_success_can_be_settled_twice(w: &World) {
    twice(w, Verdict::Succeeded { result: Some("1".into()) }).await;
    twice(w, Verdict::Succeeded { result: None }).await;
}

pub(crate) async fn a_retry_can_be_settled_twice(w: &World) {
    twice(w, Verdict::Retry { delay: MINUTE, failure: failure("x") }).await;
}

pub(crate) async fn a_snooze_can_be_settled_twice(w: &World) {
    twice(w, Verdict::Snooze { delay: MINUTE }).await;
}

pub(crate) async fn a_failure_can_be_settled_twice(w: &World) {
    twice(w, Verdict::Failed { failure: failure("x") }).await;
    assert_eq!(w.dead_letters().await.len(), 1);
}

pub(crate) async fn a_drop_can_be_settled_twice(w: &World) {
    twice(w, Verdict::Cancelled { reason: "moot".into() }).await;
}

pub(crate) async fn a_release_can_be_settled_twice(w: &World) {
    twice(w, Verdict::Release).await;
    assert_eq!(w.claim(10).await.len(), 1, "one release, one task");
}

/// Settles, lets the task be claimed again, and sends the first settlement once more.
async fn late_copy(w: &World, verdict: Verdict) {
    let first = w.running(task("a")).await;
    let id = &first.lease.task;
    w.settle(&first, verdict.clone()).await;
    w.advance(MINUTE);
    let second = w.claim_one().await;
    let before = w.snapshot(id).await;
    // Whether a store still knows the first settlement by now is its own affair; that it must not apply it again, is not.
    w.settle(&first, verdict).await;
    assert_eq!(w.snapshot(id).await, before);
    assert_eq!(w.renew(&[&second.lease]).await, [Renewed::Held]);
    assert!(w.claim(10).await.is_empty(), "the copy made a second one");
    w.succeed(&second).await;
}

pub(crate) async fn a_late_copy_of_a_retry_does_not_disturb_the_next_attempt(w: &World) {
    late_copy(w, Verdict::Retry { delay: MINUTE, failure: failure("x") }).await;
}

pub(crate) async fn a_late_copy_of_a_snooze_does_not_disturb_the_next_grant(w: &World) {
    late_copy(w, Verdict::Snooze { delay: MINUTE }).await;
}

pub(crate) async fn a_late_copy_of_a_release_does_not_disturb_the_next_grant(w: &World) {
    late_copy(w, Verdict::Release).await;
}

pub(crate) async fn a_late_copy_of_a_retry_does_not_disturb_the_queued_task(w: &World) {
    let first = w.running(task("a")).await;
    let verdict = Verdict::Retry { delay: MINUTE, failure: failure("x") };
    w.settle(&first, verdict.clone()).await;
    w.advance(MINUTE);
    // Promoted, but not handed out.
    w.claim(0).await;
    w.settle(&first, verdict).await;
    let second = w.claim_one().await;
    assert_eq!(second.lease.attempt, 2);
    assert!(w.claim(10).await.is_empty());
    assert_eq!(w.stats().await.retries, 1);
}

pub(crate) async fn a_copy_of_a_success_without_retention_brings_nothing_back(w: &World) {
    let delivery = w.running(task("a").retention(Duration::ZERO)).await;
    let verdict = Verdict::Succeeded { result: Some("1".into()) };
    w.settle(&delivery, verdict.clone()).await;
    let before = w.snapshot(&delivery.lease.task).await;
    w.settle(&delivery, verdict).await;
    assert_eq!(w.snapshot(&delivery.lease.task).await, before);
    assert_eq!(before.record, None);
    assert_eq!(before.stats.succeeded, 1);
}

pub(crate) async fn a_batch_can_be_enqueued_twice(w: &World) {
    let batch: Vec<_> = (0..200).map(|n| task("a").queue(["a", "b"][n % 2]).build()).collect();
    assert!(w.enqueue_all(batch.clone()).await.iter().all(|accepted| accepted.created));
    assert!(w.enqueue_all(batch).await.iter().all(|accepted| !accepted.created));
    assert_eq!((w.stats_of("a").await.queued, w.stats_of("b").await.queued), (100, 100));
}

pub(crate) async fn a_delayed_task_can_be_enqueued_twice(w: &World) {
    let new = task("a").delay(MINUTE);
    let id = w.enqueue(new.clone()).await;
    let due = w.record(&id).await.due_at;
    w.advance(MINUTE / 2);
    assert!(!w.enqueue_again(new).await.created);
    assert_eq!((w.record(&id).await.due_at, w.stats().await.pending), (due, 1));
    w.advance(MINUTE / 2);
    assert_eq!(w.claim(10).await.len(), 1);
}

pub(crate) async fn a_claim_whose_reply_was_lost_gives_other_tasks_the_second_time(w: &World) {
    w.enqueue_many(4, || task("a")).await;
    let unseen = w.claim(2).await;
    let seen = w.claim(2).await;
    assert_eq!(seen.len(), 2);
    assert!(seen.iter().all(|a| unseen.iter().all(|b| a.lease.task != b.lease.task)));
    w.advance(LEASE - Duration::from_secs(1));
    w.renew(&seen.iter().map(|delivery| &delivery.lease).collect::<Vec<_>>()).await;
    w.advance(Duration::from_secs(2));
    let mut back: Vec<_> = w.sweep(10).await.into_iter().map(|delivery| delivery.lease.task).collect();
    back.sort();
    let mut lost: Vec<_> = unseen.into_iter().map(|delivery| delivery.lease.task).collect();
    lost.sort();
    assert_eq!(back, lost);
}

pub(crate) async fn a_cancellation_can_be_sent_twice(w: &World) {
    let id = w.enqueue(task("a")).await;
    assert_eq!(w.cancel(&id).await, CancelOutcome::Cancelled);
    let before = (w.snapshot(&id).await, w.events_of(&id).await);
    assert_eq!(w.cancel(&id).await, CancelOutcome::AlreadyFinished(Status::Cancelled));
    assert_eq!((w.snapshot(&id).await, w.events_of(&id).await), before);
}

pub(crate) async fn a_running_task_can_be_asked_twice(w: &World) {
    let held = w.running(task("a")).await;
    assert_eq!(w.cancel(&held.lease.task).await, CancelOutcome::Requested);
    let before = (w.snapshot(&held.lease.task).await, w.events_of(&held.lease.task).await);
    let again = CancelRequest { id: held.lease.task.clone(), by: By::new("tests", "called off") };
    assert_eq!(w.store().cancel(again).await.unwrap(), CancelOutcome::Requested);
    assert_eq!((w.snapshot(&held.lease.task).await, w.events_of(&held.lease.task).await), before);
}

pub(crate) async fn a_renewal_can_be_sent_twice(w: &World) {
    let held = w.running(task("a")).await;
    for _ in 0..2 {
        assert_eq!(w.renew(&[&held.lease]).await, [Renewed::Held]);
    }
    assert_eq!(w.renew(&[&held.lease, &held.lease]).await, [Renewed::Held, Renewed::Held]);
}

pub(crate) async fn a_stale_settlement_sent_twice_changes_nothing_twice(w: &World) {
    let lost = w.running(task("a")).await;
    w.advance(LEASE + MINUTE);
    let taken = w.sweep(1).await.remove(0);
    let before = w.snapshot(&lost.lease.task).await;
    for _ in 0..2 {
        assert_eq!(w.settle(&lost, Verdict::Release).await, Settled::Stale);
        assert_eq!(w.snapshot(&lost.lease.task).await, before);
    }
    w.succeed(&taken).await;
}

pub(crate) async fn heartbeat_and_farewell_can_be_sent_twice(w: &World) {
    for _ in 0..2 {
        w.beat(info("w1"), MINUTE).await;
    }
    assert_eq!(w.store().workers().await.unwrap().len(), 1);
    for _ in 0..2 {
        w.store().farewell(&worker("w1")).await.unwrap();
    }
    let kinds: Vec<_> = w.events(&[]).await.into_iter().map(|event| event.kind).collect();
    assert_eq!(kinds, [EventKind::WorkerStarted, EventKind::WorkerStopped]);
}

checks! {
    idempotence:
    a_success_can_be_settled_twice,
    a_retry_can_be_settled_twice,
    a_snooze_can_be_settled_twice,
    a_failure_can_be_settled_twice,
    a_drop_can_be_settled_twice,
    a_release_can_be_settled_twice,
    a_late_copy_of_a_retry_does_not_disturb_the_next_attempt,
    a_late_copy_of_a_snooze_does_not_disturb_the_next_grant,
    a_late_copy_of_a_release_does_not_disturb_the_next_grant,
    a_late_copy_of_a_retry_does_not_disturb_the_queued_task,
    a_copy_of_a_success_without_retention_brings_nothing_back,
    a_batch_can_be_enqueued_twice,
    a_delayed_task_can_be_enqueued_twice,
    a_claim_whose_reply_was_lost_gives_other_tasks_the_second_time,
    a_cancellation_can_be_sent_twice,
    a_running_task_can_be_asked_twice,
    a_renewal_can_be_sent_twice,
    a_stale_settlement_sent_twice_changes_nothing_twice,
    heartbeat_and_farewell_can_be_sent_twice,
}

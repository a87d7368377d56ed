//! Unique keys: when a task holds its key, and when the key is free.

use std::time::Duration;

use dtq::store::{Accepted, Refusal, Settled, Verdict};
use dtq::types::{OnConflict, Status, TaskId, Unique, Until};
use dtq_tests::{LEASE, TaskBuilder, World, task, want};

const MINUTE: Duration = Duration::from_secs(60);
const PERIOD: Until = Until::Period(Duration::from_secs(7200));

fn holds(until: Until) -> TaskBuilder {
    task("a").unique(Unique::new("k").until(until).on_conflict(OnConflict::Error))
}

fn refused(holder: &TaskId) -> Accepted {
    Accepted { id: holder.clone(), created: false, refused: Some(Refusal::Unique) }
}

/// Who holds the key: whoever is in the way of another submission, which changes nothing.
async fn assert_held_by(w: &World, holder: &TaskId) {
    let before = w.snapshot(holder).await;
    assert_eq!(w.enqueue_again(holds(Until::Finished)).await, refused(holder));
    assert_eq!(w.snapshot(holder).await, before);
    assert_eq!(before.record.and_then(|record| record.unique_key).as_deref(), Some("k"));
}

/// Asserts that the key is free, and frees it again.
async fn assert_free(w: &World) {
    let id = w.enqueue(holds(Until::Finished)).await;
    w.cancel(&id).await;
}

async fn every_end_frees(w: &World, until: Until) {
    for status in Status::ALL {
        let brought = w.bring(status, holds(until)).await;
        if status.is_terminal() {
            assert_free(w).await;
            continue;
        }
        assert_held_by(w, &brought.id).await;
        match brought.delivery.filter(|_| status == Status::Running) {
            Some(delivery) => w.succeed(&delivery).await,
            None => drop(w.cancel(&brought.id).await),
        }
        assert_free(w).await;
    }
}

pub(crate) async fn a_key_is_held_until_the_task_ends_in_whatever_way(w: &World) {
    every_end_frees(w, Until::Finished).await;
}

pub(crate) async fn a_key_is_free_once_its_task_is_not_kept(w: &World) {
    for verdict in [
        Verdict::Succeeded { result: None },
        Verdict::Succeeded { result: Some("1".into()) },
        Verdict::Cancelled { reason: "moot".into() },
        Verdict::Failed { failure: dtq_tests::failure("x") },
    ] {
        let held = w.running(holds(Until::Finished).retention(Duration::ZERO).no_dead_letter()).await;
        assert_held_by(w, &held.lease.task).await;
        w.settle(&held, verdict).await;
        assert_eq!(w.get(&held.lease.task).await, None);
        assert_free(w).await;
    }
}

pub(crate) async fn a_key_is_held_through_retries_snoozes_releases_and_takeovers(w: &World) {
    let id = w.enqueue(holds(Until::Finished)).await;
    w.retry(&w.claim_one().await, MINUTE).await;
    assert_held_by(w, &id).await;
    w.advance(MINUTE);
    w.snooze(&w.claim_one().await, MINUTE).await;
    assert_held_by(w, &id).await;
    w.advance(MINUTE);
    w.release(&w.claim_one().await).await;
    assert_held_by(w, &id).await;
    let stale = w.claim_one().await;
    w.advance(LEASE + MINUTE);
    // The task that is handed out again is not stopped by its own key, and holds it to its end.
    let taken = w.sweep(1).await.remove(0);
    assert_eq!((&taken.lease.task, taken.reclaimed), (&id, true));
    assert_held_by(w, &id).await;
    assert_eq!(w.settle(&stale, Verdict::Succeeded { result: None }).await, Settled::Stale);
    assert_held_by(w, &id).await;
    w.succeed(&taken).await;
    assert_free(w).await;
}

pub(crate) async fn a_stale_owner_cannot_free_the_key_of_another_task(w: &World) {
    let stale = w.running(holds(Until::Finished).max_attempts(1)).await;
    w.advance(LEASE + MINUTE);
    assert!(w.sweep(1).await.is_empty());
    let second = w.enqueue(holds(Until::Finished)).await;
    for verdict in [Verdict::Succeeded { result: None }, Verdict::Release, Verdict::Snooze { delay: MINUTE }] {
        assert_eq!(w.settle(&stale, verdict).await, Settled::Stale);
        assert_held_by(w, &second).await;
    }
}

pub(crate) async fn a_task_that_obeys_a_cancellation_frees_its_key(w: &World) {
    for verdict in [Verdict::Release, Verdict::Cancelled { reason: "told to".into() }] {
        let held = w.running(holds(Until::Finished)).await;
        w.cancel(&held.lease.task).await;
        assert_held_by(w, &held.lease.task).await;
        w.settle_to(&held, verdict, Status::Cancelled).await;
        assert_free(w).await;
    }
    let lost = w.running(holds(Until::Finished)).await;
    w.cancel(&lost.lease.task).await;
    w.advance(LEASE + MINUTE);
    assert!(w.sweep(1).await.is_empty());
    assert_free(w).await;
}

pub(crate) async fn a_waiting_retry_that_expires_frees_its_key(w: &World) {
    let held = w.running(holds(Until::Finished).ttl(MINUTE * 10)).await;
    w.retry(&held, MINUTE * 5).await;
    assert_held_by(w, &held.lease.task).await;
    w.advance(MINUTE * 10);
    assert!(w.claim(1).await.is_empty());
    assert_eq!(w.status(&held.lease.task).await, Status::Expired);
    assert_free(w).await;
}

pub(crate) async fn until_started_a_key_is_free_from_the_claim_on(w: &World) {
    let first = w.enqueue(holds(Until::Started)).await;
    assert_held_by(w, &first).await;
    let held = w.claim_one().await;
    let second = w.enqueue(holds(Until::Started)).await;
    assert_held_by(w, &second).await;
    // Neither its later attempts nor its end touch what is another's by now.
    w.release(&held).await;
    assert_held_by(w, &second).await;
    w.cancel(&second).await;
    let again = w.claim_one().await;
    assert_eq!(again.lease.task, first);
    let third = w.enqueue(holds(Until::Started)).await;
    w.retry(&again, Duration::ZERO).await;
    w.fail(&w.claim_with(want(2)).await.deliveries.into_iter().find(|it| it.lease.task == first).unwrap()).await;
    assert_eq!(w.status(&third).await, Status::Running);
    assert_free(w).await;
}

pub(crate) async fn until_started_a_key_is_held_while_the_task_waits(w: &World) {
    for status in [Status::Pending, Status::Queued] {
        let id = w.bring(status, holds(Until::Started)).await.id;
        assert_held_by(w, &id).await;
        w.cancel(&id).await;
        assert_free(w).await;
    }
    w.bring(Status::Expired, holds(Until::Started)).await;
    assert_free(w).await;
    let id = w.enqueue(holds(Until::Started).delay(MINUTE)).await;
    w.advance(MINUTE * 100);
    assert_held_by(w, &id).await;
    assert_eq!(w.claim_one().await.lease.task, id);
    assert_free(w).await;
}

pub(crate) async fn until_started_the_second_one_runs_once_afterwards(w: &World) {
    let first = w.running(holds(Until::Started)).await;
    let second = w.enqueue(holds(Until::Started)).await;
    w.succeed(&first).await;
    let next = w.claim_one().await;
    assert_eq!((&next.lease.task, next.lease.attempt), (&second, 1));
    w.succeed(&next).await;
    assert!(w.claim(1).await.is_empty());
}

pub(crate) async fn for_a_period_a_success_keeps_the_key(w: &World) {
    let held = w.running(holds(PERIOD)).await;
    w.succeed(&held).await;
    assert_held_by(w, &held.lease.task).await;
    w.advance(MINUTE * 119);
    assert_eq!(w.enqueue_again(holds(PERIOD)).await, refused(&held.lease.task));
    w.advance(MINUTE * 2);
    assert_free(w).await;
}

pub(crate) async fn for_a_period_a_key_outlives_the_record_of_a_success(w: &World) {
    let held = w.running(holds(PERIOD).retention(Duration::ZERO)).await;
    w.settle(&held, Verdict::Succeeded { result: None }).await;
    assert_eq!(w.get(&held.lease.task).await, None);
    assert_eq!(w.enqueue_again(holds(PERIOD)).await, refused(&held.lease.task));
    let short = w.running(task("b").unique(Unique::new("k").until(PERIOD)).retention(MINUTE)).await;
    w.succeed(&short).await;
    w.advance(MINUTE * 2);
    // A second look: the first one lets the embedded store delete what is forgotten.
    for _ in 0..2 {
        let answer = w.enqueue_again(task("b").unique(Unique::new("k").until(PERIOD))).await;
        assert_eq!(answer, Accepted { id: short.lease.task.clone(), created: false, refused: None });
    }
    w.advance(MINUTE * 119);
    assert_free(w).await;
}

pub(crate) async fn for_a_period_an_end_without_success_frees_the_key(w: &World) {
    for status in [Status::Failed, Status::DeadLettered, Status::Cancelled, Status::Expired] {
        w.bring(status, holds(PERIOD)).await;
        assert_free(w).await;
    }
}

pub(crate) async fn for_a_period_an_unfinished_task_loses_its_key_at_its_end(w: &World) {
    let first = w.running(holds(PERIOD)).await;
    w.renew(&[&first.lease]).await;
    w.advance(MINUTE * 121);
    let second = w.enqueue(holds(PERIOD)).await;
    w.settle(&first, Verdict::Release).await;
    assert_held_by(w, &second).await;
    w.cancel(&first.lease.task).await;
    assert_held_by(w, &second).await;
}

pub(crate) async fn keys_belong_to_a_queue_and_a_task(w: &World) {
    w.enqueue(task("a").unique("k")).await;
    w.enqueue(task("b").unique("k")).await;
    w.enqueue(task("a").unique("k").queue("other")).await;
    w.enqueue(task("a").key("k")).await;
    assert!(!w.enqueue_again(task("a").unique("k").priority(0)).await.created);
}

pub(crate) async fn the_same_submission_sent_twice_is_no_conflict(w: &World) {
    for on_conflict in [OnConflict::Skip, OnConflict::Replace, OnConflict::Reschedule, OnConflict::Error] {
        let key = format!("{on_conflict:?}");
        let task = task("a").unique(Unique::new(key).on_conflict(on_conflict));
        let id = w.enqueue(task.clone()).await;
        let before = w.snapshot(&id).await;
        assert_eq!(w.enqueue_again(task.payload("other").delay(MINUTE)).await, Accepted::new(id.clone(), false));
        assert_eq!(w.snapshot(&id).await, before);
    }
}

pub(crate) async fn a_taken_idempotency_key_is_the_first_answer(w: &World) {
    let first = w.enqueue(task("a").key("i").unique("u")).await;
    let (answer, other) = (w.enqueue_again(task("a").key("i").unique("u")).await, w.enqueue(task("a").unique("v")).await);
    assert_eq!(answer, Accepted { id: first.clone(), created: false, refused: Some(Refusal::InProgress) });
    // Skipped because of its unique key: then it does not take the idempotency key either.
    let skipped = w.enqueue_again(task("a").key("j").unique("v")).await;
    assert_eq!(skipped, Accepted { id: other, created: false, refused: None });
    assert_eq!(w.find_by_key("j").await, None);
}

checks! {
    unique:
    a_key_is_held_until_the_task_ends_in_whatever_way,
    a_key_is_free_once_its_task_is_not_kept,
    a_key_is_held_through_retries_snoozes_releases_and_takeovers,
    a_stale_owner_cannot_free_the_key_of_another_task,
    a_task_that_obeys_a_cancellation_frees_its_key,
    a_waiting_retry_that_expires_frees_its_key,
    until_started_a_key_is_free_from_the_claim_on,
    until_started_a_key_is_held_while_the_task_waits,
    until_started_the_second_one_runs_once_afterwards,
    for_a_period_a_success_keeps_the_key,
    for_a_period_a_key_outlives_the_record_of_a_success,
    for_a_period_an_end_without_success_frees_the_key,
    for_a_period_an_unfinished_task_loses_its_key_at_its_end,
    keys_belong_to_a_queue_and_a_task,
    the_same_submission_sent_twice_is_no_conflict,
    a_taken_idempotency_key_is_the_first_answer,
}

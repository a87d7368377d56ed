//! Idempotency keys: one task a key, from its submission until the key is not remembered any more.

use std::time::Duration;

use dtq::store::{Accepted, Refusal};
use dtq::types::{EventKind, Idempotency, Status, TaskId};
use dtq_tests::{LEASE, TaskBuilder, World, queue, task, want};

const SECOND: Duration = Duration::from_secs(1);
const HOUR: Duration = Duration::from_secs(3600);
/// Longer than every key of these checks is remembered.
const WEEK: Duration = Duration::from_secs(7 * 24 * 3600);

/// A task under the key `k`, whose record is kept longer than the key.
fn keyed() -> TaskBuilder {
    task("a").key("k").retention(WEEK * 2)
}

fn answer(id: &TaskId, refused: Option<Refusal>) -> Accepted {
    Accepted { id: id.clone(), created: false, refused }
}

/// Asserts that another submission changes nothing and is answered with the task, as in progress or as it is.
async fn assert_answered(w: &World, id: &TaskId, refused: Option<Refusal>) {
    let (before, events) = (w.snapshot(id).await, w.events(std::slice::from_ref(id.queue())).await);
    let again = w.enqueue_again(keyed().payload("other").priority(9)).await;
    assert_eq!(again, answer(id, refused), "{:?}", before.record.map(|record| record.status));
    assert_eq!(w.snapshot(id).await, before);
    assert_eq!(w.events(std::slice::from_ref(id.queue())).await, events);
    assert_eq!(w.find_by_key("k").await.as_ref(), Some(id));
}

async fn assert_in_progress(w: &World, id: &TaskId) {
    assert_answered(w, id, Some(Refusal::InProgress)).await;
}

async fn in_status(w: &World, status: Status) {
    let id = w.bring(status, keyed()).await.id;
    assert_eq!(w.record(&id).await.idempotency_key.as_deref(), Some("k"));
    if !status.is_terminal() {
        assert_in_progress(w, &id).await;
        w.advance(WEEK);
        return assert_in_progress(w, &id).await;
    }
    assert_answered(w, &id, None).await;
    w.advance(Idempotency::KEEP / 2);
    assert_answered(w, &id, None).await;
    w.advance(Idempotency::KEEP / 2 + SECOND);
    assert_eq!(w.find_by_key("k").await, None, "{status}");
    assert!(w.enqueue_again(keyed()).await.created, "{status}");
}

pub(crate) async fn a_pending_task_is_in_progress(w: &World) {
    in_status(w, Status::Pending).await;
}

pub(crate) async fn a_queued_task_is_in_progress(w: &World) {
    in_status(w, Status::Queued).await;
}

pub(crate) async fn a_running_task_is_in_progress(w: &World) {
    in_status(w, Status::Running).await;
}

pub(crate) async fn a_retrying_task_is_in_progress(w: &World) {
    in_status(w, Status::Retrying).await;
}

pub(crate) async fn a_succeeded_task_is_answered_until_its_key_lapses(w: &World) {
    in_status(w, Status::Succeeded).await;
}

pub(crate) async fn a_failed_task_is_answered_until_its_key_lapses(w: &World) {
    in_status(w, Status::Failed).await;
}

pub(crate) async fn a_dead_letter_is_answered_until_its_key_lapses(w: &World) {
    in_status(w, Status::DeadLettered).await;
}

pub(crate) async fn a_cancelled_task_is_answered_until_its_key_lapses(w: &World) {
    in_status(w, Status::Cancelled).await;
}

pub(crate) async fn an_expired_task_is_answered_until_its_key_lapses(w: &World) {
    in_status(w, Status::Expired).await;
}

pub(crate) async fn a_key_stays_in_progress_through_retries_snoozes_and_releases(w: &World) {
    let id = w.enqueue(keyed()).await;
    w.retry(&w.claim_one().await, Duration::ZERO).await;
    assert_in_progress(w, &id).await;
    w.snooze(&w.claim_one().await, Duration::ZERO).await;
    assert_in_progress(w, &id).await;
    w.release(&w.claim_one().await).await;
    assert_in_progress(w, &id).await;
    w.claim_one().await;
    w.advance(LEASE + SECOND);
    let taken = w.sweep(1).await.remove(0);
    assert_eq!((&taken.lease.task, taken.reclaimed), (&id, true));
    assert_in_progress(w, &id).await;
    w.cancel(&id).await;
    assert_in_progress(w, &id).await;
    w.succeed(&taken).await;
    assert_answered(w, &id, None).await;
}

pub(crate) async fn a_task_that_is_lost_or_obeys_a_cancellation_ends_its_key(w: &World) {
    let lost = w.running(keyed().max_attempts(1)).await.lease.task;
    w.advance(LEASE + SECOND);
    assert!(w.sweep(1).await.is_empty());
    assert_eq!(w.status(&lost).await, Status::DeadLettered);
    assert_answered(w, &lost, None).await;
    w.advance(Idempotency::KEEP + SECOND);
    let held = w.running(keyed()).await;
    w.cancel(&held.lease.task).await;
    w.settle_to(&held, dtq::store::Verdict::Release, Status::Cancelled).await;
    assert_answered(w, &held.lease.task, None).await;
}

pub(crate) async fn the_same_submission_sent_twice_is_no_conflict(w: &World) {
    let first = keyed();
    let id = w.enqueue(first.clone()).await;
    assert_eq!(w.enqueue_again(first.clone()).await, Accepted::new(id.clone(), false));
    w.succeed(&w.claim_one().await).await;
    assert_eq!(w.enqueue_again(first).await, Accepted::new(id.clone(), false));
    assert_eq!(w.events_of(&id).await, [EventKind::Queued, EventKind::Started, EventKind::Succeeded]);
}

pub(crate) async fn a_key_whose_task_is_gone_is_free(w: &World) {
    let held = w.running(task("a").key("k").retention(HOUR)).await;
    w.succeed(&held).await;
    w.advance(HOUR + SECOND);
    assert_eq!(w.find_by_key("k").await, None);
    let second = w.enqueue(keyed()).await;
    assert_in_progress(w, &second).await;
}

pub(crate) async fn without_retention_a_key_is_free_at_once(w: &World) {
    let held = w.running(task("a").key("k").retention(Duration::ZERO)).await;
    assert_in_progress(w, &held.lease.task).await;
    w.succeed(&held).await;
    assert_eq!(w.find_by_key("k").await, None);
    // Also when the very same submission comes late.
    w.enqueue(task("a").id(&held.lease.task).key("k")).await;
    assert_eq!(w.find_by_key("k").await, Some(held.lease.task));
}

pub(crate) async fn each_key_is_remembered_for_its_own_time(w: &World) {
    let short = Idempotency::new("k").keep(Duration::from_secs(60));
    let held = w.running(task("a").key(short).retention(WEEK)).await;
    w.advance(HOUR);
    w.succeed(&held).await;
    w.advance(Duration::from_secs(30));
    assert_answered(w, &held.lease.task, None).await;
    w.advance(Duration::from_secs(31));
    assert!(w.enqueue_again(keyed()).await.created);
    // The first one's record speaks of its key still, and its end is no end of the second one's.
    assert_eq!(w.record(&held.lease.task).await.idempotency_key.as_deref(), Some("k"));
    assert_eq!(w.settle(&held, dtq::store::Verdict::Release).await, dtq::store::Settled::Stale);
    assert_ne!(w.find_by_key("k").await, Some(held.lease.task));
}

pub(crate) async fn twins_within_a_batch_are_one_task(w: &World) {
    let tasks = (0..300).map(|n| task("a").key(format!("k{}", n % 3)).build()).collect();
    let answers = w.enqueue_all(tasks).await;
    for (n, answer) in answers.iter().enumerate() {
        assert_eq!((answer.created, &answer.id), (n < 3, &answers[n % 3].id), "{n}");
        assert_eq!(answer.refused, (n >= 3).then_some(Refusal::InProgress));
    }
    assert_eq!(w.drain(want(10)).await.len(), 3);
}

pub(crate) async fn tasks_with_and_without_keys_mix_in_a_batch(w: &World) {
    w.enqueue(task("a").key("taken")).await;
    let of = |n: usize| match n % 4 {
        0 => task("a").key("taken"),
        1 => task("a").key(format!("free {n}")).delay(HOUR),
        2 => task("a").key(format!("free {n}")),
        _ => task("a"),
    };
    let answers = w.enqueue_all((0..40).map(|n| of(n).payload(n.to_string()).build()).collect()).await;
    for (n, answer) in answers.iter().enumerate() {
        assert_eq!(answer.created, n % 4 != 0, "{n}");
    }
    let stats = w.stats().await;
    assert_eq!((stats.queued, stats.pending), (21, 10));
    let events = w.events(&[queue(dtq_tests::DEFAULT)]).await;
    assert_eq!(events.iter().filter(|event| event.kind == EventKind::Queued).count(), 31);
    w.advance(HOUR);
    assert_eq!(w.drain(want(50)).await.len(), 31);
}

pub(crate) async fn keys_belong_to_a_queue(w: &World) {
    w.enqueue(task("a").key("k")).await;
    w.enqueue(task("a").key("k").queue("other")).await;
    assert_eq!(w.find_by_key("nobody's").await, None);
    assert_eq!(w.store().find_by_key(&queue("never-seen"), "k").await.unwrap(), None);
}

pub(crate) async fn odd_keys_are_kept_apart(w: &World) {
    let long = "é".repeat(256);
    let odd = ["a\0b", "a\0c", "a", "a\nb", "{q}", "}{", " ", "s 1", "\u{1F600}", "\u{2028}", "%z(.*)", "'\"", &long];
    let mut ids = Vec::new();
    for key in odd {
        ids.push(w.enqueue(task("a").key(key).unique(key)).await);
    }
    for (key, id) in odd.iter().zip(&ids) {
        let record = w.record(id).await;
        assert_eq!((record.idempotency_key.as_deref(), record.unique_key.as_deref()), (Some(*key), Some(*key)));
        assert_eq!(w.find_by_key(key).await.as_ref(), Some(id), "{key:?}");
        assert_eq!(w.enqueue_again(task("a").key(*key)).await, answer(id, Some(Refusal::InProgress)), "{key:?}");
        assert_eq!(w.enqueue_again(task("a").unique(*key)).await, answer(id, None), "{key:?}");
    }
    for delivery in w.drain(want(50)).await {
        w.succeed(&delivery).await;
    }
    for key in odd {
        w.enqueue(task("a").unique(key)).await;
    }
}

checks! {
    idempotency:
    a_pending_task_is_in_progress,
    a_queued_task_is_in_progress,
    a_running_task_is_in_progress,
    a_retrying_task_is_in_progress,
    a_succeeded_task_is_answered_until_its_key_lapses,
    a_failed_task_is_answered_until_its_key_lapses,
    a_dead_letter_is_answered_until_its_key_lapses,
    a_cancelled_task_is_answered_until_its_key_lapses,
    an_expired_task_is_answered_until_its_key_lapses,
    a_key_stays_in_progress_through_retries_snoozes_and_releases,
    a_task_that_is_lost_or_obeys_a_cancellation_ends_its_key,
    the_same_submission_sent_twice_is_no_conflict,
    a_key_whose_task_is_gone_is_free,
    without_retention_a_key_is_free_at_once,
    each_key_is_remembered_for_its_own_time,
    twins_within_a_batch_are_one_task,
    tasks_with_and_without_keys_mix_in_a_batch,
    keys_belong_to_a_queue,
    odd_keys_are_kept_apart,
}

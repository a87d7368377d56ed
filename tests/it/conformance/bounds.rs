//! Large amounts, and what is left behind.

use std::time::Duration;

use dtq::store::{BATCH, Claim, Renewed, Settled, Settlement, Verdict};
use dtq::types::{Status, TaskId};
use dtq_tests::{LEASE, World, failure, task, want};

const MINUTE: Duration = Duration::from_secs(60);

pub(crate) async fn three_hundred_tasks_are_enqueued_in_one_call(w: &World) {
    let ids = w.enqueue_many(300, || task("a")).await;
    assert_eq!(w.stats().await.queued, 300);
    let got: Vec<_> = w.drain(want(100)).await.into_iter().map(|delivery| delivery.lease.task).collect();
    assert_eq!(got, ids);
}

pub(crate) async fn three_hundred_attempts_are_settled_in_one_call(w: &World) {
    w.enqueue_many(300, || task("a")).await;
    let deliveries = w.drain(want(BATCH)).await;
    w.release(&deliveries[200]).await;
    let done = Verdict::Succeeded { result: None };
    let settlements: Vec<_> =
        deliveries.into_iter().map(|delivery| Settlement { delivery, verdict: done.clone() }).collect();
    let answers = w.store().settle(settlements).await.unwrap();
    assert_eq!(answers.len(), 300);
    let stale: Vec<_> = (0..300).filter(|&n| answers[n] == Settled::Stale).collect();
    assert_eq!(stale, [200]);
    assert_eq!((w.stats().await.succeeded, w.stats().await.queued), (299, 1));
}

pub(crate) async fn three_hundred_leases_are_renewed_in_one_call(w: &World) {
    w.enqueue_many(300, || task("a")).await;
    let deliveries = w.drain(want(BATCH)).await;
    w.succeed(&deliveries[150]).await;
    w.advance(LEASE - Duration::from_secs(1));
    let answers = w.renew(&deliveries.iter().map(|delivery| &delivery.lease).collect::<Vec<_>>()).await;
    assert_eq!(answers.len(), 300);
    assert!((0..300).all(|n| answers[n] == if n == 150 { Renewed::Lost } else { Renewed::Held }));
    w.advance(Duration::from_secs(2));
    assert!(w.sweep(BATCH).await.is_empty());
}

pub(crate) async fn a_thousand_tasks_due_at_once_are_promoted_in_bounded_steps(w: &World) {
    w.enqueue_many(1000, || task("a").delay(MINUTE)).await;
    w.advance(MINUTE);
    let first = w.claim_with(want(1)).await;
    assert_eq!(first.deliveries.len(), 1);
    assert!(first.more, "the rest is ready, be it promoted or not");
    let promoted = 1000 - usize::try_from(w.stats().await.pending).unwrap();
    assert!(promoted <= BATCH, "{promoted} were promoted in one step");
    assert_eq!(w.drain(want(BATCH)).await.len(), 999);
}

pub(crate) async fn due_tasks_beyond_a_batch_are_due_now(w: &World) {
    w.enqueue_many(BATCH + 10, || task("a").delay(MINUTE)).await;
    w.advance(MINUTE);
    let claimed = w.claim_with(want(BATCH)).await;
    // Whoever sleeps until `next_due`, or comes back because of `more`, must not oversleep.
    assert!(claimed.more || claimed.next_due == Some(Duration::ZERO), "{claimed:?}");
    assert_eq!(claimed.deliveries.len() + w.drain(want(BATCH)).await.len(), BATCH + 10);
}

pub(crate) async fn three_hundred_lost_tasks_all_come_back(w: &World) {
    w.enqueue_many(300, || task("a")).await;
    w.drain(want(BATCH)).await;
    w.advance(LEASE + Duration::from_secs(1));
    let mut back = Vec::new();
    for _ in 0..10 {
        back.extend(w.sweep(BATCH).await);
    }
    assert_eq!(back.len(), 300);
    assert!(back.iter().all(|delivery| delivery.lease.attempt == 2 && delivery.reclaimed));
}

pub(crate) async fn three_hundred_lost_last_attempts_all_fail(w: &World) {
    w.enqueue_many(300, || task("a").max_attempts(1)).await;
    w.drain(want(BATCH)).await;
    w.advance(LEASE + Duration::from_secs(1));
    for _ in 0..10 {
        assert!(w.sweep(BATCH).await.is_empty());
    }
    assert_eq!((w.stats().await.dead_lettered, w.stats().await.running), (300, 0));
    assert_eq!(w.dead_letters().await.len(), 300);
}

pub(crate) async fn a_call_over_many_queues_is_answered_whole(w: &World) {
    let tasks: Vec<_> = (0..400).map(|n| task("a").queue(&format!("q{}", n % 40)).build()).collect();
    assert_eq!(w.enqueue_all(tasks).await.len(), 400);
    assert_eq!(w.store().queues().await.unwrap().len(), 40);
    for n in 0..40 {
        assert_eq!(w.stats_of(&format!("q{n}")).await.queued, 10);
    }
}

/// Ends a task without retention in each way that leaves no dead letter.
async fn ended_without_retention(w: &World) -> Vec<TaskId> {
    let short = || task("a").retention(Duration::ZERO);
    let mut ids = Vec::new();
    for verdict in [
        Verdict::Succeeded { result: Some("1".into()) },
        Verdict::Failed { failure: failure("x") },
        Verdict::Cancelled { reason: "x".into() },
    ] {
        let delivery = w.running(short().no_dead_letter()).await;
        w.settle(&delivery, verdict).await;
        ids.push(delivery.lease.task);
    }
    let called_off = w.enqueue(short()).await;
    w.cancel(&called_off).await;
    ids.push(called_off);
    ids.push(w.enqueue(short().ttl(MINUTE)).await);
    w.advance(MINUTE * 2);
    assert!(w.claim(10).await.is_empty());
    ids
}

pub(crate) async fn without_retention_nothing_is_left_of_a_finished_task(w: &World) {
    for id in ended_without_retention(w).await {
        assert_eq!(w.get(&id).await, None);
    }
    let stats = w.stats().await;
    assert_eq!((stats.succeeded, stats.failed, stats.cancelled, stats.expired), (1, 1, 2, 1));
    assert_eq!(stats.unfinished(), 0);
}

pub(crate) async fn without_retention_its_end_is_told_all_the_same(w: &World) {
    for id in ended_without_retention(w).await {
        assert!(w.events_of(&id).await.last().unwrap().is_terminal());
    }
}

pub(crate) async fn a_sweep_takes_no_more_than_a_batch(w: &World) {
    w.enqueue_many(BATCH * 2, || task("a")).await;
    w.drain(want(BATCH)).await;
    w.advance(LEASE + Duration::from_secs(1));
    let claim = Claim { sweep: true, ..want(BATCH * 2) };
    let taken = w.claim_with(claim).await.deliveries.len();
    assert!(taken > 0 && taken <= BATCH, "{taken}");
}

pub(crate) async fn a_long_life_does_not_grow_its_record_without_bound(w: &World) {
    let mut delivery = w.running(task("a").max_attempts(1000)).await;
    for _ in 0..60 {
        w.advance(LEASE + Duration::from_secs(1));
        delivery = w.sweep(1).await.remove(0);
    }
    let record = w.record(&delivery.lease.task).await;
    assert_eq!((record.attempt, record.attempts.len()), (61, dtq::types::Attempt::KEPT));
    assert_eq!((record.status, record.attempts.last().unwrap().number), (Status::Running, 60));
}

checks! {
    bounds:
    three_hundred_tasks_are_enqueued_in_one_call,
    three_hundred_attempts_are_settled_in_one_call,
    three_hundred_leases_are_renewed_in_one_call,
    a_thousand_tasks_due_at_once_are_promoted_in_bounded_steps,
    due_tasks_beyond_a_batch_are_due_now,
    three_hundred_lost_tasks_all_come_back,
    three_hundred_lost_last_attempts_all_fail,
    a_call_over_many_queues_is_answered_whole,
    without_retention_nothing_is_left_of_a_finished_task,
    without_retention_its_end_is_told_all_the_same,
    a_sweep_takes_no_more_than_a_batch,
    a_long_life_does_not_grow_its_record_without_bound,
}

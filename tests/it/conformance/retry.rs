//! Attempts that failed and may be repeated.

use std::time::Duration;

use dtq::store::{Renewed, Settled, Verdict};
use dtq::types::{Attempt, ErrorKind, EventKind, Failure, Status};
use dtq_tests::{World, failure, task};

const MINUTE: Duration = Duration::from_secs(60);

pub(crate) async fn a_failed_attempt_waits_for_the_next_one(w: &World) {
    let delivery = w.running(task("a")).await;
    let verdict = Verdict::Retry { delay: MINUTE, failure: failure("socket closed") };
    assert_eq!(w.settle(&delivery, verdict).await, Settled::Applied(Status::Retrying));
    let record = w.record(&delivery.lease.task).await;
    assert_eq!((record.status, record.attempt, record.finished_at), (Status::Retrying, 1, None));
    assert_eq!(record.last_failure(), Some(&failure("socket closed")));
    w.assert_passed(record.due_at.unwrap().since(delivery.claimed_at), MINUTE);
    let stats = w.stats().await;
    assert_eq!((stats.retrying, stats.running, stats.retries), (1, 0, 1));
}

pub(crate) async fn the_attempt_rises_when_the_retry_comes_due(w: &World) {
    let first = w.running(task("a").payload("{\"big\":9007199254740993,\"none\":[]}")).await;
    w.retry(&first, MINUTE).await;
    w.advance(MINUTE / 2);
    assert!(w.sweep(10).await.is_empty());
    assert_eq!(w.record(&first.lease.task).await.attempt, 1);
    w.advance(MINUTE / 2);
    let second = w.claim_one().await;
    assert_eq!((&second.lease.task, second.lease.attempt, second.reclaimed), (&first.lease.task, 2, false));
    assert_eq!((&second.payload, &second.policy), (&first.payload, &first.policy));
    assert_eq!((&second.task, second.enqueued_at), (&first.task, first.enqueued_at));
    let record = w.record(&first.lease.task).await;
    assert_eq!((record.attempt, record.due_at, record.status), (2, None, Status::Running));
}

pub(crate) async fn a_retry_is_told_from_schedule_to_start(w: &World) {
    use EventKind::{Queued, Retried, RetryScheduled, Started, Succeeded};
    let first = w.running(task("a")).await;
    w.retry(&first, MINUTE).await;
    w.advance(MINUTE);
    let second = w.claim_one().await;
    w.succeed(&second).await;
    let events = w.full_events_of(&first.lease.task).await;
    let kinds: Vec<_> = events.iter().map(|event| event.kind).collect();
    assert_eq!(kinds, [Queued, Started, RetryScheduled, Retried, Started, Succeeded]);
    let attempts: Vec<_> = events.iter().map(|event| event.attempt).collect();
    assert_eq!(attempts, [1, 1, 1, 2, 2, 2]);
    w.assert_passed(events[3].at.since(events[2].at), MINUTE);
}

pub(crate) async fn a_retry_without_delay_is_ready_at_once(w: &World) {
    let first = w.running(task("a")).await;
    w.retry(&first, Duration::ZERO).await;
    let second = w.claim_one().await;
    assert_eq!((second.lease.task, second.lease.attempt), (first.lease.task, 2));
}

pub(crate) async fn every_failed_attempt_is_noted_with_its_times(w: &World) {
    let mut expected = Vec::new();
    let mut delivery = w.running(task("a")).await;
    let id = delivery.lease.task.clone();
    for number in 1..=3 {
        w.advance(MINUTE);
        let failure = failure(&format!("failure {number}"));
        w.settle(&delivery, Verdict::Retry { delay: MINUTE, failure: failure.clone() }).await;
        expected.push((number, delivery.claimed_at, failure));
        w.advance(MINUTE);
        delivery = w.claim_one().await;
    }
    let attempts = w.record(&id).await.attempts;
    let told: Vec<_> = attempts.iter().map(|a| (a.number, a.started_at, a.failure.clone())).collect();
    assert_eq!(told, expected);
    for attempt in attempts {
        w.assert_passed(attempt.ended_at.since(attempt.started_at), MINUTE);
    }
}

pub(crate) async fn the_latest_twenty_failures_are_kept(w: &World) {
    let mut delivery = w.running(task("a").max_attempts(100)).await;
    let last = u32::try_from(Attempt::KEPT).unwrap() + 5;
    for number in 1..=last {
        let failure = failure(&format!("failure {number}"));
        w.settle(&delivery, Verdict::Retry { delay: Duration::ZERO, failure }).await;
        delivery = w.claim_one().await;
    }
    let attempts = w.record(&delivery.lease.task).await.attempts;
    let numbers: Vec<_> = attempts.iter().map(|attempt| attempt.number).collect();
    assert_eq!(numbers, (6..=last).collect::<Vec<_>>());
    assert_eq!(attempts[0].failure.message, "failure 6");
    assert_eq!(delivery.lease.attempt, last + 1);
}

pub(crate) async fn every_kind_of_failure_survives(w: &World) {
    let names = [
        "error", "permanent", "panic", "timeout", "undecodable", "unencodable", "unknown_task", "worker_lost", "retry",
        "cancelled",
    ];
    for name in names {
        let kind = ErrorKind::from_name(name);
        assert_eq!(kind.as_str(), name);
        let delivery = w.running(task("a")).await;
        let failure = Failure::new(kind, format!("because of {name}"));
        w.settle(&delivery, Verdict::Retry { delay: MINUTE, failure: failure.clone() }).await;
        assert_eq!(w.record(&delivery.lease.task).await.last_failure(), Some(&failure));
    }
}

pub(crate) async fn a_success_after_failures_remembers_them(w: &World) {
    let first = w.running(task("a")).await;
    w.retry(&first, Duration::ZERO).await;
    let second = w.claim_one().await;
    w.succeed(&second).await;
    let record = w.record(&first.lease.task).await;
    assert_eq!((record.status, record.attempt, record.attempts.len()), (Status::Succeeded, 2, 1));
    assert_eq!(w.stats().await.retries, 1);
}

pub(crate) async fn the_first_attempts_lease_is_worth_nothing_afterwards(w: &World) {
    let first = w.running(task("a")).await;
    w.retry(&first, MINUTE).await;
    assert_eq!(w.renew(&[&first.lease]).await, [Renewed::Lost]);
    let late = Verdict::Succeeded { result: None };
    assert_eq!(w.settle(&first, late.clone()).await, Settled::Stale);
    w.advance(MINUTE);
    let second = w.claim_one().await;
    assert_eq!(w.settle(&first, late).await, Settled::Stale);
    assert_eq!(w.renew(&[&first.lease, &second.lease]).await, [Renewed::Lost, Renewed::Held]);
    w.succeed(&second).await;
}

pub(crate) async fn a_retrying_task_is_remembered_for_ever(w: &World) {
    let first = w.running(task("a").retention(Duration::from_secs(1))).await;
    w.retry(&first, Duration::from_secs(300 * 86_400)).await;
    w.advance(Duration::from_secs(299 * 86_400));
    assert_eq!(w.status(&first.lease.task).await, Status::Retrying);
    w.advance(Duration::from_secs(86_400));
    let second = w.claim_one().await;
    assert_eq!((second.payload, second.lease.attempt), (first.payload, 2));
}

pub(crate) async fn retries_of_many_tasks_come_back_each_with_its_own_payload(w: &World) {
    w.enqueue_many(20, || task("a")).await;
    let first = w.claim(20).await;
    for delivery in &first {
        w.retry(delivery, MINUTE).await;
    }
    w.advance(MINUTE);
    let mut again = w.claim(20).await;
    again.sort_by(|a, b| a.lease.task.cmp(&b.lease.task));
    let mut first = first;
    first.sort_by(|a, b| a.lease.task.cmp(&b.lease.task));
    let payloads = |deliveries: &[dtq::types::Delivery]| -> Vec<_> {
        deliveries.iter().map(|delivery| (delivery.lease.task.clone(), delivery.payload.clone())).collect()
    };
    assert_eq!(payloads(&again), payloads(&first));
}

checks! {
    retry:
    a_failed_attempt_waits_for_the_next_one,
    the_attempt_rises_when_the_retry_comes_due,
    a_retry_is_told_from_schedule_to_start,
    a_retry_without_delay_is_ready_at_once,
    every_failed_attempt_is_noted_with_its_times,
    the_latest_twenty_failures_are_kept,
    every_kind_of_failure_survives,
    a_success_after_failures_remembers_them,
    the_first_attempts_lease_is_worth_nothing_afterwards,
    a_retrying_task_is_remembered_for_ever,
    retries_of_many_tasks_come_back_each_with_its_own_payload,
}

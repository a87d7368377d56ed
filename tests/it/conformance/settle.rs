//! Ending attempts.

use std::time::Duration;

use dtq::store::{Settled, Settlement, Verdict};
use dtq::types::{EventKind, Lease, Status, TaskId};
use dtq_tests::{RETENTION, World, failure, queue, task};

const SECOND: Duration = Duration::from_secs(1);

pub(crate) async fn a_success_is_recorded_with_its_result(w: &World) {
    let delivery = w.running(task("a")).await;
    w.advance(SECOND * 5);
    let verdict = Verdict::Succeeded { result: Some("[1,2]".into()) };
    assert_eq!(w.settle(&delivery, verdict).await, Settled::Applied(Status::Succeeded));
    let record = w.record(&delivery.lease.task).await;
    assert_eq!((record.status, record.result.as_deref()), (Status::Succeeded, Some(&b"[1,2]"[..])));
    w.assert_passed(record.finished_at.unwrap().since(delivery.claimed_at), SECOND * 5);
    assert_eq!((record.attempt, record.attempts), (1, vec![]));
    let stats = w.stats().await;
    assert_eq!((stats.succeeded, stats.running, stats.unfinished()), (1, 0, 0));
}

pub(crate) async fn a_success_is_told_when_it_happened(w: &World) {
    let delivery = w.running(task("a")).await;
    w.succeed(&delivery).await;
    let events = w.full_events_of(&delivery.lease.task).await;
    let kinds: Vec<_> = events.iter().map(|event| event.kind).collect();
    assert_eq!(kinds, [EventKind::Queued, EventKind::Started, EventKind::Succeeded]);
    w.assert_same_step(events[2].at, w.record(&delivery.lease.task).await.finished_at.unwrap());
    assert_eq!(events[2].attempt, 1);
}

pub(crate) async fn a_unit_result_is_no_result(w: &World) {
    let delivery = w.running(task("a")).await;
    w.settle_to(&delivery, Verdict::Succeeded { result: None }, Status::Succeeded).await;
    assert_eq!(w.record(&delivery.lease.task).await.result, None);
}

pub(crate) async fn a_succeeded_task_never_runs_again(w: &World) {
    let delivery = w.running(task("a")).await;
    w.succeed(&delivery).await;
    w.advance(dtq_tests::LEASE * 2);
    assert!(w.sweep(10).await.is_empty());
}

pub(crate) async fn a_forged_lease_changes_nothing(w: &World) {
    let held = w.running(task("a")).await;
    let before = w.snapshot(&held.lease.task).await;
    let leases = [
        Lease { token: "0-1".into(), ..held.lease.clone() },
        Lease { attempt: 2, ..held.lease.clone() },
        Lease { token: String::new(), ..held.lease.clone() },
        Lease { token: "x\0\r\n".into(), ..held.lease.clone() },
    ];
    for lease in leases {
        let mut delivery = held.clone();
        delivery.lease = lease.clone();
        assert_eq!(w.settle(&delivery, Verdict::Release).await, Settled::Stale, "{lease:?}");
        assert_eq!(w.snapshot(&held.lease.task).await, before, "{lease:?}");
    }
    w.succeed(&held).await;
}

pub(crate) async fn a_task_that_never_was_settles_as_stale(w: &World) {
    let mut delivery = w.running(task("a")).await;
    delivery.lease.task = TaskId::generate(queue("default"));
    let verdict = Verdict::Retry { delay: SECOND, failure: failure("x") };
    assert_eq!(w.settle(&delivery, verdict).await, Settled::Stale);
    assert_eq!(w.get(&delivery.lease.task).await, None);
    let stats = w.stats().await;
    assert_eq!((stats.retrying, stats.running), (0, 1));
}

pub(crate) async fn another_verdict_after_the_end_is_stale_and_told(w: &World) {
    let delivery = w.running(task("a")).await;
    w.succeed(&delivery).await;
    let before = w.snapshot(&delivery.lease.task).await;
    assert_eq!(w.settle(&delivery, Verdict::Failed { failure: failure("no") }).await, Settled::Stale);
    assert_eq!(w.snapshot(&delivery.lease.task).await, before);
    let last = w.events_of(&delivery.lease.task).await.pop();
    assert_eq!(last, Some(EventKind::DuplicateAbsorbed));
}

pub(crate) async fn another_verdict_after_a_cancellation_is_stale(w: &World) {
    let others = [
        Verdict::Retry { delay: SECOND, failure: failure("x") },
        Verdict::Snooze { delay: SECOND },
        Verdict::Release,
        Verdict::Succeeded { result: None },
    ];
    for other in others {
        let delivery = w.running(task("a")).await;
        w.drop_task(&delivery).await;
        let before = w.snapshot(&delivery.lease.task).await;
        assert_eq!(w.settle(&delivery, other.clone()).await, Settled::Stale, "{other:?}");
        assert_eq!(w.snapshot(&delivery.lease.task).await, before, "{other:?}");
        assert_eq!(w.events_of(&delivery.lease.task).await.last(), Some(&EventKind::DuplicateAbsorbed), "{other:?}");
    }
}

pub(crate) async fn mixed_verdicts_are_settled_in_one_batch(w: &World) {
    w.enqueue_many(6, || task("a")).await;
    let deliveries = w.claim(6).await;
    let verdicts = [
        Verdict::Succeeded { result: None },
        Verdict::Retry { delay: SECOND, failure: failure("again") },
        Verdict::Snooze { delay: SECOND },
        Verdict::Failed { failure: failure("no") },
        Verdict::Cancelled { reason: "moot".into() },
        Verdict::Release,
    ];
    let expected: Vec<_> = verdicts.iter().map(|verdict| Settled::Applied(verdict.target(true))).collect();
    let settlements =
        deliveries.iter().cloned().zip(verdicts).map(|(delivery, verdict)| Settlement { delivery, verdict });
    assert_eq!(w.store().settle(settlements.collect()).await.unwrap(), expected);
    for (delivery, settled) in deliveries.iter().zip(expected) {
        assert_eq!(settled, Settled::Applied(w.status(&delivery.lease.task).await));
    }
    let stats = w.stats().await;
    assert_eq!((stats.queued, stats.pending, stats.retrying, stats.running), (1, 1, 1, 0));
}

pub(crate) async fn answers_stand_in_the_order_of_the_settlements_across_queues(w: &World) {
    let mut settlements = Vec::new();
    for n in 0..12 {
        let delivery = w.running(task("a").queue(["a", "b", "c"][n % 3])).await;
        if n % 5 == 4 {
            w.release(&delivery).await;
            w.claim_one_of(delivery.lease.task.queue().as_str()).await;
        }
        settlements.push(Settlement { delivery, verdict: Verdict::Succeeded { result: None } });
    }
    let answers = w.store().settle(settlements).await.unwrap();
    let stale: Vec<_> = (0..12).filter(|&n| answers[n] == Settled::Stale).collect();
    assert_eq!(stale, [4, 9]);
}

pub(crate) async fn no_settlements_get_no_answers(w: &World) {
    assert_eq!(w.store().settle(vec![]).await.unwrap(), []);
}

pub(crate) async fn the_same_settlement_twice_in_one_batch_is_applied_once(w: &World) {
    let delivery = w.running(task("a")).await;
    let twice = vec![Settlement { delivery: delivery.clone(), verdict: Verdict::Succeeded { result: None } }; 2];
    let answers = w.store().settle(twice).await.unwrap();
    assert_eq!(answers, [Settled::Applied(Status::Succeeded); 2]);
    assert_eq!(w.stats().await.succeeded, 1);
    let events = w.events_of(&delivery.lease.task).await;
    assert_eq!(events, [EventKind::Queued, EventKind::Started, EventKind::Succeeded]);
}

pub(crate) async fn a_record_is_kept_for_its_retention_and_no_longer(w: &World) {
    let delivery = w.running(task("a")).await;
    w.succeed(&delivery).await;
    w.advance(RETENTION - w.slack() - SECOND);
    assert_eq!(w.record(&delivery.lease.task).await.result.as_deref(), Some(&b"\"done\""[..]));
    w.advance(w.slack() + SECOND * 2);
    assert_eq!(w.get(&delivery.lease.task).await, None);
}

pub(crate) async fn retention_begins_at_the_end(w: &World) {
    let delivery = w.running(task("a").retention(SECOND * 60)).await;
    w.advance(SECOND * 300);
    w.succeed(&delivery).await;
    w.advance(SECOND * 30);
    assert_eq!(w.status(&delivery.lease.task).await, Status::Succeeded);
    w.advance(SECOND * 31);
    assert_eq!(w.get(&delivery.lease.task).await, None);
}

pub(crate) async fn a_forgotten_task_settles_as_stale_at_most_and_stays_forgotten(w: &World) {
    let delivery = w.running(task("a").retention(Duration::ZERO)).await;
    w.succeed(&delivery).await;
    let before = w.stats().await;
    assert_eq!(w.settle(&delivery, Verdict::Release).await, Settled::Stale);
    assert_eq!((w.stats().await, w.get(&delivery.lease.task).await), (before, None));
    assert!(w.sweep(1).await.is_empty());
}

checks! {
    settle:
    a_success_is_recorded_with_its_result,
    a_success_is_told_when_it_happened,
    a_unit_result_is_no_result,
    a_succeeded_task_never_runs_again,
    a_forged_lease_changes_nothing,
    a_task_that_never_was_settles_as_stale,
    another_verdict_after_the_end_is_stale_and_told,
    another_verdict_after_a_cancellation_is_stale,
    mixed_verdicts_are_settled_in_one_batch,
    answers_stand_in_the_order_of_the_settlements_across_queues,
    no_settlements_get_no_answers,
    the_same_settlement_twice_in_one_batch_is_applied_once,
    a_record_is_kept_for_its_retention_and_no_longer,
    retention_begins_at_the_end,
    a_forgotten_task_settles_as_stale_at_most_and_stays_forgotten,
}

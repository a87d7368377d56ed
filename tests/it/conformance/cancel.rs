//! Calling tasks off.

use std::time::Duration;

use dtq::store::{CancelOutcome, Renewed, Settled, Verdict};
use dtq::types::{By, ErrorKind, EventKind, Status, TaskId};
use dtq_tests::{World, failure, queue, task};

const MINUTE: Duration = Duration::from_secs(60);

const HOURS: Duration = Duration::from_secs(2 * 3600);

/// How long an attempt ran before it was told to stop; less than a lease.
const WORKED: Duration = Duration::from_secs(7);

pub(crate) async fn a_task_that_does_not_run_is_called_off_at_once(w: &World) {
    for status in [Status::Pending, Status::Queued, Status::Retrying] {
        let id = w.bring_to(status).await.id;
        assert_eq!(w.cancel(&id).await, CancelOutcome::Cancelled, "{status}");
        let record = w.record(&id).await;
        assert_eq!((record.status, record.due_at), (Status::Cancelled, None), "{status}");
        assert!(record.finished_at.is_some(), "{status}");
        assert_eq!(w.events_of(&id).await.last(), Some(&EventKind::Cancelled), "{status}");
        let stats = w.stats_of(id.queue().as_str()).await;
        assert_eq!((stats.cancelled, stats.unfinished()), (1, 0), "{status}");
    }
}

pub(crate) async fn a_task_that_was_called_off_is_never_handed_out(w: &World) {
    for status in [Status::Pending, Status::Queued, Status::Retrying] {
        let id = w.bring_to(status).await.id;
        w.cancel(&id).await;
        let claim = dtq::store::Claim { queue: id.queue().clone(), sweep: true, ..dtq_tests::want(10) };
        assert!(w.claim_with(claim.clone()).await.deliveries.is_empty(), "{status}");
        w.advance(HOURS);
        let claimed = w.claim_with(claim).await;
        assert!(claimed.deliveries.is_empty() && claimed.next_due.is_none(), "{status}");
    }
}

pub(crate) async fn the_reason_is_kept_in_the_record(w: &World) {
    for status in [Status::Pending, Status::Queued, Status::Retrying] {
        let id = w.bring_to(status).await.id;
        w.cancel(&id).await;
        let failure = w.record(&id).await.last_failure().cloned().expect("a reason");
        assert_eq!((failure.kind, failure.message.as_str()), (ErrorKind::Cancelled, "called off"), "{status}");
    }
}

pub(crate) async fn a_running_task_is_asked_and_goes_on(w: &World) {
    let delivery = w.running(task("a")).await;
    let id = &delivery.lease.task;
    assert_eq!(w.cancel(id).await, CancelOutcome::Requested);
    let record = w.record(id).await;
    assert_eq!((record.status, record.cancel_requested, record.finished_at), (Status::Running, true, None));
    assert_eq!(w.events_of(id).await, [EventKind::Queued, EventKind::Started]);
    assert_eq!((w.stats().await.running, w.stats().await.cancelled), (1, 0));
}

pub(crate) async fn a_worker_that_obeys_ends_the_task_as_cancelled(w: &World) {
    let delivery = w.running(task("a")).await;
    w.cancel(&delivery.lease.task).await;
    w.advance(WORKED);
    let reason = match w.renew(&[&delivery.lease]).await.remove(0) {
        Renewed::CancelRequested(reason) => reason,
        other => panic!("{other:?}"),
    };
    w.settle_to(&delivery, Verdict::Cancelled { reason }, Status::Cancelled).await;
    let record = w.record(&delivery.lease.task).await;
    assert_eq!(record.last_failure().unwrap().message, "called off");
    let attempt = record.attempts.last().unwrap();
    assert!(attempt.ended_at.since(attempt.started_at) >= WORKED, "{attempt:?}");
    assert_eq!(w.events_of(&delivery.lease.task).await.last(), Some(&EventKind::Cancelled));
    assert_eq!((w.stats().await.running, w.stats().await.cancelled), (0, 1));
}

pub(crate) async fn an_attempt_that_was_called_off_tells_when_it_began(w: &World) {
    let soon = Duration::from_secs(1);
    for verdict in [
        Verdict::Cancelled { reason: "called off".into() },
        Verdict::Failed { failure: failure("stopped") },
        Verdict::Retry { delay: soon, failure: failure("stopped") },
        Verdict::Snooze { delay: soon },
        Verdict::Release,
    ] {
        for renewed in [false, true] {
            let held = w.running(task("a")).await;
            w.advance(MINUTE);
            if renewed {
                w.renew(&[&held.lease]).await;
                w.advance(MINUTE);
            }
            w.cancel(&held.lease.task).await;
            w.settle_to(&held, verdict.clone(), Status::Cancelled).await;
            let attempts = w.record(&held.lease.task).await.attempts;
            assert_eq!(attempts.len(), 1, "{verdict:?}");
            w.assert_same_step(attempts[0].started_at, held.claimed_at);
            let ran = if renewed { MINUTE * 2 } else { MINUTE };
            w.assert_passed(attempts[0].ended_at.since(attempts[0].started_at), ran);
        }
    }
}

pub(crate) async fn a_handler_may_drop_its_own_task(w: &World) {
    let delivery = w.running(task("a")).await;
    w.drop_task(&delivery).await;
    let record = w.record(&delivery.lease.task).await;
    let failure = record.last_failure().unwrap();
    assert_eq!((record.status, failure.kind), (Status::Cancelled, ErrorKind::Cancelled));
    assert_eq!(failure.message, "not needed");
    assert_eq!(w.dead_letters().await, []);
    assert_eq!(w.stats().await.cancelled, 1);
}

pub(crate) async fn a_task_that_finishes_in_spite_of_the_request_is_finished(w: &World) {
    let delivery = w.running(task("a")).await;
    w.cancel(&delivery.lease.task).await;
    w.succeed(&delivery).await;
    assert_eq!(w.cancel(&delivery.lease.task).await, CancelOutcome::AlreadyFinished(Status::Succeeded));
    assert_eq!(w.stats().await.cancelled, 0);
}

pub(crate) async fn a_finished_task_is_left_as_it_is(w: &World) {
    for status in Status::ALL.into_iter().filter(|status| status.is_terminal()) {
        let id = w.bring_to(status).await.id;
        let before = (w.snapshot(&id).await, w.events_of(&id).await);
        assert_eq!(w.cancel(&id).await, CancelOutcome::AlreadyFinished(status));
        assert_eq!((w.snapshot(&id).await, w.events_of(&id).await), before, "{status}");
    }
}

pub(crate) async fn an_unknown_task_is_not_found(w: &World) {
    w.enqueue(task("a")).await;
    assert_eq!(w.cancel(&TaskId::generate(queue("default"))).await, CancelOutcome::NotFound);
    assert_eq!(w.cancel(&TaskId::generate(queue("never"))).await, CancelOutcome::NotFound);
    assert_eq!(w.stats().await.cancelled, 0);
}

pub(crate) async fn the_neighbours_of_a_cancelled_task_run_in_order(w: &World) {
    let ids = w.enqueue_many(5, || task("a")).await;
    w.cancel(&ids[0]).await;
    w.cancel(&ids[2]).await;
    let claimed = w.claim_with(dtq_tests::want(3)).await;
    let got: Vec<_> = claimed.deliveries.into_iter().map(|delivery| delivery.lease.task).collect();
    assert_eq!(got, [ids[1].clone(), ids[3].clone(), ids[4].clone()]);
    assert_eq!(w.stats().await.queued, 0);
}

/// True when the task is cancelled, or its next worker is told.
async fn is_still_called_off(w: &World, id: &TaskId) -> bool {
    if w.status(id).await == Status::Cancelled {
        return true;
    }
    w.advance(HOURS);
    let Some(next) = w.claim(1).await.pop() else { return w.status(id).await == Status::Cancelled };
    matches!(w.renew(&[&next.lease]).await[0], Renewed::CancelRequested(_))
}

pub(crate) async fn a_request_survives_a_release(w: &World) {
    let delivery = w.running(task("a")).await;
    w.cancel(&delivery.lease.task).await;
    assert!(matches!(w.settle(&delivery, Verdict::Release).await, Settled::Applied(_)));
    assert!(is_still_called_off(w, &delivery.lease.task).await);
}

pub(crate) async fn a_request_survives_a_retry(w: &World) {
    let delivery = w.running(task("a")).await;
    w.cancel(&delivery.lease.task).await;
    let verdict = Verdict::Retry { delay: Duration::ZERO, failure: failure("x") };
    assert!(matches!(w.settle(&delivery, verdict).await, Settled::Applied(_)));
    assert!(is_still_called_off(w, &delivery.lease.task).await);
}

pub(crate) async fn a_request_survives_a_snooze(w: &World) {
    let delivery = w.running(task("a")).await;
    w.cancel(&delivery.lease.task).await;
    let verdict = Verdict::Snooze { delay: Duration::ZERO };
    assert!(matches!(w.settle(&delivery, verdict).await, Settled::Applied(_)));
    assert!(is_still_called_off(w, &delivery.lease.task).await);
}

/// A task that was asked to stop, and did not succeed, is cancelled for the reason that was given.
pub(crate) async fn a_task_that_was_asked_and_does_not_succeed_is_cancelled(w: &World) {
    for dead_letter in [true, false] {
        let verdicts = [
            Verdict::Failed { failure: failure("broke") },
            Verdict::Cancelled { reason: "its own wish".into() },
            Verdict::Retry { delay: Duration::ZERO, failure: failure("broke") },
        ];
        for verdict in verdicts {
            let task = if dead_letter { task("a") } else { task("a").no_dead_letter() };
            let delivery = w.running(task).await;
            w.cancel(&delivery.lease.task).await;
            // A copy of the settlement, whose first answer was lost, is answered alike.
            for _ in 0..2 {
                assert_eq!(w.settle(&delivery, verdict.clone()).await, Settled::Applied(Status::Cancelled));
            }
            let record = w.record(&delivery.lease.task).await;
            assert_eq!((record.status, record.last_failure().unwrap().message.as_str()), (Status::Cancelled, "called off"));
        }
    }
    assert_eq!(w.dead_letters().await, []);
    let stats = w.stats().await;
    assert_eq!((stats.cancelled, stats.failed, stats.dead_lettered, stats.unfinished()), (6, 0, 0, 0));
}

pub(crate) async fn the_first_reason_stands(w: &World) {
    let delivery = w.running(task("a")).await;
    w.cancel(&delivery.lease.task).await;
    let again = dtq::store::CancelRequest { id: delivery.lease.task.clone(), by: By::new("somebody", "another") };
    assert_eq!(w.store().cancel(again).await.unwrap(), CancelOutcome::Requested);
    assert_eq!(w.renew(&[&delivery.lease]).await, [Renewed::CancelRequested("called off".into())]);
}

pub(crate) async fn a_cancelled_task_is_remembered_for_its_retention(w: &World) {
    let id = w.enqueue(task("a").retention(Duration::from_secs(60))).await;
    w.cancel(&id).await;
    assert_eq!(w.status(&id).await, Status::Cancelled);
    w.advance(Duration::from_secs(61));
    assert_eq!(w.get(&id).await, None);
    assert_eq!(w.cancel(&id).await, CancelOutcome::NotFound);
    assert!(w.claim(10).await.is_empty());
}

checks! {
    cancel:
    a_task_that_does_not_run_is_called_off_at_once,
    a_task_that_was_called_off_is_never_handed_out,
    the_reason_is_kept_in_the_record,
    a_running_task_is_asked_and_goes_on,
    a_worker_that_obeys_ends_the_task_as_cancelled,
    an_attempt_that_was_called_off_tells_when_it_began,
    a_handler_may_drop_its_own_task,
    a_task_that_finishes_in_spite_of_the_request_is_finished,
    a_finished_task_is_left_as_it_is,
    an_unknown_task_is_not_found,
    the_neighbours_of_a_cancelled_task_run_in_order,
    a_request_survives_a_release,
    a_request_survives_a_retry,
    a_request_survives_a_snooze,
    a_cancelled_task_is_remembered_for_its_retention,
    a_task_that_was_asked_and_does_not_succeed_is_cancelled,
    the_first_reason_stands,
}

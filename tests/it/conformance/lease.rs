//! Workers that die or fall silent.

use std::time::Duration;

use dtq::store::{Claim, Renewed, Settled, Verdict};
use dtq::types::{ErrorKind, EventKind, Status};
use dtq_tests::{LEASE, World, task, want, worker};

const SECOND: Duration = Duration::from_secs(1);

pub(crate) async fn expired_lease_is_reclaimed_with_attempt_plus_one(w: &World) {
    let lost = w.running(task("a").payload("{\"x\":1}")).await;
    w.advance(LEASE + SECOND);
    let taken = w.sweep(1).await.remove(0);
    assert_eq!((&taken.lease.task, taken.lease.attempt, taken.reclaimed), (&lost.lease.task, 2, true));
    assert_ne!(taken.lease.token, lost.lease.token);
    assert_eq!((taken.payload, taken.policy), (lost.payload, lost.policy));
    assert_eq!((taken.task, taken.enqueued_at), (lost.task, lost.enqueued_at));
    w.assert_passed(taken.claimed_at.since(lost.claimed_at), LEASE + SECOND);
    let record = w.record(&taken.lease.task).await;
    assert_eq!((record.status, record.attempt), (Status::Running, 2));
}

pub(crate) async fn live_lease_is_not_reclaimed(w: &World) {
    let held = w.running(task("a")).await;
    w.advance(LEASE - w.slack() - SECOND);
    assert!(w.sweep(1).await.is_empty());
    assert_eq!(w.record(&held.lease.task).await.attempt, 1);
}

pub(crate) async fn lost_attempt_is_noted(w: &World) {
    let lost = w.running(task("a")).await;
    w.advance(LEASE + SECOND);
    let taken = w.sweep(1).await.remove(0);
    let attempts = w.record(&lost.lease.task).await.attempts;
    assert_eq!(attempts.len(), 1);
    assert_eq!((attempts[0].number, attempts[0].failure.kind), (1, ErrorKind::WorkerLost));
    w.assert_same_step(attempts[0].started_at, lost.claimed_at);
    w.assert_same_step(attempts[0].ended_at, taken.claimed_at);
}

pub(crate) async fn taking_over_is_told_as_reclaimed_then_started(w: &World) {
    let lost = w.running(task("a")).await;
    w.advance(LEASE + SECOND);
    w.sweep(1).await;
    let events = w.full_events_of(&lost.lease.task).await;
    let kinds: Vec<_> = events.iter().map(|event| event.kind).collect();
    assert_eq!(kinds, [EventKind::Queued, EventKind::Started, EventKind::Reclaimed, EventKind::Started]);
    assert_eq!(events[3].attempt, 2);
}

pub(crate) async fn the_takeover_is_told_of_the_attempt_that_was_lost(w: &World) {
    let lost = w.running(task("a")).await;
    w.advance(LEASE + SECOND);
    w.sweep(1).await;
    let events = w.full_events_of(&lost.lease.task).await;
    let reclaimed = events.iter().find(|event| event.kind == EventKind::Reclaimed).unwrap();
    assert_eq!(reclaimed.attempt, 1, "the attempt that ended without a settle");
}

pub(crate) async fn taking_over_is_not_a_retry(w: &World) {
    w.running(task("a")).await;
    w.advance(LEASE + SECOND);
    w.sweep(1).await;
    let stats = w.stats().await;
    assert_eq!((stats.running, stats.queued, stats.retries, stats.failed), (1, 0, 0, 0));
}

pub(crate) async fn old_owner_can_settle_nothing(w: &World) {
    let verdicts = [
        Verdict::Succeeded { result: Some("\"late\"".into()) },
        Verdict::Retry { delay: SECOND, failure: dtq_tests::failure("late") },
        Verdict::Snooze { delay: SECOND },
        Verdict::Failed { failure: dtq_tests::failure("late") },
        Verdict::Cancelled { reason: "late".into() },
        Verdict::Release,
    ];
    for verdict in verdicts {
        let lost = w.running(task("a")).await;
        let id = lost.lease.task.clone();
        w.advance(LEASE + SECOND);
        let taken = w.sweep(1).await.remove(0);
        let before = w.snapshot(&id).await;
        assert_eq!(w.settle(&lost, verdict.clone()).await, Settled::Stale, "{verdict:?}");
        assert_eq!(w.snapshot(&id).await, before, "{verdict:?}");
        assert_eq!(w.events_of(&id).await.last(), Some(&EventKind::DuplicateAbsorbed), "{verdict:?}");
        w.succeed(&taken).await;
        assert_eq!(w.record(&id).await.result.as_deref(), Some(&b"\"done\""[..]));
    }
}

pub(crate) async fn old_owner_cannot_renew(w: &World) {
    let lost = w.running(task("a")).await;
    w.advance(LEASE + SECOND);
    let taken = w.sweep(1).await.remove(0);
    assert_eq!(w.renew(&[&lost.lease]).await, [Renewed::Lost]);
    assert_eq!(w.renew_as("w2", &[&taken.lease]).await, [Renewed::Held]);
}

pub(crate) async fn late_renewal_of_the_old_owner_does_not_prolong_the_new_lease(w: &World) {
    let lost = w.running(task("a")).await;
    w.advance(LEASE + SECOND);
    w.sweep(1).await;
    w.advance(LEASE - SECOND);
    w.renew(&[&lost.lease]).await;
    w.advance(SECOND * 2);
    assert_eq!(w.sweep(1).await[0].lease.attempt, 3);
}

pub(crate) async fn run_out_lease_that_nobody_took_can_still_be_settled(w: &World) {
    let slow = w.running(task("a")).await;
    w.advance(LEASE * 3);
    w.succeed(&slow).await;
    assert!(w.sweep(1).await.is_empty());
    assert_eq!(w.status(&slow.lease.task).await, Status::Succeeded);
}

pub(crate) async fn run_out_lease_that_nobody_took_can_still_be_renewed(w: &World) {
    let slow = w.running(task("a")).await;
    w.advance(LEASE * 3);
    assert_eq!(w.renew(&[&slow.lease]).await, [Renewed::Held]);
    assert!(w.sweep(1).await.is_empty());
    w.succeed(&slow).await;
}

pub(crate) async fn last_attempt_lost_becomes_a_dead_letter(w: &World) {
    let lost = w.running(task("a").max_attempts(1)).await;
    w.advance(LEASE + SECOND);
    assert!(w.sweep(1).await.is_empty());
    let record = w.record(&lost.lease.task).await;
    assert_eq!((record.status, record.attempt), (Status::DeadLettered, 1));
    assert_eq!(record.last_failure().unwrap().kind, ErrorKind::WorkerLost);
    assert!(record.finished_at.is_some());
    let letters = w.dead_letters().await;
    assert_eq!((letters[0].attempt, letters[0].failure.kind), (1, ErrorKind::WorkerLost));
    assert_eq!(w.events_of(&lost.lease.task).await.last(), Some(&EventKind::DeadLettered));
    let stats = w.stats().await;
    assert_eq!((stats.running, stats.dead_lettered), (0, 1));
}

pub(crate) async fn the_end_of_a_lost_task_is_not_its_old_owners(w: &World) {
    for (verdict, cancel) in [
        (Verdict::Failed { failure: dtq_tests::failure("late") }, false),
        (Verdict::Cancelled { reason: "late".into() }, true),
        (Verdict::Release, true),
    ] {
        let lost = w.running(task("a").max_attempts(1)).await;
        let id = &lost.lease.task;
        if cancel {
            w.cancel(id).await;
        }
        w.advance(LEASE + SECOND);
        assert!(w.sweep(1).await.is_empty());
        let before = w.snapshot(id).await;
        assert_eq!(w.settle(&lost, verdict.clone()).await, Settled::Stale, "{verdict:?}");
        assert_eq!(w.snapshot(id).await, before, "{verdict:?}");
        assert_eq!(w.events_of(id).await.last(), Some(&EventKind::DuplicateAbsorbed), "{verdict:?}");
    }
}

pub(crate) async fn a_worker_that_was_idle_for_long_keeps_what_it_takes_over(w: &World) {
    // `w2` has worked before, and is idle for longer than a store cares to remember an idle worker.
    w.enqueue(task("a")).await;
    let early = w.sweep(1).await.remove(0);
    w.succeed(&early).await;
    let lost = w.running(task("a")).await;
    w.advance(LEASE * 2);
    let taken = w.sweep(1).await.remove(0);
    assert_eq!((&taken.lease.task, taken.reclaimed), (&lost.lease.task, true));
    assert_eq!(w.status(&taken.lease.task).await, Status::Running);
    assert_eq!(w.renew_as("w2", &[&taken.lease]).await, [Renewed::Held]);
    // And when it dies, the task is found again.
    w.advance(LEASE + SECOND);
    assert_eq!(w.sweep(1).await[0].lease.attempt, 3);
}

pub(crate) async fn last_attempt_lost_without_dead_letters_is_failed(w: &World) {
    let lost = w.running(task("a").max_attempts(1).no_dead_letter()).await;
    w.advance(LEASE + SECOND);
    assert!(w.sweep(1).await.is_empty());
    assert_eq!(w.status(&lost.lease.task).await, Status::Failed);
    assert_eq!(w.events_of(&lost.lease.task).await.last(), Some(&EventKind::Failed));
    assert_eq!((w.stats().await.failed, w.dead_letters().await.len()), (1, 0));
}

pub(crate) async fn a_task_that_kills_every_worker_comes_to_an_end(w: &World) {
    let id = w.running(task("poison").max_attempts(4)).await.lease.task;
    for attempt in 2..=4 {
        w.advance(LEASE + SECOND);
        assert_eq!(w.sweep(1).await[0].lease.attempt, attempt);
    }
    w.advance(LEASE + SECOND);
    assert!(w.sweep(1).await.is_empty());
    let record = w.record(&id).await;
    assert_eq!((record.status, record.attempts.len()), (Status::DeadLettered, 4));
    let starts = w.events_of(&id).await.into_iter().filter(|&kind| kind == EventKind::Started).count();
    assert_eq!(starts, 4);
}

pub(crate) async fn lost_task_that_was_asked_to_cancel_is_cancelled(w: &World) {
    let lost = w.running(task("a")).await;
    w.cancel(&lost.lease.task).await;
    w.advance(LEASE + SECOND);
    assert!(w.sweep(1).await.is_empty());
    assert_eq!(w.status(&lost.lease.task).await, Status::Cancelled);
    assert_eq!(w.events_of(&lost.lease.task).await.last(), Some(&EventKind::Cancelled));
    assert_eq!((w.stats().await.cancelled, w.stats().await.running), (1, 0));
}

pub(crate) async fn lost_tasks_come_before_queued_ones(w: &World) {
    let lost = w.running(task("lost").priority(1)).await;
    w.enqueue(task("queued").priority(9)).await;
    w.advance(LEASE + SECOND);
    let taken = w.sweep(1).await.remove(0);
    assert_eq!(taken.lease.task, lost.lease.task);
}

pub(crate) async fn more_lost_tasks_than_wanted_are_all_handed_out_in_the_end(w: &World) {
    w.enqueue_many(7, || task("a")).await;
    w.claim(7).await;
    w.advance(LEASE + SECOND);
    let mut taken = Vec::new();
    for _ in 0..4 {
        taken.extend(w.sweep(2).await);
    }
    assert_eq!(taken.len(), 7);
    assert!(taken.iter().all(|delivery| delivery.lease.attempt == 2));
}

pub(crate) async fn run_out_leases_are_found_without_a_sweep_within_a_quarter_lease(w: &World) {
    let lost = w.running(task("a")).await;
    w.advance(LEASE - w.slack() - SECOND);
    // A store may note this as its last look.
    assert!(w.claim(1).await.is_empty());
    w.advance(LEASE / 4 + w.slack() + SECOND);
    let taken = w.claim_with(Claim { worker: worker("w2"), ..want(1) }).await.deliveries;
    assert_eq!(taken.len(), 1, "a quarter of a lease has passed since the last look");
    assert_eq!((&taken[0].lease.task, taken[0].lease.attempt), (&lost.lease.task, 2));
}

pub(crate) async fn a_sweep_looks_however_recently_another_did(w: &World) {
    w.enqueue_many(2, || task("a")).await;
    w.claim(1).await;
    w.advance(LEASE / 2);
    w.claim(1).await;
    w.advance(LEASE / 2 + SECOND);
    assert_eq!(w.sweep(2).await.len(), 1);
    w.advance(LEASE / 2);
    assert_eq!(w.sweep(2).await.len(), 1);
}

pub(crate) async fn a_claim_whose_reply_was_lost_is_made_good_for_the_same_worker(w: &World) {
    let unseen = w.running(task("a")).await;
    w.advance(LEASE + SECOND);
    let again = w.claim_with(Claim { sweep: true, ..want(1) }).await.deliveries;
    assert_eq!(again.len(), 1, "a lone worker must get back what it never heard of");
    assert_eq!((&again[0].lease.task, again[0].lease.attempt), (&unseen.lease.task, 2));
}

pub(crate) async fn each_lease_is_judged_by_its_own_length(w: &World) {
    let long = w.running(task("long")).await;
    w.enqueue(task("short")).await;
    let short = w.claim_with(Claim { worker: worker("w2"), lease: LEASE / 4, ..want(1) }).await.deliveries;
    w.advance(LEASE / 2);
    let claim = |lease| Claim { worker: worker("w3"), lease, sweep: true, ..want(10) };
    let taken = w.claim_with(claim(LEASE)).await.deliveries;
    assert_eq!(taken.len(), 1, "the claimer's longer lease does not keep the short one alive");
    assert_eq!(taken[0].lease.task, short[0].lease.task);
    assert_eq!(w.claim_with(claim(LEASE / 4)).await.deliveries.len(), 0, "nor does a shorter one end the long one");
    w.advance(LEASE / 2 + SECOND);
    let lost = w.claim_with(claim(LEASE)).await.deliveries;
    assert!(lost.iter().any(|delivery| delivery.lease.task == long.lease.task));
}

pub(crate) async fn a_task_in_progress_is_remembered_for_ever(w: &World) {
    let held = w.running(task("a").retention(SECOND)).await;
    for _ in 0..10 {
        w.advance(Duration::from_secs(40 * 86_400));
        assert_eq!(w.renew(&[&held.lease]).await, [Renewed::Held]);
    }
    assert_eq!(w.record(&held.lease.task).await.payload, held.payload);
    w.succeed(&held).await;
}

pub(crate) async fn a_lost_retry_counts_on_from_its_attempt(w: &World) {
    let first = w.running(task("a")).await;
    w.retry(&first, SECOND).await;
    w.advance(SECOND);
    assert_eq!(w.claim_one().await.lease.attempt, 2);
    w.advance(LEASE + SECOND);
    assert_eq!(w.sweep(1).await[0].lease.attempt, 3);
    let kinds: Vec<_> = w.record(&first.lease.task).await.attempts.iter().map(|a| (a.number, a.failure.kind)).collect();
    assert_eq!(kinds, [(1, ErrorKind::Error), (2, ErrorKind::WorkerLost)]);
}

checks! {
    lease:
    expired_lease_is_reclaimed_with_attempt_plus_one,
    live_lease_is_not_reclaimed,
    lost_attempt_is_noted,
    taking_over_is_told_as_reclaimed_then_started,
    the_takeover_is_told_of_the_attempt_that_was_lost,
    taking_over_is_not_a_retry,
    old_owner_can_settle_nothing,
    old_owner_cannot_renew,
    late_renewal_of_the_old_owner_does_not_prolong_the_new_lease,
    run_out_lease_that_nobody_took_can_still_be_settled,
    run_out_lease_that_nobody_took_can_still_be_renewed,
    last_attempt_lost_becomes_a_dead_letter,
    the_end_of_a_lost_task_is_not_its_old_owners,
    a_worker_that_was_idle_for_long_keeps_what_it_takes_over,
    last_attempt_lost_without_dead_letters_is_failed,
    a_task_that_kills_every_worker_comes_to_an_end,
    lost_task_that_was_asked_to_cancel_is_cancelled,
    lost_tasks_come_before_queued_ones,
    more_lost_tasks_than_wanted_are_all_handed_out_in_the_end,
    run_out_leases_are_found_without_a_sweep_within_a_quarter_lease,
    a_sweep_looks_however_recently_another_did,
    a_claim_whose_reply_was_lost_is_made_good_for_the_same_worker,
    each_lease_is_judged_by_its_own_length,
    a_task_in_progress_is_remembered_for_ever,
    a_lost_retry_counts_on_from_its_attempt,
}

//! Keeping leases.

use std::time::Duration;

use dtq::store::Renewed;
use dtq::types::{Lease, Status, TaskId};
use dtq_tests::{LEASE, World, queue, task};

const SECOND: Duration = Duration::from_secs(1);

pub(crate) async fn a_renewed_lease_lasts_a_full_lease_from_now(w: &World) {
    let held = w.running(task("a")).await;
    w.advance(LEASE / 2);
    assert_eq!(w.renew(&[&held.lease]).await, [Renewed::Held]);
    w.advance(LEASE - w.slack() - SECOND);
    assert!(w.sweep(1).await.is_empty());
    w.advance(w.slack() + SECOND * 2);
    assert_eq!(w.sweep(1).await.len(), 1);
}

pub(crate) async fn renewing_changes_nothing_else(w: &World) {
    let held = w.running(task("a")).await;
    let before = (w.snapshot(&held.lease.task).await, w.events_of(&held.lease.task).await);
    w.renew(&[&held.lease]).await;
    assert_eq!((w.snapshot(&held.lease.task).await, w.events_of(&held.lease.task).await), before);
    w.succeed(&held).await;
}

pub(crate) async fn only_the_holder_can_renew(w: &World) {
    let held = w.running(task("a")).await;
    w.advance(LEASE / 2);
    assert_eq!(w.renew_as("w2", &[&held.lease]).await, [Renewed::Lost]);
    assert_eq!(w.renew(&[&held.lease]).await, [Renewed::Held]);
}

pub(crate) async fn another_workers_renewal_does_not_take_the_lease_away(w: &World) {
    let held = w.running(task("a")).await;
    w.advance(LEASE - SECOND);
    w.renew_as("w2", &[&held.lease]).await;
    w.advance(SECOND * 2);
    assert_eq!(w.sweep(1).await.len(), 1, "it was not the holder that renewed");
}

pub(crate) async fn a_finished_task_has_no_lease(w: &World) {
    let held = w.running(task("a")).await;
    w.succeed(&held).await;
    assert_eq!(w.renew(&[&held.lease]).await, [Renewed::Lost]);
    assert_eq!(w.status(&held.lease.task).await, Status::Succeeded);
}

pub(crate) async fn a_task_that_waits_again_has_no_lease(w: &World) {
    let retried = w.running(task("a")).await;
    w.retry(&retried, SECOND * 60).await;
    let snoozed = w.running(task("a")).await;
    w.snooze(&snoozed, SECOND * 60).await;
    let released = w.running(task("a")).await;
    w.release(&released).await;
    let answers = w.renew(&[&retried.lease, &snoozed.lease, &released.lease]).await;
    assert_eq!(answers, [Renewed::Lost, Renewed::Lost, Renewed::Lost]);
}

pub(crate) async fn a_lease_that_was_never_granted_is_lost(w: &World) {
    let held = w.running(task("a")).await;
    let forged = Lease { token: "0-1".into(), ..held.lease.clone() };
    let wrong_attempt = Lease { attempt: 2, ..held.lease.clone() };
    let unknown = Lease { task: TaskId::generate(queue("default")), ..held.lease.clone() };
    let nowhere = Lease { task: TaskId::generate(queue("nowhere")), ..held.lease.clone() };
    let odd = Lease { token: "not a token \0\r\n".into(), ..held.lease.clone() };
    for lease in [forged, wrong_attempt, unknown, nowhere, odd] {
        assert_eq!(w.renew(&[&lease]).await, [Renewed::Lost], "{lease:?}");
    }
    assert_eq!(w.renew(&[&held.lease]).await, [Renewed::Held]);
}

pub(crate) async fn answers_stand_in_the_order_of_the_leases_across_queues(w: &World) {
    let mut leases = Vec::new();
    for n in 0..12 {
        let held = w.running(task("a").queue(["a", "b", "c"][n % 3])).await;
        if n % 4 == 1 {
            w.succeed(&held).await;
        }
        if n % 4 == 2 {
            w.cancel(&held.lease.task).await;
        }
        leases.push(held.lease);
    }
    let expected: Vec<_> = (0..12)
        .map(|n| match n % 4 {
            1 => Renewed::Lost,
            2 => Renewed::CancelRequested("called off".into()),
            _ => Renewed::Held,
        })
        .collect();
    assert_eq!(w.renew(&leases.iter().collect::<Vec<_>>()).await, expected);
}

pub(crate) async fn no_leases_get_no_answers(w: &World) {
    assert_eq!(w.renew(&[]).await, []);
}

pub(crate) async fn a_renewal_tells_of_a_cancellation_again_and_again(w: &World) {
    let held = w.running(task("a")).await;
    assert_eq!(w.renew(&[&held.lease]).await, [Renewed::Held]);
    w.cancel(&held.lease.task).await;
    for _ in 0..2 {
        assert_eq!(w.renew(&[&held.lease]).await, [Renewed::CancelRequested("called off".into())]);
    }
}

pub(crate) async fn a_task_asked_to_cancel_is_still_held(w: &World) {
    let held = w.running(task("a")).await;
    w.cancel(&held.lease.task).await;
    w.advance(LEASE / 2);
    w.renew(&[&held.lease]).await;
    w.advance(LEASE / 2 + SECOND);
    assert!(w.sweep(1).await.is_empty());
    assert_eq!(w.status(&held.lease.task).await, Status::Running);
}

pub(crate) async fn a_reclaimed_lease_can_be_renewed_by_its_new_holder(w: &World) {
    w.running(task("a")).await;
    w.advance(LEASE + SECOND);
    let taken = w.sweep(1).await.remove(0);
    w.advance(LEASE / 2);
    assert_eq!(w.renew_as("w2", &[&taken.lease]).await, [Renewed::Held]);
    w.advance(LEASE / 2 + SECOND);
    assert!(w.sweep(1).await.is_empty());
}

checks! {
    renew:
    a_renewed_lease_lasts_a_full_lease_from_now,
    renewing_changes_nothing_else,
    only_the_holder_can_renew,
    another_workers_renewal_does_not_take_the_lease_away,
    a_finished_task_has_no_lease,
    a_task_that_waits_again_has_no_lease,
    a_lease_that_was_never_granted_is_lost,
    answers_stand_in_the_order_of_the_leases_across_queues,
    no_leases_get_no_answers,
    a_renewal_tells_of_a_cancellation_again_and_again,
    a_task_asked_to_cancel_is_still_held,
    a_reclaimed_lease_can_be_renewed_by_its_new_holder,
}

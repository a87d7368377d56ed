//! Workers that give tasks back, at shutdown.

use dtq::store::{Claim, Renewed, Settled, Verdict};
use dtq::types::{EventKind, Status};
use dtq_tests::{LEASE, World, task, want, worker};

pub(crate) async fn a_released_task_is_queued_again_at_once(w: &World) {
    let first = w.running(task("a")).await;
    assert_eq!(w.settle(&first, Verdict::Release).await, Settled::Applied(Status::Queued));
    assert_eq!((w.status(&first.lease.task).await, w.record(&first.lease.task).await.due_at), (Status::Queued, None));
    assert_eq!((w.stats().await.queued, w.stats().await.running), (1, 0));
    let claim = Claim { worker: worker("w2"), ..want(1) };
    assert_eq!(w.claim_with(claim).await.deliveries.len(), 1);
}

pub(crate) async fn a_release_is_as_if_it_never_started(w: &World) {
    let first = w.running(task("a")).await;
    w.release(&first).await;
    let second = w.claim_one().await;
    assert_eq!((second.lease.attempt, second.reclaimed, &second.payload), (1, false, &first.payload));
    let record = w.record(&first.lease.task).await;
    assert_eq!((record.attempt, record.attempts), (1, vec![]));
    assert_eq!(w.stats().await.retries, 0);
}

pub(crate) async fn every_grant_of_one_attempt_has_its_own_token(w: &World) {
    let mut tokens = std::collections::HashSet::new();
    let mut delivery = w.running(task("a")).await;
    for _ in 0..10 {
        assert!(tokens.insert(delivery.lease.token.clone()), "a token was granted twice");
        w.release(&delivery).await;
        delivery = w.claim_one().await;
    }
}

pub(crate) async fn a_release_is_told(w: &World) {
    use EventKind::{Queued, Released, Started};
    let first = w.running(task("a")).await;
    w.release(&first).await;
    w.claim_one().await;
    assert_eq!(w.events_of(&first.lease.task).await, [Queued, Started, Released, Started]);
}

pub(crate) async fn the_last_attempt_survives_a_release(w: &World) {
    let first = w.running(task("a").max_attempts(1)).await;
    w.release(&first).await;
    let second = w.claim_one().await;
    w.succeed(&second).await;
}

pub(crate) async fn the_lease_before_a_release_is_stale_although_the_attempt_is_the_same(w: &World) {
    let first = w.running(task("a")).await;
    w.release(&first).await;
    let second = w.claim_one().await;
    assert_eq!(w.settle(&first, Verdict::Succeeded { result: None }).await, Settled::Stale);
    assert_eq!(w.renew(&[&first.lease, &second.lease]).await, [Renewed::Lost, Renewed::Held]);
    w.succeed(&second).await;
}

pub(crate) async fn a_released_task_is_nobodys_to_lose(w: &World) {
    let first = w.running(task("a").max_attempts(1)).await;
    w.release(&first).await;
    w.advance(LEASE * 2);
    let second = w.sweep(1).await.remove(0);
    assert_eq!((second.lease.attempt, second.reclaimed), (1, false));
}

pub(crate) async fn a_reclaimed_task_can_be_released_and_keeps_its_attempt(w: &World) {
    w.running(task("a")).await;
    w.advance(LEASE * 2);
    let taken = w.sweep(1).await.remove(0);
    w.release(&taken).await;
    assert_eq!(w.claim_one().await.lease.attempt, 2);
}

checks! {
    release:
    a_released_task_is_queued_again_at_once,
    a_release_is_as_if_it_never_started,
    every_grant_of_one_attempt_has_its_own_token,
    a_release_is_told,
    the_last_attempt_survives_a_release,
    the_lease_before_a_release_is_stale_although_the_attempt_is_the_same,
    a_released_task_is_nobodys_to_lose,
    a_reclaimed_task_can_be_released_and_keeps_its_attempt,
}

//! Claims whose answers were lost, and a worker that lives on.

use std::time::Duration;

use dtq::store::{Claim, Settled, Verdict};
use dtq::types::{Delivery, EventKind, Lease, Status};
use dtq_tests::{LEASE, World, task, want, worker};

const SECOND: Duration = Duration::from_secs(1);

/// What worker `w1` is given, of what it knows nothing beyond these leases.
async fn ask(w: &World, max: usize, holding: &[&Delivery]) -> Vec<Delivery> {
    let holding: Vec<Lease> = holding.iter().map(|one| one.lease.clone()).collect();
    w.claim_with(Claim { holding: Some(holding), ..want(max) }).await.deliveries
}

pub(crate) async fn what_was_never_heard_of_is_handed_out_again_with_its_attempt(w: &World) {
    let unheard = w.running(task("a").payload("{\"x\":1}")).await;
    let again = ask(w, 10, &[]).await.remove(0);
    assert_eq!((&again.lease.task, again.lease.attempt, again.reclaimed), (&unheard.lease.task, 1, false));
    assert_eq!((&again.task, &again.payload, &again.policy), (&unheard.task, &unheard.payload, &unheard.policy));
    assert_eq!((again.priority, again.enqueued_at), (unheard.priority, unheard.enqueued_at));
    let record = w.record(&again.lease.task).await;
    assert_eq!((record.status, record.attempt, record.attempts.len()), (Status::Running, 1, 0));
    assert_eq!(w.settle(&again, Verdict::Succeeded { result: None }).await, Settled::Applied(Status::Succeeded));
    let told = w.events_of(&again.lease.task).await;
    assert_eq!(told, [EventKind::Queued, EventKind::Started, EventKind::Succeeded], "one attempt began");
}

pub(crate) async fn the_only_attempt_is_not_lost(w: &World) {
    w.running(task("a").max_attempts(1)).await;
    let again = ask(w, 1, &[]).await.remove(0);
    assert_eq!(again.lease.attempt, 1);
    w.succeed(&again).await;
}

pub(crate) async fn what_the_worker_holds_is_left_alone(w: &World) {
    let (known, unheard) = (w.running(task("a")).await, w.running(task("b").priority(9)).await);
    let given = ask(w, 10, &[&known]).await;
    assert_eq!(given.len(), 1);
    assert_eq!(given[0].lease.task, unheard.lease.task);
    assert!(ask(w, 10, &[&known, &given[0]]).await.is_empty());
    w.succeed(&known).await;
    w.succeed(&given[0]).await;
}

pub(crate) async fn what_others_hold_is_left_alone(w: &World) {
    w.enqueue(task("a")).await;
    let others = w.claim_with(Claim { worker: worker("w2"), ..want(1) }).await.deliveries.remove(0);
    assert!(ask(w, 10, &[]).await.is_empty());
    w.succeed(&others).await;
}

pub(crate) async fn other_queues_are_left_alone(w: &World) {
    let elsewhere = w.running(task("a").queue("other")).await;
    assert!(ask(w, 10, &[]).await.is_empty());
    w.succeed(&elsewhere).await;
}

pub(crate) async fn it_comes_before_what_is_ready_and_fills_the_hand_like_it(w: &World) {
    w.enqueue_many(5, || task("unheard").priority(2)).await;
    w.claim(5).await;
    w.enqueue_many(3, || task("ready").priority(9)).await;
    let holding = Some(Vec::new());
    let first = w.claim_with(Claim { holding: holding.clone(), ..want(4) }).await;
    assert!(first.more);
    assert!(first.deliveries.iter().all(|delivery| delivery.task == "unheard"));
    let mine: Vec<_> = first.deliveries.iter().collect();
    let rest = ask(w, 4, &mine).await;
    let names: Vec<_> = rest.iter().map(|delivery| delivery.task.as_str()).collect();
    assert_eq!(names, ["unheard", "ready", "ready", "ready"]);
}

pub(crate) async fn the_lease_begins_anew(w: &World) {
    w.running(task("a")).await;
    w.advance(LEASE - w.slack() - SECOND);
    let again = ask(w, 1, &[]).await.remove(0);
    w.advance(LEASE - w.slack() - SECOND);
    assert!(w.sweep(1).await.is_empty());
    w.succeed(&again).await;
}

pub(crate) async fn a_run_out_lease_that_nobody_took_is_still_its_workers(w: &World) {
    w.running(task("a").max_attempts(1)).await;
    w.advance(LEASE * 2);
    let holding = Some(Vec::new());
    let again = w.claim_with(Claim { holding, sweep: true, ..want(1) }).await.deliveries.remove(0);
    assert_eq!(again.lease.attempt, 1);
    w.succeed(&again).await;
}

pub(crate) async fn a_later_attempt_keeps_its_number(w: &World) {
    let first = w.running(task("a")).await;
    w.retry(&first, Duration::ZERO).await;
    let second = w.claim_one().await;
    assert_eq!(second.lease.attempt, 2);
    let again = ask(w, 1, &[]).await.remove(0);
    assert_eq!(again.lease.attempt, 2);
    w.succeed(&again).await;
}

pub(crate) async fn many_come_in_bounded_steps(w: &World) {
    w.enqueue_many(300, || task("a")).await;
    for _ in 0..3 {
        w.claim(100).await;
    }
    let mut mine: Vec<Delivery> = Vec::new();
    for _ in 0..4 {
        let step = ask(w, 500, &mine.iter().collect::<Vec<_>>()).await;
        assert!(step.len() <= dtq::store::BATCH);
        mine.extend(step);
    }
    assert_eq!(mine.len(), 300);
    w.succeed(&mine[299]).await;
}

checks! {
    unheard:
    what_was_never_heard_of_is_handed_out_again_with_its_attempt,
    the_only_attempt_is_not_lost,
    what_the_worker_holds_is_left_alone,
    what_others_hold_is_left_alone,
    other_queues_are_left_alone,
    it_comes_before_what_is_ready_and_fills_the_hand_like_it,
    the_lease_begins_anew,
    a_run_out_lease_that_nobody_took_is_still_its_workers,
    a_later_attempt_keeps_its_number,
    many_come_in_bounded_steps,
}

//! Workers that are not heard of any more, long before their leases end.

use std::time::Duration;

use dtq::store::{BATCH, Claim, Settled, Verdict};
use dtq::types::{Delivery, ErrorKind, Status, WorkerInfo};
use dtq_tests::{DEFAULT, World, info, queue, task, want, worker};

const SECOND: Duration = Duration::from_secs(1);
/// Leases are ten times as long.
const SILENCE: Duration = Duration::from_secs(60);

fn wish(name: &str) -> Claim {
    Claim { worker: worker(name), silence: SILENCE, sweep: true, ..want(1) }
}

async fn look(w: &World, name: &str) -> Vec<Delivery> {
    w.claim_with(wish(name)).await.deliveries
}

async fn held_by(w: &World, name: &str) -> Delivery {
    w.enqueue(task("a")).await;
    look(w, name).await.remove(0)
}

async fn beat(w: &World, name: &str) {
    w.beat(info(name), SILENCE).await;
}

/// Lets time pass while these workers are heard of.
async fn pass(w: &World, by: Duration, heard: &[&str]) {
    for _ in 0..8 {
        w.advance(by / 8);
        for name in heard {
            beat(w, name).await;
        }
    }
}

pub(crate) async fn what_a_silent_worker_holds_is_taken_over_long_before_its_lease_ends(w: &World) {
    let lost = held_by(w, "w1").await;
    pass(w, SILENCE + SECOND, &["w2"]).await;
    let taken = look(w, "w2").await.remove(0);
    assert_eq!((&taken.lease.task, taken.lease.attempt, taken.reclaimed), (&lost.lease.task, 2, true));
    assert_eq!(w.settle(&lost, Verdict::Succeeded { result: None }).await, Settled::Stale);
    w.succeed(&taken).await;
}

pub(crate) async fn the_lost_attempt_names_the_worker_and_its_silence(w: &World) {
    let lost = held_by(w, "w1").await;
    pass(w, SILENCE + SECOND, &["w2"]).await;
    look(w, "w2").await;
    let failure = w.record(&lost.lease.task).await.attempts.remove(0).failure;
    assert_eq!(failure.kind, ErrorKind::WorkerLost);
    assert_eq!(failure.message, "worker w1 died or was cut off: its heartbeats stopped");
}

pub(crate) async fn a_run_out_lease_names_the_worker_too(w: &World) {
    let lost = w.running(task("a")).await;
    w.advance(dtq_tests::LEASE + SECOND);
    w.sweep(1).await;
    let failure = w.record(&lost.lease.task).await.attempts.remove(0).failure;
    assert_eq!(failure.message, "worker w1 died or was paused longer than its lease");
}

pub(crate) async fn a_worker_that_is_heard_of_keeps_what_it_holds(w: &World) {
    let held = held_by(w, "w1").await;
    pass(w, SILENCE * 3, &["w1", "w2"]).await;
    assert!(look(w, "w2").await.is_empty());
    w.succeed(&held).await;
}

pub(crate) async fn a_claim_that_brings_something_is_a_sign_of_life(w: &World) {
    let first = held_by(w, "w1").await;
    pass(w, SILENCE * 3 / 4, &["w2"]).await;
    held_by(w, "w1").await;
    pass(w, SILENCE * 3 / 4, &["w2"]).await;
    assert!(look(w, "w2").await.is_empty());
    w.succeed(&first).await;
}

pub(crate) async fn whoever_claims_is_not_gone(w: &World) {
    held_by(w, "w1").await;
    pass(w, SILENCE + SECOND, &["w2"]).await;
    assert!(look(w, "w1").await.is_empty(), "a worker took over from itself");
    assert_eq!(look(w, "w2").await.len(), 1, "but others do not know that");
}

pub(crate) async fn a_worker_that_is_back_before_anybody_looked_keeps_what_it_holds(w: &World) {
    let held = held_by(w, "w1").await;
    pass(w, SILENCE * 2, &["w2"]).await;
    beat(w, "w1").await;
    assert!(look(w, "w2").await.is_empty());
    w.succeed(&held).await;
}

pub(crate) async fn when_nobody_was_heard_of_the_store_was_away_and_nobody_is_gone(w: &World) {
    let held = held_by(w, "w1").await;
    w.advance(SILENCE * 3);
    // The other one is the first to reach the store again.
    assert!(look(w, "w2").await.is_empty());
    pass(w, SILENCE / 2, &["w2"]).await;
    assert!(look(w, "w2").await.is_empty());
    beat(w, "w1").await;
    pass(w, SILENCE, &["w1", "w2"]).await;
    assert!(look(w, "w2").await.is_empty());
    w.succeed(&held).await;
}

pub(crate) async fn the_first_heartbeat_after_the_store_was_away_judges_nobody(w: &World) {
    let held = held_by(w, "w1").await;
    w.advance(SILENCE * 3);
    beat(w, "w2").await;
    assert!(look(w, "w2").await.is_empty());
    beat(w, "w1").await;
    pass(w, SILENCE * 2, &["w1", "w2"]).await;
    assert!(look(w, "w2").await.is_empty());
    w.succeed(&held).await;
}

pub(crate) async fn who_does_not_come_back_after_that_is_gone(w: &World) {
    let lost = held_by(w, "w1").await;
    w.advance(SILENCE * 3);
    assert!(look(w, "w2").await.is_empty());
    pass(w, SILENCE + SECOND, &["w2"]).await;
    assert_eq!(look(w, "w2").await[0].lease.task, lost.lease.task);
}

pub(crate) async fn silence_is_judged_by_the_silent_workers_own_measure(w: &World) {
    w.enqueue(task("a")).await;
    let patient = Claim { silence: SILENCE * 3, ..wish("w1") };
    let held = w.claim_with(patient).await.deliveries.remove(0);
    pass(w, SILENCE * 2, &["w2"]).await;
    assert!(look(w, "w2").await.is_empty());
    w.succeed(&held).await;
}

pub(crate) async fn every_queue_is_freed(w: &World) {
    w.enqueue(task("a").queue("other")).await;
    let claim = |name| Claim { queue: queue("other"), ..wish(name) };
    let elsewhere = w.claim_with(claim("w1")).await.deliveries.remove(0);
    let here = held_by(w, "w1").await;
    for _ in 0..8 {
        w.advance((SILENCE + SECOND) / 8);
        w.beat(WorkerInfo { queues: vec![queue(DEFAULT), queue("other")], ..info("w2") }, SILENCE).await;
    }
    assert_eq!(look(w, "w2").await[0].lease.task, here.lease.task);
    assert_eq!(w.claim_with(claim("w2")).await.deliveries[0].lease.task, elsewhere.lease.task);
}

pub(crate) async fn a_silent_worker_that_held_much_loses_all_of_it_step_by_step(w: &World) {
    w.enqueue_many(300, || task("a")).await;
    let claim = |name, max| Claim { worker: worker(name), silence: SILENCE, sweep: true, ..want(max) };
    for _ in 0..3 {
        w.claim_with(claim("w1", 100)).await;
    }
    pass(w, SILENCE + SECOND, &["w2"]).await;
    let mut taken = 0;
    for _ in 0..4 {
        let step = w.claim_with(claim("w2", 100)).await.deliveries;
        assert!(step.len() <= 100 && step.iter().all(|delivery| delivery.lease.attempt == 2));
        taken += step.len();
    }
    assert_eq!(taken, 300);
}

pub(crate) async fn a_full_hand_is_not_the_end_of_what_a_silent_worker_held(w: &World) {
    w.enqueue_many(2 * BATCH + 1, || task("a")).await;
    let claim = |name| Claim { worker: worker(name), silence: SILENCE, sweep: true, ..want(BATCH) };
    for _ in 0..3 {
        w.claim_with(claim("w1")).await;
    }
    pass(w, SILENCE + SECOND, &["w2"]).await;
    let mut taken = 0;
    for _ in 0..3 {
        taken += w.claim_with(claim("w2")).await.deliveries.len();
    }
    assert_eq!(taken, 2 * BATCH + 1);
}

pub(crate) async fn after_the_store_was_away_a_worker_with_another_measure_judges_nobody_either(w: &World) {
    for others in [SILENCE * 20, SILENCE / 20] {
        let held = held_by(w, "w1").await;
        let claim = Claim { silence: others, ..wish("w2") };
        w.claim_with(claim.clone()).await;
        w.advance(SILENCE * 2);
        assert!(w.claim_with(claim.clone()).await.deliveries.is_empty(), "{others:?}");
        w.advance(SILENCE / 10);
        assert!(w.claim_with(claim).await.deliveries.is_empty(), "{others:?}");
        beat(w, "w1").await;
        w.succeed(&held).await;
    }
}

pub(crate) async fn whoever_reads_a_queue_is_heard_of_in_it_also_when_it_seldom_claims(w: &World) {
    let lost = held_by(w, "w1").await;
    for _ in 0..8 {
        w.advance(SILENCE / 7);
        w.beat(info("w2"), SILENCE).await;
    }
    assert_eq!(look(w, "w2").await[0].lease.task, lost.lease.task);
}

pub(crate) async fn a_survivor_that_sends_few_heartbeats_notices_it_as_soon(w: &World) {
    let lost = held_by(w, "w1").await;
    let claim = Claim { silence: SILENCE * 20, ..wish("w2") };
    let mut taken = Vec::new();
    for _ in 0..8 {
        w.advance(SILENCE / 7);
        taken.extend(w.claim_with(claim.clone()).await.deliveries);
    }
    assert_eq!(taken.iter().map(|it| &it.lease.task).collect::<Vec<_>>(), [&lost.lease.task]);
}

pub(crate) async fn the_last_attempt_of_a_silent_worker_is_final(w: &World) {
    w.enqueue(task("a").max_attempts(1)).await;
    let lost = look(w, "w1").await.remove(0);
    pass(w, SILENCE + SECOND, &["w2"]).await;
    assert!(look(w, "w2").await.is_empty());
    assert_eq!(w.status(&lost.lease.task).await, Status::DeadLettered);
    assert_eq!(w.stats().await.running, 0);
}

pub(crate) async fn it_is_noticed_without_a_sweep_within_a_second(w: &World) {
    let lost = held_by(w, "w1").await;
    pass(w, SILENCE + SECOND, &["w2"]).await;
    let claim = Claim { sweep: false, ..wish("w2") };
    w.claim_with(claim.clone()).await;
    w.advance(SECOND);
    let status = w.record(&lost.lease.task).await;
    let again = w.claim_with(claim).await.deliveries;
    assert!(status.attempt == 2 || again.len() == 1);
}

checks! {
    silence:
    what_a_silent_worker_holds_is_taken_over_long_before_its_lease_ends,
    the_lost_attempt_names_the_worker_and_its_silence,
    a_run_out_lease_names_the_worker_too,
    a_worker_that_is_heard_of_keeps_what_it_holds,
    a_claim_that_brings_something_is_a_sign_of_life,
    whoever_claims_is_not_gone,
    a_worker_that_is_back_before_anybody_looked_keeps_what_it_holds,
    when_nobody_was_heard_of_the_store_was_away_and_nobody_is_gone,
    the_first_heartbeat_after_the_store_was_away_judges_nobody,
    who_does_not_come_back_after_that_is_gone,
    silence_is_judged_by_the_silent_workers_own_measure,
    every_queue_is_freed,
    a_silent_worker_that_held_much_loses_all_of_it_step_by_step,
    a_full_hand_is_not_the_end_of_what_a_silent_worker_held,
    after_the_store_was_away_a_worker_with_another_measure_judges_nobody_either,
    whoever_reads_a_queue_is_heard_of_in_it_also_when_it_seldom_claims,
    a_survivor_that_sends_few_heartbeats_notices_it_as_soon,
    the_last_attempt_of_a_silent_worker_is_final,
    it_is_noticed_without_a_sweep_within_a_second,
}

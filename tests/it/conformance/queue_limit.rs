//! How many tasks of a queue run at once, on all workers together.

use std::time::{Duration, Instant};

use dtq::store::{Claim, Verdict, Wait};
use dtq::types::{LimitChanges, Status};
use dtq_tests::{DEFAULT, LEASE, World, promptly, queue, task, want, worker};

const SECOND: Duration = Duration::from_secs(1);

fn at_most(most: u32) -> LimitChanges {
    LimitChanges::new().concurrency(most)
}

pub(crate) async fn it_holds_over_all_workers(w: &World) {
    w.set_limits(at_most(3)).await;
    w.enqueue_many(10, || task("a")).await;
    let first = w.claim(2).await;
    let second = w.claim_with(Claim { worker: worker("w2"), ..want(10) }).await;
    assert_eq!((first.len(), second.deliveries.len()), (2, 1));
    assert!(!second.more, "only the end of a task makes room");
    let none = w.claim_with(Claim { sweep: true, ..want(10) }).await;
    assert!(none.deliveries.is_empty() && !none.more && !none.paused);
    let limits = w.limits().await;
    assert_eq!((limits.concurrency, limits.running, limits.depth), (Some(3), 3, 7));
}

pub(crate) async fn every_end_of_an_attempt_makes_room(w: &World) {
    w.set_limits(at_most(1)).await;
    w.enqueue_many(8, || task("a")).await;
    for n in 0..8 {
        let held = w.claim(10).await;
        assert_eq!(held.len(), 1, "round {n}");
        assert!(w.claim(10).await.is_empty(), "round {n}");
        match n {
            0 => w.succeed(&held[0]).await,
            1 => w.fail(&held[0]).await,
            2 => w.drop_task(&held[0]).await,
            3 => w.retry(&held[0], SECOND * 60).await,
            4 => w.snooze(&held[0], SECOND * 60).await,
            5 => w.release(&held[0]).await,
            6 => {
                w.cancel(&held[0].lease.task).await;
                w.settle_to(&held[0], Verdict::Release, Status::Cancelled).await;
            }
            _ => w.succeed(&held[0]).await,
        }
    }
}

async fn a_wait_ends_when_there_is_room(w: &World, limit: LimitChanges) {
    w.set_limits(limit).await;
    w.enqueue_many(3, || task("a")).await;
    let held = w.claim(1).await.remove(0);
    assert!(w.claim(1).await.is_empty());
    let (began, timeout) = (Instant::now(), Duration::from_millis(200));
    w.store().wait(Wait { queues: vec![queue(DEFAULT)], timeout }).await.expect("wait");
    assert!(began.elapsed() >= timeout, "woken for nothing after {:?}", began.elapsed());
    let second = w.second_store().await;
    let waiting = tokio::spawn(async move {
        second.wait(Wait { queues: vec![queue(DEFAULT)], timeout: Duration::from_secs(600) }).await.expect("wait");
    });
    w.succeed(&held).await;
    promptly("the waiting call ends", waiting).await.expect("the waiting task");
    assert_eq!(w.claim(5).await.len(), 1);
}

pub(crate) async fn waiting_is_calm_until_one_ends(w: &World) {
    a_wait_ends_when_there_is_room(w, at_most(1)).await;
}

pub(crate) async fn waiting_for_a_limited_task_is_as_calm(w: &World) {
    a_wait_ends_when_there_is_room(w, LimitChanges::new().task("a", 1)).await;
}

pub(crate) async fn a_dead_workers_task_counts_once_and_its_end_makes_room(w: &World) {
    w.set_limits(at_most(2)).await;
    let lost = w.running(task("a").max_attempts(2)).await;
    w.enqueue_many(4, || task("b")).await;
    w.advance(LEASE * 2);
    let taken = w.claim_with(Claim { worker: worker("w2"), sweep: true, ..want(10) }).await.deliveries;
    let names: Vec<_> = taken.iter().map(|delivery| delivery.task.as_str()).collect();
    assert_eq!(names, ["a", "b"], "the one that is taken over has a place already");
    assert_eq!(taken[0].lease.task, lost.lease.task);
    w.succeed(&taken[1]).await;
    // Its last attempt is lost, too: its place goes to the next one in the same step.
    w.advance(LEASE * 2);
    let rest = w.claim_with(Claim { worker: worker("w3"), sweep: true, ..want(10) }).await.deliveries;
    assert_eq!(rest.len(), 2);
    assert_eq!(w.status(&lost.lease.task).await, Status::DeadLettered);
}

pub(crate) async fn a_lower_limit_lets_what_runs_finish(w: &World) {
    w.enqueue_many(10, || task("a")).await;
    let held = w.claim(5).await;
    w.set_limits(at_most(2)).await;
    for delivery in &held[..3] {
        assert!(w.claim(1).await.is_empty());
        w.succeed(delivery).await;
    }
    assert!(w.claim(1).await.is_empty());
    w.succeed(&held[3]).await;
    assert_eq!(w.claim(5).await.len(), 1);
    w.set_limits(LimitChanges::new().no_concurrency()).await;
    assert_eq!(w.claim(5).await.len(), 4);
    assert_eq!(w.limits().await.concurrency, None);
}

pub(crate) async fn who_waits_learns_of_a_higher_limit(w: &World) {
    w.set_limits(at_most(0)).await;
    w.enqueue(task("a")).await;
    assert!(w.claim(1).await.is_empty());
    let second = w.second_store().await;
    let waiting = tokio::spawn(async move {
        second.wait(Wait { queues: vec![queue(DEFAULT)], timeout: Duration::from_secs(600) }).await.expect("wait");
    });
    w.set_limits(at_most(1)).await;
    promptly("the waiting call ends", waiting).await.expect("the waiting task");
    w.claim_one().await;
}

pub(crate) async fn what_ran_before_the_limit_wakes_who_waits_when_it_ends(w: &World) {
    let held = w.running(task("a")).await;
    w.enqueue(task("b")).await;
    w.set_limits(at_most(1)).await;
    assert!(w.claim(1).await.is_empty());
    let second = w.second_store().await;
    let waiting = tokio::spawn(async move {
        second.wait(Wait { queues: vec![queue(DEFAULT)], timeout: Duration::from_secs(600) }).await.expect("wait");
    });
    w.succeed(&held).await;
    promptly("the waiting call ends", waiting).await.expect("the waiting task");
    w.claim_one().await;
}

checks! { queue_limit:
    it_holds_over_all_workers,
    every_end_of_an_attempt_makes_room,
    waiting_is_calm_until_one_ends,
    waiting_for_a_limited_task_is_as_calm,
    a_dead_workers_task_counts_once_and_its_end_makes_room,
    a_lower_limit_lets_what_runs_finish,
    who_waits_learns_of_a_higher_limit,
    what_ran_before_the_limit_wakes_who_waits_when_it_ends,
}

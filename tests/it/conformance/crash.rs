//! Processes that are killed in the midst of their work, and several that share one store.

use std::collections::HashSet;
use std::time::Duration;

use dtq::store::Claim;
use dtq::types::Status;
use dtq_tests::{LEASE, World, task, want, worker};

use crate::child::{Process, Role};

const MARGIN: Duration = Duration::from_secs(60);

pub(crate) async fn a_killed_producer_loses_nothing_that_was_accepted(w: &World) {
    let mut child = Process::start(w, Role::Produce);
    let mut accepted: Vec<String> = (0..40).map(|_| child.next().expect("another task")).collect();
    accepted.extend(child.kill());
    for id in &accepted {
        assert_eq!(w.status(&id.parse().unwrap()).await, Status::Queued);
    }
    // One more may have been accepted without its producer hearing of it.
    let queued = usize::try_from(w.stats().await.queued).unwrap();
    assert!((accepted.len()..=accepted.len() + 1).contains(&queued), "{queued} queued, {} told", accepted.len());
    assert_eq!(w.drain(want(128)).await.len(), queued);
}

pub(crate) async fn a_killed_workers_tasks_are_taken_over(w: &World) {
    let ids = w.enqueue_many(5, || task("a")).await;
    let mut child = Process::start(w, Role::Hold);
    let held: HashSet<_> = (0..3).map(|_| child.next().expect("another task")).collect();
    child.kill();
    assert_eq!(held, ids[..3].iter().map(ToString::to_string).collect());
    assert!(w.sweep(10).await.iter().all(|delivery| !delivery.reclaimed), "their leases have not run out");
    w.advance(LEASE + MARGIN);
    let taken = w.claim_with(Claim { worker: worker("w3"), sweep: true, ..want(10) }).await.deliveries;
    let lost: HashSet<_> = taken.iter().map(|delivery| delivery.lease.task.to_string()).collect();
    assert!(held.is_subset(&lost));
    assert!(taken.iter().all(|delivery| delivery.lease.attempt == 2));
}

pub(crate) async fn workers_killed_again_and_again_lose_nothing(w: &World) {
    let ids = w.enqueue_many(150, || task("a").max_attempts(100)).await;
    let mut told = Vec::new();
    for _ in 0..3 {
        let mut child = Process::start(w, Role::Work);
        told.extend((0..20).map_while(|_| child.next()));
        told.extend(child.kill());
    }
    for id in &told {
        assert_eq!(w.status(&id.parse().unwrap()).await, Status::Succeeded, "{id} had been settled");
    }
    w.advance(LEASE + MARGIN);
    for delivery in w.drain(Claim { sweep: true, ..want(50) }).await {
        w.succeed(&delivery).await;
    }
    let stats = w.stats().await;
    assert_eq!((usize::try_from(stats.succeeded).unwrap(), stats.unfinished()), (ids.len(), 0));
}

pub(crate) async fn several_processes_run_every_task_once(w: &World) {
    let ids = w.enqueue_many(200, || task("a")).await;
    let children: Vec<_> = (0..4).map(|_| Process::start(w, Role::Work)).collect();
    let mut told = Vec::new();
    for mut child in children {
        told.extend(std::iter::from_fn(|| child.next()));
    }
    assert_eq!(told.len(), ids.len());
    assert_eq!(told.into_iter().collect::<HashSet<_>>(), ids.iter().map(ToString::to_string).collect());
    assert_eq!(w.stats().await.succeeded, 200);
}

checks! {
    crash:
    a_killed_producer_loses_nothing_that_was_accepted,
    a_killed_workers_tasks_are_taken_over,
    workers_killed_again_and_again_lose_nothing,
    several_processes_run_every_task_once,
}

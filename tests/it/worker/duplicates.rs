//! Several workers after the same tasks: each task is run by one of them.

use std::collections::HashMap;
use std::time::Duration;

use dtq::prelude::*;
use dtq::types::EventKind;
use dtq::{RunningWorker, Worker};
use dtq_tests::{LEASE, World, eventually};

use super::{Bench, Probe, on_both_stores};

const TASKS: u32 = 60;
const HOUR: Duration = Duration::from_secs(3600);

#[dtq::task]
async fn wanted_by_many(#[state] probe: &Probe, n: u32) {
    probe.note(n.to_string());
}

/// Three workers, each on a handle of its own.
async fn three_workers(w: &World, b: &Bench<'_>) -> Vec<RunningWorker> {
    let mut workers = Vec::new();
    for _ in 0..3 {
        let client = Client::with_store(w.second_store().await);
        let worker = Worker::new(client, b.app(), Bench::config()).unwrap();
        workers.push(worker.start().await.unwrap());
    }
    workers
}

/// Waits until every handler ran, and asserts that none ran twice.
async fn assert_each_ran_once(w: &World, b: &Bench<'_>, workers: Vec<RunningWorker>, advance: Duration) {
    eventually("all are done", || async {
        w.advance(advance);
        (w.stats().await.succeeded >= u64::from(TASKS)).then_some(())
    })
    .await;
    for worker in workers {
        worker.stop().await;
    }
    let mut runs: HashMap<String, usize> = HashMap::new();
    b.probe.notes().into_iter().for_each(|n| *runs.entry(n).or_default() += 1);
    assert_eq!(runs.len(), usize::try_from(TASKS).unwrap());
    assert!(runs.values().all(|&times| times == 1), "{runs:?}");
}

async fn lost_tasks_that_several_workers_look_for_run_once(w: &World) {
    let b = Bench::new(w);
    let handles = wanted_by_many::enqueue_many(0..TASKS).on(&b.client).await.unwrap();
    assert_eq!(w.claim(128).await.len(), handles.len());
    w.advance(2 * LEASE);
    let workers = three_workers(w, &b).await;
    // A store may look for run-out leases only every quarter of a lease.
    assert_each_ran_once(w, &b, workers, LEASE / 4).await;
    for handle in &handles {
        let kinds = w.events_of(handle.id()).await;
        let expected = [EventKind::Queued, EventKind::Started, EventKind::Reclaimed, EventKind::Started];
        assert_eq!(kinds, [&expected[..], &[EventKind::Succeeded]].concat());
    }
}

async fn due_tasks_that_several_workers_move_run_once(w: &World) {
    let b = Bench::new(w);
    let handles = wanted_by_many::enqueue_many(0..TASKS).delay(HOUR).on(&b.client).await.unwrap();
    let workers = three_workers(w, &b).await;
    w.advance(HOUR);
    assert_each_ran_once(w, &b, workers, Duration::ZERO).await;
    for handle in &handles {
        let expected = [EventKind::Queued, EventKind::Queued, EventKind::Started, EventKind::Succeeded];
        assert_eq!(w.events_of(handle.id()).await, expected);
    }
}

on_both_stores! {
    lost_tasks_that_several_workers_look_for_run_once,
    due_tasks_that_several_workers_move_run_once,
}

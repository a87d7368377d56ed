//! Allocations of this process per task, and how many copies of large arguments they come to. Counts do not depend on the
//! machine, so a rise is a change of the code; whoever raises one says why in the commit.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use std::alloc::System;

use dtq::{App, Client, Worker, WorkerConfig};
use dtq_tests::{World, eventually, queue};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, Stats, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

#[dtq::task(queue = "allocations", retention = "0s")]
async fn allocates_nothing(n: u32, text: String) {
    drop((n, text));
}

/// What a future allocates, with all that other threads of this process do meanwhile.
async fn counted(work: impl Future<Output = ()>) -> Stats {
    let region = Region::new(ALLOCATOR);
    work.await;
    region.change()
}

/// Enqueues one by one.
async fn enqueue_singly(client: &Client, tasks: u32, text: &str) {
    for n in 0..tasks {
        allocates_nothing::enqueue(n, text.to_owned()).on(client).await.unwrap();
    }
}

async fn enqueue_many(client: &Client, tasks: u32, text: &str) {
    allocates_nothing::enqueue_many((0..tasks).map(|n| (n, text.to_owned()))).on(client).await.unwrap();
}

async fn drain(client: &Client, concurrency: usize) {
    let mut app = App::new();
    app.register::<allocates_nothing>().only_registered();
    let config = WorkerConfig::new().concurrency(concurrency).queues([queue("allocations")]);
    let worker = Worker::new(client.clone(), app, config).unwrap().start().await.unwrap();
    eventually("all have run", || async {
        let stats = client.stats(&queue("allocations")).await.unwrap();
        (stats.unfinished() == 0).then_some(())
    })
    .await;
    worker.stop().await;
}

/// The steps that are counted.
const STEPS: [&str; 3] = ["enqueue", "enqueue_many", "run"];

/// Allocations per task, reallocations included. Of the arguments, each call has allocated one string itself.
async fn allocations(client: &Client) -> [f64; 3] {
    const FEW: u32 = 500;
    const TASKS: u32 = 12_800;
    let text = "x".repeat(150);
    // The first calls warm up connections and caches.
    enqueue_singly(client, FEW, &text).await;
    enqueue_many(client, TASKS, &text).await;
    drain(client, 512).await;
    let singly = counted(enqueue_singly(client, FEW, &text)).await;
    drain(client, 512).await;
    let many = counted(enqueue_many(client, TASKS, &text)).await;
    let run = counted(drain(client, 512)).await;
    let per = |stats: Stats, tasks: u32| (stats.allocations + stats.reallocations) as f64 / f64::from(tasks);
    [per(singly, FEW), per(many, TASKS), per(run, TASKS)]
}

/// How many times the size of large arguments is allocated per task. One of them is the string that the call was given, and
/// in a run the one that the function is given.
async fn copies(client: &Client) -> [f64; 3] {
    const LARGE: usize = 512 * 1024;
    const TASKS: u32 = 16;
    let text = "x".repeat(LARGE);
    enqueue_many(client, 2 * TASKS, &text).await;
    // One after the other: answers that hold many tasks would take larger buffers.
    drain(client, 1).await;
    let singly = counted(enqueue_singly(client, TASKS, &text)).await;
    drain(client, 1).await;
    let many = counted(enqueue_many(client, TASKS, &text)).await;
    let run = counted(drain(client, 1)).await;
    [singly, many, run].map(|stats| stats.bytes_allocated as f64 / f64::from(TASKS) / LARGE as f64)
}

fn assert_within(what: &str, found: [f64; 3], recorded: [f64; 3]) {
    eprintln!("{what}: {found:.2?}, recorded {recorded:?}");
    for ((found, recorded), step) in found.into_iter().zip(recorded).zip(STEPS) {
        assert!(
            found <= recorded,
            "{what}, {step}: {found:.2} a task, {recorded} recorded. Something on the hot path allocates more than before: mend \
             it, or raise the number here and say why in the commit."
        );
    }
}

/// One test, for both stores: what runs beside it would be counted.
#[tokio::test]
async fn a_task_allocates_little() {
    let (redis, sqlite) = (World::redis().await, World::sqlite().await);
    let [redis, sqlite] = [&redis, &sqlite].map(|world| Client::with_store(world.store()));
    assert_within("allocations on Redis", allocations(&redis).await, [32.6, 3.7, 18.2]);
    assert_within("allocations on SQLite", allocations(&sqlite).await, [28.5, 3.3, 21.2]);
    assert_within("copies on Redis", copies(&redis).await, [4.2, 4.2, 2.3]);
    assert_within("copies on SQLite", copies(&sqlite).await, [2.2, 2.2, 3.2]);
}

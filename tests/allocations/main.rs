//! Allocations of this process per task. Counts do not depend on the machine, so a rise is a change of the code; whoever
//! raises one says why in the commit.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use std::alloc::System;

use dtq::{App, Client, Worker, WorkerConfig};
use dtq_tests::{World, eventually, queue};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

const TASKS: u32 = 12_800;

#[dtq::task(queue = "allocations", retention = "0s")]
async fn allocates_nothing(n: u32) {
    let _ = n;
}

/// Enqueues and drains, and gives the allocations per task of each.
async fn per_task(w: &World) -> [f64; 2] {
    let client = Client::with_store(w.store());
    let calls = || allocates_nothing::enqueue_many(0..TASKS).on(&client);
    // The first calls warm up connections and caches.
    calls().send().await.unwrap();
    drain(&client).await;
    let region = Region::new(ALLOCATOR);
    calls().send().await.unwrap();
    let enqueue = region.change().allocations;
    let region = Region::new(ALLOCATOR);
    drain(&client).await;
    let drain = region.change().allocations;
    [enqueue, drain].map(|count| count as f64 / f64::from(TASKS))
}

async fn drain(client: &Client) {
    let mut app = App::new();
    app.register::<allocates_nothing>().only_registered();
    let config = WorkerConfig::new().concurrency(512).queues([queue("allocations")]);
    let worker = Worker::new(client.clone(), app, config).unwrap().start().await.unwrap();
    eventually("all have run", || async {
        let stats = client.stats(&queue("allocations")).await.unwrap();
        (stats.unfinished() == 0).then_some(())
    })
    .await;
    worker.stop().await;
}

fn assert_within(found: [f64; 2], recorded: [f64; 2]) {
    for ((found, recorded), what) in found.into_iter().zip(recorded).zip(["enqueue", "drain"]) {
        assert!(found <= recorded, "{what}: {found:.2} allocations a task, {recorded} recorded");
    }
}

/// One test, for both stores: what runs beside it would be counted.
#[tokio::test]
async fn a_task_allocates_little() {
    assert_within(per_task(&World::redis().await).await, [5.5, 24.5]);
    assert_within(per_task(&World::sqlite().await).await, [5.5, 21.5]);
}

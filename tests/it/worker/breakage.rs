//! What broke workers once: each check is the shortest way back to it.

use std::time::{Duration, Instant};

use dtq::prelude::*;
use dtq::types::Status;
use dtq::{ResultError, Worker};
use dtq_tests::{World, eventually, queue, task};

use super::{Bench, PATIENCE, Probe, on_both_stores};

#[dtq::task]
async fn gives_seven() -> u32 {
    7
}

/// A plain function that enqueues from its own thread.
#[dtq::task]
fn plain_parent() -> Result<String, TaskError> {
    let handle = tokio::runtime::Handle::current().block_on(async { gives_seven::enqueue().await })?;
    Ok(handle.id().to_string())
}

#[dtq::task]
async fn stands_at_the_gate(#[state] probe: &Probe) {
    probe.note("at the gate");
    probe.gate().await;
}

#[dtq::task]
async fn marks_its_run(#[state] probe: &Probe) {
    probe.note("ran");
}

#[dtq::task]
async fn gives_a_bulky_text(bytes: usize) -> String {
    "x".repeat(bytes)
}

async fn what_a_plain_function_enqueues_goes_to_its_workers_store(w: &World) {
    let b = Bench::new(w);
    let worker = b.worker().await;
    let id = plain_parent::enqueue().on(&b.client).await.unwrap().result(PATIENCE).await.unwrap();
    let child = b.client.handle::<u32>(id.parse().unwrap());
    assert_eq!(child.result(PATIENCE).await.unwrap(), 7);
    worker.stop().await;
}

/// The thread that renews leases must not outlive the runtime whose tasks it renews them for.
async fn a_worker_whose_runtime_is_gone_is_gone(w: &World) {
    let b = Bench::new(w);
    stands_at_the_gate::enqueue().on(&b.client).await.unwrap();
    let worker = Worker::new(b.client.clone(), b.app(), Bench::config()).unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let running = runtime.spawn(worker.start()).await.unwrap().unwrap();
    b.probe.noted("at the gate", 1).await;
    let listed = || async { (w.store().workers().await.unwrap().len() == 1).then_some(()) };
    eventually("it is listed", listed).await;
    runtime.shutdown_background();
    drop(running);
    eventually("it takes its leave", || async { w.store().workers().await.unwrap().is_empty().then_some(()) }).await;
}

/// A prefetched task that was called off while it waited for a slot is not started.
async fn a_task_that_was_called_off_while_it_waited_for_a_slot_is_not_started(w: &World) {
    let b = Bench::new(w);
    let config = Bench::config().concurrency(1).prefetch(1).lease(Duration::from_millis(300));
    let worker = b.worker_with(config).await;
    let first = stands_at_the_gate::enqueue().priority(9).on(&b.client).await.unwrap();
    b.probe.noted("at the gate", 1).await;
    let second = marks_its_run::enqueue().on(&b.client).await.unwrap();
    b.reaches(&second, Status::Running).await;
    second.cancel("not needed").await.unwrap();
    // Its renewal tells the worker; nothing shows that from outside, so time for several has to pass.
    let (clock, began) = (super::RealTime::of(w), Instant::now());
    eventually("renewals have passed", || async {
        clock.tick();
        (began.elapsed() > Duration::from_millis(500)).then_some(())
    })
    .await;
    b.probe.open(1);
    first.result(PATIENCE).await.unwrap();
    b.reaches(&second, Status::Cancelled).await;
    assert_eq!(b.probe.count("ran"), 0);
    worker.stop().await;
}

async fn a_result_that_is_too_large_fails_its_task_and_no_other(w: &World) {
    let b = Bench::new(w);
    let mut config = Bench::config();
    config.max_result = 1000;
    let worker = b.worker_with(config).await;
    let large = gives_a_bulky_text::enqueue(2000).on(&b.client).await.unwrap();
    let error = large.result(PATIENCE).await.unwrap_err().to_string();
    assert!(error.contains("2002 bytes") && error.contains("max_result"), "{error}");
    gives_seven::enqueue().on(&b.client).await.unwrap().result(PATIENCE).await.unwrap();
    worker.stop().await;
}

on_both_stores! {
    what_a_plain_function_enqueues_goes_to_its_workers_store,
    a_worker_whose_runtime_is_gone_is_gone,
    a_task_that_was_called_off_while_it_waited_for_a_slot_is_not_started,
    a_result_that_is_too_large_fails_its_task_and_no_other,
}

#[tokio::test(flavor = "multi_thread")]
async fn redis_one_queue_that_cannot_be_read_holds_up_no_other() {
    let w = World::redis().await;
    let b = Bench::new(&w);
    let _: () = w.server().command(&["SET", "dtq:{broken}:queue", "not a hash"]);
    let worker = b.worker_with(Bench::config().queues([queue("broken"), queue("default")])).await;
    assert_eq!(gives_seven::enqueue().on(&b.client).await.unwrap().result(PATIENCE).await.unwrap(), 7);
    worker.stop().await;
}

#[tokio::test]
async fn redis_one_unreadable_entry_does_not_spoil_a_claim() {
    let w = World::redis().await;
    let uuid = dtq::types::Uuid::now_v7().to_string();
    let (stream, record) = ("dtq:{default}:stream:p5", format!("dtq:{{default}}:task:{uuid}"));
    w.enqueue(task("first")).await;
    let entry: String = w.server().command(&["XADD", stream, "*", "e", &format!("{uuid}garbage a\n{{}}")]);
    let _: () = w.server().command(&["SET", &record, &format!("Q1 5 {entry}")]);
    w.enqueue_many(5, || task("good")).await;
    assert_eq!(w.claim(10).await.len(), 6);
}

#[test]
fn redis_one_client_serves_one_runtime_after_another() {
    let runtime = || tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let (first, second) = (runtime(), runtime());
    let w = first.block_on(World::redis());
    let client = Client::connect(&w.server().url()).unwrap();
    let stats = || async { client.stats(&queue("default")).await };
    first.block_on(stats()).unwrap();
    second.block_on(stats()).expect("while the first one stands still");
    drop(first);
    second.block_on(stats()).expect("after the first one is gone");
}

#[tokio::test(flavor = "multi_thread")]
async fn redis_a_silent_server_does_not_hold_a_waiter_longer_than_its_time() {
    let w = World::redis().await;
    let b = Bench::new(&w);
    let handle = gives_seven::enqueue().on(&b.client).await.unwrap();
    let _: () = w.server().command(&["CLIENT", "PAUSE", "3000", "ALL"]);
    let began = Instant::now();
    let error = handle.result(Duration::from_millis(300)).await.unwrap_err();
    assert!(matches!(error, ResultError::Timeout { .. }), "{error}");
    assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
}

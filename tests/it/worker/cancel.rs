//! Tasks that are called off.

use std::time::{Duration, Instant};

use dtq::prelude::*;
use dtq::store::CancelOutcome;
use dtq::types::{ErrorKind, EventKind, Status};
use dtq::{ResultError, WorkerConfig};
use dtq_tests::{World, eventually, lasting};

use super::{Bench, PATIENCE, Probe, on_both_stores};

/// Waits for its token, then ends in the way it is told.
#[dtq::task(max_attempts = 3)]
async fn listens(ctx: &Context, #[state] probe: &Probe, how: String) -> Result<String, TaskError> {
    probe.note("runs");
    ctx.cancellation().cancelled().await;
    probe.note("told");
    match how.as_str() {
        "finish" => Ok("finished all the same".into()),
        "fail" => Err(TaskError::new("gave up")),
        _ => std::future::pending().await,
    }
}

#[dtq::task]
fn listens_plainly(ctx: &Context, #[state] probe: &Probe) {
    probe.note("runs");
    while !ctx.is_cancelled() {
        std::thread::sleep(Duration::from_millis(2));
    }
    probe.note("told");
}

/// Never ends by itself, and cannot be stopped: a thread is not a future.
#[dtq::task]
fn ignores_plainly(#[state] probe: &Probe) -> u32 {
    probe.note("runs");
    tokio::runtime::Handle::current().block_on(probe.gate());
    probe.note("goes on");
    7
}

/// The lease lasts a day: a cancellation is not learnt of by its renewal.
fn short_grace() -> WorkerConfig {
    Bench::config().cancel_grace(Duration::from_millis(100))
}

async fn a_queued_task_is_called_off_at_once_and_never_runs(w: &World) {
    let b = Bench::new(w);
    let handle = listens::enqueue("finish".into()).on(&b.client).await.unwrap();
    assert_eq!(handle.cancel("not needed").await.unwrap(), CancelOutcome::Cancelled);
    let worker = b.worker().await;
    let error = handle.result(PATIENCE).await.unwrap_err();
    assert!(matches!(error, ResultError::NotSucceeded { status: Status::Cancelled, .. }), "{error:?}");
    assert_eq!(handle.cancel("again").await.unwrap(), CancelOutcome::AlreadyFinished(Status::Cancelled));
    worker.stop().await;
    assert!(b.probe.notes().is_empty());
}

/// Calls a running task off and gives the status it ends with.
async fn call_off(b: &Bench<'_>, how: &str) -> Status {
    let handle = listens::enqueue(how.into()).on(&b.client).await.unwrap();
    b.probe.noted("runs", 1).await;
    assert_eq!(handle.cancel("not needed").await.unwrap(), CancelOutcome::Requested);
    b.probe.noted("told", 1).await;
    let ended = handle.result(PATIENCE).await;
    let record = b.w.record(handle.id()).await;
    assert_eq!(ended.is_ok(), record.status == Status::Succeeded);
    assert_eq!(record.attempt, 1);
    record.status
}

async fn a_running_task_that_obeys_with_an_error_is_cancelled(w: &World) {
    let b = Bench::new(w);
    let worker = b.worker_with(short_grace()).await;
    assert_eq!(call_off(&b, "fail").await, Status::Cancelled);
    assert!(w.dead_letters().await.is_empty());
    worker.stop().await;
}

async fn a_running_task_that_finishes_all_the_same_has_succeeded(w: &World) {
    let b = Bench::new(w);
    let worker = b.worker_with(short_grace()).await;
    assert_eq!(call_off(&b, "finish").await, Status::Succeeded);
    worker.stop().await;
}

async fn a_running_task_that_does_not_obey_is_dropped_after_the_grace(w: &World) {
    let b = Bench::new(w);
    let worker = b.worker_with(short_grace()).await;
    assert_eq!(call_off(&b, "ignore").await, Status::Cancelled);
    assert!(worker.stop().await.drained);
}

async fn a_plain_function_is_told_too(w: &World) {
    let b = Bench::new(w);
    let worker = b.worker_with(short_grace()).await;
    let handle = listens_plainly::enqueue().on(&b.client).await.unwrap();
    b.probe.noted("runs", 1).await;
    handle.cancel("not needed").await.unwrap();
    b.probe.noted("told", 1).await;
    handle.result(PATIENCE).await.expect("it returned without an error");
    assert!(!w.events_of(handle.id()).await.contains(&EventKind::Cancelled));
    worker.stop().await;
}

/// Another process's client calls it off: the worker's own store hears nothing of it in its process.
async fn a_running_task_on_another_node_is_told_within_a_quarter_of_a_second(w: &World) {
    const ROUNDS: usize = 10;
    let b = Bench::new(w);
    let worker = b.worker_with(short_grace()).await;
    let elsewhere = Client::with_store(w.second_store().await);
    let mut waits = Vec::new();
    for round in 1..=ROUNDS {
        let handle = listens::enqueue("fail".into()).on(&elsewhere).await.unwrap();
        b.probe.noted("runs", round).await;
        let asked = Instant::now();
        assert_eq!(handle.cancel("not needed").await.unwrap(), CancelOutcome::Requested);
        b.probe.noted("told", round).await;
        waits.push(asked.elapsed());
        let error = handle.result(PATIENCE).await.unwrap_err();
        assert_eq!((error.status(), error.kind()), (Some(Status::Cancelled), Some(ErrorKind::Cancelled)));
        assert_eq!(error.failure().unwrap().message, "not needed");
    }
    // The middle one: a machine with busy cores may be late now and then.
    waits.sort();
    assert!(waits[ROUNDS / 2] < Duration::from_millis(250), "{waits:?}");
    worker.stop().await;
}

/// As soon as the store says that it runs, its worker may not have heard of it yet.
async fn a_task_that_is_called_off_while_it_is_handed_out_is_told(w: &World) {
    let b = Bench::new(w);
    let worker = b.worker_with(short_grace()).await;
    let elsewhere = w.second_store().await;
    for round in 1..=30 {
        let handle = listens::enqueue("fail".into()).on(&b.client).await.unwrap();
        let by = dtq::types::By::new("a test", "not needed");
        let request = dtq::store::CancelRequest { id: handle.id().clone(), by };
        let outcome = eventually("it runs", || async {
            let record = elsewhere.get(handle.id()).await.unwrap()?;
            if record.status != Status::Running {
                return None;
            }
            Some(elsewhere.cancel(request.clone()).await.unwrap())
        });
        assert_eq!(outcome.await, CancelOutcome::Requested, "round {round}");
        b.reaches(&handle, Status::Cancelled).await;
    }
    worker.stop().await;
}

/// Tasks that begin after a time without any are told as well, and all that were asked at once.
async fn all_that_are_called_off_at_once_are_told(w: &World) {
    let b = Bench::new(w);
    let worker = b.worker_with(short_grace().concurrency(50)).await;
    for round in 1..=2 {
        let handles = listens::enqueue_many((0..50).map(|_| "fail".into())).on(&b.client).await.unwrap();
        b.probe.noted("runs", round * 50).await;
        for handle in &handles {
            handle.cancel("not needed").await.unwrap();
        }
        b.probe.noted("told", round * 50).await;
        for handle in handles {
            assert_eq!(b.reaches(&handle, Status::Cancelled).await.attempt, 1);
        }
    }
    worker.stop().await;
}

/// It waits for a slot behind a task that goes on; it is not asked to wait for that one's end.
async fn a_task_that_waits_for_a_slot_is_called_off_there(w: &World) {
    let b = Bench::new(w);
    let worker = b.worker_with(short_grace().concurrency(1).prefetch(1)).await;
    let first = listens::enqueue("finish".into()).on(&b.client).await.unwrap();
    b.probe.noted("runs", 1).await;
    let second = listens::enqueue("finish".into()).on(&b.client).await.unwrap();
    b.reaches(&second, Status::Running).await;
    second.cancel("not needed").await.unwrap();
    b.reaches(&second, Status::Cancelled).await;
    first.cancel("enough").await.unwrap();
    first.result(PATIENCE).await.unwrap();
    assert_eq!(b.probe.count("runs"), 1);
    worker.stop().await;
}

async fn a_plain_function_that_does_not_obey_runs_on_and_its_result_is_discarded(w: &World) {
    let b = Bench::new(w);
    let worker = b.worker_with(short_grace().concurrency(1)).await;
    let handle = ignores_plainly::enqueue().on(&b.client).await.unwrap();
    b.probe.noted("runs", 1).await;
    handle.cancel("not needed").await.unwrap();
    assert_eq!(handle.result(PATIENCE).await.unwrap_err().status(), Some(Status::Cancelled));
    // Its slot is free, though its thread is not.
    let next = listens::enqueue("finish".into()).on(&b.client).await.unwrap();
    b.probe.noted("runs", 2).await;
    let before = w.snapshot(handle.id()).await.record;
    b.probe.open(1);
    b.probe.noted("goes on", 1).await;
    next.cancel("enough").await.unwrap();
    next.result(PATIENCE).await.unwrap();
    assert_eq!(w.snapshot(handle.id()).await.record, before, "what it returned is nowhere");
    worker.stop().await;
}

on_both_stores! {
    a_running_task_on_another_node_is_told_within_a_quarter_of_a_second,
    a_task_that_is_called_off_while_it_is_handed_out_is_told,
    all_that_are_called_off_at_once_are_told,
    a_task_that_waits_for_a_slot_is_called_off_there,
    a_plain_function_that_does_not_obey_runs_on_and_its_result_is_discarded,
    a_queued_task_is_called_off_at_once_and_never_runs,
    a_running_task_that_obeys_with_an_error_is_cancelled,
    a_running_task_that_finishes_all_the_same_has_succeeded,
    a_running_task_that_does_not_obey_is_dropped_after_the_grace,
    a_plain_function_is_told_too,
}

/// What a worker that runs nothing asks a server for because tasks may be called off: nothing. And one that runs something:
/// one command in ten seconds.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn watching_for_cancellations_costs_an_idle_worker_nothing() {
    let w = World::redis().await;
    let b = Bench::new(&w);
    let worker = b.worker_with(short_grace()).await;
    let asked = || {
        let stats: String = w.server().command(&["INFO", "commandstats"]);
        stats.lines().find(|line| line.starts_with("cmdstat_xread:")).map(ToOwned::to_owned)
    };
    let idle = b.client.clone();
    eventually("the worker lives", || async { (!idle.workers().await.unwrap().is_empty()).then_some(()) }).await;
    lasting(Duration::from_secs(1)).await;
    assert_eq!(asked(), None);
    let handle = listens::enqueue("finish".into()).on(&b.client).await.unwrap();
    b.probe.noted("runs", 1).await;
    lasting(Duration::from_secs(1)).await;
    let clients: String = w.server().command(&["CLIENT", "LIST"]);
    let blocked = clients.lines().filter(|client| client.contains("cmd=xread")).count();
    assert_eq!(blocked, 1, "{clients}");
    assert!(asked().is_some_and(|stats| stats.contains(":calls=1,")), "{:?}", asked());
    handle.cancel("enough").await.unwrap();
    handle.result(PATIENCE).await.unwrap();
    worker.stop().await;
}

//! Tasks that are called off.

use std::time::Duration;

use dtq::prelude::*;
use dtq::store::CancelOutcome;
use dtq::types::{EventKind, Status};
use dtq::{ResultError, WorkerConfig};
use dtq_tests::World;

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

/// A lease that is renewed, and so asks for cancellations, every 600 ms.
fn short_lease() -> WorkerConfig {
    Bench::config().lease(Duration::from_millis(1800)).cancel_grace(Duration::from_millis(100))
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
    let worker = b.worker_with(short_lease()).await;
    assert_eq!(call_off(&b, "fail").await, Status::Cancelled);
    assert!(w.dead_letters().await.is_empty());
    worker.stop().await;
}

async fn a_running_task_that_finishes_all_the_same_has_succeeded(w: &World) {
    let b = Bench::new(w);
    let worker = b.worker_with(short_lease()).await;
    assert_eq!(call_off(&b, "finish").await, Status::Succeeded);
    worker.stop().await;
}

async fn a_running_task_that_does_not_obey_is_dropped_after_the_grace(w: &World) {
    let b = Bench::new(w);
    let worker = b.worker_with(short_lease()).await;
    assert_eq!(call_off(&b, "ignore").await, Status::Cancelled);
    assert!(worker.stop().await.drained);
}

async fn a_plain_function_is_told_too(w: &World) {
    let b = Bench::new(w);
    let worker = b.worker_with(short_lease()).await;
    let handle = listens_plainly::enqueue().on(&b.client).await.unwrap();
    b.probe.noted("runs", 1).await;
    handle.cancel("not needed").await.unwrap();
    b.probe.noted("told", 1).await;
    handle.result(PATIENCE).await.expect("it returned without an error");
    assert!(!w.events_of(handle.id()).await.contains(&EventKind::Cancelled));
    worker.stop().await;
}

on_both_stores! {
    a_queued_task_is_called_off_at_once_and_never_runs,
    a_running_task_that_obeys_with_an_error_is_cancelled,
    a_running_task_that_finishes_all_the_same_has_succeeded,
    a_running_task_that_does_not_obey_is_dropped_after_the_grace,
    a_plain_function_is_told_too,
}

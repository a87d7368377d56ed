//! Duplicate entries under live workers: the handler never sees them, and each leaves one event.

use std::time::Duration;

use dtq::Handle;
use dtq::store::{Settled, Verdict};
use dtq::types::{EventKind, Status};
use dtq_tests::{World, eventually, failure, task};

use super::keys::{copy_entry, entries};
use crate::worker::{Bench, PATIENCE, Probe};

const STREAM: &str = "dtq:{default}:stream:p5";
const SCHEDULE: &str = "dtq:{default}:schedule";
const HOUR: Duration = Duration::from_secs(3600);

/// Counts its runs, and waits to be let through.
#[dtq::task]
async fn seen_once(#[state] probe: &Probe) {
    probe.note("runs");
    probe.gate().await;
}

/// Brings workers of before to look at the queue again, by a task that passes through.
async fn stir(b: &Bench<'_>) {
    #[dtq::task]
    async fn stirs() {}
    stirs::enqueue().on(&b.client).await.unwrap().result(PATIENCE).await.unwrap();
}

/// Lets the task end and asserts that it ran once, that one duplicate was absorbed, and that nothing is left of either.
async fn assert_ran_once(b: &Bench<'_>, handle: &Handle<()>) {
    b.probe.open(2);
    handle.result(PATIENCE).await.unwrap();
    assert_eq!(b.w.record(handle.id()).await.attempt, 1);
    eventually("the duplicate is gone", || async { (entries(b.w.server(), STREAM) == (0, 0)).then_some(()) }).await;
    assert_eq!(b.probe.count("runs"), 1);
    let kinds = b.w.events_of(handle.id()).await;
    let count = |kind| kinds.iter().filter(|&&it| it == kind).count();
    assert_eq!(
        (count(EventKind::DuplicateAbsorbed), count(EventKind::Started), count(EventKind::Succeeded)),
        (1, 1, 1),
        "{kinds:?}"
    );
}

#[tokio::test]
async fn raw_keys_a_copy_in_the_same_batch_never_reaches_the_handler() {
    let w = World::redis().await;
    let b = Bench::new(&w);
    let handle = seen_once::enqueue().on(&b.client).await.unwrap();
    copy_entry(w.server());
    let worker = b.worker().await;
    assert_ran_once(&b, &handle).await;
    worker.stop().await;
}

#[tokio::test]
async fn raw_keys_a_copy_in_another_workers_batch_never_reaches_the_handler() {
    let w = World::redis().await;
    let b = Bench::new(&w);
    let handle = seen_once::enqueue().on(&b.client).await.unwrap();
    // The first one has its hands full.
    let first = b.worker_with(Bench::config().concurrency(1)).await;
    b.probe.noted("runs", 1).await;
    copy_entry(w.server());
    let second = b.worker().await;
    stir(&b).await;
    assert_ran_once(&b, &handle).await;
    first.stop().await;
    second.stop().await;
}

/// Puts a task (back) on the schedule, due, as it stands there when a mover died before it took it off.
fn left_on_the_schedule(w: &World, handle: &Handle<()>) {
    let _: i64 = w.server().command(&["ZADD", SCHEDULE, "1", &handle.id().uuid().to_string()]);
}

#[tokio::test]
async fn raw_keys_a_mover_died_between_append_and_removal_of_a_queued_task() {
    let w = World::redis().await;
    let b = Bench::new(&w);
    let handle = seen_once::enqueue().on(&b.client).await.unwrap();
    left_on_the_schedule(&w, &handle);
    let worker = b.worker().await;
    assert_ran_once(&b, &handle).await;
    worker.stop().await;
}

#[tokio::test]
async fn raw_keys_a_mover_died_between_append_and_removal_of_a_task_that_runs_by_now() {
    let w = World::redis().await;
    let b = Bench::new(&w);
    let handle = seen_once::enqueue().on(&b.client).await.unwrap();
    let worker = b.worker().await;
    b.probe.noted("runs", 1).await;
    left_on_the_schedule(&w, &handle);
    stir(&b).await;
    assert_ran_once(&b, &handle).await;
    worker.stop().await;
}

#[tokio::test]
async fn raw_keys_a_mover_died_between_append_and_removal_of_a_task_that_is_done_by_now() {
    let w = World::redis().await;
    let b = Bench::new(&w);
    let handle = seen_once::enqueue().on(&b.client).await.unwrap();
    let worker = b.worker().await;
    b.probe.open(1);
    handle.result(PATIENCE).await.unwrap();
    left_on_the_schedule(&w, &handle);
    stir(&b).await;
    assert_ran_once(&b, &handle).await;
    worker.stop().await;
}

#[tokio::test]
async fn raw_keys_a_mover_died_between_append_and_record() {
    let w = World::redis().await;
    let b = Bench::new(&w);
    let handle = seen_once::enqueue().delay(HOUR).on(&b.client).await.unwrap();
    let uuid = handle.id().uuid().to_string();
    let _: String = w.server().command(&["XADD", STREAM, "*", "e", &format!("{uuid} seen_once\n{{}}")]);
    let worker = b.worker().await;
    stir(&b).await;
    assert_eq!((w.status(handle.id()).await, b.probe.count("runs")), (Status::Pending, 0), "it is not due");
    w.advance(HOUR);
    assert_ran_once(&b, &handle).await;
    worker.stop().await;
}

/// Not promised, but bounded: an operator who sets a group back has running tasks handed out again.
#[tokio::test]
async fn raw_keys_of_two_deliveries_of_one_entry_one_end_counts() {
    let w = World::redis().await;
    let first = w.running(task("a")).await;
    let _: () = w.server().command(&["XGROUP", "SETID", STREAM, "dtq", "0"]);
    let second = w.sweep(1).await.remove(0);
    assert_eq!(second.lease.task, first.lease.task);
    w.succeed(&second).await;
    assert_eq!(w.settle(&first, Verdict::Failed { failure: failure("late") }).await, Settled::Stale);
    let expected = [EventKind::Queued, EventKind::Started, EventKind::Started, EventKind::Succeeded];
    assert_eq!(w.events_of(&first.lease.task).await, [&expected[..], &[EventKind::DuplicateAbsorbed]].concat());
    assert_eq!((w.status(&first.lease.task).await, entries(w.server(), STREAM)), (Status::Succeeded, (0, 0)));
}

//! `stop`: what runs may end, what does not is given back.

use std::time::{Duration, Instant};

use dtq::prelude::*;
use dtq::types::{EventKind, Status};
use dtq_tests::{World, eventually, promptly};

use super::{Bench, PATIENCE, Probe, on_both_stores};

#[dtq::task]
async fn ends_when_let(ctx: &Context, #[state] probe: &Probe) -> u32 {
    probe.note("runs");
    probe.gate().await;
    ctx.attempt()
}

#[dtq::task]
fn blocks_until_told_to_stop(ctx: &Context, #[state] probe: &Probe) -> u32 {
    if probe.count("runs") == 0 {
        probe.note("runs");
        while !ctx.is_cancelled() {
            std::thread::sleep(Duration::from_millis(2));
        }
        probe.note("told");
    }
    ctx.attempt()
}

async fn stopping_waits_for_what_runs_and_fetches_nothing_new(w: &World) {
    let b = Bench::new(w);
    let running = ends_when_let::enqueue().on(&b.client).await.unwrap();
    let worker = b.worker_with(Bench::config().drain_timeout(PATIENCE)).await;
    b.probe.noted("runs", 1).await;
    let stop = tokio::spawn(worker.stop());
    // The token is set in the first step of `stop`; a task that comes now must stay.
    tokio::task::yield_now().await;
    eventually("the worker fetches no more", || async {
        let probe = ends_when_let::enqueue().on(&b.client).await.unwrap();
        let look = probe.result(Duration::from_millis(50)).await;
        assert!(look.is_err());
        (probe.status().await.unwrap() == Some(Status::Queued)).then_some(())
    })
    .await;
    assert!(!stop.is_finished());
    b.probe.open(10);
    let stopped = promptly("the worker stops", stop).await.unwrap();
    assert!(stopped.drained);
    assert_eq!(running.result(Duration::ZERO).await.unwrap(), 1, "its end was settled before `stop` returned");
    assert!(w.stats().await.queued > 0);
}

async fn what_does_not_end_in_time_is_given_back_and_run_by_another_with_the_same_attempt(w: &World) {
    let b = Bench::new(w);
    let handle = ends_when_let::enqueue().max_attempts(1).on(&b.client).await.unwrap();
    let worker = b.worker_with(Bench::config().drain_timeout(Duration::from_millis(100))).await;
    b.probe.noted("runs", 1).await;
    assert!(!worker.stop().await.drained);
    let record = w.record(handle.id()).await;
    assert_eq!((record.status, record.attempt, record.attempts.len()), (Status::Queued, 1, 0));
    assert_eq!(w.events_of(handle.id()).await.last(), Some(&EventKind::Released));
    b.probe.open(1);
    let other = b.worker().await;
    assert_eq!(handle.result(PATIENCE).await.unwrap(), 1);
    other.stop().await;
}

async fn a_plain_function_that_does_not_end_in_time_is_told_and_given_back(w: &World) {
    let b = Bench::new(w);
    let handle = blocks_until_told_to_stop::enqueue().on(&b.client).await.unwrap();
    let worker = b.worker_with(Bench::config().drain_timeout(Duration::from_millis(100))).await;
    b.probe.noted("runs", 1).await;
    assert!(!worker.stop().await.drained);
    assert_eq!(w.status(handle.id()).await, Status::Queued);
    b.probe.noted("told", 1).await;
    let other = b.worker().await;
    assert_eq!(handle.result(PATIENCE).await.unwrap(), 1);
    other.stop().await;
}

async fn prefetched_tasks_are_given_back_at_once(w: &World) {
    let b = Bench::new(w);
    ends_when_let::enqueue_many((0..4).map(|_| ())).on(&b.client).await.unwrap();
    let worker = b.worker_with(Bench::config().concurrency(1).prefetch(3).drain_timeout(PATIENCE)).await;
    eventually("four are held", || async { (w.stats().await.running == 4).then_some(()) }).await;
    b.probe.noted("runs", 1).await;
    let stop = tokio::spawn(worker.stop());
    eventually("three are given back", || async { (w.stats().await.queued == 3).then_some(()) }).await;
    b.probe.open(1);
    assert!(promptly("the worker stops", stop).await.unwrap().drained);
    assert_eq!(w.stats().await.succeeded, 1);
}

async fn an_idle_worker_stops_at_once(w: &World) {
    let b = Bench::new(w);
    let mut config = Bench::config().drain_timeout(Duration::MAX);
    config.poll = Duration::from_secs(60);
    let worker = b.worker_with(config).await;
    eventually("it is listed", || async { (b.client.workers().await.unwrap().len() == 1).then_some(()) }).await;
    let began = Instant::now();
    assert!(worker.stop().await.drained);
    assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
}

on_both_stores! {
    stopping_waits_for_what_runs_and_fetches_nothing_new,
    what_does_not_end_in_time_is_given_back_and_run_by_another_with_the_same_attempt,
    a_plain_function_that_does_not_end_in_time_is_told_and_given_back,
    prefetched_tasks_are_given_back_at_once,
    an_idle_worker_stops_at_once,
}

//! Attempts that run longer than they may.

use std::time::Duration;

use dtq::prelude::*;
use dtq::types::{ErrorKind, Status};
use dtq_tests::World;

use super::{Bench, PATIENCE, Probe, failures, on_both_stores};

const SHORT: Duration = Duration::from_millis(50);

#[dtq::task(max_attempts = 2, backoff = fixed("10m"))]
async fn waits_at_the_gate(ctx: &Context, #[state] probe: &Probe) -> u32 {
    if ctx.attempt() == 1 {
        let _guard = Noting(probe.clone());
        probe.gate().await;
    }
    ctx.attempt()
}

struct Noting(Probe);

impl Drop for Noting {
    fn drop(&mut self) {
        self.0.note("dropped");
    }
}

/// Goes on until its token fires.
#[dtq::task(max_attempts = 1)]
fn blocks_until_told(ctx: &Context, #[state] probe: &Probe) {
    probe.note("blocks");
    while !ctx.is_cancelled() {
        std::thread::sleep(Duration::from_millis(2));
    }
    probe.note("told");
}

#[dtq::task]
async fn next_in_line() -> u32 {
    7
}

async fn an_async_function_is_dropped_at_its_timeout_and_tried_again(w: &World) {
    let b = Bench::new(w);
    let worker = b.worker_with(Bench::config().concurrency(1)).await;
    let handle = waits_at_the_gate::enqueue().timeout(SHORT).on(&b.client).await.unwrap();
    let record = b.reaches(&handle, Status::Retrying).await;
    assert_eq!(failures(&record), [(1, ErrorKind::Timeout, "ran longer than its timeout of 50ms")]);
    assert_eq!(b.probe.count("dropped"), 1);
    let next = next_in_line::enqueue().on(&b.client).await.unwrap();
    assert_eq!(next.result(PATIENCE).await.unwrap(), 7, "the slot is free");
    w.advance(Duration::from_secs(600));
    assert_eq!(handle.result(PATIENCE).await.unwrap(), 2);
    worker.stop().await;
}

async fn a_plain_function_fails_at_its_timeout_and_is_told(w: &World) {
    let b = Bench::new(w);
    let worker = b.worker_with(Bench::config().concurrency(1)).await;
    let handle = blocks_until_told::enqueue().timeout(SHORT).on(&b.client).await.unwrap();
    let record = b.reaches(&handle, Status::DeadLettered).await;
    assert_eq!(failures(&record)[0].1, ErrorKind::Timeout);
    let next = next_in_line::enqueue().on(&b.client).await.unwrap();
    assert_eq!(next.result(PATIENCE).await.unwrap(), 7, "the slot is free");
    // A thread cannot be stopped from outside; without the token it would go on for ever.
    b.probe.noted("told", 1).await;
    worker.stop().await;
}

on_both_stores! {
    an_async_function_is_dropped_at_its_timeout_and_tried_again,
    a_plain_function_fails_at_its_timeout_and_is_told,
}

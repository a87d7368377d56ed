//! What is left of a task's time, and handing it on.

use std::time::Duration;

use dtq::EnqueueError;
use dtq::prelude::*;
use dtq_tests::World;

use super::{Bench, PATIENCE, on_both_stores};

const MINUTE: Duration = Duration::from_secs(60);

#[dtq::task]
async fn inner() {}

/// Tells its budget, in milliseconds.
#[dtq::task]
async fn tells_its_budget(ctx: &Context) -> Option<u64> {
    let left = ctx.remaining();
    assert_eq!(left.is_some(), ctx.deadline().is_some());
    left.map(|left| u64::try_from(left.as_millis()).unwrap())
}

/// Enqueues another task within its own time; gives that one's time to live.
#[dtq::task(max_attempts = 1)]
async fn hands_on(ctx: &Context, own_ttl: Option<u64>) -> Result<String, TaskError> {
    let mut call = inner::enqueue().delay(MINUTE * 60);
    if let Some(millis) = own_ttl {
        call = call.ttl(Duration::from_millis(millis));
    }
    match call.within(ctx).await {
        Ok(handle) => Ok(handle.id().to_string()),
        Err(error @ EnqueueError::NoTimeLeft { .. }) => Err(TaskError::permanent(error)),
        Err(error) => Err(error.into()),
    }
}

fn assert_about(left: u64, expected: Duration) {
    let expected = u64::try_from(expected.as_millis()).unwrap();
    assert!(left <= expected && left + 15_000 >= expected, "{left} ms, expected {expected}");
}

async fn the_budget_ends_with_the_timeout_or_the_time_to_live(w: &World) {
    let b = Bench::new(w);
    let worker = b.worker().await;
    let left = async |ttl: Option<Duration>, timeout: Option<Duration>| {
        let mut call = tells_its_budget::enqueue();
        call = if let Some(ttl) = ttl { call.ttl(ttl) } else { call };
        call = if let Some(timeout) = timeout { call.timeout(timeout) } else { call };
        call.on(&b.client).await.unwrap().result(PATIENCE).await.unwrap()
    };
    assert_eq!(left(None, None).await, None);
    assert_about(left(Some(MINUTE), None).await.unwrap(), MINUTE);
    assert_about(left(None, Some(MINUTE)).await.unwrap(), MINUTE);
    assert_about(left(Some(MINUTE * 5), Some(MINUTE)).await.unwrap(), MINUTE);
    assert_about(left(Some(MINUTE), Some(MINUTE * 5)).await.unwrap(), MINUTE);
    worker.stop().await;
}

async fn the_time_that_passed_before_the_start_is_spent(w: &World) {
    let b = Bench::new(w);
    let handle = tells_its_budget::enqueue().ttl(MINUTE * 5).on(&b.client).await.unwrap();
    w.advance(MINUTE * 4);
    let worker = b.worker().await;
    assert_about(handle.result(PATIENCE).await.unwrap().unwrap(), MINUTE);
    worker.stop().await;
}

async fn a_task_enqueued_within_it_lives_as_long(w: &World) {
    let b = Bench::new(w);
    let worker = b.worker().await;
    let ttl = async |budget: Option<Duration>, own: Option<Duration>| {
        let call = hands_on::enqueue(own.map(|own| u64::try_from(own.as_millis()).unwrap()));
        let call = if let Some(budget) = budget { call.ttl(budget) } else { call };
        let id = call.on(&b.client).await.unwrap().result(PATIENCE).await.unwrap();
        let ttl = w.record(&id.parse().unwrap()).await.policy.ttl;
        ttl.map(|ttl| u64::try_from(ttl.as_millis()).unwrap())
    };
    assert_eq!(ttl(None, None).await, None);
    assert_about(ttl(Some(MINUTE), None).await.unwrap(), MINUTE);
    assert_about(ttl(Some(MINUTE), Some(MINUTE * 5)).await.unwrap(), MINUTE);
    assert_eq!(ttl(Some(MINUTE * 5), Some(MINUTE)).await, Some(60_000), "its own is shorter");
    worker.stop().await;
}

/// Waits until its own time is over, and then wants to hand some of it on.
#[dtq::task(max_attempts = 1)]
async fn hands_on_too_late(ctx: &Context) -> Result<(), TaskError> {
    tokio::time::sleep_until(ctx.deadline().unwrap().into()).await;
    inner::enqueue().within(ctx).await?;
    Ok(())
}

async fn nothing_is_sent_when_nothing_is_left(w: &World) {
    let b = Bench::new(w);
    let handle = hands_on_too_late::enqueue().ttl(MINUTE).on(&b.client).await.unwrap();
    // Just enough is left to start.
    w.advance(MINUTE - w.slack() - Duration::from_millis(300));
    let worker = b.worker().await;
    let error = handle.result(PATIENCE).await.unwrap_err();
    assert!(error.to_string().contains("nothing is left of the time of the attempt that enqueues it"), "{error}");
    let stats = w.stats().await;
    assert_eq!((stats.queued, stats.succeeded), (0, 0));
    worker.stop().await;
}

on_both_stores! {
    the_budget_ends_with_the_timeout_or_the_time_to_live,
    the_time_that_passed_before_the_start_is_spent,
    a_task_enqueued_within_it_lives_as_long,
    nothing_is_sent_when_nothing_is_left,
}

//! Waiting for results.

use std::time::Duration;

use dtq::ResultError;
use dtq::types::{Status, TaskId};
use dtq_tests::{DEFAULT, World, promptly, queue};

use super::{Bench, PATIENCE, Probe, on_both_stores};

#[dtq::task]
async fn answers_late(#[state] probe: &Probe, n: u64) -> u64 {
    probe.gate().await;
    n
}

#[dtq::task]
async fn answers_at_once() {}

async fn a_result_that_does_not_come_in_time_is_an_error_and_the_task_goes_on(w: &World) {
    let b = Bench::new(w);
    let worker = b.worker().await;
    let handle = answers_late::enqueue(7).on(&b.client).await.unwrap();
    let error = handle.result(Duration::from_millis(30)).await.unwrap_err();
    assert!(matches!(error, ResultError::Timeout { .. }), "{error:?}");
    assert!(error.to_string().ends_with("did not finish within 30ms"), "{error}");
    assert!(matches!(handle.result(Duration::ZERO).await, Err(ResultError::Timeout { .. })));
    b.probe.open(1);
    assert_eq!(promptly("the result", handle.result(Duration::MAX)).await.unwrap(), 7);
    worker.stop().await;
}

async fn a_result_of_another_type_and_of_an_unknown_task_are_errors(w: &World) {
    let b = Bench::new(w);
    let worker = b.worker().await;
    let handle = answers_late::enqueue(7).on(&b.client).await.unwrap();
    b.probe.open(1);
    handle.result(PATIENCE).await.unwrap();
    let wrong = b.client.handle::<Vec<String>>(handle.id().clone());
    let error = wrong.result(PATIENCE).await.unwrap_err();
    assert!(matches!(error, ResultError::Undecodable { .. }), "{error:?}");
    let unknown = b.client.handle::<u64>(TaskId::generate(queue(DEFAULT)));
    let error = unknown.result(PATIENCE).await.unwrap_err();
    assert!(matches!(error, ResultError::NotKept { .. }), "{error:?}");
    worker.stop().await;
}

async fn a_result_is_kept_for_its_retention(w: &World) {
    let b = Bench::new(w);
    let worker = b.worker().await;
    let handle = answers_late::enqueue(7).retention(Duration::from_secs(600)).on(&b.client).await.unwrap();
    b.probe.open(1);
    handle.result(PATIENCE).await.unwrap();
    w.advance(Duration::from_secs(500));
    handle.result(PATIENCE).await.unwrap();
    w.advance(Duration::from_secs(101));
    assert!(matches!(handle.result(PATIENCE).await, Err(ResultError::NotKept { .. })));
    worker.stop().await;
}

async fn the_end_of_a_task_that_keeps_nothing_is_told_to_those_who_wait(w: &World) {
    let b = Bench::new(w);
    let worker = b.worker().await;
    let handle = answers_late::enqueue(7).retention(Duration::ZERO).on(&b.client).await.unwrap();
    let waiter = tokio::spawn({
        let handle = b.client.handle::<()>(handle.id().clone());
        async move { handle.result(PATIENCE).await }
    });
    // The waiter's first look must have been made: another waiter's timeout lies behind it.
    let _ = handle.result(Duration::from_millis(300)).await;
    b.probe.open(1);
    let answer = promptly("the waiter wakes", waiter).await.unwrap();
    // Its result is gone, its end is not: a handle of a unit result knows all there is to know.
    answer.unwrap();
    assert_eq!(handle.status().await.unwrap(), None);
    worker.stop().await;
}

async fn a_hundred_who_wait_are_all_told(w: &World) {
    let b = Bench::new(w);
    let worker = b.worker_with(Bench::config().concurrency(100)).await;
    let handles = answers_late::enqueue_many(0..100).on(&b.client).await.unwrap();
    let waiters: Vec<_> =
        handles.into_iter().map(|handle| tokio::spawn(async move { handle.result(PATIENCE).await })).collect();
    b.probe.open(100);
    for (n, waiter) in waiters.into_iter().enumerate() {
        assert_eq!(promptly("a waiter wakes", waiter).await.unwrap().unwrap(), n as u64);
    }
    worker.stop().await;
}

async fn a_hundred_who_wait_for_one_task_are_all_told(w: &World) {
    let b = Bench::new(w);
    let worker = b.worker().await;
    let handle = answers_late::enqueue(7).on(&b.client).await.unwrap();
    let waiters: Vec<_> = (0..100)
        .map(|_| {
            let handle = handle.clone();
            tokio::spawn(async move { handle.result(PATIENCE).await })
        })
        .collect();
    b.probe.open(1);
    for waiter in waiters {
        assert_eq!(promptly("a waiter wakes", waiter).await.unwrap().unwrap(), 7);
    }
    worker.stop().await;
}

async fn those_who_wait_in_another_queue_are_told_too(w: &World) {
    let b = Bench::new(w);
    let first = answers_late::enqueue(1).on(&b.client).await.unwrap();
    let waiter = tokio::spawn(async move { first.result(PATIENCE).await });
    let second = answers_at_once::enqueue().queue("second").on(&b.client).await.unwrap();
    let worker = b.worker_with(Bench::config().queues([queue(DEFAULT), queue("second")])).await;
    second.result(PATIENCE).await.unwrap();
    b.probe.open(1);
    assert_eq!(promptly("the first is told", waiter).await.unwrap().unwrap(), 1);
    assert_eq!(second.status().await.unwrap(), Some(Status::Succeeded));
    worker.stop().await;
}

on_both_stores! {
    a_result_that_does_not_come_in_time_is_an_error_and_the_task_goes_on,
    a_result_of_another_type_and_of_an_unknown_task_are_errors,
    a_result_is_kept_for_its_retention,
    the_end_of_a_task_that_keeps_nothing_is_told_to_those_who_wait,
    a_hundred_who_wait_are_all_told,
    a_hundred_who_wait_for_one_task_are_all_told,
    those_who_wait_in_another_queue_are_told_too,
}

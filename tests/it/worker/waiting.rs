//! Waiting for results.

use std::time::Duration;

use dtq::ResultError;
use dtq::prelude::*;
use dtq::types::{ErrorKind, Status};
use dtq_tests::{DEFAULT, World, eventually, lasting, promptly, queue};

use super::{Bench, PATIENCE, Probe, on_both_stores};

#[dtq::task]
async fn answers_late(#[state] probe: &Probe, n: u64) -> u64 {
    probe.gate().await;
    n
}

#[dtq::task]
pub(super) async fn answers_at_once() {}

/// Ends in each of the ways in which an attempt can end.
#[dtq::task(max_attempts = 1)]
async fn ends_badly(how: String) -> Result<u32, TaskError> {
    match how.as_str() {
        "permanent" => Err(TaskError::permanent("no such account")),
        "panic" => panic!("in the handler"),
        "timeout" => std::future::pending().await,
        "drop" => Ok(0),
        _ => Err(TaskError::new("the other side hung up")),
    }
}

async fn errors_come_back_by_kind(w: &World) {
    let b = Bench::new(w);
    let worker = b.worker().await;
    let ends = [
        ("error", ErrorKind::Error, "the other side hung up"),
        ("permanent", ErrorKind::Permanent, "no such account"),
        ("panic", ErrorKind::Panic, "in the handler"),
        ("timeout", ErrorKind::Timeout, "ran longer than its timeout of 50ms"),
    ];
    for (how, kind, words) in ends {
        let call = ends_badly::enqueue(how.into()).timeout(Duration::from_millis(50));
        let error = call.on(&b.client).await.unwrap().result(PATIENCE).await.unwrap_err();
        assert_eq!((error.kind(), error.status()), (Some(kind), Some(Status::DeadLettered)));
        assert!(error.failure().unwrap().message.contains(words), "{error}");
    }
    worker.stop().await;
}

async fn a_result_that_is_not_kept_is_told_from_one_that_is_unknown(w: &World) {
    let b = Bench::new(w);
    let worker = b.worker().await;
    let handle = answers_late::enqueue(7).retention(Duration::ZERO).on(&b.client).await.unwrap();
    let waiter = tokio::spawn({
        let handle = handle.clone();
        async move { handle.result(PATIENCE).await }
    });
    let _ = handle.result(Duration::from_millis(300)).await;
    b.probe.open(1);
    let error = promptly("the waiter wakes", waiter).await.unwrap().unwrap_err();
    assert!(matches!(error, ResultError::ResultNotKept { .. }), "{error}");
    assert_eq!(error.status(), Some(Status::Succeeded));
    worker.stop().await;
}

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
    // Whoever has read of its end by now is told that, too.
    assert!(matches!(
        handle.result(PATIENCE).await,
        Err(ResultError::NotKept { .. } | ResultError::ResultNotKept { .. })
    ));
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
    errors_come_back_by_kind,
    a_result_that_is_not_kept_is_told_from_one_that_is_unknown,
    a_result_that_does_not_come_in_time_is_an_error_and_the_task_goes_on,
    a_result_of_another_type_and_of_an_unknown_task_are_errors,
    a_result_is_kept_for_its_retention,
    the_end_of_a_task_that_keeps_nothing_is_told_to_those_who_wait,
    a_hundred_who_wait_are_all_told,
    a_hundred_who_wait_for_one_task_are_all_told,
    those_who_wait_in_another_queue_are_told_too,
}

/// How often a server was sent a command.
pub(super) fn sent(w: &World, command: &str) -> u64 {
    let stats: String = w.server().command(&["INFO", "commandstats"]);
    let of_command = stats.lines().find_map(|line| line.strip_prefix(&format!("cmdstat_{command}:calls=")));
    of_command.map_or(0, |rest| rest.split(',').next().unwrap().parse().unwrap())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_who_wait_are_one_connection_and_do_not_poll() {
    const MANY: u64 = 1000;
    let w = World::redis().await;
    let b = Bench::new(&w);
    let handles = answers_late::enqueue_many(0..MANY).on(&b.client).await.unwrap();
    let waiters: Vec<_> =
        handles.into_iter().map(|handle| tokio::spawn(async move { handle.result(PATIENCE).await })).collect();
    let before = eventually("the first looks are over", || async {
        let before = sent(&w, "evalsha");
        lasting(Duration::from_millis(300)).await;
        (before >= MANY && sent(&w, "evalsha") == before).then_some(before)
    })
    .await;
    lasting(Duration::from_secs(1)).await;
    assert_eq!(sent(&w, "evalsha"), before, "nobody asks while nothing happens");
    let clients: String = w.server().command(&["INFO", "clients"]);
    assert!(clients.contains("blocked_clients:1"), "{clients}");
    assert!(
        clients.contains("connected_clients:3"),
        "one for all calls, one that waits, and this question's: {clients}"
    );
    // The worker has a client of its own.
    let apart = Bench { client: Client::with_store(w.second_store().await), probe: b.probe.clone(), w: &w };
    let worker = apart.worker_with(Bench::config().concurrency(1000)).await;
    b.probe.open(usize::try_from(MANY).unwrap());
    for (n, waiter) in waiters.into_iter().enumerate() {
        assert_eq!(promptly("a waiter wakes", waiter).await.unwrap().unwrap(), n as u64);
    }
    worker.stop().await;
}

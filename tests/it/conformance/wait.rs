//! Waiting for work.

use std::sync::Arc;
use std::time::{Duration, Instant};

use dtq::store::{Store, Wait};
use dtq::types::Status;
use dtq_tests::{DEFAULT, World, eventually, promptly, queue, task};

const LONG: Duration = Duration::from_secs(60);

async fn wait_for(store: &Arc<dyn Store>, queues: &[&str], timeout: Duration) {
    let queues = queues.iter().map(|name| queue(name)).collect();
    store.wait(Wait { queues, timeout }).await.unwrap();
}

/// Waits again and again, as workers do, until a claim brings something.
async fn wait_and_claim(store: Arc<dyn Store>, name: &'static str) {
    eventually("a task arrives", || async {
        wait_for(&store, &[name], LONG).await;
        let claim = dtq::store::Claim { queue: queue(name), ..dtq_tests::want(1) };
        store.claim(claim).await.unwrap().deliveries.pop().map(drop)
    })
    .await;
}

pub(crate) async fn an_empty_queue_is_waited_for_until_the_timeout(w: &World) {
    let timeout = Duration::from_millis(100);
    let started = Instant::now();
    let mut calls = 0;
    // It may wake for nothing, but not in a tight loop.
    while started.elapsed() < timeout {
        promptly("waiting", wait_for(&w.store(), &[DEFAULT], timeout)).await;
        calls += 1;
    }
    assert!(calls < 20, "it woke {calls} times for nothing");
}

pub(crate) async fn a_ready_task_ends_the_wait_at_once(w: &World) {
    w.enqueue(task("a")).await;
    promptly("waiting for a task that is there", wait_for(&w.store(), &[DEFAULT], LONG)).await;
}

pub(crate) async fn waiting_moves_nothing(w: &World) {
    let id = w.enqueue(task("a")).await;
    let before = (w.snapshot(&id).await, w.events_of(&id).await);
    promptly("waiting", wait_for(&w.store(), &[DEFAULT], LONG)).await;
    assert_eq!((w.snapshot(&id).await, w.events_of(&id).await), before);
    assert_eq!(w.claim_one().await.lease.task, id);
}

pub(crate) async fn a_task_enqueued_by_this_handle_wakes_a_waiter(w: &World) {
    let waiter = tokio::spawn(wait_and_claim(w.store(), DEFAULT));
    w.enqueue(task("a")).await;
    promptly("the waiter wakes", waiter).await.unwrap();
}

pub(crate) async fn a_task_enqueued_by_another_handle_wakes_a_waiter(w: &World) {
    let second = w.second_store().await;
    let waiter = tokio::spawn(wait_and_claim(w.store(), DEFAULT));
    second.enqueue(vec![task("a").build()]).await.unwrap();
    promptly("the waiter wakes", waiter).await.unwrap();
}

pub(crate) async fn every_watched_queue_wakes_its_waiter(w: &World) {
    for name in ["a", "b", "c"] {
        let store = w.store();
        let waiter = tokio::spawn(async move { wait_for(&store, &["a", "b", "c"], LONG).await });
        w.enqueue(task("x").queue(name)).await;
        promptly("the waiter wakes", waiter).await.unwrap();
        w.claim_one_of(name).await;
    }
}

pub(crate) async fn a_task_of_any_priority_wakes_a_waiter(w: &World) {
    for level in 0..=9 {
        let store = w.store();
        let waiter = tokio::spawn(async move { wait_for(&store, &[DEFAULT], LONG).await });
        w.enqueue(task("x").priority(level)).await;
        promptly("the waiter wakes", waiter).await.unwrap();
        w.claim_one().await;
    }
}

pub(crate) async fn a_released_task_wakes_a_waiter(w: &World) {
    let held = w.running(task("a")).await;
    let waiter = tokio::spawn(wait_and_claim(w.second_store().await, DEFAULT));
    w.release(&held).await;
    promptly("the waiter wakes", waiter).await.unwrap();
    assert_eq!(w.status(&held.lease.task).await, Status::Running);
}

pub(crate) async fn a_dropped_wait_loses_nothing(w: &World) {
    let store = w.store();
    for _ in 0..5 {
        let waiting = wait_for(&store, &[DEFAULT], LONG);
        assert!(tokio::time::timeout(Duration::from_millis(5), waiting).await.is_err());
    }
    let waiter = tokio::spawn(wait_and_claim(w.store(), DEFAULT));
    let id = w.enqueue(task("a")).await;
    promptly("the waiter wakes", waiter).await.unwrap();
    assert_eq!(w.status(&id).await, Status::Running);
}

pub(crate) async fn one_task_is_enough_for_one_of_two_waiters(w: &World) {
    let waiters = [w.store(), w.second_store().await].map(|store| {
        let store: Arc<dyn Store> = store;
        tokio::spawn(async move {
            wait_for(&store, &[DEFAULT], LONG).await;
            store.claim(dtq_tests::want(1)).await.unwrap().deliveries.len()
        })
    });
    w.enqueue(task("a")).await;
    let [first, second] = waiters;
    let got = promptly("a waiter gets it", async {
        tokio::select! { got = first => got.unwrap(), got = second => got.unwrap() }
    })
    .await;
    // The other one may have been woken too, and may even have been faster.
    let running = eventually("it runs", || async { (w.stats().await.running == 1).then_some(1) }).await;
    assert!(got <= running);
}

pub(crate) async fn waiters_of_other_queues_are_not_needed(w: &World) {
    let store = w.store();
    let waiting = wait_for(&store, &["other"], Duration::from_millis(50));
    w.enqueue(task("a")).await;
    promptly("waiting", waiting).await;
    assert_eq!(w.stats().await.queued, 1);
}

pub(crate) async fn two_waiters_get_two_tasks(w: &World) {
    let one = tokio::spawn(wait_and_claim(w.store(), DEFAULT));
    let two = tokio::spawn(wait_and_claim(w.store(), DEFAULT));
    w.enqueue(task("a")).await;
    w.enqueue(task("b")).await;
    promptly("both wake", async { tokio::try_join!(one, two) }).await.unwrap();
    assert_eq!(w.stats().await.running, 2);
}

checks! {
    wait:
    an_empty_queue_is_waited_for_until_the_timeout,
    a_ready_task_ends_the_wait_at_once,
    waiting_moves_nothing,
    a_task_enqueued_by_this_handle_wakes_a_waiter,
    a_task_enqueued_by_another_handle_wakes_a_waiter,
    every_watched_queue_wakes_its_waiter,
    a_task_of_any_priority_wakes_a_waiter,
    a_released_task_wakes_a_waiter,
    a_dropped_wait_loses_nothing,
    one_task_is_enough_for_one_of_two_waiters,
    waiters_of_other_queues_are_not_needed,
    two_waiters_get_two_tasks,
}

//! Queues that are paused, limited or full, seen from their workers and producers.

use std::time::Duration;

use dtq::EnqueueError;
use dtq::prelude::*;
use dtq::store::Wait;
use dtq::types::{Limit, LimitChanges, Status};
use dtq_tests::{DEFAULT, World, eventually, queue};

use super::{Bench, PATIENCE, Probe, on_both_stores};

/// The queue of the limited task: no other test's workers read it, and so none of them pays for the limit.
const NARROW: &str = "narrow";

/// At most two of these run at once, on all workers.
#[dtq::task(queue = "narrow", concurrency = 2)]
async fn narrow(#[state] probe: &Probe) {
    probe.note("narrow");
    probe.inside(probe.gate()).await;
}

#[dtq::task(aliases = ["wide_before"])]
async fn wide(#[state] probe: &Probe) {
    probe.note("wide");
}

/// Looks for work by itself so seldom that only a wake-up helps.
fn sleepy() -> dtq::WorkerConfig {
    let mut config = Bench::config().queues([queue(DEFAULT), queue(NARROW)]);
    config.poll = Duration::from_secs(600);
    config
}

async fn a_paused_queue_starts_nothing_and_goes_on_at_once(w: &World) {
    let b = Bench::new(w);
    assert!(b.client.pause(&queue(DEFAULT), "a release").await.unwrap());
    let worker = b.worker_with(sleepy()).await;
    let handle = wide::enqueue().on(&b.client).await.unwrap();
    // Long enough for a worker that is awake.
    let wait = Wait { queues: vec![queue("other")], timeout: Duration::from_millis(200) };
    w.store().wait(wait).await.unwrap();
    assert_eq!((handle.status().await.unwrap(), b.probe.notes()), (Some(Status::Queued), vec![]));
    assert!(b.client.resume(&queue(DEFAULT), "it is out").await.unwrap());
    handle.result(PATIENCE).await.unwrap();
    worker.stop().await;
}

async fn a_declared_limit_holds_over_all_workers_and_others_go_on(w: &World) {
    let b = Bench::new(w);
    let workers = [b.worker_with(sleepy()).await, b.worker_with(sleepy()).await];
    let narrows = narrow::enqueue_many((0..6).map(|_| ())).on(&b.client).await.unwrap();
    let wide = wide::enqueue().on(&b.client).await.unwrap();
    b.probe.noted("narrow", 2).await;
    wide.result(PATIENCE).await.unwrap();
    let limits = b.client.limits_of(&queue(NARROW)).await.unwrap();
    let [task] = &limits.tasks[..] else { panic!("{limits:?}") };
    assert_eq!((task.task.as_str(), task.declared, task.set), ("narrow", Some(2), None));
    assert_eq!((task.running, limits.depth), (2, 4));
    b.probe.open(6);
    for handle in &narrows {
        handle.result(PATIENCE).await.unwrap();
    }
    assert_eq!((b.probe.count("narrow"), b.probe.most_inside()), (6, 2));
    for worker in workers {
        worker.stop().await;
    }
}

async fn what_is_set_by_hand_outlives_the_workers(w: &World) {
    let b = Bench::new(w);
    let changes = LimitChanges::new().task("narrow", 1);
    b.client.set_limits(&queue(NARROW), changes, "the other side is slow").await.unwrap();
    let first = b.worker_with(sleepy()).await;
    first.stop().await;
    let second = b.worker_with(sleepy()).await;
    let narrows = narrow::enqueue_many((0..3).map(|_| ())).on(&b.client).await.unwrap();
    b.probe.open(3);
    for handle in &narrows {
        handle.result(PATIENCE).await.unwrap();
    }
    assert_eq!(b.probe.most_inside(), 1);
    let limits = b.client.limits_of(&queue(NARROW)).await.unwrap();
    assert_eq!(limits.tasks[0].set, Some(Limit::AtMost(1)));
    second.stop().await;
}

async fn a_limit_that_no_version_declares_any_more_ends(w: &World) {
    let b = Bench::new(w);
    w.declare_limit("wide", Some(1)).await;
    w.declare_limit("wide_before", Some(1)).await;
    assert_eq!(w.limits().await.tasks.len(), 2);
    let worker = b.worker().await;
    eventually("nothing is limited", || async { w.limits().await.tasks.is_empty().then_some(()) }).await;
    worker.stop().await;
}

async fn a_full_queue_is_an_error_that_says_what_to_do(w: &World) {
    let b = Bench::new(w);
    b.client.set_limits(&queue(DEFAULT), LimitChanges::new().depth(2), "a small disk").await.unwrap();
    wide::enqueue().on(&b.client).await.unwrap();
    let call = wide::call().on(&b.client);
    let first = call.send().await.unwrap();
    let error = wide::enqueue().on(&b.client).await.unwrap_err();
    let EnqueueError::QueueFull { queue: name, depth, limit, retry_after, accepted } = &error else {
        panic!("{error:?}")
    };
    assert_eq!((name, *depth, *limit, accepted.len()), (&queue(DEFAULT), 2, 2, 0));
    assert_eq!(*retry_after, dtq::store::RETRY_AFTER);
    let told = error.to_string();
    assert_eq!(told, "queue \"default\" is full: it holds 2 ready and scheduled tasks and takes 2; try again in 5s");
    // The answer to the first copy was lost: the second one is no new task.
    let again = call.send().await.unwrap();
    assert!(again.is_duplicate());
    assert_eq!(again.id(), first.id());
}

async fn a_large_batch_tells_what_of_it_was_accepted_and_can_be_sent_again(w: &World) {
    let b = Bench::new(w);
    b.client.set_limits(&queue(DEFAULT), LimitChanges::new().depth(200), "a small disk").await.unwrap();
    let calls = wide::enqueue_many((0..256).map(|_| ())).on(&b.client);
    let error = calls.send().await.unwrap_err();
    let EnqueueError::QueueFull { accepted, .. } = &error else { panic!("{error:?}") };
    assert_eq!((accepted.len(), w.stats().await.queued), (200, 200));
    assert!(error.to_string().ends_with("(200 tasks of this call were accepted)"), "{error}");
    b.client.set_limits(&queue(DEFAULT), LimitChanges::new().no_depth(), "a larger disk").await.unwrap();
    let handles = calls.send().await.unwrap();
    assert_eq!((handles.len(), w.stats().await.queued), (256, 256));
    let new: Vec<_> = handles.iter().filter(|handle| !handle.is_duplicate()).map(Handle::id).collect();
    assert!(new.len() == 56 && new.iter().all(|id| !accepted.contains(id)));
}

async fn a_purge_goes_on_until_nothing_waits(w: &World) {
    let b = Bench::new(w);
    let all = wide::enqueue_many((0..300).map(|_| ())).on(&b.client).await.unwrap();
    w.enqueue(dtq_tests::task("another")).await;
    let filter = dtq::PurgeFilter::new().task("wide");
    assert_eq!(b.client.count_purge(&queue(DEFAULT), filter.clone()).await.unwrap().dropped, 300);
    assert_eq!(b.client.purge(&queue(DEFAULT), filter, "a mistake").await.unwrap().dropped, 300);
    let error = all[299].result(PATIENCE).await.unwrap_err();
    assert!(error.to_string().contains("a mistake"), "{error}");
    assert_eq!(w.stats().await.queued, 1);
}

async fn a_task_name_that_no_task_can_have_is_refused(w: &World) {
    let b = Bench::new(w);
    let changes = LimitChanges::new().task("no name", 1);
    let error = b.client.set_limits(&queue(DEFAULT), changes, "x").await.unwrap_err();
    assert!(error.is_of_the_call() && error.to_string().contains("task name \"no name\""), "{error}");
}

on_both_stores! {
    a_paused_queue_starts_nothing_and_goes_on_at_once,
    a_declared_limit_holds_over_all_workers_and_others_go_on,
    what_is_set_by_hand_outlives_the_workers,
    a_limit_that_no_version_declares_any_more_ends,
    a_full_queue_is_an_error_that_says_what_to_do,
    a_large_batch_tells_what_of_it_was_accepted_and_can_be_sent_again,
    a_purge_goes_on_until_nothing_waits,
    a_task_name_that_no_task_can_have_is_refused,
}

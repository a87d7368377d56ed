//! How many run at once, and which come first.

use std::time::Duration;

use dtq::WorkerConfig;
use dtq::types::Status;
use dtq_tests::{World, eventually, queue};

use super::{Bench, PATIENCE, Probe, on_both_stores};

const MINUTE: Duration = Duration::from_secs(60);

#[dtq::task]
async fn holds_a_slot(#[state] probe: &Probe) {
    probe.inside(probe.gate()).await;
}

#[dtq::task]
async fn says(#[state] probe: &Probe, text: String) {
    probe.note(text);
}

/// One slot, so that the order of execution is the order of the claims.
fn one_slot() -> WorkerConfig {
    Bench::config().concurrency(1)
}

async fn all_said(b: &Bench<'_>, count: usize) -> Vec<String> {
    eventually("all ran", || async { Some(b.probe.notes()).filter(|notes| notes.len() >= count) }).await
}

async fn no_more_run_at_once_than_the_worker_may(w: &World) {
    let b = Bench::new(w);
    let handles = holds_a_slot::enqueue_many((0..30).map(|_| ())).on(&b.client).await.unwrap();
    let worker = b.worker_with(Bench::config().concurrency(4)).await;
    let full = || async { (b.probe.now_inside() == 4).then_some(()) };
    eventually("four run", full).await;
    assert_eq!(w.stats().await.running, 4, "nothing is fetched that cannot run");
    for handle in &handles {
        b.probe.open(1);
        let _ = handle.status().await.unwrap();
    }
    for handle in &handles {
        handle.result(PATIENCE).await.unwrap();
    }
    assert_eq!(b.probe.most_inside(), 4);
    worker.stop().await;
}

async fn prefetched_tasks_are_held_but_do_not_run(w: &World) {
    let b = Bench::new(w);
    holds_a_slot::enqueue_many((0..10).map(|_| ())).on(&b.client).await.unwrap();
    let worker = b.worker_with(Bench::config().concurrency(2).prefetch(3)).await;
    eventually("five are held", || async { (w.stats().await.running == 5).then_some(()) }).await;
    eventually("two run", || async { (b.probe.now_inside() == 2).then_some(()) }).await;
    assert_eq!(w.stats().await.queued, 5);
    b.probe.open(10);
    eventually("all end", || async { (w.stats().await.succeeded == 10).then_some(()) }).await;
    assert_eq!(b.probe.most_inside(), 2);
    worker.stop().await;
}

async fn queues_are_read_in_strict_order(w: &World) {
    let b = Bench::new(w);
    for name in ["low", "high", "middle"] {
        says::enqueue_many((0..10).map(|_| name.to_owned())).queue(name).on(&b.client).await.unwrap();
    }
    let worker = b.worker_with(one_slot().queues(["high", "middle", "low"].map(queue))).await;
    let expected: Vec<_> = ["high", "middle", "low"].iter().flat_map(|name| vec![(*name).to_owned(); 10]).collect();
    assert_eq!(all_said(&b, 30).await, expected);
    worker.stop().await;
}

async fn weighted_queues_share_and_none_starves(w: &World) {
    let b = Bench::new(w);
    for name in ["seldom", "often"] {
        says::enqueue_many((0..120).map(|_| name.to_owned())).queue(name).on(&b.client).await.unwrap();
    }
    let worker = b.worker_with(one_slot().weighted_queues([(queue("seldom"), 1), (queue("often"), 3)])).await;
    let first: Vec<_> = all_said(&b, 100).await.into_iter().take(100).collect();
    let often = first.iter().filter(|name| *name == "often").count();
    // 75 are expected; ten and more standard deviations of room would hide a bug, five do not.
    assert!((53..=97).contains(&often), "{often} of 100 came from the queue with three quarters of the weight");
    worker.stop().await;
}

async fn the_higher_priority_comes_first_and_the_older_one_within_it(w: &World) {
    let b = Bench::new(w);
    for (text, priority) in [("a", 5), ("b", 0), ("c", 9), ("d", 5), ("e", 9), ("f", 0)] {
        says::enqueue(text.into()).priority(priority).on(&b.client).await.unwrap();
    }
    let worker = b.worker_with(one_slot()).await;
    assert_eq!(all_said(&b, 6).await, ["c", "e", "a", "d", "b", "f"]);
    worker.stop().await;
}

async fn a_delayed_task_runs_when_it_is_due(w: &World) {
    let b = Bench::new(w);
    let worker = b.worker().await;
    let late = says::enqueue("late".into()).delay(10 * MINUTE).on(&b.client).await.unwrap();
    let soon = says::enqueue("soon".into()).on(&b.client).await.unwrap();
    let enqueued_at = w.record(soon.id()).await.enqueued_at;
    let at = says::enqueue("at".into()).at(enqueued_at.plus(5 * MINUTE)).on(&b.client).await.unwrap();
    let past = says::enqueue("past".into()).at(enqueued_at).on(&b.client).await.unwrap();
    soon.result(PATIENCE).await.unwrap();
    past.result(PATIENCE).await.unwrap();
    assert_eq!(late.status().await.unwrap(), Some(Status::Pending));
    w.advance(5 * MINUTE);
    at.result(PATIENCE).await.unwrap();
    assert_eq!(late.status().await.unwrap(), Some(Status::Pending));
    w.advance(5 * MINUTE);
    late.result(PATIENCE).await.unwrap();
    assert_eq!(b.probe.notes().last().unwrap(), "late");
    worker.stop().await;
}

async fn an_idle_worker_wakes_for_a_new_task_without_polling(w: &World) {
    let b = Bench::new(w);
    let mut config = Bench::config();
    config.poll = MINUTE;
    let worker = b.worker_with(config).await;
    for n in 0..5 {
        let handle = says::enqueue(format!("{n}")).on(&b.client).await.unwrap();
        handle.result(PATIENCE).await.unwrap();
    }
    worker.stop().await;
}

on_both_stores! {
    no_more_run_at_once_than_the_worker_may,
    prefetched_tasks_are_held_but_do_not_run,
    queues_are_read_in_strict_order,
    weighted_queues_share_and_none_starves,
    the_higher_priority_comes_first_and_the_older_one_within_it,
    a_delayed_task_runs_when_it_is_due,
    an_idle_worker_wakes_for_a_new_task_without_polling,
}

//! Heartbeats.

use std::time::Duration;

use dtq::types::{EventKind, Timestamp, WorkerInfo};
use dtq_tests::{World, queue, task, worker};

const TTL: Duration = Duration::from_secs(60);

fn info(name: &str, running: u32) -> WorkerInfo {
    WorkerInfo {
        id: worker(name),
        queues: ["high", "default", "low"].map(queue).to_vec(),
        tasks: vec!["billing:charge".into(), "refund".into()],
        concurrency: 8,
        running,
        // Nonsense: what a worker sends here must be ignored.
        started_at: Timestamp::from_millis(1),
        seen_at: Timestamp::from_millis(2),
    }
}

async fn beat(w: &World, name: &str, running: u32) {
    w.beat(info(name, running), TTL).await;
}

async fn listed(w: &World) -> Vec<WorkerInfo> {
    w.store().workers().await.unwrap()
}

async fn told(w: &World) -> Vec<EventKind> {
    w.events(&[]).await.into_iter().map(|event| event.kind).collect()
}

pub(crate) async fn a_live_worker_is_listed_with_what_it_said(w: &World) {
    assert_eq!(listed(w).await, []);
    beat(w, "w1", 3).await;
    let info = listed(w).await.remove(0);
    assert_eq!((info.id, info.concurrency, info.running), (worker("w1"), 8, 3));
    assert_eq!(info.queues, ["high", "default", "low"].map(queue));
    assert_eq!(info.tasks, ["billing:charge", "refund"]);
}

pub(crate) async fn a_worker_may_tell_no_tasks(w: &World) {
    w.beat(WorkerInfo { tasks: Vec::new(), ..info("w1", 0) }, TTL).await;
    assert_eq!(listed(w).await.remove(0).tasks, [""; 0]);
}

pub(crate) async fn a_heartbeat_is_dated_by_the_stores_clock(w: &World) {
    let now = w.record(&w.enqueue(task("probe")).await).await.enqueued_at;
    beat(w, "w1", 0).await;
    w.advance(TTL / 2);
    beat(w, "w1", 5).await;
    let info = listed(w).await.remove(0);
    w.assert_passed(info.started_at.since(now), Duration::ZERO);
    w.assert_passed(info.seen_at.since(info.started_at), TTL / 2);
    assert_eq!(info.running, 5);
}

pub(crate) async fn a_silent_worker_is_not_listed_any_more(w: &World) {
    beat(w, "w1", 0).await;
    w.advance(TTL - w.slack() - Duration::from_secs(1));
    assert_eq!(listed(w).await.len(), 1);
    w.advance(w.slack() + Duration::from_secs(2));
    assert_eq!(listed(w).await, []);
}

pub(crate) async fn a_worker_that_goes_on_beating_stays_listed(w: &World) {
    for _ in 0..5 {
        beat(w, "w1", 0).await;
        w.advance(TTL / 2);
    }
    assert_eq!(listed(w).await.len(), 1);
}

pub(crate) async fn only_the_first_heartbeat_is_told(w: &World) {
    for _ in 0..3 {
        beat(w, "w1", 0).await;
    }
    assert_eq!(told(w).await, [EventKind::WorkerStarted]);
}

pub(crate) async fn a_farewell_removes_and_tells(w: &World) {
    beat(w, "w1", 0).await;
    beat(w, "w2", 0).await;
    w.store().farewell(&worker("w1")).await.unwrap();
    assert_eq!(listed(w).await.into_iter().map(|info| info.id).collect::<Vec<_>>(), [worker("w2")]);
    assert_eq!(told(w).await, [EventKind::WorkerStarted, EventKind::WorkerStarted, EventKind::WorkerStopped]);
}

pub(crate) async fn a_farewell_of_a_stranger_is_no_error(w: &World) {
    w.store().farewell(&worker("stranger")).await.unwrap();
    assert_eq!(listed(w).await, []);
}

pub(crate) async fn leases_stay_after_a_farewell(w: &World) {
    beat(w, "w1", 1).await;
    let held = w.running(task("a")).await;
    w.store().farewell(&worker("w1")).await.unwrap();
    assert!(w.sweep(1).await.is_empty());
    w.succeed(&held).await;
}

pub(crate) async fn workers_are_listed_by_start_time(w: &World) {
    for name in ["c", "a", "b"] {
        beat(w, name, 0).await;
        w.advance(Duration::from_secs(1));
    }
    beat(w, "c", 0).await;
    let names: Vec<_> = listed(w).await.into_iter().map(|info| info.id.to_string()).collect();
    assert_eq!(names, ["c", "a", "b"]);
}

pub(crate) async fn a_worker_is_seen_by_every_handle(w: &World) {
    beat(w, "w1", 2).await;
    let second = w.second_store().await;
    assert_eq!(second.workers().await.unwrap(), listed(w).await);
}

checks! {
    workers:
    a_live_worker_is_listed_with_what_it_said,
    a_worker_may_tell_no_tasks,
    a_heartbeat_is_dated_by_the_stores_clock,
    a_silent_worker_is_not_listed_any_more,
    a_worker_that_goes_on_beating_stays_listed,
    only_the_first_heartbeat_is_told,
    a_farewell_removes_and_tells,
    a_farewell_of_a_stranger_is_no_error,
    leases_stay_after_a_farewell,
    workers_are_listed_by_start_time,
    a_worker_is_seen_by_every_handle,
}

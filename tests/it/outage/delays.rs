//! Waits that are longer than a lease: nobody holds a task while it waits, so nobody can lose or double it.

use std::time::Duration;

use dtq::Handle;
use dtq::types::{Status, Timestamp};
use dtq_tests::{World, eventually, queue, task};

use super::on_both_stores;
use crate::program::{Desk, PATIENCE};

/// What a lease lasts here; all waits are longer.
const LEASE: [&str; 2] = ["--lease", "500ms"];

async fn waits_longer_than_a_lease_end_once_and_on_time_though_a_worker_is_killed(w: &World) {
    let desk = Desk::new(w);
    let mut workers = vec![desk.worker(&LEASE).await, desk.worker(&LEASE).await, desk.worker(&LEASE).await];
    let payload = |n: u64| serde_json::json!({ "folder": desk.folder.path(), "n": n, "millis": 1 }).to_string();
    let mut delayed: Vec<Handle<u64>> = Vec::new();
    let mut failing: Vec<Handle<()>> = Vec::new();
    for n in 0..50 {
        let nap = task("nap").payload(payload(n)).delay(Duration::from_millis(1500));
        delayed.push(desk.send(nap.build()).await);
        failing.push(desk.enqueue_with("fails_at_leisure", 2).await);
    }
    let stats = || async { desk.client.stats(&queue("default")).await.unwrap() };
    eventually("all wait", || async { (stats().await.retrying == 50).then_some(()) }).await;
    assert_eq!(stats().await.running, 0, "nobody holds what waits");
    // One goes, another comes.
    drop(workers.pop());
    workers.push(desk.worker(&LEASE).await);
    for (n, handle) in (0..).zip(&delayed) {
        assert_eq!(handle.result(PATIENCE).await.unwrap(), n);
        let record = handle.record().await.unwrap().unwrap();
        assert_eq!((record.attempt, desk.count(&format!("ran {n}"))), (1, 1));
        assert_waited(record.enqueued_at, record.finished_at.unwrap(), 1500);
    }
    for handle in &failing {
        let record = eventually("it fails for good", || async {
            handle.record().await.unwrap().filter(|record| record.status == Status::DeadLettered)
        })
        .await;
        assert_eq!(record.attempts.len(), 2, "{record:?}");
        assert_waited(record.attempts[0].ended_at, record.attempts[1].started_at, 1000);
    }
    assert_eq!((desk.count("attempt 1"), desk.count("attempt 2")), (50, 50));
}

/// Asserts that so long has passed between two instants, and not a second more.
fn assert_waited(from: Timestamp, to: Timestamp, millis: i64) {
    let waited = to.as_millis() - from.as_millis();
    // A store's milliseconds are cut off, not rounded.
    assert!((millis - 1..millis + 1000).contains(&waited), "{waited} ms");
}

on_both_stores! {
    waits_longer_than_a_lease_end_once_and_on_time_though_a_worker_is_killed,
}

//! What limits leave in keys, and what queues without them pay: nothing.

use std::time::Duration;

use dtq::store::{Claim, Verdict};
use dtq::types::LimitChanges;
use dtq_tests::{DEFAULT, Monitor, RETENTION, World, task, want, worker};

/// Keys that speak of limits.
fn of_limits(w: &World) -> Vec<String> {
    let parts = [":limits", ":slots:", ":parked:", ":freed"];
    w.server().keys().into_iter().filter(|key| parts.iter().any(|part| key.contains(part))).collect()
}

#[tokio::test]
async fn raw_keys_nothing_of_limits_is_left_when_they_are_lifted_and_all_is_done() {
    let w = World::redis().await;
    w.set_limits(LimitChanges::new().depth(1000).concurrency(5).task("a", 2)).await;
    w.pause(DEFAULT).await;
    for retention in [Duration::ZERO, RETENTION] {
        w.enqueue_many(10, || task("a").retention(retention)).await;
        w.enqueue_many(10, || task("b").retention(retention)).await;
    }
    w.resume(DEFAULT).await;
    let mut held = w.drain(want(10)).await;
    assert_eq!(held.len(), 5);
    assert!(of_limits(&w).iter().any(|key| key.ends_with(":slots:a")));
    w.set_limits(LimitChanges::new().no_depth().no_concurrency().no_task("a").task_as_declared("a")).await;
    while let Some(one) = held.pop() {
        w.settle(&one, Verdict::Succeeded { result: None }).await;
        held.extend(w.claim(10).await);
    }
    assert_eq!(w.stats().await.unfinished(), 0);
    assert_eq!(of_limits(&w), [""; 0]);
    let gate: Option<String> = w.server().command(&["HGET", "dtq:{default}:queue", "gate"]);
    assert_eq!(gate, None);
}

/// The commands of one life of a task in a queue that has no limits.
async fn life(w: &World) -> Vec<String> {
    let mut monitor = Monitor::start(w.server());
    w.enqueue_many(3, || task("a")).await;
    for delivery in w.claim(3).await {
        w.settle(&delivery, Verdict::Succeeded { result: None }).await;
    }
    let seen = monitor.seen(w.server());
    seen.into_iter().filter(|line| !line.starts_with("\"EVAL")).collect()
}

#[tokio::test]
async fn raw_keys_a_queue_without_limits_pays_nothing_for_them() {
    let w = World::redis().await;
    life(&w).await;
    let seen = life(&w).await;
    assert!(seen.len() > 10, "{seen:?}");
    let speaks = |line: &&String| [":limits", ":slots:", ":parked:", ":freed"].iter().any(|part| line.contains(part));
    assert_eq!(seen.iter().find(speaks), None);
    // One more field of a hash that is read anyway, once an enqueue and once a claim.
    let gates: Vec<_> = seen.iter().filter(|line| line.contains("\"gate\"")).collect();
    assert_eq!(gates.len(), 2, "{gates:?}");
    assert!(gates.iter().all(|line| line.starts_with("\"HMGET\"") && line.contains("\"bands\"")), "{gates:?}");
}

#[tokio::test]
async fn raw_keys_limits_hold_when_the_consumer_group_is_lost() {
    let w = World::redis().await;
    w.set_limits(LimitChanges::new().task("a", 2)).await;
    w.enqueue_many(6, || task("a")).await;
    let held = w.drain(want(10)).await;
    assert_eq!(held.len(), 2);
    let _: i64 = w.server().command(&["XGROUP", "DESTROY", "dtq:{default}:stream:p5", "dtq"]);
    // Both are handed out a second time, in the places that they have; the others are passed over again.
    let again = w.drain(Claim { worker: worker("w2"), sweep: true, ..want(10) }).await;
    let ids = |all: &[dtq::types::Delivery]| all.iter().map(|one| one.lease.task.clone()).collect::<Vec<_>>();
    assert_eq!(ids(&again), ids(&held));
    let limits = w.limits().await.tasks;
    assert_eq!((limits[0].running, limits[0].held_back), (2, 4));
    let mut running = again;
    let mut done = 0;
    while let Some(one) = running.pop() {
        w.succeed(&one).await;
        done += 1;
        running.extend(w.claim(10).await);
        assert!(running.len() <= 2);
    }
    assert_eq!((done, w.stats().await.unfinished()), (6, 0));
}

#[tokio::test]
async fn raw_keys_what_an_operator_removed_takes_no_place() {
    let w = World::redis().await;
    w.set_limits(LimitChanges::new().task("a", 1)).await;
    for _ in 0..4 {
        w.enqueue(task("a")).await;
    }
    let held = w.claim(10).await;
    let stream = "dtq:{default}:stream:p5";
    let entries: Vec<(String, Vec<String>)> = w.server().command(&["XRANGE", stream, "-", "+"]);
    assert_eq!(entries.len(), 4);
    let _: i64 = w.server().command(&["XDEL", stream, &entries[1].0]);
    let record = format!("dtq:{{default}}:task:{}", &entries[2].1[1][..36]);
    let _: i64 = w.server().command(&["DEL", &record]);
    w.succeed(&held[0]).await;
    let next = w.claim(10).await;
    assert_eq!(next.len(), 1, "the last of the four");
    assert_eq!(next[0].lease.task.uuid().to_string(), entries[3].1[1][..36]);
    assert_eq!(w.limits().await.tasks[0].held_back, 0);
}

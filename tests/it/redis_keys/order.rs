//! In which order the end of an attempt is written, as the server saw it.

use std::time::Duration;

use dtq::store::{Settlement, Verdict};
use dtq::types::Status;
use dtq_tests::{LEASE, Monitor, TaskBuilder, World, failure, task};

/// What a command writes of a task's end; `None` for what is of the whole queue: counters, wake-ups, reads.
fn step(line: &str) -> Option<&'static str> {
    let mut words = line.split('"').skip(1).step_by(2);
    let (name, key) = (words.next()?.to_uppercase(), words.next()?);
    let speaks_of = |part: &str| key.contains(part);
    match name.as_str() {
        "SET" | "DEL" if speaks_of(":idempotency:") => Some("idempotency key"),
        "SET" | "DEL" if speaks_of(":unique:") => Some("unique key"),
        "SET" | "DEL" if speaks_of(":task:") => Some("record"),
        "SET" | "SETRANGE" | "DEL" if speaks_of(":block:") => Some("block"),
        "SET" if speaks_of(":result:") => Some("result"),
        "XADD" if speaks_of(":dlq") => Some("dead letter"),
        "XADD" if speaks_of(":events") => Some("event"),
        "XADD" if speaks_of(":stream:") => Some("entry"),
        "ZADD" if speaks_of(":schedule") => Some("schedule"),
        "XACK" => Some("XACK"),
        "XDEL" => Some("XDEL"),
        _ => None,
    }
}

/// What the server wrote of a task's end while `act` ran.
pub(super) async fn written(w: &World, act: impl AsyncFnOnce()) -> Vec<&'static str> {
    let mut monitor = Monitor::start(w.server());
    act().await;
    let seen = monitor.seen(w.server());
    seen.iter().filter_map(|line| step(line)).collect()
}

/// The same for the settlement of this task.
async fn settled(task: TaskBuilder, verdict: Verdict) -> Vec<&'static str> {
    let w = World::redis().await;
    let held = w.running(task).await;
    written(&w, async || {
        w.settle(&held, verdict).await;
    })
    .await
}

fn failed() -> Verdict {
    Verdict::Failed { failure: failure("x") }
}

fn retry() -> Verdict {
    Verdict::Retry { delay: Duration::from_secs(60), failure: failure("x") }
}

#[tokio::test]
async fn raw_keys_write_order_of_a_success_with_a_result() {
    let steps = settled(task("a"), Verdict::Succeeded { result: Some("1".into()) }).await;
    assert_eq!(steps, ["record", "result", "event", "XACK", "XDEL"]);
}

#[tokio::test]
async fn raw_keys_write_order_of_a_success_without_a_result() {
    let steps = settled(task("a"), Verdict::Succeeded { result: None }).await;
    assert_eq!(steps, ["record", "event", "XACK", "XDEL"]);
}

#[tokio::test]
async fn raw_keys_write_order_of_a_success_that_is_not_kept() {
    let steps = settled(task("a").retention(Duration::ZERO), Verdict::Succeeded { result: Some("1".into()) }).await;
    assert_eq!(steps, ["record", "event", "XACK", "XDEL"]);
}

#[tokio::test]
async fn raw_keys_write_order_of_a_retry() {
    assert_eq!(settled(task("a"), retry()).await, ["record", "event", "schedule", "XACK", "XDEL"]);
}

#[tokio::test]
async fn raw_keys_write_order_of_a_snooze() {
    let steps = settled(task("a"), Verdict::Snooze { delay: Duration::from_secs(60) }).await;
    assert_eq!(steps, ["record", "event", "schedule", "XACK", "XDEL"]);
}

#[tokio::test]
async fn raw_keys_write_order_of_a_failure_with_a_dead_letter() {
    assert_eq!(settled(task("a"), failed()).await, ["record", "dead letter", "event", "XACK", "XDEL"]);
}

#[tokio::test]
async fn raw_keys_write_order_of_a_failure_without_a_dead_letter() {
    assert_eq!(settled(task("a").no_dead_letter(), failed()).await, ["record", "event", "XACK", "XDEL"]);
}

#[tokio::test]
async fn raw_keys_write_order_of_a_cancellation_by_the_handler() {
    let steps = settled(task("a"), Verdict::Cancelled { reason: "moot".into() }).await;
    assert_eq!(steps, ["record", "event", "XACK", "XDEL"]);
}

#[tokio::test]
async fn raw_keys_write_order_of_a_cancellation_that_is_obeyed() {
    for verdict in [Verdict::Cancelled { reason: "called off".into() }, retry(), Verdict::Release] {
        let w = World::redis().await;
        let held = w.running(task("a")).await;
        w.cancel(&held.lease.task).await;
        let steps = written(&w, async || w.settle_to(&held, verdict.clone(), Status::Cancelled).await).await;
        assert_eq!(steps, ["record", "event", "XACK", "XDEL"], "{verdict:?}");
    }
}

#[tokio::test]
async fn raw_keys_write_order_of_a_release() {
    let steps = settled(task("a"), Verdict::Release).await;
    assert_eq!(steps, ["entry", "record", "event", "XACK", "XDEL"], "the new entry is there before the old one goes");
}

#[tokio::test]
async fn raw_keys_write_order_of_an_expiry() {
    let w = World::redis().await;
    w.enqueue(task("a").ttl(Duration::from_secs(30))).await;
    w.advance(Duration::from_secs(31));
    let steps = written(&w, async || assert!(w.claim(1).await.is_empty())).await;
    assert_eq!(steps, ["record", "event", "XACK", "XDEL"]);
}

/// What a sweep writes of this task, whose lease ran out.
async fn swept(task: TaskBuilder, asked_to_stop: bool) -> Vec<&'static str> {
    let w = World::redis().await;
    let held = w.running(task).await;
    if asked_to_stop {
        w.cancel(&held.lease.task).await;
    }
    w.advance(LEASE + Duration::from_secs(1));
    written(&w, async || assert!(w.sweep(1).await.is_empty())).await
}

#[tokio::test]
async fn raw_keys_write_order_of_a_last_attempt_that_was_lost() {
    let steps = swept(task("a").max_attempts(1), false).await;
    assert_eq!(steps, ["record", "dead letter", "event", "XACK", "XDEL"]);
    let steps = swept(task("a").max_attempts(1).no_dead_letter(), false).await;
    assert_eq!(steps, ["record", "event", "XACK", "XDEL"]);
}

#[tokio::test]
async fn raw_keys_write_order_of_a_lost_task_that_was_to_stop() {
    assert_eq!(swept(task("a"), true).await, ["record", "event", "XACK", "XDEL"]);
}

#[tokio::test]
async fn raw_keys_write_order_of_a_duplicate_entry() {
    let w = World::redis().await;
    let held = w.running(task("a")).await;
    let stream = "dtq:{default}:stream:p5";
    let entries: Vec<(String, Vec<String>)> = w.server().command(&["XRANGE", stream, "-", "+"]);
    let copy: Vec<_> = ["XADD", stream, "*"].into_iter().chain(entries[0].1.iter().map(String::as_str)).collect();
    let _: String = w.server().command(&copy);
    let steps = written(&w, async || assert!(w.sweep(1).await.is_empty())).await;
    assert_eq!(steps, ["event", "XACK", "XDEL"]);
    w.succeed(&held).await;
}

#[tokio::test]
async fn raw_keys_acknowledgements_of_a_batch_come_after_every_other_write() {
    let w = World::redis().await;
    w.enqueue_many(6, || task("a")).await;
    let deliveries = w.claim(6).await;
    let verdicts = [retry(), failed(), Verdict::Succeeded { result: Some("1".into()) }];
    let settlements: Vec<_> = deliveries
        .into_iter()
        .zip(verdicts.into_iter().cycle())
        .map(|(delivery, verdict)| Settlement { delivery, verdict })
        .collect();
    let steps = written(&w, async || drop(w.store().settle(settlements).await.unwrap())).await;
    let first = steps.iter().position(|&step| step == "XACK").unwrap();
    assert!(steps[first..].iter().all(|step| step.starts_with('X')), "{steps:?}");
    assert_eq!(steps[..first].iter().filter(|&&step| step == "record").count(), 6, "{steps:?}");
}

#[tokio::test]
async fn raw_keys_waiting_workers_cost_the_server_almost_nothing() {
    let w = World::redis().await;
    w.claim(1).await;
    let mut monitor = Monitor::start(w.server());
    let wait = dtq::store::Wait { queues: vec![dtq_tests::queue("default")], timeout: Duration::from_millis(300) };
    w.store().wait(wait).await.unwrap();
    let seen = monitor.seen(w.server());
    assert!(seen.len() <= 12, "{} commands for one wait: {seen:#?}", seen.len());
}

//! In which order a settlement writes, as the server saw it.

use std::time::Duration;

use dtq::store::Verdict;
use dtq_tests::{Monitor, World, failure, task};

/// Where the first command stands that begins with `name` and speaks of `key`.
fn place(seen: &[String], name: &str, key: &str) -> usize {
    let begin = format!("\"{name}\" ");
    seen.iter()
        .position(|line| line.to_uppercase().starts_with(&begin) && line.contains(key))
        .unwrap_or_else(|| panic!("no {name} of {key} in {seen:#?}"))
}

/// Settles a running task and gives what the server executed.
async fn watch(w: &World, verdict: Verdict) -> Vec<String> {
    let held = w.running(task("a")).await;
    let mut monitor = Monitor::start(w.server());
    w.settle(&held, verdict).await;
    monitor.seen(w.server())
}

/// Asserts that the record, the event and the acknowledgement came in that order, and nothing of the task after it.
fn assert_acknowledged_last(seen: &[String]) -> [usize; 3] {
    let record = place(seen, "SET", ":task:");
    let event = place(seen, "XADD", ":events");
    let ack = place(seen, "XACK", ":stream:");
    assert!(record < event && event < ack, "{seen:#?}");
    let after = seen[ack + 1..].iter().all(|line| line.to_uppercase().starts_with("\"XDEL\" "));
    assert!(after, "something follows the acknowledgement: {seen:#?}");
    [record, event, ack]
}

#[tokio::test]
async fn raw_keys_a_success_is_written_record_result_event_acknowledgement() {
    let w = World::redis().await;
    let seen = watch(&w, Verdict::Succeeded { result: Some("1".into()) }).await;
    let [record, event, _] = assert_acknowledged_last(&seen);
    let result = place(&seen, "SET", ":result:");
    assert!(record < result && result < event, "{seen:#?}");
}

#[tokio::test]
async fn raw_keys_a_retry_is_written_record_event_schedule_acknowledgement() {
    let w = World::redis().await;
    let verdict = Verdict::Retry { delay: Duration::from_secs(60), failure: failure("x") };
    let seen = watch(&w, verdict).await;
    let [_, event, ack] = assert_acknowledged_last(&seen);
    let schedule = place(&seen, "ZADD", ":schedule");
    assert!(event < schedule && schedule < ack, "{seen:#?}");
}

#[tokio::test]
async fn raw_keys_a_dead_letter_is_written_record_letter_event_acknowledgement() {
    let w = World::redis().await;
    let seen = watch(&w, Verdict::Failed { failure: failure("x") }).await;
    let [record, event, _] = assert_acknowledged_last(&seen);
    let letter = place(&seen, "XADD", ":dlq");
    assert!(record < letter && letter < event, "{seen:#?}");
}

#[tokio::test]
async fn raw_keys_a_cancellation_is_written_record_event_acknowledgement() {
    let w = World::redis().await;
    assert_acknowledged_last(&watch(&w, Verdict::Cancelled { reason: "moot".into() }).await);
}

#[tokio::test]
async fn raw_keys_a_release_writes_the_new_entry_before_it_drops_the_old_one() {
    let w = World::redis().await;
    let seen = watch(&w, Verdict::Release).await;
    assert_acknowledged_last(&seen);
    assert!(place(&seen, "XADD", ":stream:") < place(&seen, "XACK", ":stream:"), "{seen:#?}");
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

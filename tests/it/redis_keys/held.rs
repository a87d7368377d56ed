//! The keys that tasks hold, as the server has them.

use std::time::Duration;

use dtq::store::Verdict;
use dtq::types::{Idempotency, Status, Unique, Until};
use dtq_tests::{LEASE, TaskBuilder, World, failure, task};

use super::order::written;

const IDEMPOTENCY: &str = "dtq:{default}:idempotency:k";
const UNIQUE: &str = "dtq:{default}:unique:a/u";

fn keyed() -> TaskBuilder {
    task("a").key("k").unique("u")
}

fn value(w: &World, key: &str) -> Option<String> {
    w.server().command(&["GET", key])
}

fn left(w: &World, key: &str) -> i64 {
    w.server().command(&["PTTL", key])
}

#[tokio::test]
async fn raw_keys_the_state_of_a_key_follows_its_task() {
    for status in Status::ALL {
        let w = World::redis().await;
        let id = w.bring(status, keyed()).await.id;
        let letter = match status {
            Status::Succeeded => 'c',
            _ if status.is_terminal() => 'f',
            _ => 'p',
        };
        assert_eq!(value(&w, IDEMPOTENCY), Some(format!("{letter}{}", id.uuid())), "{status}");
        let unique = (!status.is_terminal()).then(|| format!("f{}", id.uuid()));
        assert_eq!(value(&w, UNIQUE), unique, "{status}");
        let left = left(&w, IDEMPOTENCY);
        if status.is_terminal() {
            let most = i64::try_from(Idempotency::KEEP.as_millis()).unwrap();
            assert!(left > most - 60_000 && left <= most, "{status}: {left}");
        } else {
            assert_eq!((left, self::left(&w, UNIQUE)), (-1, -1), "{status}");
        }
    }
}

#[tokio::test]
async fn raw_keys_only_a_period_has_a_time_to_live() {
    let w = World::redis().await;
    w.enqueue(task("a").unique(Unique::new("u").until(Until::Period(Duration::from_secs(60))))).await;
    assert!((1..=60_000).contains(&left(&w, UNIQUE)));
}

#[tokio::test]
async fn raw_keys_nothing_is_left_of_keys_of_tasks_that_are_not_kept() {
    let w = World::redis().await;
    let held = w.running(keyed().retention(Duration::ZERO)).await;
    w.settle(&held, Verdict::Succeeded { result: None }).await;
    let left: Vec<_> =
        w.server().keys().into_iter().filter(|key| key.contains("idem") || key.contains("uniq")).collect();
    assert_eq!(left, [""; 0]);
}

/// The steps in which a task's end is written, with its keys among them.
async fn steps(task: TaskBuilder, verdict: Verdict) -> Vec<&'static str> {
    let w = World::redis().await;
    let held = w.running(task).await;
    written(&w, async || {
        w.settle(&held, verdict).await;
    })
    .await
}

#[tokio::test]
async fn raw_keys_write_order_of_ends_with_keys() {
    let succeeded = || Verdict::Succeeded { result: Some("1".into()) };
    let keys = ["idempotency key", "unique key"];
    let ending = |before: &[&'static str]| [before, &keys, &["XACK", "XDEL"]].concat();
    assert_eq!(steps(keyed(), succeeded()).await, ending(&["record", "result", "event"]));
    let not_kept = steps(keyed().retention(Duration::ZERO), succeeded()).await;
    assert_eq!(not_kept, ending(&["record", "event"]));
    let failed = || Verdict::Failed { failure: failure("x") };
    assert_eq!(steps(keyed(), failed()).await, ending(&["record", "dead letter", "event"]));
    assert_eq!(steps(keyed().no_dead_letter(), failed()).await, ending(&["record", "event"]));
    let dropped = Verdict::Cancelled { reason: "x".into() };
    assert_eq!(steps(keyed(), dropped).await, ending(&["record", "event"]));
    let retry = Verdict::Retry { delay: Duration::from_secs(60), failure: failure("x") };
    assert_eq!(steps(keyed(), retry).await, ["record", "event", "schedule", "XACK", "XDEL"]);
}

#[tokio::test]
async fn raw_keys_write_order_of_ends_with_keys_by_the_store() {
    let w = World::redis().await;
    let id = w.enqueue(keyed()).await;
    let steps = written(&w, async || {
        w.cancel(&id).await;
    })
    .await;
    assert_eq!(steps, ["record", "event", "idempotency key", "unique key", "XDEL"]);
    w.running(task("a").key("l").unique("l").max_attempts(1)).await;
    w.advance(LEASE + Duration::from_secs(1));
    let steps = written(&w, async || drop(w.sweep(1).await)).await;
    assert_eq!(steps, ["record", "dead letter", "event", "idempotency key", "unique key", "XACK", "XDEL"]);
    w.enqueue(task("a").key("x").unique("x").ttl(Duration::from_secs(1))).await;
    w.advance(Duration::from_secs(2));
    let steps = written(&w, async || drop(w.claim(1).await)).await;
    assert_eq!(steps, ["record", "event", "idempotency key", "unique key", "XACK", "XDEL"]);
}

#[tokio::test]
async fn raw_keys_a_task_without_keys_touches_none() {
    let w = World::redis().await;
    let steps = written(&w, async || {
        let held = w.running(task("a")).await;
        w.succeed(&held).await;
    })
    .await;
    assert!(!steps.contains(&"idempotency key") && !steps.contains(&"unique key"), "{steps:?}");
    let id = w.enqueue(task("a")).await;
    let record: String = w.server().command(&["GET", &format!("dtq:{{default}}:task:{}", id.uuid())]);
    assert!(record.parse::<u64>().is_ok(), "the packed form: {record}");
}

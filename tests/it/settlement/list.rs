//! A simple list: a value is gone from the server once it was read.

use std::time::Duration;

use dtq::types::{Backoff, Form, ListForm};
use dtq_tests::{ServerKind, eventually};

use super::{Bench, KEY, on_every_server};

fn list() -> Form {
    Form::List(ListForm::new(KEY))
}

async fn list_ack_retry_and_drop_are_unsupported(kind: ServerKind) {
    let bench = Bench::on(kind).await;
    let worker = bench.worker(list()).await;
    let mut monitor = bench.monitor();
    bench.push("hand");
    bench.told_times("hand unsupported", 3).await;
    bench.counts(&worker, |stats| stats.acked, 1).await;
    assert_eq!(bench.settling(&mut monitor), [format!("LPUSH {KEY} hand")], "nothing is sent");
    assert!(worker.stop().await.drained);
}

async fn list_error_comes_back_to_the_list_after_the_backoff(kind: ServerKind) {
    let bench = Bench::on(kind).await;
    let minute = Backoff::Fixed(Duration::from_secs(60));
    let worker = bench.worker_with(|def| def.form(list()).backoff(minute)).await;
    let mut monitor = bench.monitor();
    bench.push("error 1");
    bench.told("error 1 #1").await;
    bench.answers(&["ZCARD", "{orders}:delayed"], 1).await;
    bench.server.advance(Duration::from_secs(60));
    bench.told("error 1 #2").await;
    let seen = bench.settling(&mut monitor);
    assert!(seen[1].starts_with("ZADD {orders}:delayed "), "{seen:?}");
    assert_eq!(seen[2], format!("LPUSH {KEY} dtq/1\\ndtq-retries: 1\\n\\nerror 1"));
    assert!(seen[3].starts_with("ZREM {orders}:delayed "), "{seen:?}");
    assert!(worker.stop().await.drained);
}

async fn list_over_the_cap_is_a_dead_letter(kind: ServerKind) {
    let bench = Bench::on(kind).await;
    let worker = bench.worker_with(|def| def.form(list()).max_attempts(1).dead_letter("dead")).await;
    bench.push("panic");
    let dead = || async { bench.list("dead").pop() };
    let dead = eventually("it is a dead letter", dead).await;
    assert!(dead.contains("dtq-kind: panic\n") && dead.ends_with("\n\npanic"), "{dead}");
    assert!(worker.stop().await.drained);
}

async fn list_values_are_handled_in_the_order_of_their_pushing(kind: ServerKind) {
    let bench = Bench::on(kind).await;
    (0..50).for_each(|n| bench.push(&format!("ack 9 {n}")));
    let worker = bench.worker_of(dtq::WorkerConfig::new().concurrency(1), |def| def.form(list())).await;
    bench.told("ack 9 49 #1").await;
    let expected: Vec<_> = (0..50).map(|n| format!("ack 9 {n} #1")).collect();
    assert_eq!(bench.probe.notes(), expected);
    assert!(worker.stop().await.drained);
}

on_every_server! {
    list_ack_retry_and_drop_are_unsupported,
    list_error_comes_back_to_the_list_after_the_backoff,
    list_over_the_cap_is_a_dead_letter,
    list_values_are_handled_in_the_order_of_their_pushing,
}

//! Retries after a delay: in the process, in a sorted set on the server.

use std::time::Duration;

use dtq::SubscriberDef;
use dtq::types::{Backoff, DelayedRetry, Form, ListForm, StreamForm};

use super::bench::stream;
use super::{Bench, GROUP, KEY};

const SET: &str = "{orders}:delayed:billing";
const HOUR: Duration = Duration::from_secs(3600);
const HOUR_MS: i64 = 3_600_000;

fn durable(ttl: Option<Duration>) -> impl Fn(SubscriberDef) -> SubscriberDef {
    move |def| def.form(stream()).delayed_retry(DelayedRetry::DurableZset { ttl })
}

fn in_process(def: SubscriberDef) -> SubscriberDef {
    def.form(stream()).delayed_retry(DelayedRetry::InProcess)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stream_retry_after_is_durable_unless_said_and_sends_zadd_then_xack() {
    let bench = Bench::new().await;
    let worker = bench.worker(stream()).await;
    let mut monitor = bench.monitor();
    let id = bench.append(&format!("retry 1 {HOUR_MS}"));
    bench.answers(&["ZCARD", SET], 1).await;
    bench.settled().await;
    let seen = bench.settling(&mut monitor);
    assert!(seen[1].starts_with(&format!("ZADD {SET} ")), "{seen:?}");
    assert_eq!(seen[2], format!("XACK {KEY} {GROUP} {id}"));
    assert!(worker.stop().await.drained);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stream_retry_after_comes_back_when_due_by_the_servers_clock_with_its_count_raised() {
    let bench = Bench::new().await;
    let worker = bench.worker(stream()).await;
    bench.server.advance(Duration::from_secs(86_400));
    bench.append(&format!("retry 2 {HOUR_MS}"));
    for attempt in 2..=3 {
        bench.answers(&["ZCARD", SET], 1).await;
        let (now, _): (i64, i64) = bench.server.command(&["TIME"]);
        let due: Vec<(String, f64)> = bench.server.command(&["ZRANGE", SET, "0", "-1", "WITHSCORES"]);
        let wait = due[0].1 / 1000.0 - now as f64;
        assert!((3590.0..=3601.0).contains(&wait), "{wait}");
        bench.server.advance(HOUR);
        bench.told(&format!("retry 2 {HOUR_MS} #{attempt}")).await;
    }
    bench.settled().await;
    assert!(worker.stop().await.drained);
    assert_eq!(bench.probe.notes().len(), 3);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stream_retry_after_durable_survives_the_worker() {
    let bench = Bench::new().await;
    let worker = bench.worker(stream()).await;
    bench.append(&format!("retry 1 {HOUR_MS}"));
    bench.answers(&["ZCARD", SET], 1).await;
    worker.stop().await;
    let next = bench.worker(stream()).await;
    bench.server.advance(HOUR);
    bench.told(&format!("retry 1 {HOUR_MS} #2")).await;
    bench.settled().await;
    assert!(next.stop().await.drained);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stream_retry_after_durable_moves_at_most_128_a_read() {
    const COUNT: usize = 300;
    let bench = Bench::new().await;
    let worker = bench.worker(stream()).await;
    (0..COUNT).for_each(|_| drop(bench.append(&format!("retry 1 {HOUR_MS}"))));
    bench.answers(&["ZCARD", SET], COUNT).await;
    worker.stop().await;
    bench.server.advance(HOUR);
    let mut monitor = bench.monitor();
    let next = bench.worker(stream()).await;
    bench.answers(&["ZCARD", SET], 0_usize).await;
    // Between two calls of a script stand the commands of one.
    let (mut moved, mut in_one) = (Vec::new(), 0);
    for command in monitor.seen(&bench.server) {
        if command.starts_with("\"ZREM\"") {
            in_one += 1;
        } else if command.starts_with("\"EVAL") {
            moved.push(std::mem::take(&mut in_one));
        }
    }
    moved.push(in_one);
    assert_eq!(moved.iter().sum::<usize>(), COUNT);
    assert!(moved.iter().all(|count| *count <= 128) && moved.contains(&128), "{moved:?}");
    bench.told_times(&format!("retry 1 {HOUR_MS} #2"), COUNT).await;
    assert!(next.stop().await.drained);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stream_retry_after_durable_with_a_ttl_keeps_copies_until_they_are_due_and_the_ttl_longer() {
    let bench = Bench::new().await;
    let worker = bench.worker_with(durable(Some(HOUR))).await;
    for delay in [3 * HOUR_MS, HOUR_MS] {
        bench.append(&format!("retry 1 {delay}"));
    }
    bench.answers(&["ZCARD", SET], 2).await;
    let left: i64 = bench.server.command(&["PTTL", SET]);
    assert!((4 * HOUR_MS - 20_000..=4 * HOUR_MS).contains(&left), "{left}");
    assert!(worker.stop().await.drained);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stream_retry_after_in_process_sends_xack_first_and_the_copy_when_due() {
    let bench = Bench::new().await;
    let worker = bench.worker_with(in_process).await;
    let mut monitor = bench.monitor();
    let id = bench.append("retry 1 100");
    bench.told("retry 1 100 #2").await;
    bench.settled().await;
    let seen = bench.settling(&mut monitor);
    assert_eq!(seen[1], format!("XACK {KEY} {GROUP} {id}"));
    assert!(seen[2].starts_with(&format!("XADD {KEY} * payload retry 1 100 h:dtq-retries 1")), "{seen:?}");
    assert!(worker.stop().await.drained);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stream_retry_after_in_process_is_sent_back_early_at_a_stop() {
    let bench = Bench::new().await;
    let worker = bench.worker_with(in_process).await;
    bench.append(&format!("retry 1 {HOUR_MS}"));
    bench.counts(&worker, |stats| stats.retried, 1).await;
    assert!(worker.stop().await.drained);
    assert_eq!(bench.entries(KEY).len(), 2, "the copy is on the stream");
}

/// An entry of more fields than a script of the server can pass on at once: it comes back, and what is behind it is read.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stream_retry_of_an_entry_of_many_fields_is_no_poison() {
    let fields: Vec<String> = (0..5000).flat_map(|n| [format!("f{n}"), n.to_string()]).collect();
    for idle in [None, Some(HOUR)] {
        for what in ["retry 1 0", "retry 1 50", "error 1"] {
            let form = StreamForm::new(KEY, GROUP);
            let form = idle.map_or(form, |idle| form.min_idle(idle));
            let bench = Bench::new().await;
            let worker =
                bench.worker_with(|def| def.form(Form::Stream(form)).backoff(Backoff::Fixed(Duration::ZERO))).await;
            let mut entry = vec!["XADD", KEY, "*", "payload", what];
            entry.extend(fields.iter().map(String::as_str));
            bench.server.command::<String>(&entry);
            bench.told(&format!("{what} #2")).await;
            bench.append("ack 9 behind");
            bench.told("ack 9 behind #1").await;
            bench.settled().await;
            let copy = bench.entries(KEY).remove(1);
            assert_eq!(copy[2..10_002], fields, "{what}");
            assert!(worker.stop().await.drained);
        }
    }
}

/// A server without memory takes no copies back: what is there is read all the same, or nobody would ever make room.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn list_is_read_while_the_server_has_no_memory_for_due_copies() {
    let bench = Bench::new().await;
    let list = Form::List(ListForm::new(KEY));
    let worker = bench.worker_with(|def| def.form(list).backoff(Backoff::Fixed(HOUR))).await;
    bench.push("error 1");
    bench.answers(&["ZCARD", "{orders}:delayed"], 1).await;
    assert!(worker.stop().await.drained);
    bench.push("ack 9");
    bench.server.command::<()>(&["CONFIG", "SET", "maxmemory", "1"]);
    bench.server.advance(HOUR);
    let worker = bench.worker_with(|def| def.form(list)).await;
    bench.told("ack 9 #1").await;
    bench.server.command::<()>(&["CONFIG", "SET", "maxmemory", "0"]);
    bench.told("error 1 #2").await;
    assert!(worker.stop().await.drained);
}

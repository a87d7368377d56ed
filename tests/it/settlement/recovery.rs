//! What dead workers left on a stream, consumers that are gone, entries that nobody needs any more.

use std::time::Duration;

use dtq::types::{Form, StreamForm};
use dtq_tests::{ServerKind, eventually};

use super::bench::stream;
use super::{Bench, GROUP, KEY, on_every_server};

const IDLE: Duration = Duration::from_secs(120);

fn recovering() -> Form {
    Form::Stream(StreamForm::new(KEY, GROUP).min_idle(IDLE))
}

fn trimming() -> Form {
    Form::Stream(StreamForm::new(KEY, GROUP).trim())
}

/// Reads an entry as a consumer that then does nothing.
fn held_by(bench: &Bench, consumer: &str) {
    let _: redis::Value =
        bench.server.command(&["XREADGROUP", "GROUP", GROUP, consumer, "COUNT", "1", "STREAMS", KEY, ">"]);
}

fn consumers(bench: &Bench) -> Vec<String> {
    let all: Vec<Vec<redis::Value>> = bench.server.command(&["XINFO", "CONSUMERS", KEY, GROUP]);
    all.into_iter().map(|one| redis::from_redis_value(one[1].clone()).unwrap()).collect()
}

async fn stream_with_min_idle_takes_over_what_a_dead_consumer_left_and_acks(kind: ServerKind) {
    let bench = Bench::on(kind).await;
    let id = bench.append("ack");
    bench.server.command::<()>(&["XGROUP", "CREATE", KEY, GROUP, "0"]);
    held_by(&bench, "gone");
    let worker = bench.worker(recovering()).await;
    bench.append("ack 9");
    bench.told("ack 9 #1").await;
    assert_eq!(bench.count("ack #2"), 0, "it is not idle yet");
    let mut monitor = bench.monitor();
    bench.server.advance(IDLE);
    bench.told("ack #2").await;
    bench.settled().await;
    assert!(bench.settling(&mut monitor).contains(&format!("XACK {KEY} {GROUP} {id}")));
    assert!(worker.stop().await.drained);
}

async fn stream_with_min_idle_retry_of_what_was_taken_over_is_refused(kind: ServerKind) {
    let bench = Bench::on(kind).await;
    let worker = bench.worker(recovering()).await;
    let id = bench.append("wait");
    bench.told("wait #1").await;
    bench.server.command::<redis::Value>(&["XCLAIM", KEY, GROUP, "other", "0", &id]);
    bench.probe.open(1);
    bench.counts(&worker, |stats| stats.lost, 1).await;
    assert_eq!((bench.pending(), bench.entries(KEY).len()), (1, 1));
    worker.stop().await;
}

async fn stream_without_min_idle_leaves_the_entries_of_others_pending(kind: ServerKind) {
    let bench = Bench::on(kind).await;
    bench.append("ack");
    bench.server.command::<()>(&["XGROUP", "CREATE", KEY, GROUP, "0"]);
    held_by(&bench, "gone");
    let worker = bench.worker(stream()).await;
    bench.server.advance(IDLE);
    bench.append("ack 9");
    bench.told("ack 9 #1").await;
    eventually("only that is pending", || async { (bench.pending() == 1).then_some(()) }).await;
    assert_eq!(bench.count("ack #2"), 0);
    assert!(worker.stop().await.drained);
}

/// One of dtq's that holds nothing and was silent for long is forgotten; one that holds something, or is not ours, is not.
async fn stream_forgets_consumers_that_are_gone_and_hold_nothing(kind: ServerKind) {
    let bench = Bench::on(kind).await;
    bench.append("ack");
    bench.server.command::<()>(&["XGROUP", "CREATE", KEY, GROUP, "0"]);
    held_by(&bench, "dtq-holds");
    for name in ["dtq-gone", "theirs"] {
        bench.server.command::<()>(&["XGROUP", "CREATECONSUMER", KEY, GROUP, name]);
    }
    let worker = bench.worker(stream()).await;
    bench.append("ack 9");
    bench.told("ack 9 #1").await;
    assert!(consumers(&bench).contains(&"dtq-gone".to_owned()), "it is not gone for long");
    bench.server.advance(Duration::from_secs(61));
    let forgotten = || async { (!consumers(&bench).contains(&"dtq-gone".to_owned())).then_some(()) };
    eventually("it is forgotten", forgotten).await;
    let left = consumers(&bench);
    assert!(left.contains(&"dtq-holds".to_owned()) && left.contains(&"theirs".to_owned()), "{left:?}");
    assert!(worker.stop().await.drained);
}

async fn stream_trim_deletes_what_every_group_has_acked_and_nothing_else(kind: ServerKind) {
    let bench = Bench::on(kind).await;
    bench.server.command::<()>(&["XGROUP", "CREATE", KEY, "audit", "0", "MKSTREAM"]);
    let ids: Vec<_> = (0..4).map(|n| bench.append(&format!("ack 9 {n}"))).collect();
    let worker = bench.worker(trimming()).await;
    bench.told("ack 9 3 #1").await;
    bench.settled().await;
    // The other group has read three entries, and acknowledged the first and the third.
    let _: redis::Value =
        bench.server.command(&["XREADGROUP", "GROUP", "audit", "a", "COUNT", "3", "STREAMS", KEY, ">"]);
    bench.server.command::<i64>(&["XACK", KEY, "audit", &ids[0], &ids[2]]);
    bench.answers(&["XLEN", KEY], 3).await;
    bench.server.command::<i64>(&["XACK", KEY, "audit", &ids[1]]);
    bench.answers(&["XLEN", KEY], 1).await;
    let _: redis::Value =
        bench.server.command(&["XREADGROUP", "GROUP", "audit", "a", "COUNT", "3", "STREAMS", KEY, ">"]);
    bench.server.command::<i64>(&["XACK", KEY, "audit", &ids[3]]);
    bench.answers(&["XLEN", KEY], 0).await;
    assert!(worker.stop().await.drained);
}

/// Ids that are longer than a number of the server's scripts is exact: what is compared is their text.
async fn stream_trim_of_ids_in_nanoseconds_deletes_nothing_that_is_needed(kind: ServerKind) {
    let bench = Bench::on(kind).await;
    bench.server.command::<()>(&["XGROUP", "CREATE", KEY, "audit", "0", "MKSTREAM"]);
    let send = |id: &str| drop(bench.server.command::<String>(&["XADD", KEY, id, "payload", "ack 9"]));
    // 9999999999999999 has no exact number: the nearest one is above it.
    ["9-1", "10-1", "9999999999999999-1", "9999999999999999-2", "1732900000000000123-7"].into_iter().for_each(send);
    let worker = bench.worker(trimming()).await;
    bench.told_times("ack 9 #1", 5).await;
    bench.settled().await;
    let _: redis::Value =
        bench.server.command(&["XREADGROUP", "GROUP", "audit", "a", "COUNT", "3", "STREAMS", KEY, ">"]);
    bench.server.command::<i64>(&["XACK", KEY, "audit", "9-1", "10-1"]);
    let ids = || {
        let entries: Vec<(String, Vec<String>)> = bench.server.command(&["XRANGE", KEY, "-", "+"]);
        entries.into_iter().map(|(id, _)| id).collect::<Vec<_>>()
    };
    eventually("two are deleted", || async { (ids().len() <= 3).then_some(()) }).await;
    assert_eq!(ids(), ["9999999999999999-1", "9999999999999999-2", "1732900000000000123-7"]);
    let _: redis::Value = bench.server.command(&["XREADGROUP", "GROUP", "audit", "a", "STREAMS", KEY, ">"]);
    bench.server.command::<i64>(&["XACK", KEY, "audit", "9999999999999999-1", "9999999999999999-2"]);
    eventually("two more are deleted", || async { (ids().len() <= 1).then_some(()) }).await;
    assert_eq!(ids(), ["1732900000000000123-7"]);
    assert!(worker.stop().await.drained);
}

/// Two groups read one stream: what one of them retries is no second message for the other.
async fn stream_retry_of_one_group_is_passed_over_by_another(kind: ServerKind) {
    let bench = Bench::on(kind).await;
    let first = bench.worker(stream()).await;
    let second = bench.worker(Form::Stream(StreamForm::new(KEY, "audit"))).await;
    bench.append("retry 1");
    bench.told_times("retry 1 #2", 2).await;
    bench.settled().await;
    let pending = || async {
        let (count, _, _, _): (i64, redis::Value, redis::Value, redis::Value) =
            bench.server.command(&["XPENDING", KEY, "audit"]);
        (count == 0).then_some(())
    };
    eventually("nothing is pending", pending).await;
    // The original for each, and one copy for each.
    assert_eq!((bench.entries(KEY).len(), bench.probe.notes().len()), (3, 4));
    assert!(first.stop().await.drained && second.stop().await.drained);
}

on_every_server! {
    stream_with_min_idle_takes_over_what_a_dead_consumer_left_and_acks,
    stream_with_min_idle_retry_of_what_was_taken_over_is_refused,
    stream_without_min_idle_leaves_the_entries_of_others_pending,
    stream_forgets_consumers_that_are_gone_and_hold_nothing,
    stream_trim_deletes_what_every_group_has_acked_and_nothing_else,
    stream_trim_of_ids_in_nanoseconds_deletes_nothing_that_is_needed,
    stream_retry_of_one_group_is_passed_over_by_another,
}

//! Messages that are given up: over the cap of attempts, undecodable, failed for good.

use std::time::Duration;

use dtq::types::{Backoff, Form, ListForm, StreamForm};
use dtq::{SubscriberDef, WorkerConfig};
use dtq_tests::eventually;

use super::bench::{claiming, reliable, stream};
use super::{Bench, GROUP, KEY};

fn options(def: SubscriberDef) -> SubscriberDef {
    def.form(stream()).max_attempts(3).backoff(Backoff::Fixed(Duration::ZERO))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stream_over_the_cap_by_the_header_of_its_copies_writes_a_dead_letter_then_sends_xack() {
    let bench = Bench::new().await;
    let worker = bench.worker_with(|def| options(def).dead_letter("dead")).await;
    let mut monitor = bench.monitor();
    let first = bench.append("error");
    bench.told("error #3").await;
    bench.settled().await;
    let seen = bench.settling(&mut monitor);
    let ids: Vec<(String, Vec<String>)> = bench.server.command(&["XREVRANGE", KEY, "+", "-", "COUNT", "1"]);
    let acked = seen.iter().position(|command| *command == format!("XACK {KEY} {GROUP} {}", ids[0].0)).unwrap();
    assert!(seen[..acked].iter().any(|command| command.starts_with("XADD dead * payload error")), "{seen:?}");
    let dead = bench.entries("dead").remove(0).join(" ");
    for tag in [
        "h:dtq-source orders",
        "h:dtq-kind error",
        "h:dtq-reason as it was told",
        "h:dtq-attempts 3",
        &format!("h:dtq-id {first}"),
    ] {
        assert!(dead.contains(tag), "{tag}: {dead}");
    }
    bench.counts(&worker, |stats| stats.dead_lettered, 1).await;
    assert!(worker.stop().await.drained);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stream_over_the_cap_without_a_place_for_dead_letters_is_dropped_and_counted() {
    let bench = Bench::new().await;
    let worker = bench.worker_with(options).await;
    bench.append("error");
    bench.told("error #3").await;
    bench.settled().await;
    bench.counts(&worker, |stats| stats.dropped, 1).await;
    let stats = worker.subscriber_stats()[0];
    assert_eq!((stats.retried, stats.dead_lettered), (2, 0));
    assert!(worker.stop().await.drained);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stream_panic_is_an_attempt_that_failed() {
    let bench = Bench::new().await;
    let worker = bench.worker_with(|def| options(def).dead_letter("dead")).await;
    bench.append("panic");
    bench.told("panic #3").await;
    bench.settled().await;
    let dead = bench.entries("dead").remove(0).join(" ");
    assert!(
        dead.contains("h:dtq-kind panic") && dead.contains("bench.rs:") && dead.contains("as it was told"),
        "{dead}"
    );
    assert!(worker.stop().await.drained);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stream_timeout_is_an_attempt_that_failed() {
    let bench = Bench::new().await;
    let limit = Duration::from_millis(50);
    let worker = bench.worker_with(|def| options(def).timeout(limit).max_attempts(1).dead_letter("dead")).await;
    bench.append("wait");
    bench.told("wait #1").await;
    bench.settled().await;
    assert!(bench.entries("dead")[0].join(" ").contains("h:dtq-kind timeout"));
    assert!(worker.stop().await.drained);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stream_permanent_error_is_a_dead_letter_at_once() {
    let bench = Bench::new().await;
    let worker = bench.worker_with(|def| options(def).dead_letter("dead")).await;
    for what in ["fatal", "undecodable"] {
        bench.append(what);
        bench.told(&format!("{what} #1")).await;
    }
    bench.settled().await;
    let kinds: Vec<_> = bench.entries("dead").iter().map(|fields| fields.join(" ")).collect();
    assert_eq!(kinds.len(), 2);
    assert!(kinds.iter().any(|fields| fields.contains("h:dtq-kind permanent")), "{kinds:?}");
    assert!(kinds.iter().any(|fields| fields.contains("h:dtq-kind undecodable")), "{kinds:?}");
    assert!(worker.stop().await.drained);
}

/// A dead letter that cannot be written keeps its message where it is, until somebody has mended it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stream_dead_letter_that_cannot_be_written_keeps_its_message_pending() {
    let bench = Bench::new().await;
    bench.server.command::<()>(&["SET", "dead", "no stream"]);
    let worker = bench.worker_with(|def| options(def).dead_letter("dead")).await;
    bench.append("fatal");
    bench.told("fatal #1").await;
    bench.append("ack 9");
    bench.told("ack 9 #1").await;
    eventually("only that one is pending", || async { (bench.pending() == 1).then_some(()) }).await;
    bench.server.command::<()>(&["DEL", "dead"]);
    bench.settled().await;
    assert_eq!(bench.entries("dead").len(), 1);
    assert!(worker.stop().await.drained);
}

/// An acknowledgement passes on a server without memory, an append does not: the message must not be lost between the two.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stream_retry_that_the_server_refuses_stays_pending_until_it_is_taken() {
    let bench = Bench::new().await;
    let worker = bench.worker_of(WorkerConfig::new().concurrency(1), options).await;
    bench.append("wait");
    bench.told("wait #1").await;
    bench.append("error 1");
    bench.server.command::<()>(&["CONFIG", "SET", "maxmemory", "1"]);
    bench.probe.open(1);
    bench.told("error 1 #1").await;
    eventually("only that one is pending", || async { (bench.pending() == 1).then_some(()) }).await;
    // Long enough for settling to be tried again.
    dtq_tests::lasting(Duration::from_millis(500)).await;
    assert_eq!((bench.pending(), bench.entries(KEY).len()), (1, 2), "neither copied nor acknowledged");
    bench.server.command::<()>(&["CONFIG", "SET", "maxmemory", "0"]);
    bench.told("error 1 #2").await;
    bench.settled().await;
    assert!(worker.stop().await.drained);
}

/// A dead letter is a message of its own: whoever reads it has had no attempt yet, and may be of any group.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stream_dead_letter_of_a_retried_message_is_read_by_another_group_as_a_first_attempt() {
    let bench = Bench::new().await;
    let worker = bench.worker_with(|def| options(def).dead_letter("dead")).await;
    let of_dead = Form::Stream(StreamForm::new("dead", "operators"));
    let reader = bench.worker_with(|def| def.form(of_dead).max_attempts(1)).await;
    bench.append("error 3");
    bench.append("error");
    bench.told("error #3").await;
    bench.told_times("error #1", 2).await;
    assert!(worker.stop().await.drained && reader.stop().await.drained);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn reliable_list_dead_letter_of_a_retried_message_is_read_as_a_first_attempt() {
    let bench = Bench::new().await;
    let idle = Duration::from_secs(600);
    let worker = bench.worker_with(|def| options(def).form(reliable(idle)).dead_letter("dead")).await;
    let of_dead = Form::ReliableList(ListForm::new("dead").min_idle(idle));
    let reader = bench.worker_with(|def| def.form(of_dead).max_attempts(1)).await;
    bench.push("error");
    bench.told("error #3").await;
    bench.told_times("error #1", 2).await;
    assert!(worker.stop().await.drained && reader.stop().await.drained);
}

/// By hand, too, nothing is retried in its last attempt: the dead letter says what was asked for, not that a worker died.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stream_claiming_and_reliable_list_retried_by_hand_in_the_last_attempt_are_dead_letters() {
    for form in [stream(), claiming(Duration::from_secs(600)), reliable(Duration::from_secs(600))] {
        let bench = Bench::new().await;
        let worker = bench.worker_with(|def| options(def).form(form).max_attempts(1).dead_letter("dead")).await;
        match form {
            Form::ReliableList(_) => bench.push("again"),
            _ => drop(bench.append("again")),
        }
        bench.counts(&worker, |stats| stats.dead_lettered, 1).await;
        let dead = match form {
            Form::ReliableList(_) => bench.list("dead").remove(0).replace(": ", " "),
            _ => bench.entries("dead").remove(0).join(" "),
        };
        assert!(dead.contains("dtq-kind retry") && dead.contains("dtq-attempts 1"), "{dead}");
        assert_eq!(bench.probe.notes(), ["again #1"]);
        assert!(worker.stop().await.drained);
    }
}

/// Copies and dead letters are not written again for each try of the acknowledgement behind them.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stream_whose_xack_is_refused_writes_its_dead_letter_and_its_copy_once() {
    let bench = Bench::new().await;
    let worker = bench.worker_with(|def| options(def).dead_letter("dead")).await;
    bench.server.command::<()>(&["ACL", "SETUSER", "default", "-xack"]);
    bench.append("fatal");
    bench.append("retry 1");
    bench.told("retry 1 #2").await;
    // Long enough for settling to be tried several times.
    dtq_tests::lasting(Duration::from_secs(2)).await;
    assert_eq!(bench.pending(), 3, "nothing could be acknowledged");
    bench.server.command::<()>(&["ACL", "SETUSER", "default", "+xack"]);
    bench.settled().await;
    assert_eq!((bench.entries("dead").len(), bench.entries(KEY).len()), (1, 3));
    assert!(worker.stop().await.drained);
}

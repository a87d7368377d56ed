//! Servers that forget, break connections, or are away, under a worker that reads from them.

use std::time::Duration;

use dtq::types::{Channel, Form, PubSubForm, Start, StreamForm};
use dtq_tests::{RedisServer, ServerKind};

use super::bench::{claiming, reliable, stream};
use super::{Bench, GROUP, KEY, on_every_server};

/// A message that comes after a fault is handled.
async fn works(bench: &Bench, what: &str) {
    let text = format!("ack 9 {what}");
    dtq_tests::eventually("the server takes a message", || async {
        bench.server.try_command::<String>(&["XADD", KEY, "*", "payload", &text]).ok()
    })
    .await;
    bench.told(&format!("{text} #1")).await;
}

/// The stream deleted, the group destroyed, everything flushed: what comes after it is not passed over.
async fn stream_group_is_made_again_and_what_came_since_is_acked(kind: ServerKind) {
    for form in [stream(), claiming(Duration::from_secs(60))] {
        let bench = Bench::on(kind).await;
        let worker = bench.worker(form).await;
        works(&bench, "before").await;
        bench.server.command::<i64>(&["DEL", KEY]);
        works(&bench, "deleted").await;
        bench.settled().await;
        bench.server.command::<i64>(&["XGROUP", "DESTROY", KEY, GROUP]);
        works(&bench, "destroyed").await;
        bench.server.command::<()>(&["FLUSHALL"]);
        (0..5).for_each(|n| drop(bench.append(&format!("ack 9 flushed {n}"))));
        for n in 0..5 {
            bench.told(&format!("ack 9 flushed {n} #1")).await;
        }
        bench.settled().await;
        assert!(worker.stop().await.drained);
    }
}

async fn stream_group_that_began_with_new_entries_passes_none_over_when_it_is_made_again(kind: ServerKind) {
    let bench = Bench::on(kind).await;
    bench.append("ack 9 old");
    let form = Form::Stream(StreamForm::new(KEY, GROUP).start(Start::New));
    let worker = bench.worker(form).await;
    works(&bench, "new").await;
    // While nobody reads, so that the worker does not see it at once.
    bench.server.command::<()>(&["FLUSHALL"]);
    works(&bench, "flushed").await;
    assert_eq!(bench.count("ack 9 old #1"), 0, "it is from before");
    bench.settled().await;
    assert!(worker.stop().await.drained);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stream_is_read_again_after_broken_connections_and_a_restart_without_data() {
    let mut bench = Bench::new().await;
    let worker = bench.worker(stream()).await;
    for n in 0..3 {
        bench.server.command::<i64>(&["CLIENT", "KILL", "TYPE", "normal"]);
        works(&bench, &format!("broken {n}")).await;
    }
    bench.server.kill();
    bench.server.start_again().await;
    works(&bench, "restarted").await;
    bench.settled().await;
    assert!(worker.stop().await.drained);
}

/// Connections stay open and nothing answers, at the end of a block too: no read is taken for failed, or it is made again.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stream_list_and_channel_go_on_after_a_server_that_was_silent_and_ack() {
    let channel = Form::PubSub(PubSubForm::new(Channel::Exact(KEY)));
    for form in [stream(), reliable(Duration::from_secs(600)), channel] {
        let bench = Bench::new().await;
        let worker = bench.worker(form).await;
        bench.server.pause();
        dtq_tests::lasting(Duration::from_secs(2)).await;
        bench.server.resume();
        bench.server.command::<()>(&["CLIENT", "PAUSE", "1500", "WRITE"]);
        let sent = || async {
            match form {
                Form::Stream(_) => drop(bench.append("ack 9 silent")),
                Form::ReliableList(_) => bench.push("ack 9 silent"),
                _ => drop(bench.server.command::<i64>(&["PUBLISH", KEY, "ack 9 silent"])),
            }
            (bench.count("ack 9 silent #1") > 0).then_some(())
        };
        dtq_tests::eventually("a message arrives", sent).await;
        assert!(worker.stop().await.drained);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stream_settlement_waits_for_a_server_that_is_away() {
    let lasting = ["--appendonly", "yes", "--appendfsync", "always"];
    let mut bench = Bench::of(RedisServer::start_with(&lasting).await);
    let worker = bench.worker(stream()).await;
    bench.append("wait");
    bench.told("wait #1").await;
    bench.server.kill();
    bench.probe.open(1);
    bench.server.start_again().await;
    bench.settled().await;
    assert_eq!(bench.probe.notes(), ["wait #1"], "it ran once");
    assert!(worker.stop().await.drained);
}

/// An entry that was given out in an answer which never arrived is this worker's, and nobody else's.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stream_entry_of_a_lost_answer_is_acked_without_waiting_for_recovery() {
    let bench = Bench::new().await;
    let worker = bench.worker(stream()).await;
    works(&bench, "before").await;
    bench.settled().await;
    let consumers: Vec<Vec<redis::Value>> = bench.server.command(&["XINFO", "CONSUMERS", KEY, GROUP]);
    let name: String = redis::from_redis_value(consumers[0][1].clone()).unwrap();
    // As the server does it for a reader that is gone by the time the answer is sent.
    let stop = ["CLIENT", "PAUSE", "300", "WRITE"];
    bench.server.command::<()>(&stop);
    bench.server.command::<()>(&["CLIENT", "UNPAUSE"]);
    bench.server.command::<String>(&["MULTI"]);
    let mut connection = redis::Client::open(bench.server.url()).unwrap().get_connection().unwrap();
    let _: redis::Value = redis::pipe()
        .atomic()
        .cmd("XADD")
        .arg(KEY)
        .arg("*")
        .arg("payload")
        .arg("ack 9 unheard")
        .cmd("XREADGROUP")
        .arg("GROUP")
        .arg(GROUP)
        .arg(&name)
        .arg("STREAMS")
        .arg(KEY)
        .arg(">")
        .query(&mut connection)
        .unwrap();
    // Nobody has heard of it yet; a broken connection makes the worker ask.
    bench.server.command::<i64>(&["CLIENT", "KILL", "TYPE", "normal"]);
    bench.told("ack 9 unheard #1").await;
    bench.settled().await;
    assert!(worker.stop().await.drained);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn reliable_list_value_of_a_lost_answer_is_acked_without_waiting_for_recovery() {
    let bench = Bench::new().await;
    let worker = bench.worker(reliable(Duration::from_secs(600))).await;
    let reads = || async {
        let consumers: Vec<String> = bench.server.command(&["ZRANGE", "{orders}:consumers", "0", "-1"]);
        consumers.into_iter().next()
    };
    let consumer = dtq_tests::eventually("it reads", reads).await;
    bench.server.command::<()>(&["LPUSH", &format!("{{orders}}:processing:{consumer}"), "ack 9 unheard"]);
    bench.server.command::<i64>(&["CLIENT", "KILL", "TYPE", "normal"]);
    bench.told("ack 9 unheard #1").await;
    bench.answers(&["KEYS", "{orders}:processing:*"], Vec::<String>::new()).await;
    assert!(worker.stop().await.drained);
}

on_every_server! {
    stream_group_is_made_again_and_what_came_since_is_acked,
    stream_group_that_began_with_new_entries_passes_none_over_when_it_is_made_again,
}

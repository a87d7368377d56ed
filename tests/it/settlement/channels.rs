//! Channels, patterns of them, and sharded ones.

use std::time::Duration;

use dtq::types::{Backoff, Channel, Form, PubSubForm};
use dtq_tests::{RedisServer, ServerKind, eventually};

use super::{Bench, KEY, on_every_server};

const SOON: Backoff = Backoff::Fixed(Duration::from_millis(50));

fn listens(channel: Channel) -> Form {
    Form::PubSub(PubSubForm::new(channel))
}

/// Publishes, and gives the number of those who heard it.
fn publish(server: &RedisServer, command: &str, channel: &str, text: &str) -> i64 {
    server.command(&[command, channel, text])
}

async fn channel_ack_retry_and_drop_are_unsupported(kind: ServerKind) {
    let bench = Bench::on(kind).await;
    let worker = bench.worker(listens(Channel::Exact(KEY))).await;
    let mut monitor = bench.monitor();
    assert_eq!(publish(&bench.server, "PUBLISH", KEY, "hand"), 1);
    bench.told_times("hand unsupported", 3).await;
    assert_eq!(bench.settling(&mut monitor), [format!("PUBLISH {KEY} hand")], "nothing is sent");
    assert!(worker.stop().await.drained);
}

async fn channel_error_comes_back_to_the_channel(kind: ServerKind) {
    let bench = Bench::on(kind).await;
    let worker = bench.worker_with(|def| def.form(listens(Channel::Exact(KEY))).backoff(SOON)).await;
    let mut monitor = bench.monitor();
    publish(&bench.server, "PUBLISH", KEY, "error 1");
    bench.told("error 1 #2").await;
    assert_eq!(bench.settling(&mut monitor)[1], format!("PUBLISH {KEY} dtq/1\\ndtq-retries: 1\\n\\nerror 1"));
    assert!(worker.stop().await.drained);
}

async fn pattern_error_goes_to_the_channel_that_it_names(kind: ServerKind) {
    let bench = Bench::on(kind).await;
    let form = Form::PubSub(PubSubForm::new(Channel::Pattern("orders.*")).back_to("orders.again"));
    let worker = bench.worker_with(|def| def.form(form).backoff(SOON)).await;
    let mut monitor = bench.monitor();
    publish(&bench.server, "PUBLISH", "orders.eu", "error 1");
    bench.told("error 1 #2").await;
    assert!(bench.settling(&mut monitor)[1].starts_with("PUBLISH orders.again dtq/1"));
    assert!(worker.stop().await.drained);
}

async fn sharded_error_comes_back_to_the_channel(kind: ServerKind) {
    let bench = Bench::on(kind).await;
    let worker = bench.worker_with(|def| def.form(listens(Channel::Sharded(KEY))).backoff(SOON)).await;
    let mut monitor = bench.monitor();
    publish(&bench.server, "SPUBLISH", KEY, "error 1");
    bench.told("error 1 #2").await;
    assert!(bench.settling(&mut monitor)[1].starts_with(&format!("SPUBLISH {KEY} dtq/1")));
    assert!(worker.stop().await.drained);
}

async fn channel_over_the_cap_is_published_to_the_dead_letters(kind: ServerKind) {
    let bench = Bench::on(kind).await;
    let worker =
        bench.worker_with(|def| def.form(listens(Channel::Exact(KEY))).max_attempts(1).dead_letter("dead")).await;
    let mut monitor = bench.monitor();
    publish(&bench.server, "PUBLISH", KEY, "error");
    bench.counts(&worker, |stats| stats.dead_lettered, 1).await;
    assert!(bench.settling(&mut monitor)[1].starts_with("PUBLISH dead dtq/1\\ndtq-source: orders\\n"));
    assert!(worker.stop().await.drained);
}

/// How many are subscribed.
fn subscribers(server: &RedisServer) -> Option<i64> {
    let answer: (String, i64) = server.try_command(&["PUBSUB", "NUMSUB", KEY]).ok()?;
    Some(answer.1)
}

/// It listens again without being started again, also when the first tries failed.
async fn channel_is_listened_to_again_after_the_connection_broke(kind: ServerKind) {
    let mut bench = Bench::on(kind).await;
    let worker = bench.worker(listens(Channel::Exact(KEY))).await;
    for _ in 0..3 {
        bench.server.command::<i64>(&["CLIENT", "KILL", "TYPE", "pubsub"]);
        let heard = || async { (publish(&bench.server, "PUBLISH", KEY, "ack 9 broken") == 1).then_some(()) };
        eventually("it is subscribed again", heard).await;
    }
    bench.server.kill();
    bench.server.start_again().await;
    eventually("it is subscribed again", || async { subscribers(&bench.server).filter(|count| *count == 1) }).await;
    publish(&bench.server, "PUBLISH", KEY, "ack 9 restarted");
    bench.told("ack 9 restarted #1").await;
    assert!(worker.stop().await.drained);
}

on_every_server! {
    channel_ack_retry_and_drop_are_unsupported,
    channel_error_comes_back_to_the_channel,
    pattern_error_goes_to_the_channel_that_it_names,
    sharded_error_comes_back_to_the_channel,
    channel_over_the_cap_is_published_to_the_dead_letters,
    channel_is_listened_to_again_after_the_connection_broke,
}

//! Sending messages for programs that know nothing of dtq.

use dtq::publish::{Destination, Outgoing, Published, Publisher};
use dtq::types::{Channel, Form, ListForm, PubSubForm};
use dtq_tests::ServerKind;

use super::bench::stream;
use super::{Bench, KEY, on_every_server};

async fn stream_list_and_channel_get_what_is_published(kind: ServerKind) {
    let bench = Bench::on(kind).await;
    let publisher = Publisher::connect(&bench.server.url()).unwrap();
    let order = Outgoing::json(Destination::stream("s"), &serde_json::json!({"id": 17})).unwrap().header("trace", "7");
    let answer = publisher.publish(order).await.unwrap();
    assert!(matches!(&answer, Published::Entry(id) if id.contains('-')), "{answer:?}");
    assert_eq!(bench.entries("s"), [["payload", "{\"id\":17}", "h:trace", "7"]]);
    let fields = Outgoing::fields(Destination::stream("f"), [("order", "17"), ("cents", "500")]);
    publisher.publish(fields).await.unwrap();
    assert_eq!(bench.entries("f"), [["order", "17", "cents", "500"]]);
    for (n, text) in ["a", "b"].into_iter().enumerate() {
        let answer = publisher.publish(Outgoing::text(Destination::list("l"), text)).await.unwrap();
        assert_eq!(answer, Published::Length(n as u64 + 1));
    }
    assert_eq!(bench.list("l"), ["b", "a"]);
}

async fn channel_without_a_subscriber_answers_0(kind: ServerKind) {
    let bench = Bench::on(kind).await;
    let publisher = Publisher::connect(&bench.server.url()).unwrap();
    for (form, to) in
        [(Channel::Exact(KEY), Destination::channel(KEY)), (Channel::Sharded(KEY), Destination::sharded(KEY))]
    {
        let message = || Outgoing::text(to.clone(), "ack 9 heard");
        assert_eq!(publisher.publish(message()).await.unwrap(), Published::Receivers(0));
        let worker = bench.worker(Form::PubSub(PubSubForm::new(form))).await;
        assert_eq!(publisher.publish(message()).await.unwrap(), Published::Receivers(1));
        bench.told("ack 9 heard #1").await;
        assert!(worker.stop().await.drained);
    }
}

async fn stream_batches_take_a_round_trip_per_128(kind: ServerKind) {
    let bench = Bench::on(kind).await;
    let publisher = Publisher::connect(&bench.server.url()).unwrap();
    let worker = bench.worker(stream()).await;
    let many = (0..300).map(|n| Outgoing::text(Destination::stream(KEY), format!("ack 9 {n}")));
    assert_eq!(publisher.publish_all(many).await.unwrap().len(), 300);
    bench.told("ack 9 299 #1").await;
    bench.settled().await;
    bench.counts(&worker, |stats| stats.acked, 300).await;
    assert!(worker.stop().await.drained);
}

async fn transaction_takes_all_or_nothing(kind: ServerKind) {
    let bench = Bench::on(kind).await;
    let publisher = Publisher::connect(&bench.server.url()).unwrap();
    let mut monitor = bench.monitor();
    let both = || [Outgoing::text(Destination::stream("s"), "a"), Outgoing::text(Destination::list("l"), "b")];
    publisher.transaction(both()).await.unwrap();
    let seen = monitor.seen(&bench.server);
    let order: Vec<_> = ["MULTI", "XADD", "LPUSH", "EXEC"]
        .map(|name| seen.iter().position(|command| command.starts_with(&format!("\"{name}\""))).unwrap())
        .into();
    assert!(order.is_sorted(), "{seen:?}");
    // A server without memory refuses the transaction as a whole.
    bench.server.command::<()>(&["CONFIG", "SET", "maxmemory", "1"]);
    publisher.transaction(both()).await.unwrap_err();
    bench.server.command::<()>(&["CONFIG", "SET", "maxmemory", "0"]);
    assert_eq!((bench.entries("s").len(), bench.list("l").len()), (1, 1));
}

/// Headers and payloads that are no text come through a list as they were.
async fn list_headers_of_a_publisher_reach_the_handler(kind: ServerKind) {
    let bench = Bench::on(kind).await;
    let publisher = Publisher::connect(&bench.server.url()).unwrap();
    let worker = bench.worker_with(|def| def.form(Form::List(ListForm::new(KEY))).ordered_by("{customer}")).await;
    let message = Outgoing::text(Destination::list(KEY), "ack 9 with a header").header("customer", "a: b\n%");
    publisher.publish(message).await.unwrap();
    bench.told("ack 9 with a header #1").await;
    assert!(worker.stop().await.drained);
}

#[tokio::test]
async fn what_a_destination_cannot_take_is_refused_and_nothing_is_sent() {
    let bench = Bench::new().await;
    let publisher = Publisher::connect(&bench.server.url()).unwrap();
    let wrong = Outgoing::fields(Destination::list("l"), [("a", "b")]);
    let right = Outgoing::text(Destination::list("l"), "x");
    let error = publisher.publish_all([right, wrong]).await.unwrap_err().to_string();
    assert!(error.contains("only a stream's entry has fields"), "{error}");
    assert!(bench.server.keys().is_empty());
    assert!(Publisher::connect("sqlite::memory:").unwrap_err().to_string().contains("redis://HOST:PORT"));
}

on_every_server! {
    stream_list_and_channel_get_what_is_published,
    channel_without_a_subscriber_answers_0,
    stream_batches_take_a_round_trip_per_128,
    transaction_takes_all_or_nothing,
    list_headers_of_a_publisher_reach_the_handler,
}

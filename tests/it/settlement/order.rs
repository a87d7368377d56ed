//! Messages of one key one after the other, keys side by side.

use std::time::Duration;

use dtq::types::Backoff;
use dtq::{SubscriberDef, WorkerConfig};

use super::bench::stream;
use super::{Bench, KEY};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stream_ordered_by_a_key_handles_keys_side_by_side_and_each_in_order() {
    let bench = Bench::new().await;
    let worker = bench.worker_with(|def| def.form(stream()).ordered_by("{customer}")).await;
    let send = |customer: &str, what: &str| {
        bench.server.command::<String>(&["XADD", KEY, "*", "payload", what, "h:customer", customer]);
    };
    send("a", "wait 9 a1");
    send("a", "ack 9 a2");
    send("b", "ack 9 b1");
    bench.told("ack 9 b1 #1").await;
    assert_eq!(bench.count("ack 9 a2 #1"), 0, "its turn has not come");
    bench.probe.open(1);
    bench.told("ack 9 a2 #1").await;
    bench.settled().await;
    assert!(worker.stop().await.drained);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stream_ordered_by_a_key_keeps_the_order_of_many() {
    let bench = Bench::new().await;
    for n in 0..200 {
        let (customer, what) = ((n % 5).to_string(), format!("ack 9 {} {n:03}", n % 5));
        bench.server.command::<String>(&["XADD", KEY, "*", "payload", &what, "h:customer", &customer]);
    }
    let worker = bench.worker_with(|def| def.form(stream()).ordered_by("{customer}")).await;
    bench.told("ack 9 4 199 #1").await;
    bench.settled().await;
    let notes = bench.probe.notes();
    for customer in 0..5 {
        let of: Vec<_> = notes.iter().filter(|note| note.starts_with(&format!("ack 9 {customer} "))).collect();
        assert!(of.len() == 40 && of.is_sorted(), "{of:?}");
    }
    assert!(worker.stop().await.drained);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stream_ordered_by_a_key_that_a_message_lacks_is_a_dead_letter() {
    let bench = Bench::new().await;
    let worker = bench.worker_with(|def| def.form(stream()).ordered_by("{customer}").dead_letter("dead")).await;
    bench.append("ack");
    dtq_tests::eventually("it is a dead letter", || async { (bench.entries("dead").len() == 1).then_some(()) }).await;
    let dead = bench.entries("dead").remove(0).join(" ");
    assert!(dead.contains("h:dtq-kind undecodable") && dead.contains("customer"), "{dead}");
    assert!(worker.stop().await.drained);
}

/// A message that failed goes behind what was read meanwhile: it does not hold up its key.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stream_ordered_by_a_key_whose_head_fails_goes_on_with_the_next() {
    let bench = Bench::new().await;
    let later = Backoff::Fixed(Duration::from_secs(3600));
    let worker = bench.worker_with(|def| def.form(stream()).ordered_by("{customer}").backoff(later)).await;
    for what in ["error 1 a1", "ack 9 a2"] {
        bench.server.command::<String>(&["XADD", KEY, "*", "payload", what, "h:customer", "a"]);
    }
    bench.told("ack 9 a2 #1").await;
    bench.settled().await;
    bench.server.advance(Duration::from_secs(3601));
    bench.told("error 1 a1 #2").await;
    assert!(worker.stop().await.drained);
}

/// What waits for its key takes room. A subscriber that may hold more than runs at once gets past a slow key.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stream_ordered_by_a_key_gets_past_a_slow_key_where_there_is_room() {
    let bench = Bench::new().await;
    let config = WorkerConfig::new().concurrency(4);
    let options = |def: SubscriberDef| def.form(stream()).ordered_by("{customer}").concurrency(100);
    let worker = bench.worker_of(config, options).await;
    let send = |customer: &str, what: &str| {
        bench.server.command::<String>(&["XADD", KEY, "*", "payload", what, "h:customer", customer]);
    };
    send("a", "wait 9 a");
    (0..20).for_each(|n| send("a", &format!("ack 9 a{n}")));
    send("b", "ack 9 b");
    bench.told("ack 9 b #1").await;
    assert_eq!(bench.count("ack 9 a0 #1"), 0, "its turn has not come");
    bench.probe.open(1);
    bench.told("ack 9 a19 #1").await;
    bench.settled().await;
    assert!(worker.stop().await.drained);
}

//! Messages of one key one after the other, keys side by side.

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

//! A stream read by a consumer group, retried by copies.

use super::bench::stream;
use super::{Bench, GROUP, KEY};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stream_ack_sends_xack() {
    let bench = Bench::new().await;
    let worker = bench.worker(stream()).await;
    let mut monitor = bench.monitor();
    let id = bench.append("ack");
    bench.told("ack #1").await;
    bench.settled().await;
    let seen = bench.settling(&mut monitor);
    assert_eq!(seen, [format!("XADD {KEY} * payload ack"), format!("XACK {KEY} {GROUP} {id}")]);
    assert!(worker.stop().await.drained);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stream_retry_appends_a_copy_then_sends_xack() {
    let bench = Bench::new().await;
    let worker = bench.worker(stream()).await;
    let mut monitor = bench.monitor();
    let id = bench.append("retry 1");
    bench.told("retry 1 #2").await;
    bench.settled().await;
    let seen = bench.settling(&mut monitor);
    let at =
        |command: String| seen.iter().position(|one| *one == command).unwrap_or_else(|| panic!("{command}: {seen:?}"));
    let copied = at(format!("XADD {KEY} * payload retry 1 h:dtq-retries 1 h:dtq-id {id} h:dtq-group {GROUP}"));
    assert!(copied < at(format!("XACK {KEY} {GROUP} {id}")), "{seen:?}");
    assert_eq!(seen.len(), 4, "{seen:?}");
    assert!(worker.stop().await.drained);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stream_drop_sends_xack() {
    let bench = Bench::new().await;
    let worker = bench.worker(stream()).await;
    let mut monitor = bench.monitor();
    let id = bench.append("drop");
    bench.told("drop #1").await;
    bench.settled().await;
    let seen = bench.settling(&mut monitor);
    assert_eq!(seen, [format!("XADD {KEY} * payload drop"), format!("XACK {KEY} {GROUP} {id}")]);
    bench.counts(&worker, |stats| stats.dropped, 1).await;
    assert!(worker.stop().await.drained);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stream_settles_on_another_connection_than_the_one_that_reads() {
    let bench = Bench::new().await;
    let worker = bench.worker(stream()).await;
    let mut monitor = bench.monitor();
    bench.append("ack");
    bench.told("ack #1").await;
    // Read by a command that began after the watch.
    bench.append("ack 9");
    bench.told("ack 9 #1").await;
    bench.settled().await;
    let seen = monitor.seen_by(&bench.server);
    let who = |name: &str| -> Vec<&str> {
        let of = seen.iter().filter(|(_, command)| command.starts_with(&format!("\"{name}\"")));
        of.map(|(who, _)| who.as_str()).collect()
    };
    let (reads, settles) = (who("XREADGROUP"), who("XACK"));
    assert!(!reads.is_empty() && settles.len() == 2, "{seen:?}");
    assert!(reads.iter().all(|reader| *reader == reads[0] && !settles.contains(reader)), "{seen:?}");
    // Nothing else goes out on the connection that reads.
    let others: Vec<_> =
        seen.iter().filter(|(who, command)| who == reads[0] && !command.contains("XREADGROUP")).collect();
    assert!(others.is_empty(), "{others:?}");
    assert!(worker.stop().await.drained);
}

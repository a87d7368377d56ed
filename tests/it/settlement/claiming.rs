//! A claiming stream: what is to be retried stays pending, and comes back once it was idle for long. On every server.

use std::time::{Duration, Instant};

use dtq_tests::{RedisServer, ServerKind, lasting};

use super::bench::claiming;
use super::{Bench, GROUP, KEY, on_every_server};

const IDLE: Duration = Duration::from_millis(400);
/// Longer than any test takes.
const LONG: Duration = Duration::from_secs(600);

/// The pending entries: id, consumer and how often delivered.
fn pending(server: &RedisServer) -> Vec<(String, String, i64)> {
    let pending: Vec<(String, String, i64, i64)> = server.command(&["XPENDING", KEY, GROUP, "-", "+", "10"]);
    pending.into_iter().map(|(id, consumer, _, count)| (id, consumer, count)).collect()
}

async fn claiming_ack_sends_xack(kind: ServerKind) {
    let bench = Bench::on(kind).await;
    let worker = bench.worker(claiming(LONG)).await;
    let mut monitor = bench.monitor();
    let id = bench.append("ack");
    bench.told("ack #1").await;
    bench.settled().await;
    let seen = bench.settling(&mut monitor);
    assert_eq!(seen, [format!("XADD {KEY} * payload ack"), format!("XACK {KEY} {GROUP} {id}")]);
    assert!(worker.stop().await.drained);
}

async fn claiming_retry_sends_nothing_and_the_entry_comes_back_under_its_id(kind: ServerKind) {
    let bench = Bench::on(kind).await;
    let worker = bench.worker(claiming(LONG)).await;
    let mut monitor = bench.monitor();
    let id = bench.append("retry 1");
    bench.told("retry 1 #1").await;
    bench.counts(&worker, |stats| stats.retried, 1).await;
    assert_eq!(bench.settling(&mut monitor), [format!("XADD {KEY} * payload retry 1")]);
    assert!(matches!(pending(&bench.server).as_slice(), [(one, _, 1)] if *one == id));
    bench.server.advance(LONG);
    bench.told("retry 1 #2").await;
    bench.settled().await;
    assert_eq!(bench.settling(&mut monitor).last().unwrap(), &format!("XACK {KEY} {GROUP} {id}"));
    assert_eq!(bench.entries(KEY).len(), 1, "no copy was made");
    assert!(worker.stop().await.drained);
}

async fn claiming_drop_sends_xack(kind: ServerKind) {
    let bench = Bench::on(kind).await;
    let worker = bench.worker(claiming(LONG)).await;
    let mut monitor = bench.monitor();
    let id = bench.append("drop");
    bench.told("drop #1").await;
    bench.settled().await;
    assert_eq!(bench.settling(&mut monitor)[1..], [format!("XACK {KEY} {GROUP} {id}")]);
    assert!(worker.stop().await.drained);
}

async fn claiming_retry_after_a_delay_under_min_idle_waits_min_idle(kind: ServerKind) {
    let bench = Bench::on(kind).await;
    let worker = bench.worker(claiming(IDLE)).await;
    let began = Instant::now();
    bench.append("retry 1 1");
    bench.told("retry 1 1 #2").await;
    assert!(began.elapsed() >= IDLE, "{:?}", began.elapsed());
    bench.settled().await;
    assert_eq!(bench.entries(KEY).len(), 1);
    assert!(worker.stop().await.drained);
}

async fn claiming_retry_after_a_delay_over_min_idle_waits_the_delay(kind: ServerKind) {
    let bench = Bench::on(kind).await;
    let worker = bench.worker(claiming(IDLE)).await;
    let began = Instant::now();
    bench.append("retry 1 1500");
    bench.told("retry 1 1500 #2").await;
    assert!(began.elapsed() >= Duration::from_millis(1500), "{:?}", began.elapsed());
    bench.settled().await;
    assert!(worker.stop().await.drained);
}

async fn claiming_over_the_cap_writes_a_dead_letter_then_sends_xack(kind: ServerKind) {
    let bench = Bench::on(kind).await;
    let options = |def: dtq::SubscriberDef| def.form(claiming(LONG)).max_attempts(2).dead_letter("dead");
    let worker = bench.worker_with(options).await;
    let mut monitor = bench.monitor();
    let id = bench.append("retry");
    bench.told("retry #1").await;
    bench.counts(&worker, |stats| stats.retried, 1).await;
    bench.server.advance(LONG);
    bench.told("retry #2").await;
    bench.settled().await;
    let seen = bench.settling(&mut monitor);
    let seen: Vec<_> = seen.iter().filter(|command| !command.starts_with("XCLAIM")).collect();
    assert!(seen[1].starts_with("XADD dead * payload retry"), "{seen:?}");
    assert!(seen[1].contains("h:dtq-kind retry h:dtq-reason as it was told h:dtq-attempts 2"), "{seen:?}");
    assert_eq!(*seen[2], format!("XACK {KEY} {GROUP} {id}"));
    bench.counts(&worker, |stats| stats.dead_lettered, 1).await;
    assert!(worker.stop().await.drained);
}

/// By the server's own count: whoever held it before may have died each time.
async fn claiming_delivered_more_often_than_the_cap_is_a_dead_letter_untried(kind: ServerKind) {
    let bench = Bench::on(kind).await;
    bench.append("ack");
    bench.server.command::<()>(&["XGROUP", "CREATE", KEY, GROUP, "0"]);
    for consumer in ["one", "two"] {
        let _: redis::Value =
            bench.server.command(&["XREADGROUP", "GROUP", GROUP, consumer, "COUNT", "1", "STREAMS", KEY, ">"]);
        let _: redis::Value = bench.server.command(&["XAUTOCLAIM", KEY, GROUP, consumer, "0", "0"]);
    }
    bench.server.advance(LONG);
    let options = |def: dtq::SubscriberDef| def.form(claiming(LONG)).max_attempts(2).dead_letter("dead");
    let worker = bench.worker_with(options).await;
    bench.settled().await;
    assert!(bench.probe.notes().is_empty());
    let dead = bench.entries("dead");
    assert!(dead[0].join(" ").contains("h:dtq-kind worker_lost"), "{dead:?}");
    assert!(worker.stop().await.drained);
}

async fn claiming_takes_what_a_dead_consumer_held(kind: ServerKind) {
    let bench = Bench::on(kind).await;
    bench.append("ack");
    bench.server.command::<()>(&["XGROUP", "CREATE", KEY, GROUP, "0"]);
    let _: redis::Value =
        bench.server.command(&["XREADGROUP", "GROUP", GROUP, "gone", "COUNT", "1", "STREAMS", KEY, ">"]);
    let worker = bench.worker(claiming(LONG)).await;
    bench.append("ack 9");
    bench.told("ack 9 #1").await;
    assert_eq!(bench.count("ack #2"), 0, "it is not idle yet");
    bench.server.advance(LONG);
    bench.told("ack #2").await;
    bench.settled().await;
    assert!(worker.stop().await.drained);
}

async fn claiming_ack_after_another_consumer_took_over_is_refused(kind: ServerKind) {
    let bench = Bench::on(kind).await;
    // Long enough for the other one to keep it while this looks.
    let worker = bench.worker(claiming(Duration::from_secs(15))).await;
    let id = bench.append("wait");
    bench.told("wait #1").await;
    bench.server.command::<redis::Value>(&["XCLAIM", KEY, GROUP, "other", "0", &id]);
    // It sees that it lost the entry, and its end changes nothing.
    bench.told("wait called off").await;
    bench.counts(&worker, |stats| stats.lost, 1).await;
    assert!(matches!(pending(&bench.server).as_slice(), [(one, owner, 2)] if *one == id && owner == "other"));
    worker.stop().await;
}

async fn claiming_handler_that_takes_longer_than_min_idle_keeps_its_entry(kind: ServerKind) {
    let bench = Bench::on(kind).await;
    let idle = Duration::from_secs(2);
    let (first, second) = (bench.worker(claiming(idle)).await, bench.worker(claiming(idle)).await);
    bench.append("wait");
    bench.told("wait #1").await;
    lasting(idle * 2).await;
    bench.probe.open(2);
    bench.settled().await;
    assert_eq!(bench.probe.notes(), ["wait #1"]);
    assert!(first.stop().await.drained && second.stop().await.drained);
}

async fn claiming_gives_unfinished_entries_back_at_a_stop_uncounted(kind: ServerKind) {
    let bench = Bench::on(kind).await;
    let config = dtq::WorkerConfig::new().drain_timeout(Duration::from_millis(10));
    let worker = bench.worker_of(config, |def| def.form(claiming(LONG))).await;
    bench.append("wait");
    bench.told("wait #1").await;
    assert!(!worker.stop().await.drained);
    let next = bench.worker(claiming(LONG)).await;
    bench.told_times("wait #1", 2).await;
    bench.probe.open(1);
    bench.settled().await;
    assert!(next.stop().await.drained);
}

on_every_server! {
    claiming_ack_sends_xack,
    claiming_retry_sends_nothing_and_the_entry_comes_back_under_its_id,
    claiming_drop_sends_xack,
    claiming_retry_after_a_delay_under_min_idle_waits_min_idle,
    claiming_retry_after_a_delay_over_min_idle_waits_the_delay,
    claiming_over_the_cap_writes_a_dead_letter_then_sends_xack,
    claiming_delivered_more_often_than_the_cap_is_a_dead_letter_untried,
    claiming_takes_what_a_dead_consumer_held,
    claiming_ack_after_another_consumer_took_over_is_refused,
    claiming_handler_that_takes_longer_than_min_idle_keeps_its_entry,
    claiming_gives_unfinished_entries_back_at_a_stop_uncounted,
}

/// How a server is asked to claim.
async fn claims_by_itself(kind: ServerKind) -> bool {
    let bench = Bench::on(kind).await;
    let mut monitor = bench.monitor();
    let worker = bench.worker(claiming(LONG)).await;
    bench.append("ack");
    bench.told("ack #1").await;
    bench.settled().await;
    let seen = monitor.seen(&bench.server);
    assert!(worker.stop().await.drained);
    let scripts = seen.iter().any(|command| command.starts_with("\"XAUTOCLAIM\""));
    let own = seen.iter().any(|command| command.starts_with("\"XREADGROUP\"") && command.contains("\"CLAIM\""));
    assert!(own || scripts, "{seen:?}");
    !scripts
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn claiming_uses_xreadgroup_claim_where_the_server_has_it_and_a_script_elsewhere() {
    assert!(claims_by_itself(ServerKind::Redis8).await);
    assert!(!claims_by_itself(ServerKind::Valkey9).await);
    assert!(!claims_by_itself(ServerKind::System).await);
}

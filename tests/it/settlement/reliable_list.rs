//! A list whose entries are on a processing list while they are worked on.

use std::time::Duration;

use dtq_tests::{ServerKind, eventually};

use super::bench::reliable;
use super::{Bench, KEY, on_every_server};

const IDLE: Duration = Duration::from_secs(30);

/// The one processing list there is.
fn processing(bench: &Bench) -> Option<String> {
    bench.server.keys().into_iter().find(|key| key.starts_with("{orders}:processing:"))
}

async fn done(bench: &Bench) {
    eventually("nothing is left on a processing list", || async { processing(bench).is_none().then_some(()) }).await;
}

async fn reliable_list_ack_sends_lrem(kind: ServerKind) {
    let bench = Bench::on(kind).await;
    let worker = bench.worker(reliable(IDLE)).await;
    let mut monitor = bench.monitor();
    bench.push("ack");
    bench.told("ack #1").await;
    done(&bench).await;
    let seen = bench.settling(&mut monitor);
    assert_eq!(seen.len(), 2, "{seen:?}");
    assert!(seen[1].starts_with("LREM {orders}:processing:dtq-") && seen[1].ends_with(" 1 ack"), "{seen:?}");
    assert!(worker.stop().await.drained);
    assert!(bench.server.keys().is_empty(), "{:?}", bench.server.keys());
}

async fn reliable_list_retry_sends_lpush_then_lrem(kind: ServerKind) {
    let bench = Bench::on(kind).await;
    let worker = bench.worker(reliable(IDLE)).await;
    let mut monitor = bench.monitor();
    bench.push("retry 1");
    bench.told("retry 1 #2").await;
    done(&bench).await;
    let seen = bench.settling(&mut monitor);
    assert_eq!(seen[1], format!("LPUSH {KEY} dtq/1\\ndtq-retries: 1\\n\\nretry 1"));
    assert!(seen[2].starts_with("LREM {orders}:processing:") && seen[2].ends_with(" 1 retry 1"), "{seen:?}");
    assert!(worker.stop().await.drained);
}

async fn reliable_list_drop_sends_lrem(kind: ServerKind) {
    let bench = Bench::on(kind).await;
    let worker = bench.worker(reliable(IDLE)).await;
    let mut monitor = bench.monitor();
    bench.push("drop");
    bench.told("drop #1").await;
    done(&bench).await;
    let seen = bench.settling(&mut monitor);
    assert!(seen.len() == 2 && seen[1].starts_with("LREM ") && seen[1].ends_with(" 1 drop"), "{seen:?}");
    assert!(worker.stop().await.drained);
}

async fn reliable_list_over_the_cap_sends_lpush_to_the_dead_letters_then_lrem(kind: ServerKind) {
    let bench = Bench::on(kind).await;
    let options = |def: dtq::SubscriberDef| def.form(reliable(IDLE)).max_attempts(2).dead_letter("dead");
    let worker = bench.worker_with(options).await;
    let mut monitor = bench.monitor();
    bench.push("retry");
    bench.told("retry #2").await;
    done(&bench).await;
    let seen = bench.settling(&mut monitor);
    let last = &seen[seen.len() - 2..];
    assert!(last[0].starts_with("LPUSH dead dtq/1\\n") && last[1].starts_with("LREM "), "{seen:?}");
    let dead = bench.list("dead").remove(0);
    assert!(dead.contains("dtq-reason: as it was told\n") && dead.ends_with("\n\nretry"), "{dead}");
    assert!(worker.stop().await.drained);
}

async fn reliable_list_takes_back_what_a_dead_worker_left_in_order(kind: ServerKind) {
    let bench = Bench::on(kind).await;
    let now: (i64, i64) = bench.server.command(&["TIME"]);
    bench.server.command::<()>(&["ZADD", "{orders}:consumers", &(now.0 * 1000).to_string(), "dtq-gone"]);
    bench.server.command::<()>(&["LPUSH", "{orders}:processing:dtq-gone", "ack 9 a", "ack 9 b"]);
    let worker = bench.worker_of(dtq::WorkerConfig::new().concurrency(1), |def| def.form(reliable(IDLE))).await;
    bench.push("ack 9 c");
    bench.told("ack 9 c #1").await;
    assert_eq!(bench.probe.notes().len(), 1, "it was not silent for long yet");
    bench.server.advance(IDLE + Duration::from_secs(1));
    bench.told("ack 9 b #2").await;
    assert_eq!(bench.probe.notes(), ["ack 9 c #1", "ack 9 a #2", "ack 9 b #2"]);
    done(&bench).await;
    let known = || async {
        let consumers: Vec<String> = bench.server.command(&["ZRANGE", "{orders}:consumers", "0", "-1"]);
        (consumers.len() == 1 && consumers[0] != "dtq-gone").then_some(())
    };
    eventually("the dead worker is forgotten", known).await;
    assert!(worker.stop().await.drained);
}

async fn reliable_list_ack_after_it_was_taken_back_is_refused(kind: ServerKind) {
    let bench = Bench::on(kind).await;
    let worker = bench.worker(reliable(IDLE)).await;
    bench.push("wait");
    bench.told("wait #1").await;
    let held = processing(&bench).unwrap();
    bench.server.command::<()>(&["LMOVE", &held, "elsewhere", "LEFT", "RIGHT"]);
    bench.probe.open(1);
    bench.counts(&worker, |stats| stats.lost, 1).await;
    assert_eq!(bench.list("elsewhere"), ["wait"]);
    assert!(worker.stop().await.drained);
}

async fn reliable_list_gives_unfinished_values_back_at_a_stop_uncounted(kind: ServerKind) {
    let bench = Bench::on(kind).await;
    let config = dtq::WorkerConfig::new().drain_timeout(Duration::from_millis(10));
    let worker = bench.worker_of(config, |def| def.form(reliable(IDLE))).await;
    bench.push("wait");
    bench.told("wait #1").await;
    assert!(!worker.stop().await.drained);
    assert_eq!((bench.list(KEY), processing(&bench)), (vec!["wait".to_owned()], None));
}

async fn reliable_list_is_settled_by_hand_once(kind: ServerKind) {
    let bench = Bench::on(kind).await;
    let worker = bench.worker(reliable(IDLE)).await;
    bench.push("hand");
    bench.told_times("hand settled", 2).await;
    done(&bench).await;
    assert_eq!(bench.probe.notes(), ["hand #1", "hand done", "hand settled", "hand settled"]);
    bench.counts(&worker, |stats| stats.acked, 1).await;
    assert!(worker.stop().await.drained);
}

on_every_server! {
    reliable_list_ack_sends_lrem,
    reliable_list_retry_sends_lpush_then_lrem,
    reliable_list_drop_sends_lrem,
    reliable_list_over_the_cap_sends_lpush_to_the_dead_letters_then_lrem,
    reliable_list_takes_back_what_a_dead_worker_left_in_order,
    reliable_list_ack_after_it_was_taken_back_is_refused,
    reliable_list_gives_unfinished_values_back_at_a_stop_uncounted,
    reliable_list_is_settled_by_hand_once,
}

//! Which keys there are, and how long they live.

use std::time::Duration;

use dtq::store::redis::{RedisOptions, RedisStore};
use dtq::store::{Claim, Store, Verdict};
use dtq::types::{EventKind, Status};
use dtq_tests::{LEASE, RETENTION, RedisServer, World, task, want, worker};

/// Keys that stay when a queue is empty, by the table in `keys.rs`; the streams and the wake-up list may stay, empty;
/// the signs of life stay until their workers are silent.
const FIXED: [&str; 6] = ["events", "queue", "wake", "dlq", "beats", "audit"];

pub(super) fn is_fixed(key: &str) -> bool {
    key.starts_with("dtq:{@fleet}:")
        || FIXED.iter().any(|name| key == format!("dtq:{{default}}:{name}"))
        || key.starts_with("dtq:{default}:stream:p")
}

fn streams(server: &RedisServer) -> Vec<String> {
    server.keys().into_iter().filter(|key| key.contains(":stream:p")).collect()
}

/// Entries in a stream, and how many of them are pending.
pub(super) fn entries(server: &RedisServer, stream: &str) -> (usize, usize) {
    let pending: redis::Value = server.command(&["XPENDING", stream, "dtq"]);
    let redis::Value::Array(summary) = pending else { panic!("{pending:?}") };
    let pending = redis::from_redis_value::<usize>(summary[0].clone()).unwrap();
    (server.command(&["XLEN", stream]), pending)
}

fn lives_for_ever(server: &RedisServer, key: &str) -> bool {
    server.command::<i64>(&["PTTL", key]) == -1
}

#[tokio::test]
async fn raw_keys_nothing_is_left_of_drained_tasks_without_retention() {
    let w = World::redis().await;
    for priority in [0, 5, 9] {
        w.enqueue_many(50, || task("a").retention(Duration::ZERO).no_dead_letter().priority(priority)).await;
    }
    w.enqueue_many(20, || task("a").retention(Duration::ZERO).delay(Duration::from_secs(60))).await;
    w.advance(Duration::from_secs(60));
    let deliveries = w.drain(want(64)).await;
    for (n, delivery) in deliveries.iter().enumerate() {
        match n % 5 {
            0 => w.drop_task(delivery).await,
            1 => w.retry(delivery, Duration::ZERO).await,
            2 => w.snooze(delivery, Duration::ZERO).await,
            3 => w.release(delivery).await,
            _ => w.succeed(delivery).await,
        }
    }
    for delivery in w.drain(want(64)).await {
        w.succeed(&delivery).await;
    }
    let server = w.server();
    let left: Vec<_> = server.keys().into_iter().filter(|key| !is_fixed(key)).collect();
    assert_eq!(left, [""; 0], "only documented, fixed keys stay");
    for stream in streams(server) {
        assert_eq!(entries(server, &stream), (0, 0), "{stream}");
    }
    assert!(!server.keys().contains(&"dtq:{default}:schedule".to_owned()));
}

#[tokio::test]
async fn raw_keys_nothing_unfinished_has_a_time_to_live() {
    let w = World::redis().await;
    for status in [Status::Pending, Status::Queued, Status::Running, Status::Retrying] {
        w.bring_to(status).await;
    }
    let held = w.running(task("renewed")).await;
    w.renew(&[&held.lease]).await;
    w.cancel(&held.lease.task).await;
    w.running(task("lost").queue("lost")).await;
    let snoozed = w.running(task("snoozed")).await;
    w.snooze(&snoozed, Duration::from_secs(60)).await;
    let released = w.running(task("released").queue("released")).await;
    w.release(&released).await;
    w.tell_all(&w.running(task("tells").queue("tells")).await).await;
    w.advance(LEASE * 2);
    let lost = Claim { queue: dtq_tests::queue("lost"), sweep: true, ..want(1) };
    assert_eq!(w.claim_with(lost).await.deliveries.len(), 1);
    let keys = w.server().keys();
    assert!(keys.iter().any(|key| key.contains(":notes:")) && keys.iter().any(|key| key.contains(":log:")));
    // A hint to workers, and no task's.
    for key in keys.iter().filter(|key| !key.ends_with("}:stops")) {
        assert!(lives_for_ever(w.server(), key), "{key} has a time to live");
    }
}

#[tokio::test]
async fn raw_keys_nothing_is_left_when_the_retention_is_over() {
    for retention in [Duration::ZERO, RETENTION] {
        let w = World::redis().await;
        w.every_end_and_after(retention).await;
        let left: Vec<_> = w.server().keys().into_iter().filter(|key| !is_fixed(key)).collect();
        assert_eq!(left, [""; 0], "retention {retention:?}");
        assert_eq!(w.server().command::<usize>(&["XLEN", "dtq:{default}:dlq"]), 0);
        assert_eq!(entries(w.server(), "dtq:{default}:stream:p5"), (0, 0));
    }
}

#[tokio::test]
async fn raw_keys_a_task_that_tells_nothing_has_no_more_keys_and_bytes() {
    let w = World::redis().await;
    let held = w.running(task("a")).await;
    let key = format!("dtq:{{default}}:task:{}", held.lease.task.uuid());
    assert_eq!(w.server().command::<String>(&["OBJECT", "ENCODING", &key]), "int", "the packed form stays");
    w.succeed(&held).await;
    assert!(!w.server().keys().iter().any(|key| key.contains(":notes:") || key.contains(":log:")));
}

#[tokio::test]
async fn raw_keys_a_known_id_sent_again_gets_no_time_to_live() {
    let w = World::redis().await;
    let id = w.enqueue(task("a").retention(Duration::from_secs(1))).await;
    w.enqueue_again(task("a").id(&id).retention(Duration::from_secs(1))).await;
    for key in w.server().keys() {
        assert!(lives_for_ever(w.server(), &key), "{key} has a time to live");
    }
}

#[tokio::test]
async fn raw_keys_what_is_finished_lives_for_its_retention() {
    let w = World::redis().await;
    for status in Status::ALL.into_iter().filter(|status| status.is_terminal()) {
        let id = w.bring_to(status).await.id;
        let of_task: Vec<_> =
            w.server().keys().into_iter().filter(|key| key.contains(&id.uuid().to_string())).collect();
        assert!(!of_task.is_empty(), "{status}");
        let longest =
            if status == Status::DeadLettered { dtq::types::Policy::DEAD_LETTER_RETENTION } else { RETENTION };
        for key in of_task {
            let left = w.server().command::<i64>(&["PTTL", &key]);
            assert!(left > 0, "{key} of a task that is {status} lives for ever");
            assert!(u128::try_from(left).unwrap() <= longest.as_millis(), "{key}: {left} ms");
        }
    }
}

#[tokio::test]
async fn raw_keys_of_a_queue_share_its_hash_tag() {
    let w = World::redis().await;
    // Backwards, so that no earlier task is in the way of a later one.
    for status in Status::ALL.into_iter().rev() {
        w.bring(status, task("a").queue("high")).await;
    }
    for key in w.server().keys() {
        assert!(key.starts_with("dtq:{high}:") || key.starts_with("dtq:{@fleet}:"), "{key}");
    }
}

#[tokio::test]
async fn raw_keys_begin_with_the_prefix_and_two_prefixes_are_two_worlds() {
    let server = RedisServer::start().await;
    let store = |prefix: &str| {
        let options = RedisOptions { prefix: prefix.into(), ..RedisOptions::default() };
        RedisStore::connect(&server.url(), options).unwrap()
    };
    let (one, two) = (store("one"), store("two"));
    let new = task("a").build();
    assert!(one.enqueue(vec![new.clone()]).await.unwrap()[0].created);
    assert!(two.enqueue(vec![new.clone()]).await.unwrap()[0].created);
    let claimed = one.claim(want(10)).await.unwrap();
    assert_eq!(claimed.deliveries.len(), 1);
    assert_eq!(two.get(&new.id).await.unwrap().unwrap().status, Status::Queued);
    assert!(server.keys().iter().all(|key| key.starts_with("one:{") || key.starts_with("two:{")));
}

/// Copies the one entry of the default queue's default band, as a producer that repeats an `XADD` would.
pub(super) fn copy_entry(server: &RedisServer) {
    let stream = "dtq:{default}:stream:p5";
    let mut entries: Vec<(String, Vec<String>)> = server.command(&["XRANGE", stream, "-", "+", "COUNT", "1"]);
    let (_, fields) = entries.remove(0);
    let mut words = vec!["XADD", stream, "*"];
    words.extend(fields.iter().map(String::as_str));
    let _: String = server.command(&words);
}

#[tokio::test]
async fn raw_keys_a_copied_entry_is_absorbed_and_never_handed_out() {
    let w = World::redis().await;
    let id = w.enqueue(task("a")).await;
    copy_entry(w.server());
    let deliveries = w.claim(10).await;
    assert_eq!(deliveries.len(), 1);
    assert!(w.drain(want(10)).await.is_empty());
    let kinds = w.events_of(&id).await;
    assert_eq!(kinds.iter().filter(|&&kind| kind == EventKind::DuplicateAbsorbed).count(), 1, "{kinds:?}");
    assert_eq!(kinds.iter().filter(|&&kind| kind == EventKind::Started).count(), 1, "{kinds:?}");
    w.succeed(&deliveries[0]).await;
    assert_eq!(entries(w.server(), "dtq:{default}:stream:p5"), (0, 0));
}

#[tokio::test]
async fn raw_keys_a_copy_of_a_running_tasks_entry_does_not_disturb_it() {
    let w = World::redis().await;
    let held = w.running(task("a")).await;
    copy_entry(w.server());
    assert!(w.drain(want(10)).await.is_empty());
    assert_eq!(w.renew(&[&held.lease]).await, [dtq::store::Renewed::Held]);
    assert_eq!(w.stats().await.running, 1);
    w.succeed(&held).await;
}

#[tokio::test]
async fn raw_keys_a_copy_left_after_the_end_is_absorbed() {
    for retention in [Duration::ZERO, RETENTION] {
        let w = World::redis().await;
        let held = w.running(task("a").retention(retention)).await;
        copy_entry(w.server());
        w.succeed(&held).await;
        assert!(w.drain(Claim { sweep: true, ..want(10) }).await.is_empty());
        assert_eq!(w.events_of(&held.lease.task).await.last(), Some(&EventKind::DuplicateAbsorbed));
        assert_eq!(entries(w.server(), "dtq:{default}:stream:p5"), (0, 0));
    }
}

#[tokio::test]
async fn raw_keys_a_copy_that_a_dead_worker_read_is_absorbed() {
    let w = World::redis().await;
    let held = w.running(task("a")).await;
    copy_entry(w.server());
    let stream = "dtq:{default}:stream:p5";
    let _: redis::Value =
        w.server().command(&["XREADGROUP", "GROUP", "dtq", "dead", "COUNT", "10", "STREAMS", stream, ">"]);
    w.succeed(&held).await;
    w.advance(LEASE * 2);
    assert!(w.sweep(10).await.is_empty());
    assert_eq!(w.events_of(&held.lease.task).await.last(), Some(&EventKind::DuplicateAbsorbed));
    assert_eq!(entries(w.server(), stream), (0, 0));
}

#[tokio::test]
async fn raw_keys_dead_workers_consumers_do_not_pile_up() {
    let w = World::redis().await;
    for n in 0..60 {
        w.enqueue(task("a")).await;
        let claim = Claim { worker: worker(&format!("short-lived-{n}")), ..want(1) };
        let delivery = w.claim_with(claim).await.deliveries.remove(0);
        w.succeed(&delivery).await;
    }
    let keeper = w.running(task("a")).await;
    for _ in 0..3 {
        w.advance(Duration::from_secs(1200));
        w.renew(&[&keeper.lease]).await;
        w.claim_with(Claim { worker: worker("live"), sweep: true, ..want(1) }).await;
    }
    let consumers: Vec<redis::Value> = w.server().command(&["XINFO", "CONSUMERS", "dtq:{default}:stream:p5", "dtq"]);
    assert!(consumers.len() <= 3, "{} consumers are left of 62 workers", consumers.len());
    w.succeed(&keeper).await;
}

#[tokio::test]
async fn raw_keys_the_event_log_is_bounded() {
    let server = RedisServer::start().await;
    let options = RedisOptions { event_log: 100, ..RedisOptions::default() };
    let w = World::on(server).await;
    let store = RedisStore::connect(&w.server().url(), options).unwrap();
    for _ in 0..600 {
        store.enqueue(vec![task("a").build()]).await.unwrap();
    }
    // "About": the server trims whole nodes of up to 100 entries.
    let length = w.server().command::<usize>(&["XLEN", "dtq:{default}:events"]);
    assert!((100..=300).contains(&length), "{length}");
    assert!(!w.events(&[dtq_tests::queue("default")]).await.is_empty());
}

#[tokio::test]
async fn raw_keys_a_result_is_stored_as_it_came_and_only_when_there_is_one() {
    let w = World::redis().await;
    let (with, without) = (w.running(task("a")).await, w.running(task("b")).await);
    w.settle(&with, Verdict::Succeeded { result: Some("[9007199254740993]".into()) }).await;
    w.settle(&without, Verdict::Succeeded { result: None }).await;
    let results: Vec<_> = w.server().keys().into_iter().filter(|key| key.contains(":result:")).collect();
    assert_eq!(results, [format!("dtq:{{default}}:result:{}", with.lease.task.uuid())]);
    assert_eq!(w.server().command::<String>(&["GET", &results[0]]), "[9007199254740993]");
}

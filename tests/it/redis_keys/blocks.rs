//! Tasks that were accepted together share one record, a block, while they are fresh.

use std::time::Duration;

use dtq::store::{BATCH, CancelOutcome, Settled, Settlement, Verdict};
use dtq::types::{Delivery, LimitChanges, NewTask, TaskId};
use dtq_tests::{LEASE, RedisServer, TaskBuilder, World, failure, in_rows, task, want};

use super::keys::{entries, is_fixed};
use super::order::written;

pub(super) const STREAM: &str = "dtq:{default}:stream:p5";
const MINUTE: Duration = Duration::from_secs(60);
pub(super) const ROW: usize = 7;

/// The keys that hold records: of blocks, and of single tasks.
pub(super) fn record_keys(server: &RedisServer) -> (Vec<String>, Vec<String>) {
    let of = |kind: &str| server.keys().into_iter().filter(|key| key.contains(kind)).collect();
    (of(":block:"), of(":task:"))
}

fn block_of(id: &TaskId) -> String {
    format!("dtq:{{default}}:block:{}", &id.uuid().to_string()[..34])
}

pub(super) fn row(like: impl Fn() -> TaskBuilder) -> Vec<NewTask> {
    in_rows((0..ROW).map(|_| like().build()).collect())
}

pub(super) async fn settle(w: &World, held: &[Delivery], verdict: &Verdict) -> Vec<Settled> {
    let settlements = held.iter().map(|it| Settlement { delivery: it.clone(), verdict: verdict.clone() });
    w.store().settle(settlements.collect()).await.unwrap()
}

pub(super) const DONE: Verdict = Verdict::Succeeded { result: None };

pub(super) fn assert_nothing_left(w: &World, how: &str) {
    let is_left = |key: &String| !is_fixed(key) && !key.ends_with(":stops") && !key.ends_with(":limits");
    let left: Vec<_> = w.server().keys().into_iter().filter(is_left).collect();
    assert_eq!(left, [""; 0], "{how}");
    assert_eq!(entries(w.server(), STREAM), (0, 0), "{how}");
}

/// Asserts that each letter of each block tells the truth: a fresh task has its entry where the block says, and no record
/// of its own; and that no block is there for nothing.
pub(crate) fn assert_blocks_are_true(server: &RedisServer) {
    for key in server.keys().iter().filter(|key| key.contains(":block:")) {
        let block: String = server.command(&["GET", key]);
        let (head, letters) = block.split_once('\n').expect("a line");
        let head: Vec<i64> = head.split(' ').map(|word| word.parse().expect("a number")).collect();
        let [band, ms, base, first] = head[..] else { panic!("{key}: {block}") };
        let (root, begins) = key.split_once("block:").expect("a block");
        assert!(letters.contains('q'), "{key} is there for nothing");
        assert!(letters.bytes().all(|letter| letter == b'q' || letter == b'-'), "{key}: {block}");
        for (place, _) in letters.match_indices('q') {
            let number = first + i64::try_from(place).expect("a small number");
            let (uuid, id) = (format!("{begins}{number:02x}"), format!("{ms}-{}", base + number));
            assert!(!server.command::<bool>(&["EXISTS", &format!("{root}task:{uuid}")]), "{uuid} has another record");
            let stream = format!("{root}stream:p{band}");
            let found: Vec<(String, Vec<String>)> = server.command(&["XRANGE", &stream, &id, &id]);
            assert!(found.iter().any(|(_, fields)| fields[1].starts_with(&uuid)), "{uuid} has no entry at {id}");
        }
    }
}

#[tokio::test]
async fn raw_keys_a_batch_makes_a_block_for_each_row_and_no_record() {
    let w = World::redis().await;
    let ids = w.enqueue_many(2 * BATCH + 44, || task("a")).await;
    let (blocks, records) = record_keys(w.server());
    let mut expected = [0, BATCH, 2 * BATCH].map(|n| block_of(&ids[n]));
    expected.sort();
    assert_eq!((blocks, records), (expected.to_vec(), vec![]));
    let block: String = w.server().command(&["GET", &block_of(&ids[0])]);
    let first: Vec<(String, redis::Value)> = w.server().command(&["XRANGE", STREAM, "-", "+", "COUNT", "1"]);
    let entry = first[0].0.replace('-', " ");
    assert_eq!(block, format!("5 {entry} 0\n{}", "q".repeat(BATCH)));
    // To be handed out changes nothing of it, and what ends leaves it.
    let held = w.drain(want(BATCH)).await;
    assert_eq!(w.server().command::<String>(&["GET", &block_of(&ids[0])]), block);
    settle(&w, &held[1..3], &DONE).await;
    let block: String = w.server().command(&["GET", &block_of(&ids[0])]);
    assert!(block.ends_with(&format!("\nq--{}", "q".repeat(BATCH - 3))), "{block}");
    assert_eq!(w.server().command::<i64>(&["PTTL", &block_of(&ids[0])]), -1);
    settle(&w, &held, &DONE).await;
    let (blocks, records) = record_keys(w.server());
    assert_eq!((blocks.len(), records.len()), (0, 2 * BATCH + 44));
}

#[tokio::test]
async fn raw_keys_what_is_renewed_leaves_its_block() {
    let w = World::redis().await;
    w.enqueue_many(ROW, || task("a")).await;
    let held = w.claim(ROW).await;
    let leases: Vec<_> = held.iter().map(|it| &it.lease).collect();
    w.renew(&leases[..3]).await;
    let (blocks, records) = record_keys(w.server());
    assert_eq!((blocks.len(), records.len()), (1, 3));
    w.renew(&leases).await;
    let (blocks, records) = record_keys(w.server());
    assert_eq!((blocks.len(), records.len()), (0, ROW));
}

#[tokio::test]
async fn raw_keys_write_order_of_a_row() {
    let w = World::redis().await;
    w.enqueue_many(ROW, || task("a")).await;
    let held = w.claim(ROW).await;
    let verdict = Verdict::Succeeded { result: Some("1".into()) };
    let steps = written(&w, async || drop(settle(&w, &held[..2], &verdict).await)).await;
    assert_eq!(steps, ["record", "result", "record", "result", "block", "event", "XACK", "XDEL"]);
    let again = Verdict::Retry { delay: MINUTE, failure: failure("again") };
    let steps = written(&w, async || drop(settle(&w, &held[2..4], &again).await)).await;
    assert_eq!(steps, ["record", "record", "block", "event", "schedule", "XACK", "XDEL"]);
    let steps = written(&w, async || drop(settle(&w, &held[4..], &DONE).await)).await;
    assert_eq!(steps, ["record", "record", "record", "block", "event", "XACK", "XDEL"]);
}

/// A way out for a row of tasks that nothing is kept of.
type WayOut<'w> = (&'w str, std::pin::Pin<Box<dyn Future<Output = ()> + 'w>>);

pub(super) fn forgotten() -> TaskBuilder {
    task("a").retention(Duration::ZERO).no_dead_letter()
}

async fn end_of_all(w: &World, verdict: &Verdict) {
    w.enqueue_many(ROW, forgotten).await;
    let held = w.claim(ROW).await;
    settle(w, &held[1..], verdict).await;
    settle(w, &held, verdict).await;
    w.advance(MINUTE);
    settle(w, &w.drain(want(BATCH)).await, &DONE).await;
}

async fn told_to_stop(w: &World) {
    w.enqueue_many(ROW, forgotten).await;
    let held = w.claim(ROW).await;
    for one in &held {
        w.cancel(&one.lease.task).await;
    }
    settle(w, &held, &Verdict::Release).await;
}

async fn called_off(w: &World) {
    for id in w.enqueue_many(ROW, forgotten).await {
        assert_eq!(w.cancel(&id).await, CancelOutcome::Cancelled);
    }
}

async fn purged(w: &World) {
    w.enqueue_many(ROW, forgotten).await;
    let held = w.claim(2).await;
    w.purge(|_| {}).await;
    settle(w, &held, &DONE).await;
}

async fn expired(w: &World) {
    w.enqueue_many(ROW, || forgotten().ttl(MINUTE)).await;
    w.advance(MINUTE * 2);
    assert!(w.claim(ROW).await.is_empty());
}

async fn lost(w: &World) {
    w.enqueue_many(ROW, || forgotten().max_attempts(1)).await;
    w.claim(ROW).await;
    w.advance(LEASE * 2);
    assert!(w.sweep(ROW).await.is_empty());
}

async fn held_back(w: &World, limit: LimitChanges, lifted: LimitChanges) {
    let ids = w.enqueue_many(ROW, forgotten).await;
    w.set_limits(limit).await;
    let held = w.claim(ROW).await;
    assert_eq!(held.len(), 1);
    w.cancel(&ids[3]).await;
    settle(w, &held, &DONE).await;
    let held = w.claim(ROW).await;
    w.set_limits(lifted).await;
    settle(w, &held, &DONE).await;
    settle(w, &w.drain(want(BATCH)).await, &DONE).await;
}

async fn adopted(w: &World) {
    w.enqueue_many(ROW, forgotten).await;
    let held = w.claim(ROW).await;
    w.set_limits(LimitChanges::new().task("a", 2)).await;
    w.claim(1).await;
    settle(w, &held, &DONE).await;
    w.set_limits(LimitChanges::new().no_task("a")).await;
}

async fn told(w: &World) {
    w.enqueue_many(ROW, forgotten).await;
    let held = w.claim(ROW).await;
    for one in &held {
        w.tell_all(one).await;
    }
    settle(w, &held, &DONE).await;
}

async fn sent_again(w: &World) {
    let row = row(forgotten);
    for part in [&row[..4], &row[2..], &row[..]] {
        w.enqueue_all(part.to_vec()).await;
        settle(w, &w.claim(2).await, &DONE).await;
    }
    settle(w, &w.drain(want(BATCH)).await, &DONE).await;
}

#[tokio::test]
async fn raw_keys_nothing_is_left_of_rows_without_retention() {
    let w = World::redis().await;
    let end = |verdict: Verdict| {
        let w = &w;
        Box::pin(async move { end_of_all(w, &verdict).await })
    };
    let limits = LimitChanges::new;
    let ways: [WayOut<'_>; 17] = [
        ("success", end(DONE)),
        ("success with a result", end(Verdict::Succeeded { result: Some("1".into()) })),
        ("retry", end(Verdict::Retry { delay: MINUTE, failure: failure("again") })),
        ("snooze", end(Verdict::Snooze { delay: MINUTE })),
        ("failure", end(Verdict::Failed { failure: failure("no") })),
        ("drop", end(Verdict::Cancelled { reason: "moot".into() })),
        ("release", end(Verdict::Release)),
        ("told to stop", Box::pin(told_to_stop(&w))),
        ("called off", Box::pin(called_off(&w))),
        ("purge", Box::pin(purged(&w))),
        ("expiry", Box::pin(expired(&w))),
        ("lost", Box::pin(lost(&w))),
        ("limit of the task", Box::pin(held_back(&w, limits().task("a", 1), limits().no_task("a")))),
        ("limit of the queue", Box::pin(held_back(&w, limits().concurrency(1), limits().no_concurrency()))),
        ("limit that is adopted", Box::pin(adopted(&w))),
        ("told of itself", Box::pin(told(&w))),
        ("sent again", Box::pin(sent_again(&w))),
    ];
    for (name, way_out) in ways {
        way_out.await;
        assert_nothing_left(&w, name);
        assert_eq!(w.stats().await.unfinished(), 0, "{name}");
    }
}

/// What the server uses for its data and for those who are connected, in bytes.
fn used(server: &RedisServer) -> usize {
    let info: String = server.command(&["INFO", "memory"]);
    let used = info.lines().find_map(|line| line.strip_prefix("used_memory:")).unwrap();
    used.trim().parse().unwrap()
}

#[tokio::test]
async fn raw_keys_a_queued_task_of_a_batch_takes_little_memory() {
    const COUNT: usize = 4096;
    for size in (150..=210).step_by(12) {
        let w = World::redis().await;
        // Who is connected, the scripts and the names of the queue's keys are there before.
        w.enqueue_many(BATCH, || task("a")).await;
        let before = used(w.server());
        for _ in 0..COUNT / BATCH {
            let like = || task("a").payload(vec![b'x'; size]).build();
            w.enqueue_all(in_rows((0..BATCH).map(|_| like()).collect())).await;
        }
        let each = (used(w.server()) - before) / COUNT;
        assert!(each <= 400, "{each} bytes for a task with a payload of {size}");
    }
}

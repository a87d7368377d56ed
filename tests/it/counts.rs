//! What a task costs a Redis server: commands that it is sent, and commands that scripts call. Counts do not depend on the
//! machine, so a rise is a change of the code; whoever raises one says why in the commit.

use std::collections::BTreeMap;
use std::time::Duration;

use dtq::store::{Settlement, Verdict};
use dtq::types::{Delivery, NewTask};
use dtq_tests::{RedisServer, TaskBuilder, World, failure, in_rows, task, want};

/// Tasks of one step.
const BATCH: usize = 128;
/// Sent by clients, never called by a script.
const SENT: [&str; 3] = ["evalsha", "eval", "sadd"];
/// What this test and each new connection ask for themselves.
const OWN: [&str; 5] = ["info", "hello", "client|setinfo", "ping", "select"];

#[derive(Debug, Default)]
struct Counts {
    sent: u64,
    called: u64,
    /// By command.
    each: BTreeMap<String, u64>,
}

fn calls(server: &RedisServer) -> BTreeMap<String, u64> {
    let about: String = server.command(&["INFO", "commandstats"]);
    let line = |line: &str| {
        let (name, rest) = line.strip_prefix("cmdstat_")?.split_once(":calls=")?;
        Some((name.to_owned(), rest.split(',').next()?.parse().ok()?))
    };
    about.lines().filter_map(line).filter(|(name, _)| !OWN.contains(&name.as_str())).collect()
}

/// What `work` costs the server.
async fn counted<T>(w: &World, work: impl Future<Output = T>) -> (T, Counts) {
    let before = calls(w.server());
    let value = work.await;
    let mut counts = Counts::default();
    for (name, calls) in calls(w.server()) {
        let more = calls - before.get(&name).unwrap_or(&0);
        match SENT.contains(&name.as_str()) {
            true => counts.sent += more,
            false => counts.called += more,
        }
        if more > 0 {
            counts.each.insert(name, more);
        }
    }
    (value, counts)
}

fn forgotten() -> TaskBuilder {
    task("counted").retention(Duration::ZERO)
}

fn batch(count: usize, one: impl Fn() -> TaskBuilder) -> Vec<NewTask> {
    let tasks = (0..count).map(|_| one().build()).collect();
    if count > 1 { in_rows(tasks) } else { tasks }
}

async fn settled(w: &World, deliveries: Vec<Delivery>, verdict: Verdict) -> Counts {
    let settlements =
        deliveries.into_iter().map(|delivery| Settlement { delivery, verdict: verdict.clone() }).collect();
    counted(w, async { w.store().settle(settlements).await.unwrap() }).await.1
}

/// A world whose queue has had a task, so that no call is the first of its kind.
async fn settled_in() -> World {
    let w = World::redis().await;
    let delivery = w.running(forgotten()).await;
    w.succeed(&delivery).await;
    w
}

/// Enqueues, claims and settles `count` tasks, and gives what each step cost.
async fn round(count: usize, one: impl Fn() -> TaskBuilder, verdict: Verdict) -> [Counts; 3] {
    let w = settled_in().await;
    let (_, enqueue) = counted(&w, w.enqueue_all(batch(count, one))).await;
    let (claimed, claim) = counted(&w, w.claim(count)).await;
    assert_eq!(claimed.len(), count);
    [enqueue, claim, settled(&w, claimed, verdict).await]
}

fn assert_within(counts: &[Counts; 3], recorded: [u64; 3]) {
    for ((counts, recorded), verb) in counts.iter().zip(recorded).zip(["enqueue", "claim", "settle"]) {
        assert_eq!(counts.sent, 1, "{verb}: one script a step");
        assert!(counts.called <= recorded, "{verb}: {recorded} recorded, {counts:?}");
    }
}

#[tokio::test]
async fn a_batch_that_keeps_nothing() {
    let counts = round(BATCH, forgotten, Verdict::Succeeded { result: None }).await;
    assert_within(&counts, [138, 11, 8]);
}

#[tokio::test]
async fn a_batch_with_results() {
    let counts = round(BATCH, || task("counted"), Verdict::Succeeded { result: Some("7".into()) }).await;
    assert_within(&counts, [138, 11, 264]);
}

#[tokio::test]
async fn a_batch_of_retries() {
    let verdict = Verdict::Retry { delay: Duration::from_secs(60), failure: failure("not yet") };
    assert_within(&round(BATCH, || task("counted"), verdict).await, [138, 11, 143]);
}

#[tokio::test]
async fn one_task() {
    let counts = round(1, forgotten, Verdict::Succeeded { result: None }).await;
    assert_within(&counts, [9, 11, 8]);
}

/// Each key is one read and one write more where the task is made, and where it ends.
#[tokio::test]
async fn one_task_with_two_keys() {
    let counts = round(1, || forgotten().key("k").unique("u"), Verdict::Succeeded { result: None }).await;
    assert_within(&counts, [13, 11, 12]);
}

#[tokio::test]
async fn a_claim_that_finds_nothing() {
    let w = settled_in().await;
    let (claimed, counts) = counted(&w, w.claim_with(want(BATCH))).await;
    assert!(claimed.deliveries.is_empty());
    assert!(counts.called <= 9, "{counts:?}");
}

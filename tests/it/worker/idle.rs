//! What idle workers cost, and that one of them comes back for what becomes due.

use std::sync::Arc;
use std::time::Duration;

use dtq::store::Claim;
use dtq::{Client, RunningWorker, WorkerConfig};
use dtq_tests::{World, eventually, queue, want, worker};

use super::waiting::sent;
use super::{Bench, PATIENCE, Probe, on_both_stores};

#[dtq::task]
async fn is_noted(#[state] probe: &Probe, text: String) {
    probe.note(text);
}

#[dtq::task(queue = "first")]
async fn takes_the_slot(#[state] probe: &Probe) {
    probe.inside(probe.gate()).await;
}

/// Does nothing by itself for a minute: no look, no heartbeat.
fn still() -> WorkerConfig {
    let mut config = Bench::config();
    config.poll = Duration::from_secs(60);
    config.heartbeat = Duration::from_secs(3600);
    config
}

/// A worker with connections of its own.
async fn apart(b: &Bench<'_>, config: WorkerConfig) -> RunningWorker {
    let apart = Bench { client: Client::with_store(b.w.second_store().await), probe: b.probe.clone(), w: b.w };
    apart.worker_with(config).await
}

/// Starts so many, and waits until all of them wait.
async fn idle_workers(b: &Bench<'_>, count: usize) -> Vec<RunningWorker> {
    let mut workers = Vec::new();
    for _ in 0..count {
        workers.push(apart(b, still()).await);
    }
    eventually("all are known", || async { (b.client.workers().await.unwrap().len() == count).then_some(()) }).await;
    blocks(b.w, count).await;
    workers
}

async fn blocks(w: &World, count: usize) {
    eventually("so many wait", || async { (blocked(w) == count).then_some(()) }).await;
}

/// Connections on which a command blocks, or is held back by a pause of the server.
fn blocked(w: &World) -> usize {
    let clients: String = w.server().command(&["CLIENT", "LIST"]);
    let blocks =
        |client: &&str| client.split(' ').any(|word| word.strip_prefix("flags=").is_some_and(|it| it.contains('b')));
    clients.lines().filter(blocks).count()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_task_for_idle_workers_costs_one_claim() {
    const TASKS: u64 = 40;
    let w = World::redis().await;
    let b = Bench::new(&w);
    let workers = idle_workers(&b, 4).await;
    let before = sent(&w, "evalsha");
    for n in 0..TASKS {
        is_noted::enqueue(n.to_string()).on(&b.client).await.unwrap();
        b.probe.noted(&n.to_string(), 1).await;
    }
    let cost = sent(&w, "evalsha") - before;
    // An enqueue, a claim and a settlement each. Now and then two workers see the same task.
    assert!(cost <= 3 * TASKS + 15, "{cost} commands for {TASKS} tasks");
    for worker in workers {
        worker.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_delayed_task_wakes_one_of_the_idle_workers() {
    const TASKS: u64 = 40;
    let w = World::redis().await;
    let b = Bench::new(&w);
    for n in 0..TASKS {
        let delay = Duration::from_millis(3000 + 25 * n);
        is_noted::enqueue(n.to_string()).delay(delay).on(&b.client).await.unwrap();
    }
    // Each of them looks at the queue now.
    let workers = idle_workers(&b, 8).await;
    let before = sent(&w, "evalsha");
    eventually("all ran", || async { (b.probe.notes().len() as u64 == TASKS).then_some(()) }).await;
    let cost = sent(&w, "evalsha") - before;
    // A claim and a settlement each, and a look of the others every second.
    assert!(cost <= 2 * TASKS + 40, "{cost} commands for {TASKS} tasks");
    for worker in workers {
        worker.stop().await;
    }
}

/// The worker that comes back when the next task of a queue becomes due.
fn keeper(w: &World, queue: &str) -> Option<String> {
    let watch: Option<String> = w.server().command(&["HGET", &format!("dtq:{{{queue}}}:queue"), "watch"]);
    watch.map(|watch| watch.split([' ', '~']).nth(2).unwrap().to_owned())
}

async fn keeps_watch(w: &World, queue: &str, worker: &RunningWorker) {
    let id = worker.id().to_string();
    eventually("it keeps watch", || async { (keeper(w, queue).as_ref() == Some(&id)).then_some(()) }).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_worker_that_stops_hands_its_watch_on() {
    let w = World::redis().await;
    let b = Bench::new(&w);
    let first = apart(&b, still()).await;
    is_noted::enqueue("late".into()).delay(Duration::from_secs(3600)).on(&b.client).await.unwrap();
    keeps_watch(&w, "default", &first).await;
    let second = apart(&b, still()).await;
    blocks(&w, 2).await;
    keeps_watch(&w, "default", &first).await;
    assert!(first.stop().await.drained);
    keeps_watch(&w, "default", &second).await;
    second.stop().await;
    assert_eq!(keeper(&w, "default"), None);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_worker_without_room_hands_on_what_it_watches_in_other_queues() {
    let w = World::redis().await;
    let b = Bench::new(&w);
    let both = still().concurrency(1).queues(["first", "second"].map(queue));
    let busy = apart(&b, both).await;
    let late = is_noted::enqueue("late".into()).queue("second").delay(Duration::from_secs(3600));
    late.on(&b.client).await.unwrap();
    keeps_watch(&w, "second", &busy).await;
    let other = apart(&b, still().queues([queue("second")])).await;
    let slow = takes_the_slot::enqueue().on(&b.client).await.unwrap();
    keeps_watch(&w, "second", &other).await;
    b.probe.open(1);
    slow.result(PATIENCE).await.unwrap();
    busy.stop().await;
    other.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_worker_whose_later_queue_takes_all_room_hands_on_what_it_watches_in_earlier_ones() {
    let w = World::redis().await;
    let b = Bench::new(&w);
    let busy = apart(&b, still().concurrency(1).queues(["before", "first"].map(queue))).await;
    let late = is_noted::enqueue("late".into()).queue("before").delay(Duration::from_secs(3600));
    late.on(&b.client).await.unwrap();
    keeps_watch(&w, "before", &busy).await;
    let other = apart(&b, still().queues([queue("before")])).await;
    blocks(&w, 2).await;
    let slow = takes_the_slot::enqueue().on(&b.client).await.unwrap();
    keeps_watch(&w, "before", &other).await;
    b.probe.open(1);
    slow.result(PATIENCE).await.unwrap();
    busy.stop().await;
    other.stop().await;
}

/// A worker with one slot is woken for its second queue, and finds a task for the slot in the first one. Another one
/// waits for the second queue only, and is to run what came there, or to watch for it.
async fn woken_without_room(delay: Duration) {
    let w = World::redis().await;
    let b = Bench::new(&w);
    let producer = Client::with_store(w.second_store().await);
    for client in [&b.client, &producer] {
        is_noted::enqueue("not read".into()).queue("third").on(client).await.unwrap();
    }
    let busy = apart(&b, still().concurrency(1).queues(["first", "second"].map(queue))).await;
    blocks(&w, 1).await;
    let other = apart(&b, still().queues([queue("second")])).await;
    blocks(&w, 2).await;
    // Both arrive before anybody hears of the first of them.
    w.server().command::<()>(&["CLIENT", "PAUSE", "60000", "WRITE"]);
    let second = is_noted::enqueue("second".into()).queue("second").delay(delay).on(&b.client);
    let second = tokio::spawn(second.into_future());
    blocks(&w, 3).await;
    let first = tokio::spawn(takes_the_slot::enqueue().on(&producer).into_future());
    blocks(&w, 4).await;
    w.server().command::<()>(&["CLIENT", "UNPAUSE"]);
    let (second, first) = (second.await.unwrap().unwrap(), first.await.unwrap().unwrap());
    match delay {
        Duration::ZERO => second.result(PATIENCE).await.unwrap(),
        _ => keeps_watch(&w, "second", &other).await,
    }
    b.probe.open(1);
    first.result(PATIENCE).await.unwrap();
    busy.stop().await;
    other.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_worker_that_has_no_room_for_what_it_was_woken_for_wakes_another() {
    woken_without_room(Duration::ZERO).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_worker_that_was_woken_to_watch_and_has_no_room_wakes_another() {
    woken_without_room(Duration::from_secs(3600)).await;
}

/// Nobody waits for the minute after which an idle worker looks by itself.
async fn a_worker_that_died_on_its_watch_costs_little_time(w: &World) {
    let b = Bench::new(w);
    let ghost: Arc<_> = w.second_store().await;
    let late = is_noted::enqueue("late".into()).delay(Duration::from_millis(500)).on(&b.client).await.unwrap();
    ghost.claim(Claim { worker: worker("ghost"), watch: true, ..want(1) }).await.unwrap();
    let worker = b.worker_with(still()).await;
    let time = super::RealTime::of(w);
    eventually("it runs", || async {
        time.tick();
        (b.probe.count("late") == 1).then_some(())
    })
    .await;
    late.result(PATIENCE).await.unwrap();
    worker.stop().await;
}

on_both_stores! {
    a_worker_that_died_on_its_watch_costs_little_time,
}

//! Messages and tasks in one worker: its slots, its shutdown.

use std::time::Duration;

use dtq::types::{Form, StreamForm};
use dtq::{App, Client, Worker, WorkerConfig};
use dtq_tests::{eventually, lasting};
use tokio::sync::Semaphore;

use super::bench::{Told, stream};
use super::{Bench, GROUP, KEY};

static BEGUN: Semaphore = Semaphore::const_new(0);
static GATE: Semaphore = Semaphore::const_new(0);

/// Holds a slot until it is let go.
#[dtq::task]
async fn settlement_holds_a_slot() {
    BEGUN.add_permits(1);
    GATE.acquire().await.unwrap().forget();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stream_holds_no_more_than_the_workers_concurrency_and_acks_all() {
    let bench = Bench::new().await;
    (0..6).for_each(|_| drop(bench.append("wait")));
    let worker = bench.worker_of(WorkerConfig::new().concurrency(2), |def| def.form(stream())).await;
    bench.told_times("wait #1", 2).await;
    lasting(Duration::from_millis(200)).await;
    assert_eq!((bench.count("wait #1"), bench.pending()), (2, 2), "the rest waits on its server");
    bench.probe.open(6);
    bench.told_times("wait #1", 6).await;
    bench.settled().await;
    assert!(worker.stop().await.drained);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stream_concurrency_of_its_own_bounds_what_it_holds() {
    let bench = Bench::new().await;
    (0..3).for_each(|_| drop(bench.append("wait")));
    let worker = bench.worker_with(|def| def.form(stream()).concurrency(1)).await;
    bench.told("wait #1").await;
    lasting(Duration::from_millis(200)).await;
    assert_eq!((bench.count("wait #1"), bench.pending()), (1, 1));
    bench.probe.open(3);
    bench.told_times("wait #1", 3).await;
    bench.settled().await;
    assert!(worker.stop().await.drained);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stream_and_tasks_share_the_slots_of_their_worker() {
    let bench = Bench::new().await;
    let client = Client::connect("sqlite::memory:").unwrap();
    let mut app = App::new();
    app.only_registered().register::<settlement_holds_a_slot>().state(bench.probe.clone());
    app.subscribe_from::<Told>(stream());
    let config = WorkerConfig::new().concurrency(1).subscribe_url(bench.server.url());
    let worker = Worker::new(client.clone(), app, config).unwrap().start().await.unwrap();
    let task = settlement_holds_a_slot::enqueue().on(&client).await.unwrap();
    BEGUN.acquire().await.unwrap().forget();
    bench.append("ack");
    lasting(Duration::from_millis(200)).await;
    assert!(bench.probe.notes().is_empty(), "the one slot is taken");
    GATE.add_permits(1);
    bench.told("ack #1").await;
    task.result(Duration::from_secs(20)).await.unwrap();
    bench.settled().await;
    assert!(worker.stop().await.drained);
}

/// What is not done when the worker stops is given back, uncounted, and nothing of it is read twice on the way.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stream_gives_unfinished_entries_back_at_a_stop_uncounted() {
    let bench = Bench::new().await;
    let config = WorkerConfig::new().concurrency(2).drain_timeout(Duration::from_millis(10));
    let worker = bench.worker_of(config, |def| def.form(stream())).await;
    (0..2).for_each(|_| drop(bench.append("wait")));
    bench.told_times("wait #1", 2).await;
    assert!(!worker.stop().await.drained);
    assert_eq!((bench.pending(), bench.entries(KEY).len()), (0, 4), "two copies");
    let next = bench.worker(stream()).await;
    bench.told_times("wait #1", 4).await;
    bench.probe.open(2);
    bench.settled().await;
    assert!(next.stop().await.drained);
}

/// Two subscribers of one group in one worker are two consumers: neither takes what the other holds for its own.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stream_with_two_subscribers_of_one_group_acks_each_entry_once() {
    let bench = Bench::new().await;
    let mut app = App::new();
    app.only_registered().state(bench.probe.clone()).subscribe_from::<Told>(stream());
    let other = StreamForm::new(KEY, GROUP).min_idle(Duration::from_secs(600));
    app.subscribe_from::<Told>(Form::Stream(other));
    let config = WorkerConfig::new().subscribe_url(bench.server.url());
    let worker = Worker::new(Client::connect("sqlite::memory:").unwrap(), app, config).unwrap().start().await.unwrap();
    (0..20).for_each(|_| drop(bench.append("wait")));
    bench.told_times("wait #1", 20).await;
    // A broken connection makes each of them ask for what it may not have heard of.
    bench.server.command::<i64>(&["CLIENT", "KILL", "TYPE", "normal"]);
    bench.append("ack");
    bench.told("ack #1").await;
    bench.probe.open(40);
    bench.settled().await;
    assert_eq!((bench.probe.notes().len(), bench.entries(KEY).len()), (21, 21));
    assert!(worker.stop().await.drained);
}

/// A worker with nothing to do sends its reads, and neither connects anew nor complains.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stream_that_is_idle_opens_no_connection() {
    let bench = Bench::new().await;
    let worker = bench.worker(stream()).await;
    let connections = || {
        let info: String = bench.server.command(&["INFO", "stats"]);
        let line = info.lines().find_map(|line| line.strip_prefix("total_connections_received:")).unwrap();
        line.parse::<u64>().unwrap()
    };
    // Those of the thread that gives signs of life are made by then, too.
    eventually("its connections are made", || async {
        let before = connections();
        lasting(Duration::from_millis(300)).await;
        (connections() - before == 1).then_some(())
    })
    .await;
    let before = connections();
    lasting(Duration::from_secs(3)).await;
    assert_eq!(connections() - before, 1, "the test's own");
    assert!(worker.stop().await.drained);
}

//! Calls that are made at the same time share round trips, and depend on nothing else of each other.

use std::sync::Arc;
use std::sync::mpsc;

use dtq::store::redis::{RedisOptions, RedisStore};
use dtq::types::{TaskId, Uuid};
use dtq::{Client, EnqueueError, Handle};
use dtq_examples::{Fault, Proxy};
use dtq_tests::{RedisServer, World, eventually, promptly, queue};
use futures_util::future::join_all;

#[dtq::task(queue = "gather")]
async fn gathered(n: u32) {
    let _ = n;
}

type Sent = Result<Handle<()>, EnqueueError>;

fn spawn(client: &Client, n: u32) -> tokio::task::JoinHandle<Sent> {
    let call = gathered::enqueue(n).on(client);
    tokio::spawn(async move { call.send().await })
}

async fn unfinished(client: &Client) -> u64 {
    client.stats(&queue("gather")).await.unwrap().unfinished()
}

/// How often scripts were called.
fn calls(server: &RedisServer) -> u64 {
    let about: String = server.command(&["INFO", "commandstats"]);
    let line = about.lines().find_map(|line| line.strip_prefix("cmdstat_evalsha:calls=")).unwrap_or("0,");
    line.split(',').next().unwrap().parse().unwrap()
}

/// A server behind a proxy, and a client that has a connection.
async fn behind_a_proxy() -> (RedisServer, Proxy, Client) {
    let server = RedisServer::start().await;
    let proxy = Proxy::to(server.port()).await.unwrap();
    let client = Client::with_store(Arc::new(RedisStore::connect(&proxy.url(), RedisOptions::default()).unwrap()));
    gathered::enqueue(0).on(&client).send().await.unwrap();
    (server, proxy, client)
}

/// Waits until a call has set out on its way: the proxy holds it.
async fn waits_behind(
    client: &Client,
    ahead: &tokio::task::JoinHandle<Sent>,
    count: usize,
) -> Vec<tokio::task::JoinHandle<Sent>> {
    tokio::task::yield_now().await;
    assert!(!ahead.is_finished());
    let riders = (0..count).map(|n| spawn(client, u32::try_from(n).unwrap() + 100)).collect();
    tokio::task::yield_now().await;
    riders
}

#[tokio::test]
async fn many_calls_at_once_need_few_round_trips() {
    let w = World::redis().await;
    let client = Client::with_store(w.store());
    gathered::enqueue(0).on(&client).send().await.unwrap();
    let before = calls(w.server());
    let handles = join_all((1..=640).map(|n| spawn(&client, n))).await;
    let ids: std::collections::HashSet<_> =
        handles.iter().map(|it| it.as_ref().unwrap().as_ref().unwrap().id()).collect();
    assert_eq!(ids.len(), 640);
    assert_eq!(unfinished(&client).await, 641);
    let needed = calls(w.server()) - before;
    assert!(needed <= 10, "{needed} round trips for 640 calls");
}

#[tokio::test]
async fn each_call_gets_its_own_answer() {
    for w in [World::sqlite().await, World::redis().await] {
        let client = Client::with_store(w.store());
        let id = TaskId::new(queue("gather"), Uuid::now_v7());
        let calls: Vec<_> = (0..100).map(|n| gathered::enqueue(n).on(&client)).collect();
        let known = gathered::enqueue(7).id(id.clone()).on(&client);
        known.send().await.unwrap();
        let (answers, again) = tokio::join!(join_all(calls.iter().map(dtq::Call::send)), known.send());
        let again = again.unwrap();
        assert!(again.is_duplicate() && *again.id() == id);
        for (n, handle) in answers.into_iter().enumerate() {
            let handle = handle.unwrap();
            assert!(!handle.is_duplicate());
            let record = client.get(handle.id()).await.unwrap().unwrap();
            assert_eq!(record.payload, format!("{{\"n\":{n}}}").as_bytes());
        }
    }
}

#[tokio::test]
async fn who_gathered_behind_a_call_that_is_dropped_goes_on() {
    let (_server, proxy, client) = behind_a_proxy().await;
    proxy.set(Fault::BlackHole);
    let ahead = spawn(&client, 1);
    let riders = waits_behind(&client, &ahead, 3).await;
    ahead.abort();
    assert!(ahead.await.unwrap_err().is_cancelled());
    proxy.set(Fault::None);
    for rider in riders {
        promptly("it is accepted", rider).await.unwrap().unwrap();
    }
}

#[tokio::test]
async fn a_call_that_is_dropped_while_it_gathers_is_not_sent() {
    let (_server, proxy, client) = behind_a_proxy().await;
    proxy.set(Fault::BlackHole);
    let ahead = spawn(&client, 1);
    let riders = waits_behind(&client, &ahead, 3).await;
    riders[1].abort();
    proxy.set(Fault::None);
    promptly("it is accepted", ahead).await.unwrap().unwrap();
    let answers = join_all(riders).await;
    assert_eq!(answers.iter().filter(|answer| answer.is_ok()).count(), 2);
    assert_eq!(unfinished(&client).await, 4);
}

#[tokio::test]
async fn each_call_is_told_of_its_own_task_when_all_fail() {
    let (server, proxy, client) = behind_a_proxy().await;
    proxy.set(Fault::BlackHole);
    let ahead = spawn(&client, 1);
    let riders = waits_behind(&client, &ahead, 3).await;
    server.command::<()>(&["CONFIG", "SET", "maxmemory", "1"]);
    proxy.set(Fault::None);
    let mut ids = std::collections::HashSet::new();
    for call in riders.into_iter().chain([ahead]) {
        let error = promptly("it is refused", call).await.unwrap().unwrap_err();
        let EnqueueError::Store { id: Some(id), .. } = &error else { panic!("{error:?}") };
        assert!(error.to_string().contains("memory"), "{error}");
        ids.insert(id.clone());
    }
    assert_eq!(ids.len(), 4);
}

#[tokio::test]
async fn a_runtime_that_stands_still_holds_up_nobody_elses_calls() {
    let w = World::redis().await;
    let client = Client::with_store(w.store());
    let (go, still) = mpsc::channel::<()>();
    let other = client.clone();
    let standing = std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let ahead = spawn(&other, 1);
            tokio::task::yield_now().await;
            // Whatever the call waits for, nothing of this runtime moves until told.
            still.recv().unwrap();
            ahead.await.unwrap().unwrap();
        });
    });
    promptly("it is accepted", spawn(&client, 2)).await.unwrap().unwrap();
    go.send(()).unwrap();
    tokio::task::spawn_blocking(|| standing.join().unwrap()).await.unwrap();
    eventually("both are there", || async { (unfinished(&client).await == 2).then_some(()) }).await;
}

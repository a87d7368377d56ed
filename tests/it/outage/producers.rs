//! Producers: an error within the time limit that names the store, and a retry that makes no second task.

use std::sync::Arc;
use std::time::{Duration, Instant};

use dtq::store::redis::{RedisOptions, RedisStore};
use dtq::{Client, EnqueueError, Limits};
use dtq_examples::{Fault, Proxy};
use dtq_tests::{RedisServer, World, eventually, lasting, queue};
use rusqlite::Connection;

#[dtq::task]
async fn never_runs_here(mark: String) {
    drop(mark);
}

/// A producer behind a proxy, which has a connection already.
struct Producer {
    server: RedisServer,
    proxy: Proxy,
    client: Client,
}

impl Producer {
    async fn new() -> Self {
        Self::with(Limits::default()).await
    }

    async fn with(limits: Limits) -> Self {
        let server = RedisServer::start().await;
        let proxy = Proxy::to(server.port()).await.unwrap();
        let store = RedisStore::connect(&proxy.url(), RedisOptions::default()).unwrap();
        let client = Client::with_limits(Arc::new(store), limits);
        client.queues().await.unwrap();
        Self { server, proxy, client }
    }

    /// Sends a call into a fault, then again once the fault is over; gives the time that the error took, and the error.
    async fn sends_twice(&self, fault: impl FnOnce(), over: impl FnOnce()) -> (Duration, String) {
        let call = never_runs_here::enqueue("producers-mark".into()).on(&self.client);
        fault();
        let began = Instant::now();
        let error = call.send().await.unwrap_err();
        let took = began.elapsed();
        over();
        let handle = eventually("it is accepted", || async { call.send().await.ok() }).await;
        assert!(matches!(&error, EnqueueError::Store { id: Some(id), .. } if id == handle.id()), "{error:?}");
        self.assert_one_task().await;
        (took, error.to_string())
    }

    async fn assert_one_task(&self) {
        assert_eq!(self.client.stats(&queue("default")).await.unwrap().unfinished(), 1);
    }

    fn assert_names_the_store(&self, error: &str) {
        assert!(error.contains(&format!("the store at redis://127.0.0.1:{}", self.proxy.port())), "{error}");
        assert!(error.contains("enqueue again with the same id"), "{error}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lost_reply_is_an_error_and_the_retry_finds_the_task() {
    let producer = Producer::new().await;
    let (_, error) = producer.sends_twice(|| producer.proxy.lose_reply_to(*b"producers-mark"), || ()).await;
    producer.assert_names_the_store(&error);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_torn_reply_is_an_error_and_the_retry_finds_the_task() {
    let producer = Producer::new().await;
    let (_, error) = producer.sends_twice(|| producer.proxy.tear_next_reply(), || ()).await;
    producer.assert_names_the_store(&error);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_is_gone_is_an_error_at_once() {
    let producer = Producer::new().await;
    let (refuse, allow) = (|| producer.proxy.set(Fault::Refuse), || producer.proxy.set(Fault::None));
    let (took, error) = producer.sends_twice(refuse, allow).await;
    producer.assert_names_the_store(&error);
    assert!(took < Duration::from_secs(1), "{took:?}");
}

/// At the time limits that users have.
#[tokio::test(flavor = "multi_thread")]
async fn a_silent_server_is_an_error_after_five_seconds() {
    let producer = Producer::new().await;
    let (hole, over) = (|| producer.proxy.set(Fault::BlackHole), || producer.proxy.set(Fault::None));
    let (took, error) = producer.sends_twice(hole, over).await;
    producer.assert_names_the_store(&error);
    assert!((5..7).contains(&took.as_secs()), "{took:?}");
    assert!(error.contains("no answer") && error.contains("within 5s"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_producers_own_limit_is_kept() {
    let producer = Producer::with(Limits { enqueue_timeout: Duration::from_millis(300), ..Limits::default() }).await;
    let (took, error) = producer.sends_twice(|| producer.server.pause(), || producer.server.resume()).await;
    producer.assert_names_the_store(&error);
    assert!((300..1300).contains(&took.as_millis()), "{took:?}");
    assert!(error.contains("no answer") && error.contains("within 300ms"), "{error}");
}

/// Servers and what stands before them close connections that nobody uses.
#[tokio::test(flavor = "multi_thread")]
async fn a_connection_that_was_closed_while_it_was_idle_is_no_error() {
    let producer = Producer::new().await;
    for killed in 0..3 {
        let _: i64 = producer.server.command(&["CLIENT", "KILL", "TYPE", "normal"]);
        // Its end arrives within a moment, as it does long before the next call of a producer that is idle.
        lasting(Duration::from_millis(100)).await;
        never_runs_here::enqueue("idle".into()).on(&producer.client).await.unwrap();
        assert_eq!(producer.client.stats(&queue("default")).await.unwrap().queued, killed + 1);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_batch_that_broke_off_can_be_sent_again() {
    let producer = Producer::new().await;
    let calls = never_runs_here::enqueue_many((0..600).map(|n| format!("batch-{n}-"))).on(&producer.client);
    // In the third step of five.
    producer.proxy.lose_reply_to(*b"batch-300-");
    calls.send().await.unwrap_err();
    let handles = calls.send().await.unwrap();
    assert_eq!(handles.len(), 600);
    // Several steps are on their way at once: how many were applied is chance, but each was as a whole.
    let applied = handles.chunks(128).map(|step| step.iter().filter(|handle| handle.is_duplicate()).count());
    let whole = handles.chunks(128).map(<[_]>::len);
    assert!(applied.zip(whole).all(|(applied, whole)| applied == 0 || applied == whole));
    assert_eq!(producer.client.stats(&queue("default")).await.unwrap().queued, 600);
}

/// The embedded store's time limit is its busy timeout; the producer's own one may be shorter.
#[tokio::test(flavor = "multi_thread")]
async fn a_locked_file_is_an_error_within_the_limit_and_the_retry_makes_no_second_task() {
    let w = World::sqlite().await;
    let limits = Limits { enqueue_timeout: Duration::from_millis(200), ..Limits::default() };
    let client = Client::with_limits(w.store(), limits);
    let other = Connection::open(w.file()).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let call = never_runs_here::enqueue("locked".into()).on(&client);
    let began = Instant::now();
    let error = call.send().await.unwrap_err().to_string();
    assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
    assert!(error.contains(&*w.file().to_string_lossy()) && error.contains("the same id"), "{error}");
    other.execute_batch("ROLLBACK").unwrap();
    let handle = eventually("it is accepted", || async { call.send().await.ok() }).await;
    assert!(handle.is_duplicate(), "the first one was carried out once the lock was free");
    assert_eq!(w.stats().await.queued, 1);
}

//! Those who wait for results, and those who call tasks off, through outages.

use std::time::{Duration, Instant};

use dtq::store::CancelOutcome;
use dtq::types::Status;
use dtq::{Client, Handle, ResultError};
use dtq_examples::Fault;
use dtq_tests::{RedisServer, World, eventually, lasting, task};

use super::{LASTING, RETURN, Site, on_both_stores};
use crate::program::{Desk, PATIENCE};

/// A waiter that comes through the proxy, for a task that runs.
async fn waiter(site: &Site, patience: Duration) -> tokio::task::JoinHandle<(Result<u32, ResultError>, Instant)> {
    let slow = site.desk.enqueue::<u32>("slow").await;
    site.desk.tells("started 1").await;
    let handle: Handle<u32> = Client::connect(&site.proxy.url()).unwrap().handle(slow.id().clone());
    let waits = tokio::spawn(async move { (handle.result(patience).await, Instant::now()) });
    eventually("it waits", || async { (site.proxy.accepted() > 0).then_some(()) }).await;
    waits
}

/// A site whose worker does not come through the proxy.
async fn site(arguments: &[&str]) -> Site {
    let mut site = Site::with(arguments).await;
    site.desk.url = site.server.url();
    site
}

#[tokio::test(flavor = "multi_thread")]
async fn a_waiter_outlives_resets_and_refusals() {
    let site = site(&[]).await;
    let _program = site.worker(&[]).await;
    let waits = waiter(&site, PATIENCE).await;
    for _ in 0..3 {
        site.proxy.cut();
        lasting(Duration::from_millis(100)).await;
    }
    let _: i64 = site.server.command(&["CLIENT", "KILL", "TYPE", "normal"]);
    site.proxy.set(Fault::Refuse);
    site.desk.release();
    lasting(Duration::from_millis(1500)).await;
    let back = Instant::now();
    site.proxy.set(Fault::None);
    let (result, at) = waits.await.unwrap();
    assert_eq!(result.unwrap(), 1);
    assert!(at - back < RETURN, "{:?}", at - back);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_waiter_outlives_a_restart() {
    let mut site = site(&LASTING).await;
    let _program = site.worker(&[]).await;
    let waits = waiter(&site, PATIENCE).await;
    site.server.kill();
    lasting(Duration::from_secs(2)).await;
    site.server.start_again().await;
    let released = Instant::now();
    site.desk.release();
    let (result, at) = waits.await.unwrap();
    assert_eq!(result.unwrap(), 1);
    assert!(at - released < RETURN, "{:?}", at - released);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_waiter_hangs_no_longer_than_its_time_in_any_outage() {
    for fault in [Fault::BlackHole, Fault::Refuse, Fault::Delay(Duration::from_secs(3))] {
        let site = site(&[]).await;
        let _program = site.worker(&[]).await;
        let waits = waiter(&site, Duration::from_secs(1)).await;
        let began = Instant::now();
        site.proxy.set(fault);
        let (result, at) = waits.await.unwrap();
        assert!(result.is_err());
        assert!(at - began < Duration::from_secs(2), "{fault:?}: {:?}", at - began);
    }
}

/// A cancellation is state in the store: it holds for workers that were not there.
async fn what_was_called_off_while_no_worker_was_there_never_runs(w: &World) {
    let desk = Desk::new(w);
    let nap = |n: u64| {
        let payload = serde_json::json!({ "folder": desk.folder.path(), "n": n, "millis": 1 }).to_string();
        task("nap").payload(payload)
    };
    let retrying = desk.enqueue_with::<()>("fails_at_leisure", 2).await;
    let program = desk.worker(&[]).await;
    let retries = || async { (retrying.status().await.unwrap() == Some(Status::Retrying)).then_some(()) };
    eventually("it waits for its next attempt", retries).await;
    program.kill();
    let queued = desk.send::<u64>(nap(1).build()).await;
    let delayed = desk.send::<u64>(nap(2).delay(Duration::from_millis(300)).build()).await;
    for id in [queued.id(), delayed.id(), retrying.id()] {
        assert_eq!(desk.client.cancel(id, "not needed").await.unwrap(), CancelOutcome::Cancelled);
    }
    let program = desk.worker(&[]).await;
    // What comes due after all of them shows that they were passed over.
    let last = desk.send::<u64>(nap(3).delay(Duration::from_millis(1100)).build()).await;
    last.result(PATIENCE).await.unwrap();
    assert_eq!(desk.told(), ["attempt 1", "ran 3"], "{}", program.log());
    assert_eq!(queued.status().await.unwrap(), Some(Status::Cancelled));
    // Twice, and too late, are answers and no errors.
    for handle in [&queued, &last] {
        assert!(matches!(handle.cancel("again").await.unwrap(), CancelOutcome::AlreadyFinished(_)));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancellation_outlives_a_restart_of_the_server() {
    let mut server = RedisServer::start_with(&LASTING).await;
    let desk = Desk::at(server.url());
    let naps = desk.naps(0, 5, 1).await;
    for handle in &naps {
        handle.cancel("not needed").await.unwrap();
    }
    server.kill();
    server.start_again().await;
    let _program = desk.worker(&[]).await;
    eventually("work goes on", || desk.try_quick(1)).await.result(PATIENCE).await.unwrap();
    assert_eq!(desk.told(), [""; 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_running_task_that_was_called_off_in_an_outage_learns_of_it_afterwards() {
    let site = Site::new().await;
    // The lease is not renewed for ten seconds: it is by the watch for cancellations that it learns of it.
    let program = site.worker(&[]).await;
    let slow = site.desk.enqueue::<u32>("slow").await;
    site.desk.tells("started 1").await;
    site.proxy.set(Fault::Refuse);
    program.logs("the store failed", 1).await;
    assert_eq!(slow.cancel("not needed").await.unwrap(), CancelOutcome::Requested);
    let back = Instant::now();
    site.proxy.set(Fault::None);
    site.desk.tells("called off 1").await;
    assert!(back.elapsed() < RETURN, "{:?}", back.elapsed());
    eventually("it is cancelled", || async { (slow.status().await.unwrap() == Some(Status::Cancelled)).then_some(()) })
        .await;
}

on_both_stores! {
    what_was_called_off_while_no_worker_was_there_never_runs,
}

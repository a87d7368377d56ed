//! What networks do to the connection between a worker and its server.

use std::time::Duration;

use dtq_examples::Fault;
use dtq_tests::{eventually, lasting};

use super::{Site, Use, assert_works, outages, troubles};
use crate::program::PATIENCE;

#[tokio::test(flavor = "multi_thread")]
async fn a_reset_connection_is_made_anew() {
    let site = Site::new().await;
    let program = site.worker(&[]).await;
    let watch = Use::of(&program);
    site.proxy.cut();
    assert_works(&site.desk, &program).await;
    // Its other loops find out within a heartbeat.
    lasting(Duration::from_millis(2500)).await;
    watch.assert_calm(2);
    assert!(outages(&program) <= 1, "{}", program.log());
}

#[tokio::test(flavor = "multi_thread")]
async fn five_resets_in_a_row_cost_two_lines_and_no_task() {
    let site = Site::new().await;
    let workers = [site.worker(&["--concurrency", "2"]).await, site.worker(&["--concurrency", "2"]).await];
    let naps = site.desk.naps(0, 20, 400).await;
    let uses = workers.each_ref().map(Use::of);
    for _ in 0..5 {
        lasting(Duration::from_millis(400)).await;
        site.proxy.cut();
    }
    let more = site.desk.naps(20, 20, 1).await;
    for handle in naps.iter().chain(&more) {
        handle.result(PATIENCE).await.unwrap();
    }
    for n in 0..40 {
        assert_eq!(site.desk.count(&format!("ran {n}")), 1, "task {n}");
    }
    uses.iter().for_each(|watch| watch.assert_calm(2));
    assert_works(&site.desk, &workers[0]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_connection_that_flaps_is_not_told_each_time() {
    let site = Site::new().await;
    let program = site.worker(&[]).await;
    let watch = Use::of(&program);
    for _ in 0..10 {
        site.proxy.set(Fault::Refuse);
        lasting(Duration::from_millis(200)).await;
        site.proxy.set(Fault::None);
        lasting(Duration::from_millis(200)).await;
    }
    watch.assert_calm(2);
    assert_eq!(outages(&program), 1, "{}", program.log());
    assert_works(&site.desk, &program).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_that_runs_through_a_reset_is_settled_once() {
    let site = Site::new().await;
    let program = site.worker(&[]).await;
    let slow = site.desk.enqueue::<u32>("slow").await;
    site.desk.tells("started 1").await;
    site.proxy.cut();
    site.desk.release();
    assert_eq!(slow.result(PATIENCE).await.unwrap(), 1);
    assert_eq!(site.desk.told(), ["started 1"]);
    assert!(program.lines("lease lost").is_empty(), "{}", program.log());
}

#[tokio::test(flavor = "multi_thread")]
async fn half_a_reply_is_no_reply_and_its_task_runs_all_the_same() {
    let site = Site::new().await;
    let program = site.worker(&[]).await;
    let mut naps = Vec::new();
    for round in 0..8 {
        site.proxy.tear_next_reply();
        naps.extend(site.desk.naps(round * 10, 10, 5).await);
        eventually("the reply is torn", || async { (!site.proxy.is_trap_set()).then_some(()) }).await;
    }
    for (n, handle) in (0..).zip(&naps) {
        assert_eq!(handle.result(PATIENCE).await.unwrap(), n);
        assert_eq!(site.desk.count(&format!("ran {n}")), 1, "task {n}");
    }
    assert!(!program.ended());
    assert!(outages(&program) <= 2, "{}", program.log());
}

#[tokio::test(flavor = "multi_thread")]
async fn latency_is_no_trouble() {
    let site = Site::new().await;
    let program = site.worker(&[]).await;
    site.proxy.set(Fault::Delay(Duration::from_millis(100)));
    for handle in site.desk.naps(0, 200, 1).await {
        handle.result(PATIENCE).await.unwrap();
    }
    assert_eq!(troubles(&program), [""; 0]);
}

/// At the time limits that users have: 5 s for an answer, 5 s for a connection.
#[tokio::test(flavor = "multi_thread")]
async fn ten_seconds_of_silence_are_told_once_and_cost_no_task() {
    let site = Site::new().await;
    let program = site.worker(&[]).await;
    let slow = site.desk.enqueue::<u32>("slow").await;
    site.desk.tells("started 1").await;
    let watch = Use::of(&program);
    site.proxy.set(Fault::BlackHole);
    site.desk.release();
    let queued = site.desk.naps(0, 5, 1).await;
    lasting(Duration::from_secs(10)).await;
    // That the store failed, and that the worker is not ready any more.
    watch.assert_calm(2);
    site.proxy.set(Fault::None);
    assert_works(&site.desk, &program).await;
    assert_eq!(slow.result(PATIENCE).await.unwrap(), 1);
    for handle in queued {
        handle.result(PATIENCE).await.unwrap();
    }
    program.logs("the store works again", 1).await;
    assert_eq!(outages(&program), 1, "{}", program.log());
}

//! How soon the tasks of a dead worker run elsewhere, with the settings that a worker has by itself.

use std::time::{Duration, Instant};

use dtq_tests::World;

use super::{Desk, PATIENCE, on_both_stores};

async fn the_tasks_of_a_killed_worker_run_elsewhere_within_ten_seconds(w: &World) {
    let desk = Desk::new(w);
    let slow = desk.enqueue::<u32>("slow").await;
    let doomed = desk.worker(&[]).await;
    desk.tells("started 1").await;
    let other = desk.worker(&[]).await;
    let died = Instant::now();
    doomed.kill();
    desk.tells("started 2").await;
    let took = died.elapsed();
    assert!(took < Duration::from_secs(10), "{took:?}\n{}", other.log());
    desk.release();
    assert_eq!(slow.result(PATIENCE).await.unwrap(), 2);
    let lost = slow.record().await.unwrap().unwrap().attempts.remove(0).failure;
    assert!(lost.message.ends_with("died or was cut off: its heartbeats stopped"), "{lost}");
}

async fn a_worker_that_starts_after_the_last_one_died_takes_over_within_ten_seconds(w: &World) {
    let desk = Desk::new(w);
    desk.enqueue::<u32>("slow").await;
    let doomed = desk.worker(&[]).await;
    desk.tells("started 1").await;
    doomed.kill();
    let began = Instant::now();
    let other = desk.worker(&[]).await;
    desk.tells("started 2").await;
    let took = began.elapsed();
    assert!(took < Duration::from_secs(10), "{took:?}\n{}", other.log());
}

on_both_stores! {
    the_tasks_of_a_killed_worker_run_elsewhere_within_ten_seconds,
    a_worker_that_starts_after_the_last_one_died_takes_over_within_ten_seconds,
}

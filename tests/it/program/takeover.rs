//! How soon the tasks of a dead worker run elsewhere, with the settings that a worker has by itself.

use std::time::{Duration, Instant};

use dtq::types::{LimitChanges, QueueName};
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

async fn work_that_is_done_once_begins_anew_when_its_worker_died_inside_and_never_after_it_was_done(w: &World) {
    const SHORT: [&str; 2] = ["--lease", "1500ms"];
    let desk = Desk::new(w);
    let handle = desk.enqueue::<u32>("once").await;
    let inside = desk.worker(&SHORT).await;
    desk.tells("inside 1").await;
    inside.kill();
    let after = desk.worker(&SHORT).await;
    desk.tells("inside 2").await;
    desk.release();
    desk.tells("after 2").await;
    after.kill();
    let _last = desk.worker(&SHORT).await;
    desk.tells("after 3").await;
    std::fs::write(desk.folder.path().join("end"), "").unwrap();
    assert_eq!(handle.result(PATIENCE).await.unwrap(), 2, "the result of the run that was completed");
    assert_eq!(desk.told(), ["inside 1", "inside 2", "after 2", "after 3"]);
}

async fn a_killed_workers_task_keeps_its_place_under_a_limit_and_its_end_frees_it(w: &World) {
    let desk = Desk::new(w);
    let default = QueueName::default();
    desk.client.set_limits(&default, LimitChanges::new().task("slow", 1), "to test it").await.unwrap();
    let first = desk.enqueue::<u32>("slow").await;
    let doomed = desk.worker(&[]).await;
    desk.tells("started 1").await;
    let second = desk.enqueue::<u32>("slow").await;
    let _other = desk.worker(&[]).await;
    doomed.kill();
    desk.tells("started 2").await;
    let limits = desk.client.limits_of(&default).await.unwrap().tasks;
    assert_eq!((limits[0].running, desk.told().len()), (1, 2), "{limits:?}");
    desk.release();
    assert_eq!(first.result(PATIENCE).await.unwrap(), 2);
    assert_eq!(second.result(PATIENCE).await.unwrap(), 1);
}

on_both_stores! {
    a_killed_workers_task_keeps_its_place_under_a_limit_and_its_end_frees_it,
    work_that_is_done_once_begins_anew_when_its_worker_died_inside_and_never_after_it_was_done,
    the_tasks_of_a_killed_worker_run_elsewhere_within_ten_seconds,
    a_worker_that_starts_after_the_last_one_died_takes_over_within_ten_seconds,
}

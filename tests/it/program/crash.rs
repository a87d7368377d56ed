//! A process that dies with a task in its hands.

use dtq::types::ErrorKind;
use dtq_tests::World;

use super::{Desk, PATIENCE, on_both_stores};

/// The shortest time after which a dead worker's tasks run again.
pub(super) const SHORT: [&str; 2] = ["--lease", "1500ms"];

async fn the_task_of_a_killed_worker_is_run_by_another_after_its_lease(w: &World) {
    let desk = Desk::new(w);
    let slow = desk.enqueue::<u32>("slow").await;
    let program = desk.worker(&SHORT).await;
    desk.tells("started 1").await;
    program.kill();
    let _other = desk.worker(&SHORT).await;
    desk.tells("started 2").await;
    desk.release();
    assert_eq!(slow.result(PATIENCE).await.unwrap(), 2);
    let lost = &slow.record().await.unwrap().unwrap().attempts[0];
    assert_eq!((lost.number, lost.failure.kind), (1, ErrorKind::WorkerLost));
}

on_both_stores! {
    the_task_of_a_killed_worker_is_run_by_another_after_its_lease,
}

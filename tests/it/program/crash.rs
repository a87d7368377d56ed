//! Processes that die with tasks in their hands.

use std::time::Duration;

use dtq::types::{ErrorKind, Status};
use dtq_tests::{World, eventually};

use super::{Desk, PATIENCE, Program, on_both_stores};

/// The shortest time after which a dead worker's tasks run again.
const SHORT: [&str; 2] = ["--lease", "1500ms"];

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

/// Stops a process at a moment at which it does not hold SQLite's write lock: with it, it would stop all others, too.
async fn stop_outside_of_a_write(desk: &Desk, program: &Program) {
    loop {
        program.signal("STOP");
        if tokio::time::timeout(Duration::from_secs(1), desk.quick(0)).await.is_ok() {
            return;
        }
        program.signal("CONT");
    }
}

async fn a_stopped_process_that_goes_on_cannot_undo_what_another_did(w: &World) {
    let desk = Desk::new(w);
    let slow = desk.enqueue::<u32>("slow").await;
    let asleep = desk.worker(&SHORT).await;
    desk.tells("started 1").await;
    stop_outside_of_a_write(&desk, &asleep).await;
    let _other = desk.worker(&SHORT).await;
    desk.tells("started 2").await;
    desk.release();
    assert_eq!(slow.result(PATIENCE).await.unwrap(), 2);
    asleep.signal("CONT");
    asleep.logs("lease lost", 1).await;
    assert_eq!(slow.result(PATIENCE).await.unwrap(), 2);
    // It goes on working.
    asleep.signal("TERM");
}

async fn a_task_that_kills_its_worker_each_time_ends_among_the_dead_letters(w: &World) {
    let desk = Desk::new(w);
    let poison = desk.enqueue_with::<()>("abort", 3).await;
    let mut innocent = Vec::new();
    for n in 0..5 {
        innocent.push(desk.quick(n).await);
    }
    let mut program = desk.worker(&SHORT).await;
    // What a supervisor does.
    while poison.status().await.unwrap() != Some(Status::DeadLettered) {
        let ended = eventually("it ends, or the task does", || async {
            let ended = program.ended();
            (ended || poison.status().await.unwrap() == Some(Status::DeadLettered)).then_some(ended)
        })
        .await;
        if ended {
            program = desk.worker(&SHORT).await;
        }
    }
    let record = poison.record().await.unwrap().unwrap();
    assert_eq!((record.attempt, desk.told().len()), (3, 3), "{:?}", desk.told());
    assert!(record.attempts.iter().all(|attempt| attempt.failure.kind == ErrorKind::WorkerLost), "{record:?}");
    for (n, handle) in innocent.iter().enumerate() {
        assert_eq!(handle.result(PATIENCE).await.unwrap(), n as u64);
    }
    assert!(!program.ended());
}

on_both_stores! {
    the_task_of_a_killed_worker_is_run_by_another_after_its_lease,
    a_stopped_process_that_goes_on_cannot_undo_what_another_did,
    a_task_that_kills_its_worker_each_time_ends_among_the_dead_letters,
}

//! A process that is stopped past its lease and goes on: it is told, and whatever it does with the task is refused.

use std::time::Duration;

use dtq::Handle;
use dtq::types::EventKind::{DuplicateAbsorbed, Queued, Reclaimed, Started, Succeeded};
use dtq::types::{ErrorKind, Status};
use dtq_tests::{World, eventually};

use super::crash::SHORT;
use super::{Desk, PATIENCE, Program, on_both_stores};

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

/// A task whose first owner was stopped past its lease, and goes on while the second one runs it: the old owner, the new
/// one, the task.
async fn fenced_off(desk: &Desk, how: &str) -> (Program, Program, Handle<u32>) {
    let task = desk.acts(how).await;
    let old = desk.worker(&SHORT).await;
    desk.tells("started 1").await;
    stop_outside_of_a_write(desk, &old).await;
    let new = desk.worker(&SHORT).await;
    desk.tells("started 2").await;
    old.signal("CONT");
    // The handler's token fires; then its end is refused.
    desk.tells("told 1").await;
    desk.tells("ended 1").await;
    old.logs("lease lost", 1).await;
    let events = desk.events(task.id()).await;
    assert_eq!(events, [Queued, Started, Reclaimed, Started, DuplicateAbsorbed]);
    let record = task.record().await.unwrap().unwrap();
    assert_eq!((record.status, record.attempt, &record.result), (Status::Running, 2, &None), "nothing was changed");
    (old, new, task)
}

/// The numbers of the attempts that failed, which all were lost with their workers.
async fn lost_attempts(task: &Handle<u32>) -> Vec<u32> {
    let attempts = task.record().await.unwrap().unwrap().attempts;
    assert!(attempts.iter().all(|attempt| attempt.failure.kind == ErrorKind::WorkerLost), "{attempts:?}");
    attempts.into_iter().map(|attempt| attempt.number).collect()
}

async fn the_second_owners_result_stands(desk: &Desk, task: &Handle<u32>) {
    desk.release();
    assert_eq!(task.result(PATIENCE).await.unwrap(), 2);
    desk.passes(Duration::from_secs(2)).await;
    assert_eq!(task.result(PATIENCE).await.unwrap(), 2);
    assert_eq!(lost_attempts(task).await, [1]);
    assert_eq!(desk.told(), ["started 1", "started 2", "told 1", "ended 1", "ended 2"]);
    let events = desk.events(task.id()).await;
    assert_eq!(events, [Queued, Started, Reclaimed, Started, DuplicateAbsorbed, Succeeded]);
}

async fn an_owner_that_was_asleep_is_told_and_its_success_refused(w: &World) {
    let desk = Desk::new(w);
    let (_old, _new, task) = fenced_off(&desk, "waits").await;
    the_second_owners_result_stands(&desk, &task).await;
}

async fn an_owner_that_was_asleep_is_told_and_its_failure_refused(w: &World) {
    let desk = Desk::new(w);
    let (_old, _new, task) = fenced_off(&desk, "waits and fails when told").await;
    the_second_owners_result_stands(&desk, &task).await;
}

async fn when_the_second_owner_dies_too_there_is_a_third_delivery(w: &World) {
    let desk = Desk::new(w);
    let (_old, new, task) = fenced_off(&desk, "waits").await;
    new.kill();
    // By the first process, which is sound: it was only slow.
    desk.tells("started 3").await;
    desk.release();
    assert_eq!(task.result(PATIENCE).await.unwrap(), 3);
    assert_eq!(lost_attempts(&task).await, [1, 2]);
    let events = desk.events(task.id()).await;
    let expected = [Queued, Started, Reclaimed, Started, DuplicateAbsorbed, Reclaimed, Started, Succeeded];
    assert_eq!(events, expected);
}

async fn as_many_blocking_handlers_as_threads_keep_their_leases(w: &World) {
    let desk = Desk::new(w);
    let threads = std::thread::available_parallelism().unwrap().get();
    let mut tasks = Vec::new();
    for _ in 0..threads {
        tasks.push(desk.enqueue::<()>("block").await);
    }
    let _blocked = desk.worker(&SHORT).await;
    let all = || async { (desk.told().len() == threads).then_some(()) };
    eventually("every thread of the worker's runtime is blocked", all).await;
    let _other = desk.worker(&SHORT).await;
    // More than three leases, each of which the other one would end.
    desk.passes(Duration::from_secs(5)).await;
    assert_eq!(desk.told(), vec!["started 1"; threads]);
    for task in tasks {
        assert_eq!(desk.events(task.id()).await, [Queued, Started]);
    }
}

async fn two_processes_started_alike_have_two_identities(w: &World) {
    let desk = Desk::new(w);
    let _programs = [desk.worker(&[]).await, desk.worker(&[]).await];
    let workers = eventually("both are listed", || async {
        Some(desk.client.workers().await.unwrap()).filter(|workers| workers.len() == 2)
    })
    .await;
    assert_ne!(workers[0].id, workers[1].id);
}

on_both_stores! {
    an_owner_that_was_asleep_is_told_and_its_success_refused,
    an_owner_that_was_asleep_is_told_and_its_failure_refused,
    when_the_second_owner_dies_too_there_is_a_third_delivery,
    as_many_blocking_handlers_as_threads_keep_their_leases,
    two_processes_started_alike_have_two_identities,
}

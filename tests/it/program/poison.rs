//! Tasks that take their worker down with them, and tasks that only happened to be there.

use std::time::Duration;

use dtq::Handle;
use dtq::store::Steered;
use dtq::types::EventKind::{DeadLettered, Queued, Started};
use dtq::types::{DeadLetter, ErrorKind, QueueName, Status};
use dtq_tests::{World, eventually};

use super::crash::SHORT;
use super::{Desk, PATIENCE, on_both_stores};

/// Starts a worker again whenever it ends, as a supervisor does, until the task is dead-lettered; the worker of then
/// stays alive.
async fn supervised_until_dead<T>(desk: &Desk, poison: &Handle<T>) {
    let dead = || async { poison.status().await.unwrap() == Some(Status::DeadLettered) };
    let mut program = desk.worker(&SHORT).await;
    while !dead().await {
        let ended = || async { (program.ended() || dead().await).then_some(()) };
        eventually("it ends, or the task does", ended).await;
        if program.ended() {
            program = desk.worker(&SHORT).await;
        }
    }
    desk.passes(Duration::from_millis(100)).await;
    assert!(!program.ended());
}

/// The one dead letter. Its reason is for somebody who was woken by it: the kind, and what that means.
async fn the_letter_says_that_its_worker_was_lost(desk: &Desk) -> DeadLetter {
    let letters = desk.client.dead_letters(&QueueName::default()).list(10).await.unwrap();
    assert_eq!(letters.len(), 1, "{letters:?}");
    let reason = letters[0].failure.to_string();
    assert_eq!(letters[0].failure.kind, ErrorKind::WorkerLost);
    let says = |words| reason.contains(words);
    assert!(says("worker_lost: ") && says("worker") && says("died or was paused longer than its lease"), "{reason}");
    letters[0].clone()
}

async fn poison_ends_among_the_dead_letters(w: &World, name: &str) {
    let desk = Desk::new(w);
    let poison = desk.enqueue_with::<()>(name, 3).await;
    let mut innocent = Vec::new();
    for n in 0..5 {
        innocent.push(desk.quick(n).await);
    }
    supervised_until_dead(&desk, &poison).await;
    assert_eq!(desk.told(), ["started 1", "started 2", "started 3"]);
    let record = poison.record().await.unwrap().unwrap();
    let lost: Vec<_> = record.attempts.iter().map(|attempt| (attempt.number, attempt.failure.kind)).collect();
    assert_eq!(lost, [1, 2, 3].map(|number| (number, ErrorKind::WorkerLost)));
    let letter = the_letter_says_that_its_worker_was_lost(&desk).await;
    assert_eq!((&letter.id, letter.attempt), (poison.id(), 3));
    for (n, handle) in innocent.iter().enumerate() {
        assert_eq!(handle.result(PATIENCE).await.unwrap(), n as u64);
    }
}

async fn a_task_that_aborts_its_worker_each_time_ends_among_the_dead_letters(w: &World) {
    poison_ends_among_the_dead_letters(w, "abort").await;
}

async fn a_task_that_overflows_its_stack_each_time_ends_among_the_dead_letters(w: &World) {
    poison_ends_among_the_dead_letters(w, "overflow").await;
}

async fn innocent_tasks_of_a_worker_that_was_killed_finish(w: &World) {
    let desk = Desk::new(w);
    let mut innocent = Vec::new();
    for _ in 0..5 {
        innocent.push(desk.acts("waits").await);
    }
    let program = desk.worker(&SHORT).await;
    eventually("all run", || async { (desk.told().len() == 5).then_some(()) }).await;
    program.kill();
    desk.release();
    let _other = desk.worker(&SHORT).await;
    for handle in &innocent {
        assert_eq!(handle.result(PATIENCE).await.unwrap(), 2);
    }
    assert_eq!(desk.told().iter().filter(|line| *line == "started 2").count(), 5, "each ran once more");
}

/// One attempt means one: a run that began counts, also when its end was not the task's fault.
async fn the_only_attempt_of_a_killed_worker_is_dead_lettered_and_never_runs_again(w: &World) {
    let desk = Desk::new(w);
    let once = desk.enqueue_with::<u32>("slow", 1).await;
    let program = desk.worker(&SHORT).await;
    desk.tells("started 1").await;
    program.kill();
    desk.release();
    let _other = desk.worker(&SHORT).await;
    eventually("it is dead-lettered", || async {
        (once.status().await.unwrap() == Some(Status::DeadLettered)).then_some(())
    })
    .await;
    desk.passes(Duration::from_secs(2)).await;
    let letter = the_letter_says_that_its_worker_was_lost(&desk).await;
    assert_eq!((&letter.id, letter.attempt), (once.id(), 1));
    assert_eq!(desk.told(), ["started 1"]);
    assert_eq!(desk.events(once.id()).await, [Queued, Started, DeadLettered]);
    // Somebody knows better.
    let told = desk.client.retry(once.id(), "the machine was switched off").await.unwrap();
    assert_eq!(told, Steered::Done);
    assert_eq!(once.result(PATIENCE).await.unwrap(), 1, "its attempts begin anew");
    assert_eq!(desk.told(), ["started 1", "started 1"]);
    let record = once.record().await.unwrap().unwrap();
    assert_eq!((record.attempts.len(), record.attempts_in_all()), (1, 2));
}

on_both_stores! {
    a_task_that_aborts_its_worker_each_time_ends_among_the_dead_letters,
    a_task_that_overflows_its_stack_each_time_ends_among_the_dead_letters,
    innocent_tasks_of_a_worker_that_was_killed_finish,
    the_only_attempt_of_a_killed_worker_is_dead_lettered_and_never_runs_again,
}

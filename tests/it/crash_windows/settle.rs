//! A worker dies within a settle, or after it was applied and before the worker heard so.

use dtq::Handle;
use dtq::types::ErrorKind::{Cancelled as CancelledKind, Error, Permanent, WorkerLost};
use dtq::types::EventKind::{
    Cancelled, DeadLettered, Failed, Queued, Reclaimed, Released, Retried, RetryScheduled, Started, Succeeded,
};
use dtq::types::{EventKind, Status};
use dtq_tests::{TaskBuilder, World};

use super::scene::{HELD, NOTHING, READY, SCHEDULED, Scene, View, reached, view};

/// What one run of the handler tells.
const ONCE: [&str; 2] = ["started 1", "ended 1"];

/// The first attempt is settled, and whoever did it dies before it hears so: another worker finds what is to be found.
async fn settled_but_unheard(scene: &Scene<'_>, task: &Handle<u32>, frozen: View, end: View) {
    let program = scene.worker_frozen_at("settle.applied").await;
    scene.assert_sees(task.id(), frozen).await;
    program.kill();
    let _other = scene.worker().await;
    scene.assert_ends(task.id(), end).await;
}

/// The same for an end that is final: the handler never runs again.
async fn ended_but_unheard(scene: &Scene<'_>, task: &Handle<u32>, end: View) {
    settled_but_unheard(scene, task, end.clone(), end).await;
}

pub(super) async fn succeeded_but_the_worker_never_heard(w: &World) {
    let scene = Scene::on(w);
    let task = scene.enqueue("succeeds").await;
    ended_but_unheard(&scene, &task, view(Status::Succeeded, 1, NOTHING, &[Queued, Started, Succeeded], &ONCE)).await;
    assert_eq!(task.result(std::time::Duration::ZERO).await.unwrap(), 1);
}

pub(super) async fn retrying_but_the_worker_never_heard(w: &World) {
    let scene = Scene::on(w);
    let task = scene.enqueue("retries").await;
    let frozen = view(Status::Retrying, 1, SCHEDULED, &[Queued, Started, RetryScheduled], &ONCE);
    let events = [Queued, Started, RetryScheduled, Retried, Started, Succeeded];
    let end = view(Status::Succeeded, 2, NOTHING, &events, &["started 1", "ended 1", "started 2", "ended 2"]);
    settled_but_unheard(&scene, &task, frozen.failed(&[(1, Error)]), end.failed(&[(1, Error)])).await;
}

pub(super) async fn snoozed_but_the_worker_never_heard(w: &World) {
    let scene = Scene::on(w);
    let task = scene.enqueue("snoozes").await;
    let frozen = view(Status::Pending, 1, SCHEDULED, &[Queued, Started, RetryScheduled], &ONCE);
    let events = [Queued, Started, RetryScheduled, Queued, Started, Succeeded];
    let end = view(Status::Succeeded, 1, NOTHING, &events, &["started 1", "ended 1", "started 1", "ended 1"]);
    settled_but_unheard(&scene, &task, frozen, end).await;
}

pub(super) async fn dead_lettered_but_the_worker_never_heard(w: &World) {
    let scene = Scene::on(w);
    let task = scene.enqueue("fails").await;
    let end = view(Status::DeadLettered, 1, NOTHING, &[Queued, Started, DeadLettered], &ONCE);
    ended_but_unheard(&scene, &task, end.failed(&[(1, Permanent)])).await;
    let letters = w.dead_letters().await;
    assert_eq!((letters.len(), &letters[0].id), (1, task.id()), "one letter, not one a worker");
}

pub(super) async fn failed_without_dead_letters_but_the_worker_never_heard(w: &World) {
    let scene = Scene::on(w);
    let task = scene.enqueue_as("acts", "fails", TaskBuilder::no_dead_letter).await;
    let end = view(Status::Failed, 1, NOTHING, &[Queued, Started, Failed], &ONCE);
    ended_but_unheard(&scene, &task, end.failed(&[(1, Permanent)])).await;
}

pub(super) async fn dropped_by_the_handler_but_the_worker_never_heard(w: &World) {
    let scene = Scene::on(w);
    let task = scene.enqueue_as("drops", "", |task| task).await;
    let end = view(Status::Cancelled, 1, NOTHING, &[Queued, Started, Cancelled], &ONCE);
    ended_but_unheard(&scene, &task, end.failed(&[(1, CancelledKind)])).await;
}

pub(super) async fn cancelled_on_request_but_the_worker_never_heard(w: &World) {
    let scene = Scene::on(w);
    let task = scene.enqueue("waits and fails when told").await;
    let program = scene.worker_with("DTQ_FAIL_POINT", "settle.applied");
    scene.desk.tells("started 1").await;
    task.cancel("called off").await.unwrap();
    reached(&program, "settle.applied").await;
    let told = ["started 1", "told 1", "ended 1"];
    let end = view(Status::Cancelled, 1, NOTHING, &[Queued, Started, Cancelled], &told).failed(&[(1, CancelledKind)]);
    scene.assert_sees(task.id(), end.clone()).await;
    program.kill();
    let _other = scene.worker().await;
    scene.assert_ends(task.id(), end).await;
}

pub(super) async fn given_back_at_shutdown_but_the_worker_never_heard(w: &World) {
    let scene = Scene::on(w);
    let task = scene.enqueue("waits").await;
    let program = scene.hasty_worker("settle.applied");
    scene.desk.tells("started 1").await;
    program.signal("TERM");
    reached(&program, "settle.applied").await;
    let frozen = view(Status::Queued, 1, READY, &[Queued, Started, Released], &["started 1"]);
    scene.assert_sees(task.id(), frozen).await;
    program.kill();
    scene.desk.release();
    let _other = scene.worker().await;
    let events = [Queued, Started, Released, Started, Succeeded];
    let end = view(Status::Succeeded, 1, NOTHING, &events, &["started 1", "started 1", "ended 1"]);
    scene.assert_ends(task.id(), end).await;
}

pub(super) async fn after_the_acknowledgement(w: &World) {
    let scene = Scene::on(w);
    let task = scene.enqueue("succeeds").await;
    let program = scene.worker_with("RUST_LOG", "dtq=debug");
    program.logs(" settled ", 1).await;
    let end = view(Status::Succeeded, 1, NOTHING, &[Queued, Started, Succeeded], &ONCE);
    scene.assert_sees(task.id(), end.clone()).await;
    program.kill();
    let _other = scene.worker().await;
    scene.assert_ends(task.id(), end).await;
}

/// Everything is written but not committed: nothing of it can be seen, and nothing of it stays.
async fn uncommitted(
    w: &World,
    how: &str,
    status: Status,
    rest: &[EventKind],
    failed: &[(u32, dtq::types::ErrorKind)],
) {
    let scene = Scene::on(w);
    let task = scene.enqueue(how).await;
    let program = scene.worker_frozen_at("settle.uncommitted").await;
    scene.assert_sees(task.id(), view(Status::Running, 1, HELD, &[Queued, Started], &ONCE)).await;
    program.kill();
    scene.assert_sees(task.id(), view(Status::Running, 1, HELD, &[Queued, Started], &ONCE)).await;
    let _other = scene.worker().await;
    let events = [&[Queued, Started, Reclaimed, Started], rest].concat();
    let end = view(status, 2, NOTHING, &events, &["started 1", "ended 1", "started 2", "ended 2"]);
    scene.assert_ends(task.id(), end.failed(&[&[(1, WorkerLost)], failed].concat())).await;
}

pub(super) async fn within_the_settle_of_a_success_before_the_commit(w: &World) {
    uncommitted(w, "succeeds", Status::Succeeded, &[Succeeded], &[]).await;
}

pub(super) async fn within_the_settle_of_a_retry_before_the_commit(w: &World) {
    // The lost attempt was the one that wanted a retry; the next one succeeds.
    uncommitted(w, "retries", Status::Succeeded, &[Succeeded], &[]).await;
}

pub(super) async fn within_the_settle_of_a_dead_letter_before_the_commit(w: &World) {
    uncommitted(w, "fails", Status::DeadLettered, &[DeadLettered], &[(2, Permanent)]).await;
    assert_eq!(w.dead_letters().await.len(), 1);
}

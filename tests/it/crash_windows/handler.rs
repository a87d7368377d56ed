//! A worker dies while a handler runs, or before the store knows how it ended. The handler runs again.

use dtq::types::ErrorKind::WorkerLost;
use dtq::types::EventKind::{Queued, Reclaimed, Started, Succeeded};
use dtq::types::Status;
use dtq_tests::{TaskBuilder, World};

use super::scene::{HELD, NOTHING, Scene, view};

pub(super) async fn during_the_handler(w: &World) {
    let scene = Scene::on(w);
    let task = scene.enqueue("waits").await;
    let program = scene.worker().await;
    scene.desk.tells("started 1").await;
    scene.assert_sees(task.id(), view(Status::Running, 1, HELD, &[Queued, Started], &["started 1"])).await;
    program.kill();
    scene.desk.release();
    let _other = scene.worker().await;
    let events = [Queued, Started, Reclaimed, Started, Succeeded];
    let end = view(Status::Succeeded, 2, NOTHING, &events, &["started 1", "started 2", "ended 2"]);
    scene.assert_ends(task.id(), end.failed(&[(1, WorkerLost)])).await;
}

pub(super) async fn after_the_handler_before_the_settle(w: &World) {
    let scene = Scene::on(w);
    let task = scene.enqueue("succeeds").await;
    let program = scene.worker_frozen_at("settle.before").await;
    let told = ["started 1", "ended 1"];
    scene.assert_sees(task.id(), view(Status::Running, 1, HELD, &[Queued, Started], &told)).await;
    program.kill();
    let _other = scene.worker().await;
    // The window that nobody can close: the handler had finished, and runs again.
    let events = [Queued, Started, Reclaimed, Started, Succeeded];
    let end = view(Status::Succeeded, 2, NOTHING, &events, &["started 1", "ended 1", "started 2", "ended 2"]);
    scene.assert_ends(task.id(), end.failed(&[(1, WorkerLost)])).await;
}

pub(super) async fn after_a_failed_handler_before_the_settle(w: &World) {
    let scene = Scene::on(w);
    let task = scene.enqueue_as("acts", "fails", TaskBuilder::no_dead_letter).await;
    let program = scene.worker_frozen_at("settle.before").await;
    let told = ["started 1", "ended 1"];
    scene.assert_sees(task.id(), view(Status::Running, 1, HELD, &[Queued, Started], &told)).await;
    program.kill();
    let _other = scene.worker().await;
    // The handler's own word, that no retry can mend it, died with its worker.
    let events = [Queued, Started, Reclaimed, Started, dtq::types::EventKind::Failed];
    let end = view(Status::Failed, 2, NOTHING, &events, &["started 1", "ended 1", "started 2", "ended 2"]);
    let failed = [(1, WorkerLost), (2, dtq::types::ErrorKind::Permanent)];
    scene.assert_ends(task.id(), end.failed(&failed)).await;
}

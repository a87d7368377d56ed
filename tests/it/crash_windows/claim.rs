//! A worker dies around a claim.

use std::time::Duration;

use dtq::Handle;
use dtq::types::ErrorKind::WorkerLost;
use dtq::types::EventKind::{DeadLettered, Expired, Queued, Reclaimed, Started, Succeeded};
use dtq::types::Status;
use dtq_tests::{TaskBuilder, World};

use crate::program::Program;

use super::scene::{HELD, NOTHING, READY, Scene, view};

pub(super) async fn before_the_entry_is_read(w: &World) {
    nothing_was_claimed(w, "claim.before").await;
}

pub(super) async fn within_the_claim_before_the_commit(w: &World) {
    nothing_was_claimed(w, "claim.uncommitted").await;
}

/// The task is as it was, and runs as if nobody had died.
async fn nothing_was_claimed(w: &World, point: &str) {
    let scene = Scene::on(w);
    let task = scene.enqueue("succeeds").await;
    let program = scene.worker_frozen_at(point).await;
    scene.assert_sees(task.id(), view(Status::Queued, 1, READY, &[Queued], &[])).await;
    program.kill();
    let _other = scene.worker().await;
    let told = ["started 1", "ended 1"];
    scene.assert_ends(task.id(), view(Status::Succeeded, 1, NOTHING, &[Queued, Started, Succeeded], &told)).await;
}

pub(super) async fn claimed_but_the_worker_never_heard(w: &World) {
    let scene = Scene::on(w);
    let task = scene.enqueue("succeeds").await;
    let program = scene.worker_frozen_at("claim.applied").await;
    scene.assert_sees(task.id(), view(Status::Running, 1, HELD, &[Queued, Started], &[])).await;
    program.kill();
    let _other = scene.worker().await;
    // Nobody can tell that the first attempt's handler never began.
    let events = [Queued, Started, Reclaimed, Started, Succeeded];
    let end = view(Status::Succeeded, 2, NOTHING, &events, &["started 2", "ended 2"]);
    scene.assert_ends(task.id(), end.failed(&[(1, WorkerLost)])).await;
}

pub(super) async fn expired_but_the_worker_never_heard(w: &World) {
    let scene = Scene::on(w);
    // Over long before a process has started.
    let task = scene.enqueue_as("acts", "succeeds", |task| task.ttl(Duration::from_millis(1))).await;
    let program = scene.worker_frozen_at("claim.applied").await;
    let end = view(Status::Expired, 1, NOTHING, &[Queued, Expired], &[]);
    scene.assert_sees(task.id(), end.clone()).await;
    program.kill();
    let _other = scene.worker().await;
    scene.assert_ends(task.id(), end).await;
}

/// The worker of the first attempt was killed, and its lease has run out; the next one is frozen in its first claim.
async fn frozen_in_a_takeover(scene: &Scene<'_>, with: impl Fn(TaskBuilder) -> TaskBuilder) -> (Handle<u32>, Program) {
    let task = scene.enqueue_as("acts", "waits", with).await;
    let first = scene.worker().await;
    scene.desk.tells("started 1").await;
    first.kill();
    scene.desk.release();
    scene.leases_run_out_unnoticed().await;
    (task, scene.worker_frozen_at("claim.applied").await)
}

pub(super) async fn taken_over_but_the_worker_never_heard(w: &World) {
    let scene = Scene::on(w);
    let (task, program) = frozen_in_a_takeover(&scene, |task| task).await;
    let events = [Queued, Started, Reclaimed, Started];
    let frozen = view(Status::Running, 2, HELD, &events, &["started 1"]).failed(&[(1, WorkerLost)]);
    scene.assert_sees(task.id(), frozen).await;
    program.kill();
    let _other = scene.worker().await;
    let events = [Queued, Started, Reclaimed, Started, Reclaimed, Started, Succeeded];
    let end = view(Status::Succeeded, 3, NOTHING, &events, &["started 1", "started 3", "ended 3"]);
    scene.assert_ends(task.id(), end.failed(&[(1, WorkerLost), (2, WorkerLost)])).await;
}

pub(super) async fn dead_lettered_as_lost_but_the_worker_never_heard(w: &World) {
    let scene = Scene::on(w);
    let (task, program) = frozen_in_a_takeover(&scene, |task| task.max_attempts(1)).await;
    let end = view(Status::DeadLettered, 1, NOTHING, &[Queued, Started, DeadLettered], &["started 1"]);
    let end = end.failed(&[(1, WorkerLost)]);
    scene.assert_sees(task.id(), end.clone()).await;
    program.kill();
    let _other = scene.worker().await;
    scene.assert_ends(task.id(), end).await;
    assert_eq!(w.dead_letters().await.len(), 1);
}

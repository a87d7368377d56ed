//! A worker dies around a claim.

use std::time::Duration;

use dtq::types::ErrorKind::WorkerLost;
use dtq::types::EventKind::{Expired, Queued, Reclaimed, Started, Succeeded};
use dtq::types::Status;
use dtq_tests::World;

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

//! A producer dies around an enqueue. It is started again and sends the same task with the same id.

use dtq::types::EventKind::{Queued, Started, Succeeded};
use dtq::types::{Status, TaskId};
use dtq_tests::{DEFAULT, World, queue};

use super::scene::{NOTHING, READY, Scene, View, reached, view};

/// A producer that was killed at `point`, after the store was seen as `frozen`; the next one hears `answer`, and the task
/// runs once.
async fn killed_producer(w: &World, point: &str, frozen: View, answer: &str) {
    let scene = Scene::on(w);
    let id = TaskId::generate(queue(DEFAULT));
    let program = scene.producer(&id, Some(point));
    reached(&program, point).await;
    scene.assert_sees(&id, frozen.clone()).await;
    program.kill();
    scene.assert_sees(&id, frozen).await;
    let _again = scene.producer(&id, None);
    let told = [answer, "started 1", "ended 1"];
    scene.assert_ends(&id, view(Status::Succeeded, 1, NOTHING, &[Queued, Started, Succeeded], &told)).await;
}

fn no_task() -> View {
    View { status: None, ..view(Status::Queued, 0, NOTHING, &[], &[]) }
}

pub(super) async fn before_the_enqueue_is_sent(w: &World) {
    killed_producer(w, "enqueue.before", no_task(), "made").await;
}

pub(super) async fn within_the_enqueue_before_the_commit(w: &World) {
    killed_producer(w, "enqueue.uncommitted", no_task(), "made").await;
}

pub(super) async fn enqueued_but_the_producer_never_heard(w: &World) {
    killed_producer(w, "enqueue.applied", view(Status::Queued, 1, READY, &[Queued], &[]), "known").await;
}

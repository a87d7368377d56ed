//! The server did what it was asked, its reply is lost with the connection, and whoever asked lives on.

use std::time::Duration;

use dtq::types::EventKind::{Queued, Started, Succeeded};
use dtq::types::{Status, TaskId};
use dtq_tests::{DEFAULT, Monitor, World, queue, task};

use super::scene::{NOTHING, Scene, reached, view};

/// Watches the server, which knows all scripts by then: no call is repeated because it does not.
async fn watch(w: &World) -> Monitor {
    let elsewhere = w.running(task("a").queue("elsewhere")).await;
    w.succeed(&elsewhere).await;
    Monitor::start(w.server())
}

/// The calls of scripts that speak of a task, by its uuid or by what the uuids of its row begin with, and say this.
fn calls(seen: &[String], id: &TaskId, word: &str) -> usize {
    let uuid = id.uuid().to_string();
    let names = [uuid.clone(), format!("\"{}\"", &uuid[..34])];
    let is_call = |line: &&String| line.to_uppercase().starts_with("\"EVALSHA\" ");
    let is_meant = |line: &&String| names.iter().any(|name| line.contains(name)) && line.contains(word);
    seen.iter().filter(is_call).filter(is_meant).count()
}

pub(super) async fn the_reply_to_an_enqueue_is_lost_and_the_producer_lives_on(w: &World) {
    let scene = Scene::on(w);
    let id = TaskId::generate(queue(DEFAULT));
    let mut monitor = watch(w).await;
    let program = scene.producer(&id, Some("enqueue.applied=lose"));
    scene.desk.tells("known").await;
    reached(&program, "enqueue.applied").await;
    assert_eq!(calls(&monitor.seen(w.server()), &id, " acts\\n"), 2, "it was sent twice");
    let told = ["no answer", "known", "started 1", "ended 1"];
    scene.assert_ends(&id, view(Status::Succeeded, 1, NOTHING, &[Queued, Started, Succeeded], &told)).await;
}

pub(super) async fn the_reply_to_a_claim_is_lost_and_the_worker_lives_on(w: &World) {
    let scene = Scene::on(w);
    let task = scene.enqueue("succeeds").await;
    let program = scene.worker_with("DTQ_FAIL_POINT", "claim.applied=lose");
    reached(&program, "claim.applied").await;
    // It holds a task that it does not know of, and asks for such with its next claim: no attempt is lost.
    let events = [Queued, Started, Succeeded];
    let end = view(Status::Succeeded, 1, NOTHING, &events, &["started 1", "ended 1"]);
    scene.assert_ends(task.id(), end).await;
    let events = w.full_events_of(task.id()).await;
    let unheard = events[2].at.since(events[1].at);
    assert!(unheard < Duration::from_millis(1500), "{unheard:?}: sooner than its lease ends");
}

pub(super) async fn the_reply_to_a_settle_is_lost_and_the_worker_lives_on(w: &World) {
    let scene = Scene::on(w);
    let task = scene.enqueue("succeeds").await;
    let mut monitor = watch(w).await;
    let program = scene.worker_with("DTQ_FAIL_POINT", "settle.applied=lose");
    program.logs("the store works again", 1).await;
    let told = ["started 1", "ended 1"];
    scene.assert_ends(task.id(), view(Status::Succeeded, 1, NOTHING, &[Queued, Started, Succeeded], &told)).await;
    assert_eq!(calls(&monitor.seen(w.server()), task.id(), "\"SR\""), 2, "it was sent again");
    assert!(program.lines("lease lost").is_empty(), "the second copy is known as one: {}", program.log());
    // One of the task, one of the task that came last; a settle that counted twice would show.
    assert_eq!(w.stats().await.succeeded, 2);
}

//! Keys that many submit at once, and holders that die.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use dtq::store::{Accepted, Claim, Refusal, Store};
use dtq::types::{EventKind, OnConflict, Status, Unique};
use dtq_tests::{DEFAULT, LEASE, TaskBuilder, World, promptly, queue, task, want, worker};
use tokio::task::JoinSet;

use crate::child::{Process, Role};

const CONNECTIONS: usize = 10;
const EACH: usize = 20;
const ROUNDS: usize = 100;

async fn connections(w: &World) -> Vec<Arc<dyn Store>> {
    let mut stores = vec![w.store()];
    while stores.len() < CONNECTIONS {
        stores.push(w.second_store().await);
    }
    stores
}

/// What all submissions are answered that are made at once.
async fn submitted(stores: &[Arc<dyn Store>], task: impl Fn() -> TaskBuilder) -> Vec<Accepted> {
    let mut all = JoinSet::new();
    for store in stores {
        for _ in 0..EACH {
            let (store, task) = (store.clone(), task().build());
            all.spawn(async move { store.enqueue(vec![task]).await.unwrap().remove(0) });
        }
    }
    promptly("all submissions", all.join_all()).await
}

/// Asserts that one of the submissions became a task, and that all others were told of it.
fn assert_one(round: usize, answers: &[Accepted], refused: Option<Refusal>) {
    assert_eq!(answers.len(), CONNECTIONS * EACH);
    let made: Vec<_> = answers.iter().filter(|answer| answer.created).collect();
    assert_eq!(made.len(), 1, "round {round}");
    for answer in answers.iter().filter(|answer| !answer.created) {
        assert_eq!((&answer.id, answer.refused), (&made[0].id, refused), "round {round}");
    }
}

pub(crate) async fn an_idempotency_key_that_many_submit_at_once_is_one_task(w: &World) {
    let stores = connections(w).await;
    for round in 0..ROUNDS {
        let answers = submitted(&stores, || task("a").key(round.to_string())).await;
        assert_one(round, &answers, Some(Refusal::InProgress));
    }
    assert_eq!(w.stats().await.queued, ROUNDS as u64);
    assert_eq!(w.drain(want(128)).await.len(), ROUNDS);
    let events = w.events(&[queue(DEFAULT)]).await;
    assert_eq!(events.iter().filter(|event| event.kind == EventKind::Queued).count(), ROUNDS);
}

pub(crate) async fn a_unique_key_that_many_submit_at_once_is_one_task(w: &World) {
    let stores = connections(w).await;
    for round in 0..ROUNDS {
        let answers = submitted(&stores, || task("a").unique("k")).await;
        assert_one(round, &answers, None);
        let held = w.claim_one().await;
        w.succeed(&held).await;
    }
    assert_eq!(w.stats().await.unfinished(), 0);
}

pub(crate) async fn arguments_that_many_replace_at_once_are_one_of_theirs(w: &World) {
    let stores = connections(w).await;
    let mut sent = HashSet::new();
    for round in 0..ROUNDS / 10 {
        let mut all = JoinSet::new();
        for (n, store) in stores.iter().enumerate() {
            let (store, payload) = (store.clone(), format!("{round}-{n}"));
            sent.insert(payload.clone());
            let task = task("a").unique(Unique::new("k").on_conflict(OnConflict::Replace)).payload(payload).build();
            all.spawn(async move { store.enqueue(vec![task]).await.unwrap().remove(0) });
        }
        let answers = promptly("all submissions", all.join_all()).await;
        assert_eq!(answers.iter().filter(|answer| answer.created).count(), 1);
        let held = w.claim_one().await;
        assert!(sent.contains(std::str::from_utf8(&held.payload).unwrap()));
        w.succeed(&held).await;
    }
}

pub(crate) async fn a_key_is_submitted_while_its_task_ends(w: &World) {
    let other = w.second_store().await;
    for round in 0..ROUNDS {
        let held = w.running(task("a").unique("k")).await;
        let ending = w.succeed(&held);
        let task = task("a").unique("k").build();
        let own = task.id.clone();
        let (answer, ()) = tokio::join!(async { other.enqueue(vec![task]).await.unwrap().remove(0) }, ending);
        // Before the end it is skipped, after it made: nothing between.
        let made = usize::from(answer.created);
        assert_eq!(answer.id, if answer.created { own } else { held.lease.task.clone() }, "round {round}");
        let next = w.drain(want(10)).await;
        assert_eq!(next.len(), made, "round {round}");
        for held in next {
            w.succeed(&held).await;
        }
    }
}

pub(crate) async fn a_holder_that_is_killed_is_not_stopped_by_its_own_key(w: &World) {
    let keyed = || task("a").key("k").unique("u");
    let id = w.enqueue(keyed()).await;
    let mut child = Process::start(w, Role::Hold);
    assert_eq!(child.next(), Some(id.to_string()));
    child.kill();
    let in_progress = Accepted { id: id.clone(), created: false, refused: Some(Refusal::InProgress) };
    assert_eq!(w.enqueue_again(keyed()).await, in_progress);
    assert!(!w.enqueue_again(task("a").unique("u")).await.created);
    w.advance(LEASE + Duration::from_secs(60));
    let taken = w.claim_with(Claim { worker: worker("w3"), sweep: true, ..want(10) }).await.deliveries.remove(0);
    assert_eq!((&taken.lease.task, taken.lease.attempt), (&id, 2));
    assert_eq!(w.enqueue_again(keyed()).await, in_progress);
    w.succeed(&taken).await;
    assert_eq!(w.status(&id).await, Status::Succeeded);
    assert_eq!(w.enqueue_again(keyed()).await, Accepted { refused: None, ..in_progress });
    assert!(w.enqueue_again(task("a").unique("u")).await.created);
}

checks! {
    keys_of_many:
    an_idempotency_key_that_many_submit_at_once_is_one_task,
    a_unique_key_that_many_submit_at_once_is_one_task,
    arguments_that_many_replace_at_once_are_one_of_theirs,
    a_key_is_submitted_while_its_task_ends,
    a_holder_that_is_killed_is_not_stopped_by_its_own_key,
}

//! A worker as others see it.

use dtq::types::{EventKind, WorkerId};
use dtq_tests::{World, eventually, queue};

use super::{Bench, on_both_stores};

async fn event(w: &World, kind: EventKind, id: &WorkerId) {
    eventually(&format!("{kind} of {id}"), || async {
        let events = w.events(&[queue("default")]).await;
        events.iter().any(|event| event.kind == kind && event.worker.as_ref() == Some(id)).then_some(())
    })
    .await;
}

async fn a_worker_is_listed_while_it_works_and_not_after(w: &World) {
    let b = Bench::new(w);
    let config = Bench::config().queues([queue("high"), queue("low")]).concurrency(3);
    let (one, other) = (b.worker_with(config).await, b.worker().await);
    event(w, EventKind::WorkerStarted, one.id()).await;
    event(w, EventKind::WorkerStarted, other.id()).await;
    let listed = b.client.workers().await.unwrap();
    assert_eq!(listed.len(), 2);
    let info = listed.into_iter().find(|info| info.id == *one.id()).unwrap();
    assert_eq!((info.queues, info.concurrency, info.running), (vec![queue("high"), queue("low")], 3, 0));
    let id = one.id().clone();
    one.stop().await;
    let left: Vec<_> = b.client.workers().await.unwrap().into_iter().map(|info| info.id).collect();
    assert_eq!(left, [other.id().clone()], "it took its leave before `stop` returned");
    event(w, EventKind::WorkerStopped, &id).await;
    other.stop().await;
    assert!(b.client.workers().await.unwrap().is_empty());
}

async fn every_start_has_an_identity_of_its_own(w: &World) {
    let b = Bench::new(w);
    let first = b.worker().await;
    let id = first.id().clone();
    first.stop().await;
    let second = b.worker().await;
    assert_ne!(*second.id(), id);
    second.stop().await;
}

on_both_stores! {
    a_worker_is_listed_while_it_works_and_not_after,
    every_start_has_an_identity_of_its_own,
}

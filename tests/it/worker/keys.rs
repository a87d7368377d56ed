//! Idempotency keys and unique keys, as a program uses them.

use std::time::Duration;

use dtq::store::CancelOutcome;
use dtq::types::{MAX_KEY, Status};
use dtq::{Call, EnqueueError, Idempotency, OnConflict, ResultError, Unique, Until};
use dtq_tests::{DEFAULT, World, queue, want};

use super::{Bench, PATIENCE, Probe, on_both_stores};

#[dtq::task(idempotency_key = "order-{order}", retention = "1m")]
async fn pays_once(#[state] probe: &Probe, order: u64, cents: u64) -> u64 {
    probe.note(order.to_string());
    cents
}

#[dtq::task(unique(key = "user-{user}", on_conflict = "replace"))]
async fn syncs(#[state] probe: &Probe, user: u64, version: u64) {
    probe.note(format!("{user} at {version}"));
}

#[dtq::task(unique(key = "{user}", until = "started"))]
async fn digests(#[state] probe: &Probe, user: u64) {
    probe.note(format!("at {user}"));
    probe.gate().await;
}

async fn a_key_of_the_arguments_makes_one_task(w: &World) {
    let b = Bench::new(w);
    let first = pays_once::enqueue(17, 500).on(&b.client).await.unwrap();
    assert!(!first.is_duplicate());
    let error = pays_once::enqueue(17, 900).on(&b.client).await.unwrap_err();
    let EnqueueError::InProgress { id, key, .. } = &error else { panic!("{error:?}") };
    assert_eq!((id, key.as_str()), (first.id(), "order-17"));
    assert!(error.to_string().contains("\"order-17\" is in use"), "{error}");
    let other = pays_once::enqueue(18, 900).on(&b.client).await.unwrap();
    let worker = b.worker().await;
    assert_eq!(first.result(PATIENCE).await.unwrap(), 500);
    assert_eq!(other.result(PATIENCE).await.unwrap(), 900);
    let again = pays_once::enqueue(17, 900).on(&b.client).await.unwrap();
    assert_eq!((again.is_duplicate(), again.id()), (true, first.id()));
    assert_eq!(again.result(PATIENCE).await.unwrap(), 500, "the stored result");
    assert_eq!(b.probe.count("17"), 1);
    worker.stop().await;
}

async fn a_task_with_a_key_is_kept_as_long_as_its_key(w: &World) {
    let b = Bench::new(w);
    let held = pays_once::enqueue(17, 500).on(&b.client).await.unwrap();
    let policy = held.record().await.unwrap().unwrap().policy;
    assert_eq!(policy.retention, Idempotency::KEEP, "not the minute of the task's option");
    let longer = pays_once::enqueue(18, 500).retention(Idempotency::KEEP * 3).on(&b.client).await.unwrap();
    assert_eq!(longer.record().await.unwrap().unwrap().policy.retention, Idempotency::KEEP * 3);
    let worker = b.worker().await;
    held.result(PATIENCE).await.unwrap();
    w.advance(Idempotency::KEEP - Duration::from_secs(60));
    assert!(pays_once::enqueue(17, 500).on(&b.client).await.unwrap().is_duplicate());
    w.advance(Duration::from_secs(61));
    assert!(!pays_once::enqueue(17, 500).on(&b.client).await.unwrap().is_duplicate());
    worker.stop().await;
}

async fn a_failed_task_is_answered_as_failed(w: &World) {
    let b = Bench::new(w);
    let first = pays_once::enqueue(17, 500).on(&b.client).await.unwrap();
    let found = b.client.cancel_by_key(&queue(DEFAULT), "order-17", "a mistake").await.unwrap();
    assert_eq!(found, CancelOutcome::Cancelled);
    let again = pays_once::enqueue(17, 500).on(&b.client).await.unwrap();
    assert!(again.is_duplicate());
    let error = again.result(PATIENCE).await.unwrap_err();
    assert!(matches!(&error, ResultError::NotSucceeded { status: Status::Cancelled, .. }), "{error:?}");
    assert_eq!(again.id(), first.id());
}

async fn tasks_are_found_and_called_off_by_their_keys(w: &World) {
    let b = Bench::new(w);
    let held = pays_once::enqueue(17, 500).idempotency_key("my own").queue("other").on(&b.client).await.unwrap();
    assert_eq!(b.client.find_by_key(&queue("other"), "my own").await.unwrap().as_ref(), Some(held.id()));
    for (name, key) in [("other", "order-17"), (DEFAULT, "my own"), ("never-seen", "my own")] {
        assert_eq!(b.client.find_by_key(&queue(name), key).await.unwrap(), None);
        let outcome = b.client.cancel_by_key(&queue(name), key, "x").await.unwrap();
        assert_eq!(outcome, CancelOutcome::NotFound);
    }
    b.client.cancel_by_key(&queue("other"), "my own", "a mistake").await.unwrap();
    let record = held.record().await.unwrap().unwrap();
    assert_eq!((record.status, record.idempotency_key.as_deref()), (Status::Cancelled, Some("my own")));
    assert_eq!(record.last_failure().unwrap().message, "a mistake");
    let outcome = b.client.cancel_by_key(&queue("other"), "my own", "x").await.unwrap();
    assert_eq!(outcome, CancelOutcome::AlreadyFinished(Status::Cancelled));
}

async fn a_call_that_is_sent_again_is_no_conflict_of_its_own(w: &World) {
    let b = Bench::new(w);
    let call = pays_once::call(17, 500).on(&b.client);
    let first = call.send().await.unwrap();
    let again = call.send().await.unwrap();
    assert_eq!((again.id(), again.is_duplicate()), (first.id(), true));
    let call = syncs::call(1, 1).unique(Unique::new("x").on_conflict(OnConflict::Error)).on(&b.client);
    let first = call.send().await.unwrap();
    assert_eq!(call.send().await.unwrap().id(), first.id());
}

async fn many_calls_are_answered_one_by_one(w: &World) {
    let b = Bench::new(w);
    let taken = pays_once::enqueue(2, 500).on(&b.client).await.unwrap();
    // Twins within one call are one task, and no error; also on both sides of a batch's end.
    let calls = || (0..300_u64).map(|n| (3 + n % 100, n));
    let handles = pays_once::enqueue_many(calls()).on(&b.client).await.unwrap();
    for (n, handle) in handles.iter().enumerate() {
        assert_eq!((handle.is_duplicate(), handle.id()), (n >= 100, handles[n % 100].id()), "{n}");
    }
    let calls = pays_once::enqueue_many([(1, 1), (2, 2), (1, 3)]).on(&b.client);
    let answers = calls.send_each().await.unwrap();
    let created: Vec<_> = answers.iter().map(|it| it.as_ref().map(|handle| !handle.is_duplicate()).ok()).collect();
    assert_eq!(created, [Some(true), None, Some(false)]);
    let EnqueueError::InProgress { id, .. } = answers[1].as_ref().unwrap_err() else { panic!("{:?}", answers[1]) };
    assert_eq!(id, taken.id());
    let error = calls.send().await.unwrap_err();
    assert!(matches!(&error, EnqueueError::InProgress { id, .. } if id == taken.id()), "{error:?}");
    assert_eq!(w.stats().await.queued, 102);
}

async fn the_newest_arguments_run(w: &World) {
    let b = Bench::new(w);
    let first = syncs::enqueue(1, 1).on(&b.client).await.unwrap();
    for version in 2..=5 {
        let again = syncs::enqueue(1, version).on(&b.client).await.unwrap();
        assert_eq!((again.id(), again.is_duplicate()), (first.id(), true));
    }
    let worker = b.worker().await;
    first.result(PATIENCE).await.unwrap();
    assert_eq!(b.probe.notes(), ["1 at 5"]);
    // It is free from its end on.
    assert!(!syncs::enqueue(1, 6).on(&b.client).await.unwrap().is_duplicate());
    worker.stop().await;
}

async fn until_started_the_next_one_waits_its_turn(w: &World) {
    let b = Bench::new(w);
    let worker = b.worker().await;
    let first = digests::enqueue(7).on(&b.client).await.unwrap();
    b.probe.noted("at 7", 1).await;
    let second = digests::enqueue(7).on(&b.client).await.unwrap();
    assert!(!second.is_duplicate());
    b.probe.noted("at 7", 2).await;
    b.probe.open(2);
    first.result(PATIENCE).await.unwrap();
    second.result(PATIENCE).await.unwrap();
    worker.stop().await;
}

async fn a_conflict_names_the_holder(w: &World) {
    let b = Bench::new(w);
    let unique = Unique::new("n").until(Until::Finished).on_conflict(OnConflict::Error);
    let call = || digests::enqueue(7).unique(unique.clone()).on(&b.client);
    let first = call().await.unwrap();
    let error = call().await.unwrap_err();
    assert!(matches!(&error, EnqueueError::Unique { holder, .. } if holder == first.id()), "{error:?}");
    assert_eq!(error.to_string(), format!("task \"digests\": the unique key \"n\" is held by task {}", first.id()));
}

async fn keys_that_cannot_be_are_refused_before_they_are_sent(w: &World) {
    let b = Bench::new(w);
    let call = || digests::enqueue(7).on(&b.client);
    let long = "x".repeat(MAX_KEY + 1);
    let refused = [
        (call().unique(long.as_str()), "513 bytes, the limit is 512"),
        (call().idempotency_key(long.as_str()), "513 bytes, the limit is 512"),
        (call().unique(""), "empty"),
        (call().idempotency_key(""), "empty"),
        (call().idempotency_key(Idempotency::new("k").keep(Duration::ZERO)), "longer than zero"),
        (call().unique(Unique::new("k").until(Until::Period(Duration::ZERO))), "longer than zero"),
    ];
    for (call, words) in refused {
        let call: Call<digests> = call;
        let error = call.await.unwrap_err();
        assert!(error.to_string().contains(words), "{error}");
    }
    call().unique(&long[1..]).idempotency_key(&long[1..]).await.unwrap();
    assert_eq!(w.drain(want(5)).await.len(), 1);
}

on_both_stores! {
    a_key_of_the_arguments_makes_one_task,
    a_task_with_a_key_is_kept_as_long_as_its_key,
    a_failed_task_is_answered_as_failed,
    tasks_are_found_and_called_off_by_their_keys,
    a_call_that_is_sent_again_is_no_conflict_of_its_own,
    many_calls_are_answered_one_by_one,
    the_newest_arguments_run,
    until_started_the_next_one_waits_its_turn,
    a_conflict_names_the_holder,
    keys_that_cannot_be_are_refused_before_they_are_sent,
}

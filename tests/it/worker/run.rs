//! Tasks that succeed: what arrives in a handler and what comes back.

use std::time::Duration;

use dtq::prelude::*;
use dtq::types::{EventKind, Status};
use dtq_tests::{World, promptly};

use super::{Bench, PATIENCE, Probe, on_both_stores};

#[dtq::task]
async fn greet(ctx: &Context, #[state] probe: &Probe, name: String, #[arg(default)] polite: bool) -> String {
    probe.note(format!("{} attempt {} of {}", ctx.task_id(), ctx.attempt(), ctx.max_attempts()));
    if polite { format!("Good day, {name}") } else { format!("Hello, {name}") }
}

#[dtq::task]
fn add(a: u64, b: u64) -> Result<u64, std::num::TryFromIntError> {
    u64::try_from(u128::from(a) + u128::from(b))
}

#[dtq::task]
async fn nothing() {}

#[dtq::task]
fn length(text: String) -> usize {
    text.len()
}

#[dtq::task]
async fn repeated(count: usize) -> String {
    "x".repeat(count)
}

#[dtq::task]
async fn parent(ctx: &Context, n: u64) -> anyhow::Result<Vec<String>> {
    let deadline = ctx.time_left().map_or_else(|| "none".into(), |left| format!("{}", left <= Duration::from_secs(60)));
    let handles = add::enqueue_many((0..n).map(|i| (i, i))).await?;
    Ok(handles.iter().map(|handle| handle.id().to_string()).chain([deadline]).collect())
}

async fn async_and_plain_functions_run_and_their_results_come_back_typed(w: &World) {
    let b = Bench::new(w);
    let worker = b.worker().await;
    let hello: Handle<String> = greet::enqueue("Ada".into(), false).on(&b.client).await.unwrap();
    let sum: Handle<u64> = add::enqueue(40, 2).on(&b.client).await.unwrap();
    assert_eq!(hello.result(PATIENCE).await.unwrap(), "Hello, Ada");
    assert_eq!(sum.result(PATIENCE).await.unwrap(), 42);
    assert_eq!(sum.status().await.unwrap(), Some(Status::Succeeded));
    assert_eq!(w.events_of(sum.id()).await, [EventKind::Queued, EventKind::Started, EventKind::Succeeded]);
    assert!(worker.stop().await.drained);
}

async fn state_and_context_arrive(w: &World) {
    let b = Bench::new(w);
    let worker = b.worker().await;
    let handle = greet::enqueue("Ada".into(), true).max_attempts(7).on(&b.client).await.unwrap();
    assert_eq!(handle.result(PATIENCE).await.unwrap(), "Good day, Ada");
    assert_eq!(b.probe.notes(), [format!("{} attempt 1 of 7", handle.id())]);
    worker.stop().await;
}

async fn an_argument_with_a_default_may_be_missing_from_a_payload(w: &World) {
    let b = Bench::new(w);
    let worker = b.worker().await;
    let id = w.enqueue(dtq_tests::task("greet").payload(r#"{"name":"Ada"}"#)).await;
    assert_eq!(b.client.handle::<String>(id).result(PATIENCE).await.unwrap(), "Hello, Ada");
    worker.stop().await;
}

async fn a_unit_result_takes_no_room_and_comes_back(w: &World) {
    let b = Bench::new(w);
    let worker = b.worker().await;
    let handle: Handle<()> = nothing::enqueue().on(&b.client).await.unwrap();
    handle.result(PATIENCE).await.unwrap();
    assert_eq!(w.record(handle.id()).await.result, None);
    worker.stop().await;
}

async fn a_mebibyte_passes_in_both_directions(w: &World) {
    const MIB: usize = 1024 * 1024;
    let b = Bench::new(w);
    let worker = b.worker().await;
    // The limit is on the encoded arguments: `{"text":""}` takes 11 bytes.
    let sent = length::enqueue("é".repeat((MIB - 11) / 2)).on(&b.client).await.unwrap();
    let received = repeated::enqueue(MIB).on(&b.client).await.unwrap();
    assert_eq!(sent.result(PATIENCE).await.unwrap(), (MIB - 11) / 2 * 2);
    assert_eq!(received.result(PATIENCE).await.unwrap().len(), MIB);
    worker.stop().await;
}

async fn a_handler_enqueues_through_its_workers_client(w: &World) {
    let b = Bench::new(w);
    let worker = b.worker().await;
    let handle = parent::enqueue(3).timeout(Duration::from_secs(60)).on(&b.client).await.unwrap();
    let mut children = handle.result(PATIENCE).await.unwrap();
    assert_eq!(children.pop().unwrap(), "true", "the handler knows its deadline");
    for (n, id) in children.iter().enumerate() {
        let child = b.client.handle::<u64>(id.parse().unwrap());
        assert_eq!(child.result(PATIENCE).await.unwrap(), 2 * n as u64);
    }
    worker.stop().await;
}

async fn many_calls_are_enqueued_at_once_and_answered_in_order(w: &World) {
    let b = Bench::new(w);
    let worker = b.worker().await;
    let handles = add::enqueue_many((0..300).map(|n| (n, 1))).priority(7).on(&b.client).await.unwrap();
    for (n, handle) in handles.iter().enumerate() {
        assert_eq!(promptly("a result", handle.result(PATIENCE)).await.unwrap(), n as u64 + 1);
    }
    assert_eq!(w.stats().await.succeeded, 300);
    assert!(add::enqueue_many([]).on(&b.client).await.unwrap().is_empty());
    worker.stop().await;
}

async fn calls_that_are_sent_again_make_no_second_task(w: &World) {
    let b = Bench::new(w);
    let calls = add::enqueue_many((0..200).map(|n| (n, n))).on(&b.client);
    let first = calls.send().await.unwrap();
    let again = calls.send().await.unwrap();
    assert!(first.iter().all(|handle| !handle.is_duplicate()) && again.iter().all(Handle::is_duplicate));
    assert!(first.iter().zip(&again).all(|(first, again)| first.id() == again.id()));
    let call = add::enqueue(1, 2).on(&b.client);
    assert_eq!(call.send().await.unwrap().id(), call.send().await.unwrap().id());
    assert_eq!(w.stats().await.queued, 201);
}

async fn the_same_id_twice_is_one_task(w: &World) {
    let b = Bench::new(w);
    let first = add::enqueue(1, 2).on(&b.client).await.unwrap();
    let again = add::enqueue(3, 4).id(first.id().clone()).on(&b.client).await.unwrap();
    assert!(!first.is_duplicate() && again.is_duplicate());
    let worker = b.worker().await;
    assert_eq!(again.result(PATIENCE).await.unwrap(), 3, "the first call's arguments stay");
    let late = add::enqueue(5, 6).id(first.id().clone()).on(&b.client).await.unwrap();
    assert!(late.is_duplicate(), "also after the end");
    assert_eq!(w.stats().await.succeeded, 1);
    worker.stop().await;
}

on_both_stores! {
    async_and_plain_functions_run_and_their_results_come_back_typed,
    state_and_context_arrive,
    an_argument_with_a_default_may_be_missing_from_a_payload,
    a_unit_result_takes_no_room_and_comes_back,
    a_mebibyte_passes_in_both_directions,
    a_handler_enqueues_through_its_workers_client,
    many_calls_are_enqueued_at_once_and_answered_in_order,
    calls_that_are_sent_again_make_no_second_task,
    the_same_id_twice_is_one_task,
}

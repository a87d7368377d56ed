//! Panics anywhere in user code: each is a failed attempt with message and place, and the worker goes on.

use std::time::Duration;

use dtq::prelude::*;
use dtq::types::{ErrorKind, Record, Status};
use dtq_tests::World;
use serde::{Deserialize, Serialize};

use super::{Bench, PATIENCE, Probe, on_both_stores};

/// An argument that panics when it is decoded or dropped, if it says so.
#[derive(Debug, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
struct Mine(String);

impl From<String> for Mine {
    fn from(text: String) -> Self {
        assert_ne!(text, "decode", "the mine went off in decoding");
        Self(text)
    }
}

impl From<Mine> for String {
    fn from(mine: Mine) -> Self {
        mine.0.clone()
    }
}

impl Clone for Mine {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl Drop for Mine {
    fn drop(&mut self) {
        // Only in a handler: the caller drops one too.
        let in_handler = tokio::task::try_id().is_some() && !std::thread::panicking();
        assert!(!(in_handler && self.0 == "drop"), "the mine went off in drop");
    }
}

#[derive(Debug)]
struct Unprintable;

impl std::fmt::Display for Unprintable {
    fn fmt(&self, _: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        panic!("the error cannot be printed")
    }
}

impl std::error::Error for Unprintable {}

/// A result that panics when it is encoded.
struct Unencodable;

impl Serialize for Unencodable {
    fn serialize<S: serde::Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
        panic!("the result cannot be encoded")
    }
}

impl<'de> Deserialize<'de> for Unencodable {
    fn deserialize<D: serde::Deserializer<'de>>(_: D) -> Result<Self, D::Error> {
        Ok(Self)
    }
}

/// A panic payload that panics again when it is dropped.
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("the payload went off");
    }
}

#[dtq::task(max_attempts = 1)]
async fn panics_as(#[state] probe: &Probe, how: String) -> Result<(), Unprintable> {
    let nothing: Vec<u8> = Vec::new();
    match how.as_str() {
        "text" => panic!("went wrong"),
        "format" => panic!("went {} wrong", nothing.len()),
        "index" => assert_eq!(nothing[how.len()], 0),
        "payload" => std::panic::panic_any(17),
        "bomb" => std::panic::panic_any(Bomb),
        "spawn" => tokio::spawn(async { panic!("inner") }).await.expect("the inner task panicked"),
        "spawn_blocking" => tokio::task::spawn_blocking(|| panic!("inner")).await.expect("the inner thread panicked"),
        "display" => return Err(Unprintable),
        _ => probe.gate().await,
    }
    Ok(())
}

#[dtq::task(max_attempts = 1)]
fn panics_plainly(_how: String) {
    panic!("a plain function went wrong");
}

#[dtq::task(max_attempts = 1)]
async fn steps_on(#[state] probe: &Probe, mine: Mine) {
    if mine.0 == "drop at a timeout" {
        let _late = DropsBadly;
        probe.gate().await;
    }
}

/// Panics when the handler's future is dropped unfinished.
struct DropsBadly;

impl Drop for DropsBadly {
    fn drop(&mut self) {
        panic!("went off when it was dropped unfinished");
    }
}

#[dtq::task(max_attempts = 1)]
async fn returns_unencodable() -> Outcome<Unencodable> {
    Outcome::Ack(Unencodable)
}

fn panicking_backoff(_attempt: u32) -> Duration {
    panic!("the backoff went wrong")
}

#[dtq::task(max_attempts = 2, backoff = panicking_backoff)]
async fn backs_off_badly() -> Result<(), TaskError> {
    Err(TaskError::new("an ordinary error"))
}

#[dtq::task]
async fn innocent(n: u64) -> u64 {
    n
}

/// The record of a task that ended in its first attempt.
async fn dead<T>(b: &Bench<'_>, handle: &Handle<T>) -> Record {
    b.reaches(handle, Status::DeadLettered).await
}

fn assert_panicked(record: &Record, message: &str) {
    let failure = record.last_failure().unwrap();
    assert_eq!((failure.kind, record.attempts.len()), (ErrorKind::Panic, 1), "{failure:?}");
    assert!(failure.message.contains(message), "{failure:?} should contain {message:?}");
    assert!(failure.message.contains("panics.rs:"), "{failure:?} should name the place");
}

async fn assert_goes_on(b: &Bench<'_>) {
    let handles = innocent::enqueue_many(0..20).on(&b.client).await.unwrap();
    for (n, handle) in handles.iter().enumerate() {
        assert_eq!(handle.result(PATIENCE).await.unwrap(), n as u64);
    }
    assert_eq!(b.w.stats().await.running, 0);
}

async fn a_panic_in_a_handler_is_a_failed_attempt_with_message_and_place(w: &World) {
    let b = Bench::new(w);
    let worker = b.worker_with(Bench::config().concurrency(2)).await;
    for (how, message) in [
        ("text", "went wrong"),
        ("format", "went 0 wrong"),
        ("index", "index out of bounds: the len is 0"),
        ("payload", "payload is not text"),
        ("bomb", "payload is not text"),
        ("spawn", "the inner task panicked"),
        ("spawn_blocking", "the inner thread panicked"),
        ("display", "the error cannot be printed"),
    ] {
        let handle = panics_as::enqueue(how.into()).on(&b.client).await.unwrap();
        assert_panicked(&dead(&b, &handle).await, message);
    }
    assert_goes_on(&b).await;
    assert!(worker.stop().await.drained);
}

async fn a_panic_in_a_plain_function_is_a_failed_attempt(w: &World) {
    let b = Bench::new(w);
    let worker = b.worker().await;
    let handle = panics_plainly::enqueue(String::new()).on(&b.client).await.unwrap();
    assert_panicked(&dead(&b, &handle).await, "a plain function went wrong");
    assert_goes_on(&b).await;
    assert!(worker.stop().await.drained);
}

async fn a_panic_in_decoding_dropping_or_encoding_is_a_failed_attempt(w: &World) {
    let b = Bench::new(w);
    let worker = b.worker().await;
    let decode = w.enqueue(dtq_tests::task("steps_on").payload(r#"{"mine":"decode"}"#).max_attempts(1)).await;
    let dropped = w.enqueue(dtq_tests::task("steps_on").payload(r#"{"mine":"drop"}"#).max_attempts(1)).await;
    let encode = returns_unencodable::enqueue().on(&b.client).await.unwrap();
    assert_panicked(&dead(&b, &b.client.handle::<()>(decode)).await, "the mine went off in decoding");
    assert_panicked(&dead(&b, &b.client.handle::<()>(dropped)).await, "the mine went off in drop");
    assert_panicked(&dead(&b, &encode).await, "the result cannot be encoded");
    assert_goes_on(&b).await;
    assert!(worker.stop().await.drained);
}

async fn a_panic_in_the_drop_of_a_handler_that_ran_too_long_does_not_keep_its_task(w: &World) {
    let b = Bench::new(w);
    let worker = b.worker().await;
    let id = dtq_tests::task("steps_on").payload(r#"{"mine":"drop at a timeout"}"#).max_attempts(1);
    let id = w.enqueue(id.timeout(Duration::from_millis(20))).await;
    let record = dead(&b, &b.client.handle::<()>(id)).await;
    let failure = record.last_failure().unwrap();
    assert!(matches!(failure.kind, ErrorKind::Panic | ErrorKind::Timeout), "{failure:?}");
    assert_goes_on(&b).await;
    assert!(worker.stop().await.drained);
}

async fn a_panic_in_a_backoff_function_does_not_keep_its_task(w: &World) {
    let b = Bench::new(w);
    let worker = b.worker().await;
    let handle = backs_off_badly::enqueue().on(&b.client).await.unwrap();
    let record = b.runs_out(&handle).await;
    assert_eq!((record.status, record.attempt), (Status::DeadLettered, 2));
    assert_goes_on(&b).await;
    assert!(worker.stop().await.drained);
}

async fn ten_that_panic_take_nothing_from_ten_that_do_not(w: &World) {
    let b = Bench::new(w);
    let bad = panics_as::enqueue_many((0..10).map(|_| "text".to_owned())).on(&b.client).await.unwrap();
    let good = innocent::enqueue_many(0..10).on(&b.client).await.unwrap();
    let worker = b.worker_with(Bench::config().concurrency(2)).await;
    for (bad, good) in bad.iter().zip(&good) {
        good.result(PATIENCE).await.unwrap();
        dead(&b, bad).await;
    }
    let stats = w.stats().await;
    assert_eq!((stats.succeeded, stats.dead_lettered, stats.unfinished()), (10, 10, 0));
    worker.stop().await;
}

on_both_stores! {
    a_panic_in_a_handler_is_a_failed_attempt_with_message_and_place,
    a_panic_in_a_plain_function_is_a_failed_attempt,
    a_panic_in_decoding_dropping_or_encoding_is_a_failed_attempt,
    a_panic_in_the_drop_of_a_handler_that_ran_too_long_does_not_keep_its_task,
    a_panic_in_a_backoff_function_does_not_keep_its_task,
    ten_that_panic_take_nothing_from_ten_that_do_not,
}

//! Errors and outcomes: what becomes of a task that did not simply succeed.

use std::time::Duration;

use dtq::prelude::*;
use dtq::types::{ErrorKind, EventKind, Status};
use dtq_tests::World;

use super::{Bench, PATIENCE, Probe, failures, on_both_stores};

const MINUTE: Duration = Duration::from_secs(60);

/// Fails until this attempt.
#[dtq::task(backoff = fixed("10m"))]
async fn fails_until(ctx: &Context, attempt: u32) -> Result<u32, TaskError> {
    match ctx.attempt() {
        now if now < attempt => Err(TaskError::new(format!("attempt {now} fails on purpose"))),
        now => Ok(now),
    }
}

/// Fails in one of the ways that say what a retry can do.
#[dtq::task(backoff = fixed("10m"), max_attempts = 3)]
async fn fails_as(how: String) -> Result<(), TaskError> {
    match how.as_str() {
        "permanent" => Err(TaskError::permanent("no way")),
        "marked" => Ok("seven".parse::<u8>().map(drop).permanent()?),
        "retry after" => Err(TaskError::retry_after(MINUTE, "not yet")),
        "marked retry after" => Ok("seven".parse::<u8>().map(drop).retry_after(MINUTE)?),
        "snooze" => Err(TaskError::snooze(MINUTE)),
        _ => Ok(std::fs::read(how).map(drop)?),
    }
}

#[dtq::task(backoff = fixed("10m"), max_attempts = 3)]
async fn fails_with_anyhow(permanent: bool) -> anyhow::Result<()> {
    use anyhow::Context as _;
    let parsed = "seven".parse::<u8>();
    let parsed = if permanent { parsed.permanent().context("row 7")? } else { parsed.context("row 8")? };
    anyhow::bail!("{parsed} was parsed");
}

#[dtq::task(backoff = fixed("10m"), max_attempts = 3)]
fn fails_plainly() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    Err("a boxed error".into())
}

/// Ends as told the first time, and well the second time.
#[dtq::task(backoff = fixed("10m"), max_attempts = 1)]
async fn ends_as(ctx: &Context, #[state] probe: &Probe, how: String) -> Outcome<u32> {
    probe.note(format!("{how} {}", ctx.attempt()));
    match how.as_str() {
        "drop" => Outcome::Drop,
        "retry" => Outcome::Retry,
        "retry after" if ctx.attempt() == 1 => Outcome::RetryAfter(MINUTE),
        "snooze" if probe.count("snooze 1") < 4 => Outcome::Snooze(MINUTE),
        _ => Outcome::Ack(ctx.attempt()),
    }
}

async fn an_error_is_retried_after_the_backoff_until_it_works(w: &World) {
    let b = Bench::new(w);
    let worker = b.worker().await;
    let handle = fails_until::enqueue(2).on(&b.client).await.unwrap();
    let waiting = b.reaches(&handle, Status::Retrying).await;
    assert_eq!(failures(&waiting), [(1, ErrorKind::Error, "attempt 1 fails on purpose")]);
    let ended = waiting.attempts[0].ended_at;
    w.assert_passed(waiting.due_at.unwrap().since(ended), 10 * MINUTE);
    w.advance(10 * MINUTE);
    assert_eq!(handle.result(PATIENCE).await.unwrap(), 2);
    worker.stop().await;
}

async fn the_last_attempt_ends_among_the_dead_letters_with_the_errors_text(w: &World) {
    let b = Bench::new(w);
    let worker = b.worker().await;
    let handle = fails_until::enqueue(9).max_attempts(3).on(&b.client).await.unwrap();
    let record = b.runs_out(&handle).await;
    assert_eq!((record.status, record.attempt), (Status::DeadLettered, 3));
    let texts: Vec<_> = failures(&record).into_iter().map(|(number, _, text)| (number, text.to_owned())).collect();
    assert_eq!(texts, [1, 2, 3].map(|n| (n, format!("attempt {n} fails on purpose"))));
    let dead = w.dead_letters().await;
    assert_eq!((dead.len(), &dead[0].id, dead[0].attempt), (1, handle.id(), 3));
    assert_eq!(dead[0].failure.message, "attempt 3 fails on purpose");
    assert_eq!(w.events_of(handle.id()).await.last(), Some(&EventKind::DeadLettered));
    let error = handle.result(PATIENCE).await.unwrap_err().to_string();
    assert!(error.contains("dead_lettered: error: attempt 3 fails on purpose"), "{error}");
    worker.stop().await;
}

async fn a_task_that_wants_no_dead_letter_fails(w: &World) {
    let b = Bench::new(w);
    let worker = b.worker().await;
    let handle = fails_until::enqueue(9).max_attempts(1).dead_letter(false).on(&b.client).await.unwrap();
    b.reaches(&handle, Status::Failed).await;
    assert!(w.dead_letters().await.is_empty());
    worker.stop().await;
}

async fn a_permanent_error_fails_at_once(w: &World) {
    let b = Bench::new(w);
    let worker = b.worker().await;
    for (how, text) in [("permanent", "no way"), ("marked", "invalid digit found in string")] {
        let handle = fails_as::enqueue(how.into()).on(&b.client).await.unwrap();
        let record = b.reaches(&handle, Status::DeadLettered).await;
        assert_eq!(failures(&record), [(1, ErrorKind::Permanent, text)], "{how}");
    }
    let handle = fails_with_anyhow::enqueue(true).on(&b.client).await.unwrap();
    let record = b.reaches(&handle, Status::DeadLettered).await;
    assert_eq!(failures(&record), [(1, ErrorKind::Permanent, "row 7: invalid digit found in string")]);
    worker.stop().await;
}

async fn other_errors_are_retried_whatever_their_type(w: &World) {
    let b = Bench::new(w);
    let worker = b.worker().await;
    let anyhow = fails_with_anyhow::enqueue(false).on(&b.client).await.unwrap();
    let boxed = fails_plainly::enqueue().on(&b.client).await.unwrap();
    let io = fails_as::enqueue("/there/is/no/such/file".into()).on(&b.client).await.unwrap();
    let record = b.reaches(&anyhow, Status::Retrying).await;
    assert_eq!(failures(&record), [(1, ErrorKind::Error, "row 8: invalid digit found in string")]);
    assert_eq!(failures(&b.reaches(&boxed, Status::Retrying).await), [(1, ErrorKind::Error, "a boxed error")]);
    assert!(failures(&b.reaches(&io, Status::Retrying).await)[0].2.contains("No such file"));
    worker.stop().await;
}

async fn an_error_may_set_the_time_of_the_next_attempt(w: &World) {
    let b = Bench::new(w);
    let worker = b.worker().await;
    for how in ["retry after", "marked retry after"] {
        let handle = fails_as::enqueue(how.into()).on(&b.client).await.unwrap();
        let record = b.reaches(&handle, Status::Retrying).await;
        w.assert_passed(record.due_at.unwrap().since(record.attempts[0].ended_at), MINUTE);
    }
    worker.stop().await;
}

async fn an_outcome_may_ask_for_another_attempt(w: &World) {
    let b = Bench::new(w);
    let worker = b.worker().await;
    let handle = ends_as::enqueue("retry after".into()).max_attempts(2).on(&b.client).await.unwrap();
    let record = b.reaches(&handle, Status::Retrying).await;
    assert_eq!(failures(&record)[0].1, ErrorKind::Retry);
    w.advance(MINUTE);
    assert_eq!(handle.result(PATIENCE).await.unwrap(), 2);
    let handle = ends_as::enqueue("retry".into()).max_attempts(2).on(&b.client).await.unwrap();
    assert_eq!(b.runs_out(&handle).await.status, Status::DeadLettered, "asking burns attempts");
    worker.stop().await;
}

async fn a_snooze_burns_no_attempt(w: &World) {
    let b = Bench::new(w);
    let worker = b.worker().await;
    let handle = ends_as::enqueue("snooze".into()).on(&b.client).await.unwrap();
    let record = b.runs_out(&handle).await;
    assert_eq!((record.status, record.attempt, record.attempts.len()), (Status::Succeeded, 1, 0));
    assert_eq!(b.probe.count("snooze 1"), 4);
    let handle = fails_as::enqueue("snooze".into()).max_attempts(1).on(&b.client).await.unwrap();
    let record = b.reaches(&handle, Status::Pending).await;
    assert_eq!((record.attempt, record.attempts.len()), (1, 0), "an error may ask for it, too");
    worker.stop().await;
}

async fn a_dropped_task_is_cancelled(w: &World) {
    let b = Bench::new(w);
    let worker = b.worker().await;
    let handle = ends_as::enqueue("drop".into()).on(&b.client).await.unwrap();
    b.reaches(&handle, Status::Cancelled).await;
    assert!(w.dead_letters().await.is_empty());
    let error = handle.result(PATIENCE).await.unwrap_err().to_string();
    assert!(error.contains("cancelled"), "{error}");
    worker.stop().await;
}

on_both_stores! {
    an_error_is_retried_after_the_backoff_until_it_works,
    the_last_attempt_ends_among_the_dead_letters_with_the_errors_text,
    a_task_that_wants_no_dead_letter_fails,
    a_permanent_error_fails_at_once,
    other_errors_are_retried_whatever_their_type,
    an_error_may_set_the_time_of_the_next_attempt,
    an_outcome_may_ask_for_another_attempt,
    a_snooze_burns_no_attempt,
    a_dropped_task_is_cancelled,
}

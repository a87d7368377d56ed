//! `permanent_if` and `aliases`: what a task's own rule gives up on, and the names it used to have.

use std::fmt;

use dtq::prelude::*;
use dtq::types::{ErrorKind, Status};
use dtq_tests::{World, task};

use super::{Bench, PATIENCE, failures, on_both_stores};

/// Why a card was not charged.
#[derive(Debug)]
enum Declined {
    Stolen,
    Busy,
}

impl fmt::Display for Declined {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_final() { "the card is stolen" } else { "the bank is busy" })
    }
}

impl std::error::Error for Declined {}

impl Declined {
    fn is_final(&self) -> bool {
        matches!(self, Self::Stolen)
    }
}

#[dtq::task(backoff = fixed("10m"), max_attempts = 3, permanent_if = Declined::is_final)]
async fn charges_by_rule(stolen: bool) -> Result<u8, Declined> {
    Err(if stolen { Declined::Stolen } else { Declined::Busy })
}

/// The rule sees the error before it becomes one of dtq's, and outweighs what the error asks for.
fn is_not_found(error: &TaskError) -> bool {
    error.to_string().contains("not found")
}

#[dtq::task(backoff = fixed("10m"), max_attempts = 3, permanent_if = is_not_found)]
fn looks_up_by_rule(row: String) -> Result<(), TaskError> {
    Err(TaskError::retry_after(std::time::Duration::from_secs(60), format!("{row} not found")))
}

#[dtq::task(aliases = ["renamed.once", "renamed:twice"])]
async fn renamed_task(n: u8) -> u8 {
    n
}

async fn an_error_of_which_the_rule_says_so_fails_at_once(w: &World) {
    let b = Bench::new(w);
    let worker = b.worker().await;
    let handle = charges_by_rule::enqueue(true).on(&b.client).await.unwrap();
    let record = b.reaches(&handle, Status::DeadLettered).await;
    assert_eq!(failures(&record), [(1, ErrorKind::Permanent, "the card is stolen")]);
    let handle = looks_up_by_rule::enqueue("row 7".to_owned()).on(&b.client).await.unwrap();
    let record = b.reaches(&handle, Status::DeadLettered).await;
    assert_eq!(failures(&record), [(1, ErrorKind::Permanent, "row 7 not found")]);
    worker.stop().await;
}

async fn any_other_error_is_retried(w: &World) {
    let b = Bench::new(w);
    let worker = b.worker().await;
    let handle = charges_by_rule::enqueue(false).on(&b.client).await.unwrap();
    let record = b.reaches(&handle, Status::Retrying).await;
    assert_eq!(failures(&record), [(1, ErrorKind::Error, "the bank is busy")]);
    worker.stop().await;
}

async fn a_task_stored_under_an_old_name_is_run_by_the_new_one(w: &World) {
    let b = Bench::new(w);
    let worker = b.worker().await;
    for (n, name) in [(1, "renamed.once"), (2, "renamed:twice"), (3, "renamed_task")] {
        let payload = format!(r#"{{"n":{n}}}"#);
        let handle = b.client.handle::<u8>(w.enqueue(task(name).payload(payload)).await);
        assert_eq!(handle.result(PATIENCE).await.unwrap(), n, "{name}");
    }
    worker.stop().await;
}

on_both_stores! {
    an_error_of_which_the_rule_says_so_fails_at_once,
    any_other_error_is_retried,
    a_task_stored_under_an_old_name_is_run_by_the_new_one,
}

//! `#[dtq::test]` and `TestApp`, as a user's tests use them.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

mod clock;
mod isolation;
mod messages;
mod page;
mod running;

use std::panic::{AssertUnwindSafe, catch_unwind};

use dtq::prelude::*;

/// What set-up gives to handlers.
struct Rates(Vec<u64>);

#[dtq::task(name = "testing_charge", aliases = ["testing_bill"], queue = "testing", max_attempts = 3, backoff = fixed("10s"))]
async fn charge(ctx: &Context, #[state] rates: &Rates, order: u64, cents: u64) -> Result<u64, TaskError> {
    match cents {
        0 => Err(TaskError::permanent("nothing to charge")),
        13 => Err(TaskError::new(format!("declined at attempt {}", ctx.attempt()))),
        // Not before the second attempt.
        26 if ctx.attempt() == 1 => Err(TaskError::new("declined once")),
        _ => Ok(order + cents * rates.0[0]),
    }
}

/// Enqueues another task and waits for it.
#[dtq::task(name = "testing_order")]
async fn order(number: u64) -> Result<u64, TaskError> {
    let charged = charge::enqueue(number, 1).await?;
    Ok(charged.result(std::time::Duration::from_secs(30)).await?)
}

/// A plain function.
#[dtq::task(name = "testing_shout")]
fn shout(text: String) -> String {
    text.to_uppercase()
}

/// What a failed assertion says.
fn said<T>(assertion: impl FnOnce() -> T) -> String {
    let panic = catch_unwind(AssertUnwindSafe(|| drop(assertion()))).unwrap_err();
    *panic.downcast::<String>().unwrap()
}

fn with_rates(t: &TestApp) {
    t.state(Rates(vec![2]));
}

/// In a doctest, tests are left out: what the page shows is compiled and run here.
#[test]
fn the_page_shows_what_is_tested() {
    assert!(include_str!("../../docs/testing.md").contains(include_str!("page.rs")));
}

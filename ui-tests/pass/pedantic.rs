//! Under clippy's strictest groups nothing generated is told of. (The lints step runs clippy on this file.)
#![forbid(unsafe_code)]
#![deny(warnings, missing_docs, clippy::all, clippy::pedantic, clippy::cargo)]
#![deny(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects
)]
#![deny(
    clippy::absolute_paths,
    clippy::missing_docs_in_private_items,
    clippy::min_ident_chars,
    clippy::shadow_unrelated
)]
#![deny(
    clippy::single_char_lifetime_names,
    clippy::implicit_return,
    clippy::question_mark_used,
    clippy::arbitrary_source_item_ordering
)]
#![allow(clippy::implicit_return, reason = "a lint that most code breaks, the user's functions too")]
#![allow(clippy::arbitrary_source_item_ordering, clippy::multiple_crate_versions, clippy::cargo_common_metadata)]

use dtq::prelude::*;
use std::future::ready;
use std::time::Duration;

/// A database.
pub struct Db;

/// Charges one order.
///
/// # Errors
/// Never.
#[dtq::task(queue = "high", backoff = exponential(base = "1s"), aliases = ["pedantic.charge"], timeout = "1s")]
pub async fn charge(
    ctx: &Context,
    #[state] db: &Db,
    order: u64,
    #[arg(default)] note: String,
) -> Result<u64, TaskError> {
    let (_, _, _) = (ctx, db, note);
    ready(()).await;
    Ok(order)
}

/// Says yes.
fn is_final(error: &TaskError) -> bool {
    error.is_permanent()
}

/// Refunds one order.
#[dtq::task(permanent_if = is_final)]
fn refund(order: u64) -> Result<u64, TaskError> {
    if order == 0 { Err(TaskError::permanent("no order")) } else { Ok(order) }
}

/// Books one order.
///
/// # Errors
/// Never.
#[dtq::subscriber(stream("orders").group("billing").min_idle("60s"), max_attempts = 5, permanent_if = is_final)]
pub async fn book(order: Json<u64>, meta: &Message, #[state] db: &Db) -> Result<Outcome, TaskError> {
    let (_, _, _) = (order, meta, db);
    ready(()).await;
    Ok(Outcome::Ack(()))
}

/// Hears what is new.
#[dtq::subscriber(pubsub(channel = "news"))]
fn hear(news: String) -> Later {
    if news.into_bytes().is_empty() { Later::Done } else { Later::RetryAfter(Duration::from_secs(1)) }
}

/// Uses them.
#[test]
fn works() {
    drop((charge::call(1, String::new()), refund::call(1)));
    let mut app = App::new();
    app.subscribe::<book>();
    app.subscribe::<hear>();
}

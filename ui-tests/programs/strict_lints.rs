//! Nothing generated trips a lint, denied or forbidden.
#![forbid(unsafe_code, missing_docs)]
#![deny(non_camel_case_types, non_snake_case, dead_code, unused)]
#![deny(warnings, unreachable_pub, unused_qualifications, elided_lifetimes_in_paths)]
#![deny(unnameable_types, single_use_lifetimes, trivial_casts, unused_lifetimes, unused_results, let_underscore_drop)]

use dtq::prelude::*;

/// State.
pub struct Db;

/// Charges.
#[dtq::task(queue = "high")]
pub async fn charge(ctx: &Context, #[state] db: &Db, order: u64) -> Result<u64, TaskError> {
    let (_, _) = (ctx, db);
    Ok(order)
}

#[dtq::task]
fn quiet(n: u8) -> u8 {
    n
}

#[dtq::task]
async fn nobody_calls_this() {}


fn main() {}

//! A shop's tasks, tested: `cargo test --example orders`. Run, it works on what is queued: `cargo run --example orders`.

#![allow(clippy::print_stdout, reason = "a program for a terminal")]

mod tasks;
#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests;

use dtq::prelude::*;
use tasks::{Gateway, place};

#[dtq::main]
async fn main(app: &mut App) -> anyhow::Result<()> {
    app.state(Gateway::default());
    place(17, 500).await?;
    Ok(())
}

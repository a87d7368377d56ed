//! A shop's tasks, tested: `cargo test --example orders`. Run, it works on what is queued: `cargo run --example orders`.

mod tasks;
#[cfg(test)]
mod tests;

use dtq::prelude::*;
use tasks::{Gateway, place};

#[dtq::main]
async fn main(app: &mut App) -> anyhow::Result<()> {
    app.state(Gateway::default());
    place(17, 500).await?;
    Ok(())
}

//! Enqueues greetings and waits for them; a `worker` has to run somewhere.
//!
//! `cargo run --example producer [-- COUNT]`

#![allow(clippy::print_stdout, reason = "an example speaks to its reader")]

mod tasks;

use std::time::Duration;

use anyhow::Context as _;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let count = std::env::args().nth(1).map_or(Ok(10), |text| text.parse::<usize>()).context("COUNT is a number")?;
    let handles = tasks::greet::enqueue_many((1..=count).map(|n| format!("number {n}"))).await?;
    println!("{} greetings accepted", handles.len());
    for handle in &handles {
        let greeting = handle.result(Duration::from_secs(60)).await.context("is a worker running?")?;
        println!("{}  {greeting}", handle.id());
    }
    Ok(())
}

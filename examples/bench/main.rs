//! How fast, and at what cost to the server.
//!
//! `cargo run --release --example bench -- --store redis --tasks 50000 --json`
//!
//! Enqueues no-op tasks in batches, then drains them with one worker; on Redis it starts a server of its own (no
//! persistence, loopback, a free port) and does the same with bare stream commands in the same run, as the floor.
//! Every task is reconciled by number: `lost` and `duplicates` are counted, not assumed.

#![allow(clippy::print_stdout, reason = "an example speaks to its reader")]

mod floor;
mod phases;
mod report;
mod usage;

use std::sync::Arc;

use clap::{Parser, ValueEnum};
use dtq::Client;
use dtq_examples::{Appendonly, RedisServer};

use report::Line;
use usage::Usage;

#[derive(Debug, Parser)]
#[command(about = "Measures dtq")]
struct Args {
    /// The store to measure
    #[arg(long, value_enum, default_value = "sqlite")]
    store: StoreKind,
    /// How many tasks
    #[arg(long, default_value_t = 50_000)]
    tasks: usize,
    /// Tasks that run at once at most
    #[arg(long, default_value_t = 512)]
    concurrency: usize,
    /// Bytes of arguments per task
    #[arg(long, default_value_t = 180)]
    payload: usize,
    /// One JSON object a line instead of a table
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum StoreKind {
    Sqlite,
    Redis,
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let args = Args::parse();
    anyhow::ensure!(args.tasks > 0, "--tasks must be at least 1");
    let lines = match args.store {
        StoreKind::Sqlite => sqlite(&args).await?,
        StoreKind::Redis => redis(&args).await?,
    };
    report::print(&lines, args.json);
    let lost: usize = lines.iter().map(|line| line.lost).sum();
    anyhow::ensure!(lost == 0, "{lost} tasks were lost");
    Ok(())
}

async fn sqlite(args: &Args) -> anyhow::Result<Vec<Line>> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("bench.db");
    let client = Client::connect(&format!("sqlite:{}", file.display()))?;
    let usage = move || {
        let size = std::fs::metadata(&file).map(|meta| meta.len()).unwrap_or(0);
        let wal = std::fs::metadata(file.with_extension("db-wal")).map(|meta| meta.len()).unwrap_or(0);
        Ok(Usage { cpu_us: None, bytes: size + wal })
    };
    phases::run(args, "sqlite", &client, &usage, None).await
}

async fn redis(args: &Args) -> anyhow::Result<Vec<Line>> {
    let server = Arc::new(RedisServer::start(Appendonly::No)?);
    let floor = floor::measure(&server, args.tasks, args.payload)?;
    usage::flush(&server)?;
    let client = Client::connect(&server.url())?;
    let usage = {
        let server = server.clone();
        move || Usage::of(&server)
    };
    phases::run(args, "redis", &client, &usage, Some(floor)).await
}

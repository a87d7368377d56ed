//! How fast, and at what cost to the server.
//!
//! ```text
//! cargo run --release --example bench -- --store redis --json
//! cargo run --release --example bench -- --phase delayed
//! ```
//!
//! Each phase runs on a fresh store of this program's own: a SQLite file in a temporary folder, or a Redis server on
//! loopback and a free port. On Redis the same is done with bare stream commands in the same run, as the floor. Every task
//! is reconciled by number: `lost` and `duplicates` are counted, not assumed.

#![allow(clippy::print_stdout, reason = "an example speaks to its reader")]

mod floor;
mod ledger;
mod phases;
mod process;
mod report;
mod setting;
mod slow_line;
mod usage;

use clap::{Parser, ValueEnum};

use phases::Phase;

#[derive(Debug, Parser)]
#[command(about = "Measures dtq")]
struct Args {
    /// The phases to run, separated by commas; `all` for all of them
    #[arg(long, value_enum, value_delimiter = ',', default_values = ["single", "concurrent", "batch"])]
    phase: Vec<Phase>,
    /// The store to measure
    #[arg(long, value_enum, default_value = "sqlite")]
    store: StoreKind,
    /// What the store has on its disk when it answers; on SQLite everysec is `synchronous = NORMAL`, always is FULL
    #[arg(long, value_enum, default_value = "always")]
    persistence: Persistence,
    /// Round trip to add between dtq and the Redis server, in milliseconds
    #[arg(long, value_name = "MS", default_value_t = 0.0)]
    round_trip: f64,
    /// How many tasks a phase enqueues
    #[arg(long, default_value_t = 50_000)]
    tasks: usize,
    /// Tasks that run at once at most
    #[arg(long, default_value_t = 512)]
    concurrency: usize,
    /// Bytes of arguments per task
    #[arg(long, default_value_t = 180)]
    payload: usize,
    /// Tasks a second in the phase `latency`
    #[arg(long, default_value_t = 200)]
    rate: u32,
    /// Idle workers in the phases `latency` and `delayed`
    #[arg(long, default_value_t = 8)]
    workers: usize,
    /// Tasks that stand in the queue, or on the schedule, in the phases `backlog` and `scheduled`
    #[arg(long, default_value_t = 1_000_000)]
    backlog: usize,
    /// One JSON object a line instead of a table
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum StoreKind {
    Sqlite,
    Redis,
}

impl StoreKind {
    fn name(self) -> &'static str {
        match self {
            Self::Sqlite => "sqlite",
            Self::Redis => "redis",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Persistence {
    None,
    Everysec,
    Always,
}

impl Persistence {
    fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Everysec => "everysec",
            Self::Always => "always",
        }
    }
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let args = Args::parse();
    args.check()?;
    let mut lines = Vec::new();
    for phase in phases::chosen(&args.phase) {
        let done = phases::run(phase, &args).await?;
        if args.json {
            done.iter().for_each(report::Line::print_json);
        }
        lines.extend(done);
    }
    if !args.json {
        report::print_table(&lines);
    }
    let lost: usize = lines.iter().map(|line| line.lost).sum();
    anyhow::ensure!(lost == 0, "{lost} tasks were lost");
    Ok(())
}

impl Args {
    fn check(&self) -> anyhow::Result<()> {
        anyhow::ensure!(self.tasks > 0, "--tasks must be at least 1");
        anyhow::ensure!(self.rate > 0, "--rate must be at least 1");
        anyhow::ensure!(self.workers > 0, "--workers must be at least 1");
        let usable = (0.0..=1000.0).contains(&self.round_trip);
        anyhow::ensure!(usable, "--round-trip must lie between 0 and 1000 ms");
        let sqlite = self.store == StoreKind::Sqlite;
        anyhow::ensure!(!(sqlite && self.round_trip > 0.0), "--round-trip is for --store redis: a file has none");
        Ok(())
    }
}

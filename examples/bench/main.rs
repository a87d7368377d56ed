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

mod compare;
mod floor;
mod ledger;
mod options;
mod part;
mod phases;
mod process;
mod report;
mod setting;
mod slow_line;
mod usage;

use clap::Parser;

use options::Options;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let options = Options::parse();
    options.check()?;
    let runs = options.runs();
    if let (Some(place), Some(args)) = (&options.part, runs.first()) {
        return part::serve(args, place).await;
    }
    let mut lines = Vec::new();
    for phase in phases::chosen(&options.phase) {
        let mut of_phase = Vec::new();
        for args in &runs {
            of_phase.push(phases::run(phase, args).await?);
        }
        let done = compare::with_shares(of_phase);
        if options.json {
            done.iter().for_each(report::Line::print_json);
        }
        lines.extend(done);
    }
    if !options.json {
        report::print_table(&lines);
    }
    let lost: usize = lines.iter().map(|line| line.lost).sum();
    anyhow::ensure!(lost == 0, "{lost} tasks were lost");
    Ok(())
}

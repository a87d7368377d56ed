//! Breaks a fleet in every way it can, and reconciles every task that was accepted.
//!
//! `cargo run --release --example chaos -- --store redis --seed 1 --tasks 20000 --minutes 2`
//!
//! It starts a store, worker processes and a producer process of its own, each with a proxy before Redis, and kills, stops,
//! restarts and disconnects them by a plan that comes from the seed alone (`--plan` prints it; the same seed does the same
//! things at the same times, while what they meet there is up to the machine). Each handler's run leaves its begin and end
//! in a ledger outside of the store. At the end every accepted id is looked up in both: docs/reliability.md.

#![allow(clippy::print_stdout, reason = "an example speaks to its reader")]

mod args;
mod explain;
mod faults;
mod fleet;
mod history;
mod inject;
mod ledger;
mod leftovers;
mod place;
mod plan;
mod producer;
mod reconcile;
mod recovery;
mod report;
mod run;
mod stalls;
mod tail;
mod tasks;
mod worker;

use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{CommandFactory, Parser};
use tokio::signal::unix::{SignalKind, signal};

use args::{Cli, Member, Options};

#[tokio::main]
async fn main() -> anyhow::Result<ExitCode> {
    let cli = Cli::parse();
    match cli.member {
        Some(Member::Worker(args)) => {
            log_to_stderr();
            worker::run(&args).await?;
        }
        Some(Member::Producer(args)) => {
            log_to_stderr();
            producer::run(&args).await?;
        }
        None => {
            if let Err(error) = cli.options.check() {
                Cli::command().error(ErrorKind::ArgumentConflict, error).exit();
            }
            if cli.options.plan {
                print_plan(&cli.options)?;
            } else {
                return tokio::select! {
                    code = run::run(&cli.options) => Ok(ExitCode::from(code?)),
                    // Leaving in order takes the server and the fleet along.
                    () = told_to_stop() => Ok(ExitCode::from(130)),
                };
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

async fn told_to_stop() {
    let Ok(mut terminate) = signal(SignalKind::terminate()) else { return std::future::pending().await };
    tokio::select! {
        _ = terminate.recv() => {}
        _ = tokio::signal::ctrl_c() => {}
    }
}

/// The log of a member of the fleet: its standard error is a file beside its ledger.
fn log_to_stderr() {
    tracing_subscriber::fmt().with_writer(std::io::stderr).with_ansi(false).init();
}

fn print_plan(options: &Options) -> anyhow::Result<()> {
    for fault in faults::faults(options) {
        println!("{fault}");
    }
    for submission in plan::submissions(options.seed, options.tasks, options.span())? {
        println!("{:7.3} s  enqueue", submission.at.as_secs_f64());
        for task in &submission.tasks {
            println!("           {task}");
        }
    }
    Ok(())
}

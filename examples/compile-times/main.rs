//! What tasks cost at compile time: a crate with many of them beside crates with as many functions written by hand.
//!
//!     cargo run --release --example compile-times -- --tasks 500
//!
//! Results and what they mean: `docs/compile-times.md`.
#![allow(clippy::print_stdout, reason = "it prints a report")]

mod crates;

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use clap::Parser;

use crates::{Kind, Workspace};

/// Measures how long tasks take to compile, beside functions written by hand.
#[derive(Parser)]
struct Args {
    /// Tasks, or functions, a crate
    #[arg(long, default_value_t = 500)]
    tasks: usize,
    /// Times that each crate is built; the fastest counts
    #[arg(long, default_value_t = 3)]
    rounds: usize,
}

/// How a crate is compiled.
const VERBS: [&str; 2] = ["check", "build"];

fn main() -> anyhow::Result<()> {
    let args = Args::parse();
    ensure!(args.tasks > 0 && args.rounds > 0, "--tasks and --rounds must be at least 1");
    let workspace = Workspace::lay_out(args.tasks)?;
    println!("{} of each kind, the fastest of {} rounds, milliseconds apiece", args.tasks, args.rounds);
    println!("{:<6} {:<46} {:>9} {:>7} {:>7}", "", "", "crate", "apiece", "ratio");
    for verb in VERBS {
        let fastest = measure(&workspace, verb, args.rounds)?;
        let of = |kind: Kind| fastest.iter().find(|(other, _)| *other == kind).map_or(Duration::MAX, |(_, time)| *time);
        // What a crate costs that has nothing in it is not the functions' doing.
        let apiece = |kind| of(kind).saturating_sub(of(Kind::Empty)).as_secs_f64() * 1e3 / args.tasks as f64;
        for kind in Kind::ALL {
            let (time, each) = (of(kind).as_secs_f64(), apiece(kind));
            let ratio = apiece(Kind::Tasks) / each;
            let cells = if kind == Kind::Empty { String::new() } else { format!("{each:>7.2} {ratio:>7.2}") };
            println!("{verb:<6} {:<46} {time:>7.2} s {cells}", kind.title());
        }
    }
    println!("ratio: how many times as long a task takes as one of these");
    Ok(())
}

/// The fastest of some rounds for each kind. Taken in turns, so that a busy machine slows all of them.
fn measure(workspace: &Workspace, verb: &str, rounds: usize) -> anyhow::Result<Vec<(Kind, Duration)>> {
    let mut fastest = Kind::ALL.map(|kind| (kind, Duration::MAX));
    for (kind, _) in fastest {
        // The dependencies, once.
        workspace.compile(verb, kind)?;
    }
    for _ in 0..rounds {
        for (kind, best) in &mut fastest {
            workspace.forget(*kind)?;
            *best = workspace.compile(verb, *kind)?.min(*best);
        }
    }
    Ok(fastest.to_vec())
}

impl Workspace {
    /// Compiles one crate, and says how long that took.
    fn compile(&self, verb: &str, kind: Kind) -> anyhow::Result<Duration> {
        let began = Instant::now();
        cargo(self.root(), &[verb, "--quiet", "--offline", "-p", kind.name()])?;
        Ok(began.elapsed())
    }

    /// Makes Cargo compile a crate anew.
    fn forget(&self, kind: Kind) -> anyhow::Result<()> {
        let source = self.root().join(kind.name()).join("src/lib.rs");
        let text = std::fs::read(&source)?;
        std::fs::write(&source, text).with_context(|| source.display().to_string())
    }
}

fn cargo(folder: &Path, arguments: &[&str]) -> anyhow::Result<()> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.current_dir(folder).args(arguments);
    // Everything is compiled, and nothing is remembered: that is what can be compared.
    command.env("CARGO_TARGET_DIR", folder.join("target")).env("CARGO_INCREMENTAL", "0");
    let output = command.output().context("cargo does not start")?;
    ensure!(output.status.success(), "cargo {arguments:?}:\n{}", String::from_utf8_lossy(&output.stderr));
    Ok(())
}

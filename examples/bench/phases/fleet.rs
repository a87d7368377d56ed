//! Several worker processes at one queue.

use super::Span;
use super::load::enqueue_noops;
use crate::ledger::Ledger;
use crate::options::Args;
use crate::part::Part;
use crate::report::Line;
use crate::setting::Setting;

/// One fleet after the other, each with as many tasks.
pub(super) async fn run(args: &Args, setting: &Setting) -> anyhow::Result<Vec<Line>> {
    let mut lines: Vec<Line> = Vec::new();
    for &processes in &args.processes {
        let line = drain(args, setting, processes).await?;
        let first = lines.first().map(|first| line.per_second() / first.per_second());
        lines.push(line.with("rate_over_first_fleet", first));
    }
    Ok(lines)
}

async fn drain(args: &Args, setting: &Setting, processes: usize) -> anyhow::Result<Line> {
    enqueue_noops(args, setting, 0..args.tasks).await?;
    let ledger = Ledger::new(args.tasks);
    let mut fleet = Vec::new();
    for _ in 0..processes {
        fleet.push(Part::start(args, setting, &ledger).await?);
    }
    let span = Span::begin(setting)?;
    for part in &mut fleet {
        part.go()?;
    }
    ledger.all_ran().await;
    // From here on nobody waits for them, as in the other phases: a stop settles what has run.
    let mut workers_us = 0.0;
    for part in fleet {
        workers_us += part.stop().await?;
    }
    let line = span.end(setting)?.line("fleet", args, args.tasks).with("processes", processes as f64);
    Ok(line.with("workers_us_per_task", workers_us / args.tasks as f64).reconciled(ledger.reconcile()))
}

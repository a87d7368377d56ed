//! What a task takes up: queued, running, finished; and a worker that holds many.

use std::sync::Arc;

use super::tasks::{Gate, held, padding};
use super::{Span, gated_worker};
use crate::ledger::Ledger;
use crate::options::Args;
use crate::process;
use crate::report::Line;
use crate::setting::Setting;

/// Tasks that one worker holds at once.
const TASKS: usize = 10_000;

pub(super) async fn run(args: &Args, setting: &Setting) -> anyhow::Result<Vec<Line>> {
    let ledger = Ledger::new(TASKS);
    let (gate, client) = (Arc::new(Gate::new()), setting.client()?);
    let padding = padding(args.payload);
    let span = Span::begin(setting)?;
    held::enqueue_many((0..TASKS).map(|n| (n, padding.clone()))).on(&client).await?;
    let queued = span.end(setting)?;

    let before = process::resident();
    let worker = gated_worker(setting, TASKS, &ledger, &gate).await?;
    ledger.all_ran().await;
    let running = span.end(setting)?;
    let (after, more) = (process::resident(), process::resident().saturating_sub(before));
    gate.cancel();
    worker.stop().await;
    let finished = span.end(setting)?;
    let per_task = |bytes: f64| bytes / TASKS as f64;
    Ok(vec![
        running
            .line("memory", args, TASKS)
            .with("bytes_per_queued_task", per_task(queued.bytes))
            .with("bytes_per_running_task", per_task(running.bytes))
            .with("bytes_per_finished_task", per_task(finished.bytes))
            .with("worker_bytes_per_running_task", per_task(more as f64))
            .with("worker_mib", after as f64 / 1024.0 / 1024.0)
            .reconciled(ledger.reconcile()),
    ])
}

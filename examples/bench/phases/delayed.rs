//! How late delayed tasks begin.

use std::time::Duration;

use super::tasks::{noop, padding};
use super::{Span, worker};
use crate::ledger::Ledger;
use crate::options::Args;
use crate::report::Line;
use crate::setting::Setting;

const TASKS: usize = 2_000;
/// The first one is due after this, and one more each `STEP`.
const FIRST: Duration = Duration::from_secs(1);
const STEP: Duration = Duration::from_millis(5);

/// Enqueues tasks that fall due one after the other, and lets idle workers run them.
pub(super) async fn run(args: &Args, setting: &Setting) -> anyhow::Result<Vec<Line>> {
    let tasks = args.tasks.min(TASKS);
    let ledger = Ledger::new(tasks);
    let mut workers = Vec::new();
    for _ in 0..args.workers {
        workers.push(worker(setting, args.concurrency, &ledger).await?);
    }
    let client = setting.client()?;
    client.check().await?;
    let span = Span::begin(setting)?;
    let began = std::time::Instant::now();
    for number in 0..tasks {
        let due = FIRST + STEP * u32::try_from(number)?;
        let delay = due.saturating_sub(began.elapsed());
        // The store counts from when it accepts the task: lateness is told too high by a part of this call.
        ledger.due_in(number, delay);
        noop::enqueue(number, padding(args.payload)).delay(delay).on(&client).await?;
    }
    ledger.all_ran().await;
    let spent = span.end(setting)?;
    for worker in workers {
        worker.stop().await;
    }
    let line = spent.line("delayed", args, tasks).with_percentiles(&ledger.lateness_ms());
    Ok(vec![line.reconciled(ledger.reconcile())])
}

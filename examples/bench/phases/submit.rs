//! Enqueuing, one call at a time.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use dtq::Client;

use super::tasks::{noop, padding};
use super::{Span, worker};
use crate::ledger::Ledger;
use crate::options::Args;
use crate::report::Line;
use crate::setting::Setting;

/// Callers at once in the phase `concurrent`.
const CALLERS: usize = 64;
/// One by one, fewer calls are enough to tell, and a disk that syncs each takes its time.
const SINGLES: usize = 10_000;

/// Enqueues one task after the other.
pub(super) async fn single(args: &Args, setting: &Setting) -> anyhow::Result<Vec<Line>> {
    let tasks = args.tasks.min(SINGLES);
    let floor = setting.floor(args).await?;
    let line = submit("single", args, setting, tasks, 1).await?;
    let floor_rate = floor.map(|floor| floor.single.per_second);
    let ratio = floor_rate.map(|rate| rate / line.per_second());
    Ok(vec![line.with("floor_per_second", floor_rate).with("round_trips", ratio)])
}

/// Enqueues from many callers at once.
pub(super) async fn concurrent(args: &Args, setting: &Setting) -> anyhow::Result<Vec<Line>> {
    Ok(vec![submit("concurrent", args, setting, args.tasks, CALLERS).await?])
}

async fn submit(
    phase: &'static str,
    args: &Args,
    setting: &Setting,
    tasks: usize,
    callers: usize,
) -> anyhow::Result<Line> {
    let client = setting.client()?;
    client.check().await?;
    let next = Arc::new(AtomicUsize::new(0));
    let span = Span::begin(setting)?;
    let callers: Vec<_> = (0..callers)
        .map(|_| tokio::spawn(caller(client.clone(), next.clone(), tasks, padding(args.payload))))
        .collect();
    for caller in callers {
        caller.await??;
    }
    let spent = span.end(setting)?;
    let ledger = Ledger::new(tasks);
    let worker = worker(setting, args.concurrency, &ledger).await?;
    ledger.all_ran().await;
    worker.stop().await;
    Ok(spent.line(phase, args, tasks).reconciled(ledger.reconcile()))
}

async fn caller(client: Client, next: Arc<AtomicUsize>, tasks: usize, padding: String) -> anyhow::Result<()> {
    loop {
        let number = next.fetch_add(1, Ordering::Relaxed);
        if number >= tasks {
            return Ok(());
        }
        noop::enqueue(number, padding.clone()).on(&client).await?;
    }
}

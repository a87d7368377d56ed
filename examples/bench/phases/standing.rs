//! The same work beside few and many tasks that stand in the queue or on the schedule: does it slow down?

use std::time::Duration;

use dtq::types::QueueName;

use super::load::{CHUNK, enqueue_noops};
use super::tasks::{noop, padding};
use super::{Span, worker};
use crate::ledger::Ledger;
use crate::options::Args;
use crate::report::Line;
use crate::setting::Setting;

const DAY: Duration = Duration::from_secs(24 * 3600);

/// Tasks that are ready, before those that are measured.
pub(super) async fn backlog(args: &Args, setting: &Setting) -> anyhow::Result<Vec<Line>> {
    let (few, many) = sizes(args);
    let small = beside_backlog(args, setting, few).await?;
    Ok(compared(small, beside_backlog(args, &Setting::new(args)?, many).await?))
}

/// Tasks that are not due for a day.
pub(super) async fn scheduled(args: &Args, setting: &Setting) -> anyhow::Result<Vec<Line>> {
    let (few, many) = sizes(args);
    let small = beside_schedule(args, setting, few).await?;
    Ok(compared(small, beside_schedule(args, &Setting::new(args)?, many).await?))
}

fn sizes(args: &Args) -> (usize, usize) {
    ((args.backlog / 100).max(1), args.backlog)
}

/// Adds to the lines of the large size how they compare with those of the small one.
fn compared(small: Vec<Line>, large: Vec<Line>) -> Vec<Line> {
    let ratios: Vec<_> = large.into_iter().zip(&small).map(|(large, small)| large.compared_with(small)).collect();
    small.into_iter().chain(ratios).collect()
}

/// Enqueues behind the backlog, drains as many as that with one worker, and then the rest.
async fn beside_backlog(args: &Args, setting: &Setting, standing: usize) -> anyhow::Result<Vec<Line>> {
    let span = Span::begin(setting)?;
    enqueue_noops(args, setting, 0..standing).await?;
    let bytes = span.end(setting)?.bytes / standing as f64;
    let span = Span::begin(setting)?;
    enqueue_noops(args, setting, standing..standing + args.tasks).await?;
    let enqueued = span.end(setting)?;

    let ledger = Ledger::new(standing + args.tasks);
    let span = Span::begin(setting)?;
    let worker = worker(setting, args.concurrency, &ledger).await?;
    ledger.ran_but(standing).await;
    let drained = span.end(setting)?;
    ledger.all_ran().await;
    worker.stop().await;
    let line = |line: Line| line.with("standing_tasks", standing as f64);
    Ok(vec![
        line(enqueued.line("backlog-in", args, args.tasks)).with("bytes_per_queued_task", bytes),
        line(drained.line("backlog-out", args, args.tasks)).reconciled(ledger.reconcile()),
    ])
}

/// The usual batch; what is scheduled must still be there afterwards.
async fn beside_schedule(args: &Args, setting: &Setting, standing: usize) -> anyhow::Result<Vec<Line>> {
    let (client, padding) = (setting.client()?, padding(args.payload));
    let span = Span::begin(setting)?;
    for start in (0..standing).step_by(CHUNK) {
        let calls = (start..standing.min(start + CHUNK)).map(|n| (n, padding.clone()));
        noop::enqueue_many(calls).delay(DAY).on(&client).await?;
    }
    let scheduled = span.end(setting)?;
    let bytes = scheduled.bytes / standing as f64;
    let span = Span::begin(setting)?;
    enqueue_noops(args, setting, 0..args.tasks).await?;
    let enqueued = span.end(setting)?;

    let ledger = Ledger::new(args.tasks);
    let span = Span::begin(setting)?;
    let worker = worker(setting, args.concurrency, &ledger).await?;
    ledger.all_ran().await;
    worker.stop().await;
    let drained = span.end(setting)?;
    let left = client.stats(&QueueName::new("bench")?).await?.pending;
    let missing = standing.saturating_sub(usize::try_from(left)?);
    let line = |line: Line| line.with("standing_tasks", standing as f64);
    Ok(vec![
        line(scheduled.line("schedule", args, standing))
            .with("bytes_per_scheduled_task", bytes)
            .reconciled((missing, 0)),
        line(enqueued.line("beside-in", args, args.tasks)),
        line(drained.line("beside-out", args, args.tasks)).reconciled(ledger.reconcile()),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_small_size_is_a_hundredth_and_never_none() {
        let args = |backlog| Args { backlog, ..crate::options::tests::defaults() };
        assert_eq!(sizes(&args(1_000_000)), (10_000, 1_000_000));
        assert_eq!(sizes(&args(5)), (1, 5));
    }
}

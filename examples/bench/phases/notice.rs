//! How soon an idle worker of one process begins what another process enqueues.

use std::time::{Duration, Instant};

use super::tasks::{noop, padding};
use super::{QUIET, Span};
use crate::ledger::Ledger;
use crate::options::Args;
use crate::part::Part;
use crate::report::{Line, percentile};
use crate::setting::Setting;

const TASKS: usize = 1_000;
/// Between two tasks: at odd times, since a worker may look at even ones.
const GAP: std::ops::Range<f64> = 0.005..0.015;

/// Enqueues one by one here, and lets a worker in another process run them. Both ends are told by this process's clock: the
/// worker's word that it has begun counts when it arrives, so a pipe's way is in the figures.
pub(super) async fn run(args: &Args, setting: &Setting) -> anyhow::Result<Vec<Line>> {
    let tasks = args.tasks.min(TASKS);
    let ledger = Ledger::new(tasks);
    let mut other = Part::start(args, setting, &ledger).await?;
    other.go()?;
    other.await_ready().await?;
    let client = setting.client()?;
    client.check().await?;
    tokio::time::sleep(QUIET).await;
    let span = Span::begin(setting)?;
    let mut calls_ms = Vec::with_capacity(tasks);
    let mut answered = Vec::with_capacity(tasks);
    for number in 0..tasks {
        let gap = GAP.start + (GAP.end - GAP.start) * fastrand::f64();
        tokio::time::sleep(Duration::from_secs_f64(gap)).await;
        let called = Instant::now();
        ledger.due_at(number, called);
        noop::enqueue(number, padding(args.payload)).on(&client).await?;
        answered.push(Instant::now());
        calls_ms.push(called.elapsed().as_secs_f64() * 1e3);
    }
    ledger.all_ran().await;
    let spent = span.end(setting)?;
    let worker_us = other.stop().await?;

    let line = spent.line("notice", args, tasks).with_percentiles(&ledger.lateness_ms());
    answered.into_iter().enumerate().for_each(|(number, at)| ledger.due_at(number, at));
    let after_ms = ledger.lateness_ms();
    calls_ms.sort_by(f64::total_cmp);
    let line = line
        .with("enqueue_p50_ms", percentile(&calls_ms, 0.5))
        .with("enqueue_p99_ms", percentile(&calls_ms, 0.99))
        .with("after_answer_p50_ms", percentile(&after_ms, 0.5))
        .with("after_answer_p99_ms", percentile(&after_ms, 0.99))
        .with("workers_us_per_task", worker_us / tasks as f64);
    Ok(vec![line.reconciled(ledger.reconcile())])
}

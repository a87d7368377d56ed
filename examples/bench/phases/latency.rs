//! From an enqueue to the handler's start, at a rate that does not wait for answers.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::tasks::{noop, padding};
use super::{Span, worker};
use crate::ledger::Ledger;
use crate::options::Args;
use crate::report::Line;
use crate::setting::Setting;

/// How long tasks are enqueued.
const SPAN: Duration = Duration::from_secs(11);
/// What begins in this time tells of a cold start, and is left out of the times.
const COLD: Duration = Duration::from_secs(1);

/// At the rate asked for.
pub(super) async fn at_rate(args: &Args, setting: &Setting) -> anyhow::Result<Vec<Line>> {
    Ok(vec![measure("latency", args, setting, f64::from(args.rate)).await?])
}

/// At half of the rate at which one worker drains, measured first.
pub(super) async fn at_half_load(args: &Args, setting: &Setting) -> anyhow::Result<Vec<Line>> {
    let drained = super::load::batch(args, setting).await?.remove(1);
    Ok(vec![measure("half-load", args, setting, drained.per_second() / 2.0).await?])
}

async fn measure(phase: &'static str, args: &Args, setting: &Setting, rate: f64) -> anyhow::Result<Line> {
    let tasks = (rate * SPAN.as_secs_f64()) as usize;
    let ledger = Ledger::new(tasks);
    let mut workers = Vec::new();
    for _ in 0..args.workers {
        workers.push(worker(setting, args.concurrency, &ledger).await?);
    }
    let span = Span::begin(setting)?;
    send(args, setting, &ledger, tasks, rate).await?;
    ledger.all_ran().await;
    let spent = span.end(setting)?;
    for worker in workers {
        worker.stop().await;
    }
    let cold = (rate * COLD.as_secs_f64()) as usize;
    let line = spent.line(phase, args, tasks).with("rate", rate).with_percentiles(&ledger.lateness_ms_from(cold));
    Ok(line.reconciled(ledger.reconcile()))
}

/// Sends each task at its time, whatever became of the earlier ones. What has gathered by a tick of the timer goes in one
/// batch, as it would from a program with much to do.
async fn send(args: &Args, setting: &Setting, ledger: &Arc<Ledger>, tasks: usize, rate: f64) -> anyhow::Result<()> {
    let client = setting.client()?;
    client.check().await?;
    let padding = padding(args.payload);
    let began = Instant::now();
    let mut sent = 0;
    let mut calls = tokio::task::JoinSet::new();
    while sent < tasks {
        let upto = ((began.elapsed().as_secs_f64() * rate) as usize + 1).min(tasks);
        let numbers = sent..upto;
        numbers.clone().for_each(|number| ledger.due_in(number, Duration::ZERO));
        let (client, padding) = (client.clone(), padding.clone());
        if upto > sent {
            calls.spawn(async move {
                noop::enqueue_many(numbers.map(|n| (n, padding.clone()))).on(&client).await.map(drop)
            });
        }
        sent = upto;
        let next = began + Duration::from_secs_f64(sent as f64 / rate);
        tokio::time::sleep_until(next.into()).await;
    }
    while let Some(call) = calls.join_next().await {
        call??;
    }
    Ok(())
}

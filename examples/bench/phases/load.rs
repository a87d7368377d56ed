//! Enqueuing in batches, and draining with one worker.

use std::sync::Arc;
use std::time::Duration;

use super::tasks::{echo, noop, padding};
use super::{Span, Spent, worker};
use crate::Args;
use crate::floor::Floor;
use crate::ledger::Ledger;
use crate::report::Line;
use crate::setting::Setting;

/// Tasks of one `enqueue_many` call: the client splits it into round trips.
const CHUNK: usize = 4096;
const LARGE: usize = 64 * 1024;

/// Small tasks without results.
pub(super) async fn batch(args: &Args, setting: &Setting) -> anyhow::Result<Vec<Line>> {
    let floor = setting.floor(args).await?;
    load(["enqueue", "drain", "both"], args, setting, floor, Kind::Noop).await
}

/// Small tasks with results that are kept.
pub(super) async fn results(args: &Args, setting: &Setting) -> anyhow::Result<Vec<Line>> {
    let floor = setting.floor(args).await?;
    load(["results-in", "results-out", "results"], args, setting, floor, Kind::Echo).await
}

/// Few tasks with much to carry.
pub(super) async fn large(args: &Args, setting: &Setting) -> anyhow::Result<Vec<Line>> {
    let args = Args { payload: LARGE, tasks: (args.tasks / 25).max(1), phase: args.phase.clone(), ..*args };
    let floor = setting.floor(&args).await?;
    load(["large-in", "large-out", "large"], &args, setting, floor, Kind::Noop).await
}

/// Small tasks in all priorities.
pub(super) async fn priorities(args: &Args, setting: &Setting) -> anyhow::Result<Vec<Line>> {
    let floor = setting.floor(args).await?;
    load(["bands-in", "bands-out", "bands"], args, setting, floor, Kind::Priorities).await
}

/// A long queue: does the drain go on as it began?
pub(super) async fn backlog(args: &Args, setting: &Setting) -> anyhow::Result<Vec<Line>> {
    let args = Args { tasks: args.backlog, phase: args.phase.clone(), ..*args };
    load(["backlog-in", "backlog-out", "backlog"], &args, setting, None, Kind::Noop).await
}

/// The usual batch beside many tasks that are not due for a day.
pub(super) async fn scheduled(args: &Args, setting: &Setting) -> anyhow::Result<Vec<Line>> {
    let client = setting.client()?;
    let padding = padding(args.payload);
    let span = Span::begin(setting)?;
    for start in (0..args.backlog).step_by(CHUNK) {
        let numbers = start..args.backlog.min(start + CHUNK);
        let calls = numbers.map(|n| (n, padding.clone()));
        noop::enqueue_many(calls).delay(Duration::from_secs(24 * 3600)).on(&client).await?;
    }
    let spent = span.end(setting)?;
    let mut lines =
        vec![spent.line("schedule", args, args.backlog).with("bytes_per_task", spent.bytes / args.backlog as f64)];
    lines.extend(load(["beside-in", "beside-out", "beside"], args, setting, None, Kind::Noop).await?);
    Ok(lines)
}

/// What is enqueued.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Noop,
    Echo,
    Priorities,
}

async fn load(
    names: [&'static str; 3],
    args: &Args,
    setting: &Setting,
    floor: Option<Floor>,
    kind: Kind,
) -> anyhow::Result<Vec<Line>> {
    let tasks = args.tasks;
    let span = Span::begin(setting)?;
    enqueue(args, setting, kind).await?;
    let enqueued = span.end(setting)?;

    let ledger = Ledger::new(tasks);
    let span = Span::begin(setting)?;
    drain(args, setting, &ledger).await?;
    let drained = span.end(setting)?;

    let of_floor = |line: Line, cpu: Option<f64>, rate: Option<f64>| {
        let share = rate.map(|rate| line.per_second() / rate);
        line.with("floor_us_per_task", cpu).with("share_of_floor_rate", share)
    };
    let (paces, both) = (floor.map(|it| (it.enqueue, it.drain)), floor.map(|it| it.enqueue.cpu_us + it.drain.cpu_us));
    let (into, out) = (paces.map(|it| it.0), paces.map(|it| it.1));
    let into_line = enqueued.line(names[0], args, tasks).with("bytes_per_queued_task", enqueued.bytes / tasks as f64);
    let pace = slowing(&ledger);
    let out_line = drained.line(names[1], args, tasks).with("last_tenth_over_second", pace);
    let total = Spent::both(&enqueued, &drained).line(names[2], args, tasks);
    let reconciled = ledger.reconcile();
    Ok(vec![
        of_floor(into_line, into.map(|it| it.cpu_us), into.map(|it| it.per_second)),
        of_floor(out_line, out.map(|it| it.cpu_us), out.map(|it| it.per_second)).reconciled(reconciled),
        of_floor(total, both, None),
    ])
}

/// How long the last tenth of the tasks took, against the second one: the first one warms up.
fn slowing(ledger: &Ledger) -> Option<f64> {
    let tenth = |from: f64, to: f64| (ledger.time_of(to) - ledger.time_of(from)).as_secs_f64();
    let (second, last) = (tenth(0.1, 0.2), tenth(0.9, 1.0));
    (second > 0.0).then(|| last / second)
}

async fn enqueue(args: &Args, setting: &Setting, kind: Kind) -> anyhow::Result<()> {
    let client = setting.client()?;
    let padding = padding(args.payload);
    for start in (0..args.tasks).step_by(CHUNK) {
        let calls = (start..args.tasks.min(start + CHUNK)).map(|n| (n, padding.clone()));
        match kind {
            Kind::Noop => drop(noop::enqueue_many(calls).on(&client).await?),
            Kind::Echo => drop(echo::enqueue_many(calls).on(&client).await?),
            Kind::Priorities => {
                let priority = u8::try_from(start / CHUNK % 10)?;
                noop::enqueue_many(calls).priority(priority).on(&client).await?;
            }
        }
    }
    Ok(())
}

async fn drain(args: &Args, setting: &Setting, ledger: &Arc<Ledger>) -> anyhow::Result<()> {
    let worker = worker(setting, args.concurrency, ledger).await?;
    ledger.all_ran().await;
    // The stop settles what has run: without it the last settles would not be in the figures.
    worker.stop().await;
    Ok(())
}

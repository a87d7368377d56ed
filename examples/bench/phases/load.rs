//! Enqueuing in batches, and draining with one worker.

use std::ops::Range;
use std::sync::Arc;

use super::tasks::{echo, noop, padding};
use super::{Span, Spent, worker};
use crate::floor::Floor;
use crate::ledger::Ledger;
use crate::options::Args;
use crate::report::Line;
use crate::setting::Setting;

/// Tasks of one `enqueue_many` call: the client splits it into round trips.
pub(super) const CHUNK: usize = 4096;
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
    let args = Args { payload: LARGE, tasks: (args.tasks / 25).max(1), ..args.clone() };
    let floor = setting.floor(&args).await?;
    load(["large-in", "large-out", "large"], &args, setting, floor, Kind::Noop).await
}

/// Small tasks in all priorities.
pub(super) async fn priorities(args: &Args, setting: &Setting) -> anyhow::Result<Vec<Line>> {
    let floor = setting.floor(args).await?;
    load(["bands-in", "bands-out", "bands"], args, setting, floor, Kind::Priorities).await
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
    let spent = Spent::both(&enqueued, &drained);
    let finished = (kind == Kind::Echo).then(|| spent.bytes / tasks as f64);
    let total = spent.line(names[2], args, tasks).with("bytes_per_finished_task", finished);
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

/// Enqueues tasks of these numbers that do nothing.
pub(super) async fn enqueue_noops(args: &Args, setting: &Setting, numbers: Range<usize>) -> anyhow::Result<()> {
    let (client, padding) = (setting.client()?, padding(args.payload));
    for start in numbers.clone().step_by(CHUNK) {
        let calls = (start..numbers.end.min(start + CHUNK)).map(|n| (n, padding.clone()));
        noop::enqueue_many(calls).on(&client).await?;
    }
    Ok(())
}

async fn enqueue(args: &Args, setting: &Setting, kind: Kind) -> anyhow::Result<()> {
    if kind == Kind::Noop {
        return enqueue_noops(args, setting, 0..args.tasks).await;
    }
    let client = setting.client()?;
    let padding = padding(args.payload);
    for start in (0..args.tasks).step_by(CHUNK) {
        let calls = (start..args.tasks.min(start + CHUNK)).map(|n| (n, padding.clone()));
        match kind {
            Kind::Echo => drop(echo::enqueue_many(calls).on(&client).await?),
            Kind::Noop | Kind::Priorities => {
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

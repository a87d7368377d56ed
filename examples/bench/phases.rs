//! The phases: enqueue, drain, and both together.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use dtq::{App, Client, Worker, WorkerConfig};
use tokio::sync::Notify;

use crate::Args;
use crate::floor::Floor;
use crate::report::Line;
use crate::usage::Usage;

/// Tasks of one `enqueue_many` call: the client splits it into round trips.
const CHUNK: usize = 4096;
/// A drain that gets nothing done for this long has lost tasks.
const STALL: Duration = Duration::from_secs(20);

/// What ran, by number.
struct Ledger {
    runs: Vec<AtomicU8>,
    left: AtomicUsize,
    done: Notify,
}

/// Does nothing but leave its mark.
#[dtq::task(queue = "bench", retention = "0s")]
async fn noop(#[state] ledger: &Arc<Ledger>, n: usize, padding: String) {
    let _ = padding;
    if ledger.runs[n].fetch_add(1, Ordering::Relaxed) == 0 && ledger.left.fetch_sub(1, Ordering::AcqRel) == 1 {
        ledger.done.notify_one();
    }
}

pub(crate) async fn run(
    args: &Args,
    store: &'static str,
    client: &Client,
    usage: &dyn Fn() -> anyhow::Result<Usage>,
    floor: Option<Floor>,
) -> anyhow::Result<Vec<Line>> {
    let empty = usage()?;
    let began = Instant::now();
    enqueue(args, client).await?;
    let enqueue_time = began.elapsed();
    let full = usage()?;

    let ledger = ledger(args.tasks);
    let began = Instant::now();
    drain(args, client, &ledger).await?;
    let drain_time = began.elapsed();
    let after = usage()?;

    let (lost, duplicates) = reconcile(&ledger);
    let cpu = |from: &Usage, to: &Usage| Some((to.cpu_us? - from.cpu_us?) / args.tasks as f64);
    let line = |phase, time, cpu, floor| Line::new(phase, store, args.tasks, time, cpu, floor);
    let bytes = full.bytes.saturating_sub(empty.bytes) as f64 / args.tasks as f64;
    let mut lines = vec![
        line("enqueue", enqueue_time, cpu(&empty, &full), floor.map(|floor| floor.enqueue_us)),
        line("drain", drain_time, cpu(&full, &after), floor.map(|floor| floor.drain_us)),
        line(
            "total",
            enqueue_time + drain_time,
            cpu(&empty, &after),
            floor.map(|floor| floor.enqueue_us + floor.drain_us),
        ),
    ];
    for line in &mut lines {
        line.bytes_per_queued_task = Some(bytes);
    }
    lines[1].lost = lost;
    lines[1].duplicates = duplicates;
    lines[2].duplicates = duplicates;
    Ok(lines)
}

async fn enqueue(args: &Args, client: &Client) -> anyhow::Result<()> {
    // `{"n":12345,"padding":".."}`: the rest of the payload is padding.
    let padding = "x".repeat(args.payload.saturating_sub(24));
    for start in (0..args.tasks).step_by(CHUNK) {
        let numbers = start..args.tasks.min(start + CHUNK);
        noop::enqueue_many(numbers.map(|n| (n, padding.clone()))).on(client).await?;
    }
    Ok(())
}

fn ledger(tasks: usize) -> Arc<Ledger> {
    let runs = (0..tasks).map(|_| AtomicU8::new(0)).collect();
    Arc::new(Ledger { runs, left: AtomicUsize::new(tasks), done: Notify::new() })
}

async fn drain(args: &Args, client: &Client, ledger: &Arc<Ledger>) -> anyhow::Result<()> {
    let mut app = App::new();
    app.state(ledger.clone());
    let worker = Worker::new(client.clone(), app, WorkerConfig::new().concurrency(args.concurrency))?.start().await?;
    let mut left = ledger.left.load(Ordering::Acquire);
    while tokio::time::timeout(STALL, ledger.done.notified()).await.is_err() {
        let now = ledger.left.load(Ordering::Acquire);
        if now == left {
            break;
        }
        left = now;
    }
    // The stop settles what has run: without it the last settles would not be in the figures.
    worker.stop().await;
    Ok(())
}

fn reconcile(ledger: &Ledger) -> (usize, usize) {
    let runs = ledger.runs.iter().map(|runs| usize::from(runs.load(Ordering::Relaxed)));
    runs.fold((0, 0), |(lost, more), runs| (lost + usize::from(runs == 0), more + runs.saturating_sub(1)))
}

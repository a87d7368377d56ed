//! One step of the hot path at a time, for a profiler: what enqueuing or running a task costs this side, in instructions.
//!
//! ```text
//! cargo build --release --example hot-path
//! valgrind --tool=callgrind target/release/examples/hot-path batch --tasks 20000
//! valgrind --tool=callgrind target/release/examples/hot-path drain --tasks 20000
//! ```
//!
//! The cost of a task is the difference of two runs of different length, divided by the difference of their lengths. What
//! a step needs beforehand is done by another process, which the profiler does not follow. One thread, so that the counts
//! hardly vary.

#![allow(clippy::print_stdout, reason = "an example speaks to its reader")]

use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Context as _, ensure};
use clap::{Parser, ValueEnum};
use dtq::types::QueueName;
use dtq::{App, Client, Worker, WorkerConfig};
use dtq_examples::{Appendonly, RedisServer};
use tokio::sync::Notify;

#[derive(Debug, Parser)]
#[command(about = "Runs one step of the hot path, for a profiler")]
struct Args {
    /// What to do with the tasks
    step: Step,
    /// How many
    #[arg(long, default_value_t = 10_000)]
    tasks: usize,
    /// Where the tasks are to be
    #[arg(long, default_value = "redis")]
    store: StoreKind,
    /// Bytes of arguments per task
    #[arg(long, default_value_t = 180)]
    payload: usize,
    /// The store to use instead of one of its own
    #[arg(long, hide = true)]
    url: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Step {
    /// Enqueue them one by one
    Single,
    /// Enqueue them in batches
    Batch,
    /// Run them
    Drain,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum StoreKind {
    Redis,
    Sqlite,
}

/// How many tasks are to run yet.
#[derive(Debug)]
struct Left {
    count: AtomicUsize,
    none: Notify,
}

#[dtq::task(queue = "hot-path", retention = "0s")]
async fn noop(#[state] left: &Arc<Left>, n: usize, padding: String) {
    let _ = (n, padding);
    if left.count.fetch_sub(1, Ordering::AcqRel) == 1 {
        left.none.notify_one();
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let args = Args::parse();
    // Both live until the step is done.
    let folder = tempfile::tempdir()?;
    let mut server = None;
    let url = match (&args.url, args.store) {
        (Some(url), _) => url.clone(),
        (None, StoreKind::Redis) => server.insert(RedisServer::start(Appendonly::No)?).url(),
        (None, StoreKind::Sqlite) => format!("sqlite:{}", folder.path().join("tasks.db").display()),
    };
    let client = Client::connect(&url)?;
    match args.step {
        Step::Single => {
            for n in 0..args.tasks {
                noop::enqueue(n, padding(&args)).on(&client).await?;
            }
        }
        Step::Batch => {
            noop::enqueue_many((0..args.tasks).map(|n| (n, padding(&args)))).on(&client).await?;
        }
        Step::Drain => {
            fill(&args, &url)?;
            drain(client, args.tasks).await?;
        }
    }
    println!("{:?}: {} tasks of {} bytes", args.step, args.tasks, args.payload);
    Ok(())
}

/// So much that the arguments take as many bytes as asked for, with a number of five digits.
fn padding(args: &Args) -> String {
    "x".repeat(args.payload.saturating_sub(r#"{"n":12345,"padding":""}"#.len()))
}

/// Enqueues the tasks in another process.
fn fill(args: &Args, url: &str) -> anyhow::Result<()> {
    let program = std::env::current_exe().context("find this program")?;
    let (tasks, payload) = (args.tasks.to_string(), args.payload.to_string());
    let mut fill = Command::new(program);
    fill.args(["batch", "--tasks", &tasks, "--payload", &payload, "--url", url]).stdout(Stdio::null());
    ensure!(fill.status()?.success(), "the tasks could not be enqueued");
    Ok(())
}

async fn drain(client: Client, tasks: usize) -> anyhow::Result<()> {
    let left = Arc::new(Left { count: AtomicUsize::new(tasks), none: Notify::new() });
    let mut app = App::new();
    app.register::<noop>().only_registered().state(left.clone());
    let config = WorkerConfig::new().concurrency(512).queues([QueueName::new("hot-path")?]);
    let worker = Worker::new(client, app, config)?.start().await?;
    if tasks > 0 {
        left.none.notified().await;
    }
    ensure!(worker.stop().await.drained, "the worker was not drained");
    Ok(())
}

//! Real work in one program: every file of a folder is read by a task, beside a task that fails twice, one that fails
//! for good, and a report.
//!
//! `cargo run --example quickstart [-- FOLDER]`; with `DTQ_URL=redis://127.0.0.1:6379` the same on Redis.

#![allow(clippy::print_stdout, reason = "an example speaks to its reader")]

mod report;
mod tasks;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use dtq::prelude::*;
use dtq::types::{QueueName, QueueStats};
use dtq::{RunningWorker, Worker, WorkerConfig};
use indicatif::{ProgressBar, ProgressStyle};
use walkdir::WalkDir;

use report::Summary;
use tasks::{Base, FileInfo, digest, flaky, hopeless, report as report_task};

/// Long enough for the slowest disk; the retries take about half a second.
const PATIENCE: Duration = Duration::from_secs(300);

/// How many files the report names.
const LARGEST: usize = 5;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let base = std::env::args_os().nth(1).map_or_else(|| PathBuf::from("."), PathBuf::from);
    let base = base.canonicalize().with_context(|| format!("the folder {} cannot be read", base.display()))?;
    let client = Client::current()?;
    let queue = QueueName::new(tasks::QUEUE)?;
    // A store that was used before has counts already; only what this run adds is told.
    let before = client.stats(&queue).await?;
    let worker = start_worker(&client, &base).await?;
    let began = Instant::now();

    let files = files_under(&base);
    println!("{} files under {}", files.len(), base.display());
    let digests = digest::enqueue_many(files).await?;
    let flaky = flaky::enqueue(2).await?;
    let hopeless = hopeless::enqueue("a parcel without an address".into()).await?;

    let bar = progress_bar(digests.len() as u64 + 2);
    let mut infos: Vec<FileInfo> = Vec::new();
    for handle in &digests {
        infos.push(handle.result(PATIENCE).await?);
        bar.inc(1);
    }
    let attempts: u32 = flaky.result(PATIENCE).await?;
    bar.inc(1);
    // This one ends among the dead letters; its handle says so.
    let error = hopeless.result(PATIENCE).await.err();
    bar.inc(1);
    bar.finish_and_clear();

    infos.sort_by_key(|info| std::cmp::Reverse(info.bytes));
    let bytes = infos.iter().map(|info| info.bytes).sum();
    infos.truncate(LARGEST);
    let largest = report_task::enqueue(infos).await?.result(PATIENCE).await?;
    let elapsed = began.elapsed();
    worker.stop().await;

    let accepted = digests.len() as u64 + 3;
    let stats = added(client.stats(&queue).await?, before);
    let dead = client.get(hopeless.id()).await?.context("the dead letter has no record")?;
    Summary { accepted, stats, elapsed, bytes, largest, attempts, dead, error }.print()
}

async fn start_worker(client: &Client, base: &Path) -> anyhow::Result<RunningWorker> {
    let mut app = App::new();
    app.state(Base(base.to_path_buf()));
    let config = WorkerConfig::new().concurrency(std::thread::available_parallelism()?.get() * 4);
    Ok(Worker::new(client.clone(), app, config)?.start().await?)
}

/// Paths relative to the base, sorted; build output and version control are left out, and so is the store's own file.
fn files_under(base: &Path) -> Vec<PathBuf> {
    let skipped = |name: &str| matches!(name, "target" | ".git" | "node_modules") || name.starts_with("dtq.db");
    let walk = WalkDir::new(base).sort_by_file_name().into_iter();
    walk.filter_entry(|entry| entry.depth() == 0 || !entry.file_name().to_str().is_some_and(skipped))
        .filter_map(Result::ok)
        .filter(|entry| entry.file_type().is_file())
        .filter_map(|entry| entry.path().strip_prefix(base).ok().map(Path::to_path_buf))
        .collect()
}

fn progress_bar(length: u64) -> ProgressBar {
    let style = ProgressStyle::with_template("{bar:40} {pos}/{len} {per_sec} {elapsed}");
    ProgressBar::new(length).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

fn added(now: QueueStats, before: QueueStats) -> QueueStats {
    QueueStats {
        succeeded: now.succeeded - before.succeeded,
        failed: now.failed - before.failed,
        dead_lettered: now.dead_lettered - before.dead_lettered,
        cancelled: now.cancelled - before.cancelled,
        expired: now.expired - before.expired,
        retries: now.retries - before.retries,
        ..now
    }
}

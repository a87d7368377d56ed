//! Real work in one program: every file of a folder is read by a task, beside a task that fails twice, one that fails
//! for good, and a report.
//!
//! `cargo run --example quickstart [-- FOLDER]`; with `DTQ_URL=redis://127.0.0.1:6379` the same on Redis.

#![allow(clippy::print_stdout, reason = "an example speaks to its reader")]

mod summary;
mod tasks;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use dtq::prelude::*;
use dtq::types::Record;
use dtq::{ResultError, RunningWorker, Worker, WorkerConfig};
use indicatif::{ProgressBar, ProgressStyle};
use walkdir::WalkDir;

use summary::Summary;
use tasks::{ChunkSize, FileInfo, digest, flaky, hopeless, report};

/// Long enough for the slowest disk; the retries take about half a second.
const PATIENCE: Duration = Duration::from_secs(300);

/// How many files the report names.
const LARGEST: usize = 5;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let base = std::env::args_os().nth(1).map_or_else(|| PathBuf::from("."), PathBuf::from);
    anyhow::ensure!(base.is_dir(), "usage: quickstart [FOLDER]; {} is not a folder", base.display());
    let base = base.canonicalize().with_context(|| format!("the folder {} cannot be read", base.display()))?;
    let client = Client::current()?;
    let worker = start_worker(&client).await?;
    let began = Instant::now();

    let files = files_under(&base);
    println!("{} files under {}", files.len(), base.display());
    let digests = digest::enqueue_many(files).await?;
    let flaky = flaky::enqueue(2).await?;
    let hopeless = hopeless::enqueue("a parcel without an address".into()).await?;

    let bar = progress_bar(digests.len() as u64 + 2);
    let mut infos: Vec<FileInfo> = Vec::new();
    let mut failed: Vec<Record> = Vec::new();
    for handle in &digests {
        match handle.result(PATIENCE).await {
            Ok(info) => infos.push(info),
            // A file that cannot be read: its task has tried, and is among the dead letters now.
            Err(ResultError::NotSucceeded { .. }) => failed.extend(handle.record().await?),
            Err(error) => return Err(error.into()),
        }
        bar.inc(1);
    }
    let attempts = flaky.result(PATIENCE).await?;
    bar.inc(1);
    // This one ends among the dead letters; its handle says so.
    let error = hopeless.result(PATIENCE).await.err().context("the hopeless task has succeeded")?;
    failed.extend(hopeless.record().await?);
    bar.inc(1);
    bar.finish_and_clear();

    infos.sort_by_key(|info| std::cmp::Reverse(info.bytes));
    let (bytes, read) = (infos.iter().map(|info| info.bytes).sum(), infos.len());
    infos.truncate(LARGEST);
    let largest = report::enqueue(infos).await?.result(PATIENCE).await?;
    let elapsed = began.elapsed();
    worker.stop().await;

    // The digests, the flaky task and the report.
    let (accepted, succeeded) = (digests.len() + 3, read + 2);
    Summary { accepted, succeeded, failed, elapsed, bytes, largest, attempts, error }.print()
}

async fn start_worker(client: &Client) -> anyhow::Result<RunningWorker> {
    let mut app = App::new();
    app.state(ChunkSize(64 * 1024));
    let config = WorkerConfig::new().concurrency(std::thread::available_parallelism()?.get() * 4);
    Ok(Worker::new(client.clone(), app, config)?.start().await?)
}

/// Whole paths, since another quickstart's worker may run the task; sorted. Build output, version control and the store's
/// own file are left out, and so are names that are not Unicode: arguments are stored as JSON.
fn files_under(base: &Path) -> Vec<PathBuf> {
    let skipped = |name: &str| matches!(name, "target" | ".git" | "node_modules") || name.starts_with("dtq.db");
    let walk = WalkDir::new(base).sort_by_file_name().into_iter();
    walk.filter_entry(|entry| entry.depth() == 0 || !entry.file_name().to_str().is_some_and(skipped))
        .filter_map(Result::ok)
        .filter(|entry| entry.file_type().is_file() && entry.path().to_str().is_some())
        .map(walkdir::DirEntry::into_path)
        .collect()
}

fn progress_bar(length: u64) -> ProgressBar {
    let style = ProgressStyle::with_template("{bar:40} {pos}/{len} {per_sec} {elapsed}");
    ProgressBar::new(length).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

//! The phases. Each sets up what it needs, measures, and reconciles.

mod delayed;
mod fleet;
mod idle;
mod latency;
mod load;
mod memory;
mod notice;
mod retries;
mod standing;
mod submit;
mod tasks;

use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::ValueEnum;
use dtq::{App, RunningWorker, Worker, WorkerConfig};

use crate::ledger::Ledger;
use crate::options::Args;
use crate::report::Line;
use crate::setting::Setting;
use crate::usage::{Server, Usage};
pub(crate) use tasks::Gate;

/// After a start, until only what idling costs is left.
const QUIET: Duration = Duration::from_secs(2);

/// What is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Phase {
    /// Every phase
    All,
    /// Enqueue one task after the other
    Single,
    /// Enqueue from 64 callers at once
    Concurrent,
    /// Enqueue in batches, then drain with one worker
    Batch,
    /// The same, with results that are kept
    Results,
    /// The same, with 64 KiB of arguments
    Large,
    /// The same, in ten priorities
    Priorities,
    /// Enqueue and drain behind few and many tasks that are ready, and compare
    Backlog,
    /// Enqueue and drain beside few and many tasks that are scheduled for later, and compare
    Scheduled,
    /// Drain with worker processes: one, then several
    Fleet,
    /// Time from an enqueue to the handler's start, at a given rate, with idle workers
    Latency,
    /// The same, at half of the rate at which one worker drains
    HalfLoad,
    /// Time from an enqueue in one process to the handler's start in another, which is idle
    Notice,
    /// How late delayed tasks begin, with idle workers
    Delayed,
    /// Tasks that fail twice before they succeed
    Retries,
    /// What an idle worker costs
    Idle,
    /// What a task takes up, and a worker with ten thousand of them
    Memory,
}

/// The phases asked for, each once.
pub(crate) fn chosen(asked: &[Phase]) -> Vec<Phase> {
    let all = asked.contains(&Phase::All);
    let wanted = |phase: &Phase| *phase != Phase::All && (all || asked.contains(phase));
    Phase::value_variants().iter().copied().filter(wanted).collect()
}

pub(crate) async fn run(phase: Phase, args: &Args) -> anyhow::Result<Vec<Line>> {
    let setting = Setting::new(args)?;
    match phase {
        Phase::All => Ok(Vec::new()),
        Phase::Single => submit::single(args, &setting).await,
        Phase::Concurrent => submit::concurrent(args, &setting).await,
        Phase::Batch => load::batch(args, &setting).await,
        Phase::Results => load::results(args, &setting).await,
        Phase::Large => load::large(args, &setting).await,
        Phase::Priorities => load::priorities(args, &setting).await,
        Phase::Backlog => standing::backlog(args, &setting).await,
        Phase::Scheduled => standing::scheduled(args, &setting).await,
        Phase::Fleet => fleet::run(args, &setting).await,
        Phase::Notice => notice::run(args, &setting).await,
        Phase::Latency => latency::at_rate(args, &setting).await,
        Phase::HalfLoad => latency::at_half_load(args, &setting).await,
        Phase::Delayed => delayed::run(args, &setting).await,
        Phase::Retries => retries::run(args, &setting).await,
        Phase::Idle => idle::run(args, &setting).await,
        Phase::Memory => memory::run(args, &setting).await,
    }
}

/// A worker with connections of its own.
async fn worker(setting: &Setting, concurrency: usize, ledger: &Arc<Ledger>) -> anyhow::Result<RunningWorker> {
    gated_worker(setting, concurrency, ledger, &Arc::default()).await
}

/// The same; what it holds goes on when the gate opens.
async fn gated_worker(
    setting: &Setting,
    concurrency: usize,
    ledger: &Arc<Ledger>,
    gate: &Arc<Gate>,
) -> anyhow::Result<RunningWorker> {
    let mut app = App::new();
    app.state(ledger.clone()).state(gate.clone());
    let config = WorkerConfig::new().concurrency(concurrency);
    Ok(Worker::new(setting.client()?, app, config)?.start().await?)
}

/// A span of time, and what was used in it.
struct Span {
    began: Instant,
    before: Usage,
    worker_us: f64,
}

/// What a span came to.
struct Spent {
    time: Duration,
    cpu_us: Option<f64>,
    sent: Option<f64>,
    called: Option<f64>,
    waits: Option<f64>,
    bytes: f64,
    /// CPU time of this process: of the workers, and of whoever enqueues.
    process_us: f64,
}

impl Span {
    fn begin(setting: &Setting) -> anyhow::Result<Self> {
        let (before, worker_us) = (setting.usage()?, crate::process::cpu_us());
        Ok(Self { began: Instant::now(), before, worker_us })
    }

    fn end(&self, setting: &Setting) -> anyhow::Result<Spent> {
        let time = self.began.elapsed();
        let after = setting.usage()?;
        let (from, to) = (self.before.server, after.server);
        let spent = |of: fn(&Server) -> f64| Some(of(to.as_ref()?) - of(from.as_ref()?));
        Ok(Spent {
            time,
            cpu_us: spent(|server| server.cpu_us),
            sent: spent(|server| server.sent),
            called: spent(|server| server.called),
            waits: spent(|server| server.waits),
            bytes: after.bytes as f64 - self.before.bytes as f64,
            process_us: crate::process::cpu_us() - self.worker_us,
        })
    }
}

impl Spent {
    /// Two spans as one.
    fn both(one: &Self, other: &Self) -> Self {
        let sum = |of: fn(&Self) -> Option<f64>| Some(of(one)? + of(other)?);
        Self {
            time: one.time + other.time,
            cpu_us: sum(|it| it.cpu_us),
            sent: sum(|it| it.sent),
            called: sum(|it| it.called),
            waits: sum(|it| it.waits),
            bytes: one.bytes + other.bytes,
            process_us: one.process_us + other.process_us,
        }
    }

    /// A line of this span, per task.
    fn line(&self, phase: &'static str, args: &Args, tasks: usize) -> Line {
        let per_task = |value: Option<f64>| value.map(|value| value / tasks as f64);
        Line::new(phase, args, tasks, self.time)
            .with("server_us_per_task", per_task(self.cpu_us))
            .with("commands_sent_per_task", per_task(self.sent))
            .with("commands_called_per_task", per_task(self.called))
            .with("waits_per_task", per_task(self.waits))
            .with("process_us_per_task", self.process_us / tasks as f64)
    }
}

//! The command line.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::ensure;
use clap::{Args, Parser, Subcommand, ValueEnum};

/// Breaks a fleet of workers in every way it can, and reconciles every accepted task.
#[derive(Debug, Parser)]
#[command(name = "chaos", args_conflicts_with_subcommands = true)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) options: Options,
    #[command(subcommand)]
    pub(crate) member: Option<Member>,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct Options {
    /// The store to break
    #[arg(long, value_enum, default_value = "sqlite")]
    pub(crate) store: StoreKind,
    /// What the store has on its disk when it has answered: always, everysec or none (Redis), full or normal (SQLite)
    #[arg(long, value_enum)]
    persistence: Option<Persistence>,
    /// Where all randomness comes from: the same seed makes the same plan
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
    /// How many tasks
    #[arg(long, default_value_t = 5_000)]
    pub(crate) tasks: usize,
    /// How long tasks are enqueued and faults happen
    #[arg(long, conflicts_with = "minutes")]
    seconds: Option<f64>,
    /// The same, in minutes
    #[arg(long)]
    minutes: Option<f64>,
    /// Worker processes
    #[arg(long, default_value_t = 4)]
    pub(crate) workers: usize,
    /// How long the fleet may take to finish what is left when the faults are over, in seconds
    #[arg(long, default_value_t = 60)]
    drain: u64,
    /// A restart of the server loses what was not synced, as a power failure does; exits with 3 when that lost tasks
    #[arg(long)]
    pub(crate) power_loss: bool,
    /// Print the plan and do nothing
    #[arg(long)]
    pub(crate) plan: bool,
    /// Keep ledgers and logs in this folder; they are kept anyway when something is wrong
    #[arg(long)]
    pub(crate) keep: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum StoreKind {
    Sqlite,
    Redis,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Persistence {
    Always,
    Everysec,
    None,
    Full,
    Normal,
}

/// What the program does as a part of the fleet that it starts.
#[derive(Debug, Subcommand)]
pub(crate) enum Member {
    #[command(hide = true)]
    Worker(WorkerArgs),
    #[command(hide = true)]
    Producer(ProducerArgs),
}

#[derive(Debug, Args)]
pub(crate) struct WorkerArgs {
    #[command(flatten)]
    pub(crate) place: PlaceArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ProducerArgs {
    #[command(flatten)]
    pub(crate) place: PlaceArgs,
    #[arg(long)]
    pub(crate) seed: u64,
    #[arg(long)]
    pub(crate) tasks: usize,
    #[arg(long)]
    pub(crate) span_ms: u64,
    /// When production began, in microseconds since the Unix epoch: a restarted producer goes on in the same plan
    #[arg(long)]
    pub(crate) began: u64,
}

/// Where a member of the fleet works and writes.
#[derive(Debug, Args)]
pub(crate) struct PlaceArgs {
    #[arg(long)]
    pub(crate) url: String,
    #[arg(long)]
    pub(crate) normal: bool,
    /// The name of this process, one for each start
    #[arg(long)]
    pub(crate) name: String,
    #[arg(long)]
    pub(crate) ledger: PathBuf,
}

impl Options {
    pub(crate) fn check(&self) -> anyhow::Result<()> {
        let of_redis = matches!(self.persistence(), Persistence::Always | Persistence::Everysec | Persistence::None);
        ensure!(of_redis == (self.store == StoreKind::Redis), "--persistence does not fit --store");
        ensure!(self.store == StoreKind::Redis || !self.power_loss, "--power-loss is for --store redis");
        ensure!(self.tasks > 0 && self.workers > 1, "there must be tasks, and at least two workers");
        ensure!(self.span() >= Duration::from_secs(1), "the run must last a second at least");
        Ok(())
    }

    pub(crate) fn persistence(&self) -> Persistence {
        self.persistence.unwrap_or(match self.store {
            StoreKind::Redis => Persistence::Always,
            StoreKind::Sqlite => Persistence::Full,
        })
    }

    /// How long tasks are enqueued and faults happen.
    pub(crate) fn span(&self) -> Duration {
        let seconds = self.seconds.or(self.minutes.map(|minutes| minutes * 60.0)).unwrap_or(30.0);
        Duration::try_from_secs_f64(seconds).unwrap_or_default()
    }

    pub(crate) fn drain(&self) -> Duration {
        Duration::from_secs(self.drain)
    }

    /// True when the server can be restarted without losing everything by definition, or that is what is wanted.
    pub(crate) fn restarts_server(&self) -> bool {
        self.store == StoreKind::Redis && (self.persistence() != Persistence::None || self.power_loss)
    }
}

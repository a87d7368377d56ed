//! What the program is told.

use clap::{Parser, ValueEnum};

use crate::phases::Phase;

#[derive(Debug, Parser)]
#[command(about = "Measures dtq")]
pub(crate) struct Options {
    /// The phases to run, separated by commas; `all` for all of them
    #[arg(long, value_enum, value_delimiter = ',', default_values = ["single", "concurrent", "batch"])]
    pub(crate) phase: Vec<Phase>,
    /// What the store has on its disk when it answers, separated by commas: each phase runs with each. On SQLite always is
    /// `synchronous = FULL`, the others are NORMAL. The disk is that of TMPDIR
    #[arg(long, value_enum, value_delimiter = ',', default_value = "always")]
    persistence: Vec<Persistence>,
    /// Round trips to add between dtq and the Redis server, in milliseconds, separated by commas: each phase runs with each
    #[arg(long, value_name = "MS", value_delimiter = ',', default_value = "0")]
    round_trip: Vec<f64>,
    #[command(flatten)]
    args: Args,
    /// One JSON object a line instead of a table
    #[arg(long)]
    pub(crate) json: bool,
    /// Be the other process of a phase, at work on the store at this place
    #[arg(long, hide = true, value_name = "PLACE")]
    pub(crate) part: Option<String>,
}

/// What one run of a phase is told.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Args {
    /// The store to measure
    #[arg(long, value_enum, default_value = "sqlite")]
    pub(crate) store: StoreKind,
    /// The one of this run.
    #[arg(skip)]
    pub(crate) persistence: Persistence,
    /// The one of this run, in milliseconds.
    #[arg(skip)]
    pub(crate) round_trip: f64,
    /// How many tasks a phase enqueues
    #[arg(long, default_value_t = 50_000)]
    pub(crate) tasks: usize,
    /// Tasks that run at once at most
    #[arg(long, default_value_t = 512)]
    pub(crate) concurrency: usize,
    /// Bytes of arguments per task
    #[arg(long, default_value_t = 180)]
    pub(crate) payload: usize,
    /// Tasks a second in the phase `latency`
    #[arg(long, default_value_t = 200)]
    pub(crate) rate: u32,
    /// Idle workers in the phases `latency` and `delayed`
    #[arg(long, default_value_t = 8)]
    pub(crate) workers: usize,
    /// Worker processes in the phase `fleet`, separated by commas: one fleet after the other
    #[arg(long, value_delimiter = ',', default_values_t = [1, 4])]
    pub(crate) processes: Vec<usize>,
    /// Tasks that stand in the queue, or on the schedule, in the phases `backlog` and `scheduled`; a hundredth of them first
    #[arg(long, default_value_t = 1_000_000)]
    pub(crate) backlog: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum StoreKind {
    Sqlite,
    Redis,
}

impl StoreKind {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Sqlite => "sqlite",
            Self::Redis => "redis",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum Persistence {
    None,
    Everysec,
    #[default]
    Always,
}

impl Persistence {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Everysec => "everysec",
            Self::Always => "always",
        }
    }
}

impl Options {
    /// Refuses what cannot be measured.
    pub(crate) fn check(&self) -> anyhow::Result<()> {
        let args = &self.args;
        anyhow::ensure!(args.tasks > 0, "--tasks must be at least 1");
        anyhow::ensure!(args.rate > 0, "--rate must be at least 1");
        anyhow::ensure!(args.workers > 0, "--workers must be at least 1");
        anyhow::ensure!(args.backlog > 0, "--backlog must be at least 1");
        anyhow::ensure!(args.processes.iter().all(|&many| many > 0), "--processes must be at least 1");
        let usable = self.round_trip.iter().all(|ms| (0.0..=1000.0).contains(ms));
        anyhow::ensure!(usable, "--round-trip must lie between 0 and 1000 ms");
        let (sqlite, delayed) = (args.store == StoreKind::Sqlite, self.round_trip.iter().any(|&ms| ms > 0.0));
        anyhow::ensure!(!(sqlite && delayed), "--round-trip is for --store redis: a file has none");
        Ok(())
    }

    /// What each run of a phase is told: each persistence with each round trip.
    pub(crate) fn runs(&self) -> Vec<Args> {
        let run = |persistence, round_trip| Args { persistence, round_trip, ..self.args.clone() };
        let with_each_trip = |&persistence| self.round_trip.iter().map(move |&round_trip| run(persistence, round_trip));
        self.persistence.iter().flat_map(with_each_trip).collect()
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// What a run is told when nothing is said.
    pub(crate) fn defaults() -> Args {
        Options::parse_from(["bench"]).args
    }

    fn told(words: &str) -> Options {
        Options::parse_from(std::iter::once("bench").chain(words.split(' ')))
    }

    #[test]
    fn each_persistence_is_run_with_each_round_trip() {
        let options = told("--store redis --persistence none,always --round-trip 0,1.5 --tasks 7");
        options.check().unwrap();
        let runs: Vec<_> = options.runs().iter().map(|run| (run.persistence, run.round_trip, run.tasks)).collect();
        let (none, always) = (Persistence::None, Persistence::Always);
        assert_eq!(runs, [(none, 0.0, 7), (none, 1.5, 7), (always, 0.0, 7), (always, 1.5, 7)]);
    }

    #[test]
    fn what_cannot_be_measured_is_refused() {
        for words in ["--round-trip 0,1", "--store redis --round-trip 0,-1", "--processes 1,0", "--backlog 0"] {
            assert!(told(words).check().is_err(), "{words}");
        }
    }
}

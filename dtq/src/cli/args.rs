//! The command line.

use std::path::PathBuf;

use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand};

use super::verbs::Verb;
use super::verbs::completions::Completions;
use super::verbs::tasks::Tasks;

/// What only a worker reads stands by itself in the help.
const WORKER: &str = "Worker settings";
/// What every command reads, too.
const STORE: &str = "Store";

/// Told at the end of the help.
pub(super) const EXIT_CODES: &str = "\
Settings are taken from flags, else from the environment (DTQ_..),
else from dtq.toml, else from defaults.

Exit codes:
  0    done
  1    the store failed, or what was asked for is not there;
       `doctor` found something wrong; a question was answered with no
  2    an option, a setting or a task is not usable, or a question was
       to be asked and there was nobody to ask: nothing was done
  3    set-up failed
  4    the worker stopped, and gave tasks back unfinished
  130  a second signal cut the worker's shutdown short";

/// A program with tasks.
#[derive(Debug, Parser)]
#[command(version = None, about = "Runs this program's tasks, and steers their queues", after_help = EXIT_CODES)]
pub(super) struct ProgramArgs {
    #[command(subcommand)]
    pub(super) command: Option<Command>,
    #[command(flatten)]
    pub(super) store: StoreArgs,
    #[command(flatten)]
    pub(super) worker: WorkerArgs,
}

/// The command `dtq`: all but what needs a program's tasks.
#[derive(Debug, Parser)]
#[command(name = "dtq", version, about = "Steers a dtq store: its queues, tasks and workers", after_help = EXIT_CODES)]
#[command(mut_subcommand("worker", |it| it.hide(true)), mut_subcommand("tasks", |it| it.hide(true)))]
pub(super) struct ToolArgs {
    #[command(subcommand)]
    pub(super) command: Command,
    #[command(flatten)]
    pub(super) store: StoreArgs,
}

/// Where the store is.
#[derive(Debug, Clone, Default, Args)]
pub(super) struct StoreArgs {
    /// The store: sqlite:FILE, redis://HOST:PORT/DB or unix:PATH [env: DTQ_URL] [default: sqlite:dtq.db]
    #[arg(long, help_heading = STORE, global = true)]
    pub(super) url: Option<String>,

    /// The settings file [env: DTQ_CONFIG] [default: dtq.toml, if there is one]
    #[arg(long, value_name = "FILE", help_heading = STORE, global = true)]
    pub(super) config: Option<PathBuf>,
}

/// How a worker works.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = WORKER)]
pub(super) struct WorkerArgs {
    /// The queues to read, in order of preference; NAME=WEIGHT to share by weight instead [env: DTQ_QUEUES] [default: those
    /// that tasks name]
    #[arg(long, value_delimiter = ',', value_name = "NAME,..")]
    pub(super) queues: Option<Vec<String>>,

    /// Tasks that run at once at most [env: DTQ_CONCURRENCY] [default: 64]
    #[arg(long, value_name = "N")]
    pub(super) concurrency: Option<String>,

    /// Tasks fetched ahead of a free slot [env: DTQ_PREFETCH] [default: 0]
    #[arg(long, value_name = "N")]
    pub(super) prefetch: Option<String>,

    /// How long a lease lasts without renewal, such as 30s [env: DTQ_LEASE] [default: 30s]
    #[arg(long, value_name = "DURATION")]
    pub(super) lease: Option<String>,

    /// How long a shutdown waits for running tasks, such as 30s [env: DTQ_DRAIN_TIMEOUT] [default: 30s]
    #[arg(long, value_name = "DURATION")]
    pub(super) drain_timeout: Option<String>,

    /// How long a task that was called off, or lost its lease, may go on before it is dropped [env: DTQ_CANCEL_GRACE]
    /// [default: 10s]
    #[arg(long, value_name = "DURATION")]
    pub(super) cancel_grace: Option<String>,

    /// The server whose messages subscribers read, as redis://HOST:PORT/DB [env: DTQ_SUBSCRIBE_URL] [default: the store]
    #[arg(long, value_name = "URL")]
    pub(super) subscribe_url: Option<String>,

    /// A worker is not ready once no fetch has worked for longer than this [env: DTQ_READY_THRESHOLD] [default: 10s]
    #[arg(long, value_name = "DURATION")]
    pub(super) ready_threshold: Option<String>,

    /// A file that exists exactly while the worker is ready, for probes [env: DTQ_READY_FILE] [default: none]
    #[arg(long, value_name = "FILE")]
    pub(super) ready_file: Option<PathBuf>,

    /// text or json [env: DTQ_LOG_FORMAT] [default: text]; what is logged is set by RUST_LOG [default: info]
    #[arg(long, value_name = "FORMAT")]
    pub(super) log_format: Option<String>,
}

impl WorkerArgs {
    /// These, and of the others what is not among them: flags may stand before and after the word `worker`.
    pub(super) fn or(self, others: Self) -> Self {
        Self {
            queues: self.queues.or(others.queues),
            concurrency: self.concurrency.or(others.concurrency),
            prefetch: self.prefetch.or(others.prefetch),
            lease: self.lease.or(others.lease),
            drain_timeout: self.drain_timeout.or(others.drain_timeout),
            cancel_grace: self.cancel_grace.or(others.cancel_grace),
            subscribe_url: self.subscribe_url.or(others.subscribe_url),
            ready_threshold: self.ready_threshold.or(others.ready_threshold),
            ready_file: self.ready_file.or(others.ready_file),
            log_format: self.log_format.or(others.log_format),
        }
    }
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Run the worker (what happens without a command, too)
    Worker(WorkerArgs),
    /// List the registered tasks with their options
    Tasks(Tasks),
    #[command(flatten)]
    Verb(Verb),
    /// Print completions for a shell
    Completions(Completions),
}

/// Parses the process's arguments as those of this program; answers `--help` and refuses nonsense by itself.
pub(super) fn parse_as<A: CommandFactory + FromArgMatches>(program: &'static str) -> A {
    let matches = named::<A>(program).get_matches();
    A::from_arg_matches(&matches).unwrap_or_else(|error| error.exit())
}

/// The command line of a program of this name.
pub(super) fn named<A: CommandFactory>(program: &'static str) -> clap::Command {
    A::command().name(program).bin_name(program)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_command_lines_are_sound() {
        named::<ProgramArgs>("app").debug_assert();
        named::<ToolArgs>("dtq").debug_assert();
    }

    #[test]
    fn flags_of_the_worker_stand_before_or_after_its_name() {
        let args = ProgramArgs::parse_from(["app", "--concurrency=7", "--lease=1m", "worker", "--lease", "2m"]);
        let Some(Command::Worker(flags)) = args.command else { panic!("{args:?}") };
        let flags = flags.or(args.worker);
        assert_eq!((flags.concurrency.as_deref(), flags.lease.as_deref()), (Some("7"), Some("2m")));
    }
}

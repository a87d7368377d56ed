//! The command line.

use std::path::PathBuf;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

use super::enqueue::Enqueue;

/// What only a worker reads stands by itself in the help.
const WORKER: &str = "Worker settings";

/// Runs this program's tasks.
///
/// Settings are taken from flags, else from the environment (DTQ_..), else from dtq.toml, else from defaults.
#[derive(Debug, Parser)]
#[command(version = None, about = "Runs this program's tasks")]
pub(super) struct Args {
    #[command(subcommand)]
    pub(super) command: Option<Command>,

    /// The store: sqlite:FILE, redis://HOST:PORT/DB or unix:PATH [default: sqlite:dtq.db]
    #[arg(long, env = "DTQ_URL", hide_env_values = true, global = true)]
    pub(super) url: Option<String>,

    /// The settings file [default: dtq.toml, if there is one]
    #[arg(long, env = "DTQ_CONFIG", hide_env_values = true, value_name = "FILE", global = true)]
    pub(super) config: Option<PathBuf>,

    /// The queues to read, in order of preference; NAME=WEIGHT to share by weight instead [default: those that tasks name]
    #[arg(long, env = "DTQ_QUEUES", hide_env_values = true, value_delimiter = ',', value_name = "NAME,..", help_heading = WORKER, global = true)]
    pub(super) queues: Option<Vec<String>>,

    /// Tasks that run at once at most [default: 64]
    #[arg(long, env = "DTQ_CONCURRENCY", hide_env_values = true, value_name = "N", help_heading = WORKER, global = true)]
    pub(super) concurrency: Option<String>,

    /// Tasks fetched ahead of a free slot [default: 0]
    #[arg(long, env = "DTQ_PREFETCH", hide_env_values = true, value_name = "N", help_heading = WORKER, global = true)]
    pub(super) prefetch: Option<String>,

    /// How long a lease lasts without renewal, such as 30s [default: 30s]
    #[arg(long, env = "DTQ_LEASE", hide_env_values = true, value_name = "DURATION", help_heading = WORKER, global = true)]
    pub(super) lease: Option<String>,

    /// How long a shutdown waits for running tasks, such as 30s [default: 30s]
    #[arg(long, env = "DTQ_DRAIN_TIMEOUT", hide_env_values = true, value_name = "DURATION", help_heading = WORKER, global = true)]
    pub(super) drain_timeout: Option<String>,

    /// The server whose messages subscribers read, as redis://HOST:PORT/DB [default: the store]
    #[arg(long, env = "DTQ_SUBSCRIBE_URL", hide_env_values = true, value_name = "URL", help_heading = WORKER, global = true)]
    pub(super) subscribe_url: Option<String>,

    /// A worker is not ready once no fetch has worked for longer than this, such as 10s [default: 10s]
    #[arg(long, env = "DTQ_READY_THRESHOLD", hide_env_values = true, value_name = "DURATION", help_heading = WORKER, global = true)]
    pub(super) ready_threshold: Option<String>,

    /// A file that exists exactly while the worker is ready, for probes [default: none]
    #[arg(long, env = "DTQ_READY_FILE", hide_env_values = true, value_name = "FILE", help_heading = WORKER, global = true)]
    pub(super) ready_file: Option<PathBuf>,

    /// text or json [default: text]; what is logged is set by RUST_LOG [default: info]
    #[arg(long, env = "DTQ_LOG_FORMAT", hide_env_values = true, value_name = "FORMAT", help_heading = WORKER, global = true)]
    pub(super) log_format: Option<String>,
}

#[derive(Debug, Clone, Subcommand)]
pub(super) enum Command {
    /// Run the worker (what happens without a command, too)
    Worker,
    /// List the registered tasks with their options
    Tasks {
        /// One JSON object a line
        #[arg(long)]
        json: bool,
        /// Run set-up first, to find what it registers by hand (done anyway when nothing else is found)
        #[arg(long)]
        set_up: bool,
    },
    /// Enqueue one call of a task and print its id
    Enqueue(Enqueue),
}

impl Args {
    /// Parses the process's arguments; answers `--help` and refuses nonsense by itself.
    pub(super) fn parse_as(program: &'static str) -> Self {
        let matches = Self::command().name(program).bin_name(program).get_matches();
        Self::from_arg_matches(&matches).unwrap_or_else(|error| error.exit())
    }
}

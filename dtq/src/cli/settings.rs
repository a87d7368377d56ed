//! Settings: flags over environment over dtq.toml over defaults. An error names the setting and where it came from.

use std::io::IsTerminal;
use std::path::PathBuf;
use std::time::Duration;

use tracing_subscriber::EnvFilter;

use super::args::Args;
use crate::config_file::ConfigFile;
use crate::connect::DEFAULT_URL;
use crate::runtime::WorkerConfig;
use crate::types::QueueName;

/// The settings in force.
#[derive(Debug)]
pub(super) struct Settings {
    pub(super) url: Found<String>,
    pub(super) worker: WorkerConfig,
    pub(super) ready_file: Option<Found<PathBuf>>,
    json_logs: bool,
}

/// A value and the place it came from.
#[derive(Debug)]
pub(super) struct Found<T> {
    pub(super) value: T,
    pub(super) source: String,
}

impl Settings {
    pub(super) fn read(args: &Args) -> Result<Self, String> {
        let (file, path) = ConfigFile::read(args.config.as_deref())?;
        // Picks the stronger of two places. Clap has settled flag against environment already.
        macro_rules! pick {
            ($field:ident, $flag:literal) => {
                pick!($field, $flag, file.$field.clone())
            };
            ($field:ident, $flag:literal, $file:expr) => {
                match (args.$field.clone(), $file) {
                    (Some(value), _) => Some(Found { value, source: flag_or_variable($flag) }),
                    (None, Some(value)) => Some(Found { value, source: path.display().to_string() }),
                    (None, None) => None,
                }
            };
        }
        let mut worker = WorkerConfig::new();
        if let Some(found) = pick!(queues, "queues") {
            worker = queues(worker, &found)?;
        }
        if let Some(found) = pick!(concurrency, "concurrency", file.concurrency.map(|tasks| tasks.to_string())) {
            worker.concurrency = positive("concurrency", &found)?;
        }
        if let Some(found) = pick!(prefetch, "prefetch", file.prefetch.map(|tasks| tasks.to_string())) {
            worker.prefetch = whole("prefetch", &found)?;
        }
        if let Some(found) = pick!(lease, "lease") {
            worker.lease = duration("lease", &found)?;
            // Everything else that is set by now was checked, so what is wrong is the lease.
            worker.check().map_err(|rule| format!("lease (from {}): {rule}", found.source))?;
        }
        if let Some(found) = pick!(drain_timeout, "drain-timeout") {
            worker.drain_timeout = duration("drain-timeout", &found)?;
        }
        if let Some(found) = pick!(ready_threshold, "ready-threshold") {
            worker.ready_threshold = duration("ready-threshold", &found)?;
            worker.check().map_err(|rule| format!("ready-threshold (from {}): {rule}", found.source))?;
        }
        if let Some(found) = pick!(subscribe_url, "subscribe-url") {
            worker = worker.subscribe_url(found.value);
        }
        // An empty one is none, as for the URL.
        let ready_file = pick!(ready_file, "ready-file").filter(|found| !found.value.as_os_str().is_empty());
        let json_logs = pick!(log_format, "log-format").map_or(Ok(false), |found| json("log-format", &found))?;
        // An empty one is none, as for clients: then the weaker place is asked.
        let given = args.url.clone().filter(|url| !url.is_empty());
        let given = given.map(|value| Found { value, source: flag_or_variable("url") });
        let stored = || Some(Found { value: file.url()?.to_owned(), source: path.display().to_string() });
        let url =
            given.or_else(stored).unwrap_or_else(|| Found { value: DEFAULT_URL.into(), source: "the default".into() });
        Ok(Self { url, worker, ready_file, json_logs })
    }

    /// Sends log lines to standard error. A program that has set up its own logging keeps it.
    pub(super) fn install_logging(&self) {
        let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("info"));
        let builder = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
        // Colours are for people: a file or a journal gets plain text.
        let builder = builder.with_ansi(std::io::stderr().is_terminal());
        let _ = if self.json_logs { builder.json().try_init() } else { builder.try_init() };
    }
}

/// Names the place a command-line value came from: the flag when it stands there, else the variable.
fn flag_or_variable(flag: &str) -> String {
    let long = format!("--{flag}");
    let given = std::env::args().any(|arg| arg == long || arg.starts_with(&format!("{long}=")));
    if given { long } else { format!("DTQ_{}", flag.to_uppercase().replace('-', "_")) }
}

fn duration(name: &str, found: &Found<String>) -> Result<Duration, String> {
    humantime::parse_duration(&found.value).map_err(|error| {
        format!("{name} (from {}): {:?} is not a duration such as 30s or 1m30s: {error}", found.source, found.value)
    })
}

fn whole(name: &str, found: &Found<String>) -> Result<usize, String> {
    let wrong = |_| format!("{name} (from {}): {:?} is not a whole number such as 8", found.source, found.value);
    found.value.trim().parse().map_err(wrong)
}

fn positive(name: &str, found: &Found<String>) -> Result<usize, String> {
    match whole(name, found)? {
        0 => Err(format!("{name} (from {}): it must be at least 1", found.source)),
        value => Ok(value),
    }
}

fn json(name: &str, found: &Found<String>) -> Result<bool, String> {
    match found.value.as_str() {
        "json" => Ok(true),
        "text" => Ok(false),
        other => Err(format!("{name} (from {}): {other:?} is neither text nor json", found.source)),
    }
}

fn queues(config: WorkerConfig, found: &Found<Vec<String>>) -> Result<WorkerConfig, String> {
    let wrong = |text: &str, rule: String| format!("queues (from {}): {text:?}: {rule}", found.source);
    let mut plain = Vec::new();
    let mut weighted = Vec::new();
    for text in &found.value {
        let (name, weight) = text.split_once('=').map_or((text.as_str(), None), |(name, weight)| (name, Some(weight)));
        let name = QueueName::new(name.trim()).map_err(|error| wrong(text, error.to_string()))?;
        match weight {
            None => plain.push(name),
            Some(weight) => match weight.trim().parse::<u32>() {
                Ok(weight @ 1..) => weighted.push((name, weight)),
                _ => return Err(wrong(text, "a weight is a whole number from 1".into())),
            },
        }
    }
    match (plain.is_empty(), weighted.is_empty()) {
        (true, true) => Err(wrong("", "name at least one queue".into())),
        (false, true) => Ok(config.queues(plain)),
        (true, false) => Ok(config.weighted_queues(weighted)),
        (false, false) => Err(wrong(&found.value.join(","), "give every queue a weight, or none".into())),
    }
}

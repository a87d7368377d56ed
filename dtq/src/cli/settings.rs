//! Settings: flags over environment over dtq.toml over defaults. An error names the setting and where it came from.

use std::ffi::OsString;
use std::io::IsTerminal;
use std::path::PathBuf;
use std::time::Duration;

use tracing_subscriber::EnvFilter;

use super::args::{StoreArgs, WorkerArgs};
use crate::config_file::ConfigFile;
use crate::connect::DEFAULT_URL;
use crate::runtime::WorkerConfig;
use crate::types::QueueName;

/// A value and the place it came from.
#[derive(Debug)]
pub(super) struct Found<T> {
    pub(super) value: T,
    pub(super) source: String,
}

/// The settings file, for what no flag and no variable says.
#[derive(Debug)]
pub(super) struct Places {
    file: ConfigFile,
    path: PathBuf,
}

impl Places {
    /// Reads the file.
    pub(super) fn read(args: &StoreArgs) -> Result<Self, String> {
        let variable = || std::env::var_os("DTQ_CONFIG").filter(|name| !name.is_empty()).map(PathBuf::from);
        let (file, path) = ConfigFile::read(args.config.clone().or_else(variable).as_deref())?;
        Ok(Self { file, path })
    }

    /// The store's URL. An empty one is none, as for clients: then the weaker place is asked.
    pub(super) fn url(&self, args: &StoreArgs) -> Result<Found<String>, String> {
        let given = |url: &String| !url.is_empty();
        let (flag, file) = (args.url.clone().filter(given), self.file.url().map(str::to_owned));
        let found = self.pick("url", flag, None)?.filter(|found| given(&found.value));
        let found = found.or(file.map(|value| Found { value, source: self.path.display().to_string() }));
        Ok(found.unwrap_or_else(|| Found { value: DEFAULT_URL.into(), source: "the default".into() }))
    }

    /// The strongest place that says something.
    fn pick<T: Variable>(&self, name: &str, flag: Option<T>, file: Option<T>) -> Result<Option<Found<T>>, String> {
        if let Some(value) = flag {
            return Ok(Some(Found { value, source: format!("--{name}") }));
        }
        let source = format!("DTQ_{}", name.to_uppercase().replace('-', "_"));
        if let Some(text) = std::env::var_os(&source) {
            let value = T::read(text).ok_or_else(|| format!("{name} (from {source}): it is not UTF-8"))?;
            return Ok(Some(Found { value, source }));
        }
        Ok(file.map(|value| Found { value, source: self.path.display().to_string() }))
    }
}

/// What a setting's environment variable reads as.
trait Variable: Sized {
    /// `None` when the text is not what it should be.
    fn read(text: OsString) -> Option<Self>;
}

impl Variable for String {
    fn read(text: OsString) -> Option<Self> {
        text.into_string().ok()
    }
}

impl Variable for PathBuf {
    fn read(text: OsString) -> Option<Self> {
        Some(text.into())
    }
}

impl Variable for Vec<String> {
    fn read(text: OsString) -> Option<Self> {
        Some(String::read(text)?.split(',').map(str::to_owned).collect())
    }
}

/// A worker's settings in force.
#[derive(Debug)]
pub(super) struct Settings {
    pub(super) worker: WorkerConfig,
    pub(super) ready_file: Option<Found<PathBuf>>,
    json_logs: bool,
}

impl Settings {
    pub(super) fn read(places: &Places, flags: WorkerArgs) -> Result<Self, String> {
        let file = &places.file;
        let mut worker = WorkerConfig::new();
        if let Some(found) = places.pick("queues", flags.queues, file.queues.clone())? {
            worker = queues(worker, &found)?;
        }
        let number = |number: Option<usize>| number.map(|tasks| tasks.to_string());
        if let Some(found) = places.pick("concurrency", flags.concurrency, number(file.concurrency))? {
            worker.concurrency = positive("concurrency", &found)?;
        }
        if let Some(found) = places.pick("prefetch", flags.prefetch, number(file.prefetch))? {
            worker.prefetch = whole("prefetch", &found)?;
        }
        if let Some(found) = places.pick("lease", flags.lease, file.lease.clone())? {
            worker.lease = duration("lease", &found)?;
            // Everything else that is set by now was checked, so what is wrong is the lease.
            worker.check().map_err(|rule| format!("lease (from {}): {rule}", found.source))?;
        }
        if let Some(found) = places.pick("drain-timeout", flags.drain_timeout, file.drain_timeout.clone())? {
            worker.drain_timeout = duration("drain-timeout", &found)?;
        }
        if let Some(found) = places.pick("cancel-grace", flags.cancel_grace, file.cancel_grace.clone())? {
            worker.cancel_grace = duration("cancel-grace", &found)?;
        }
        if let Some(found) = places.pick("ready-threshold", flags.ready_threshold, file.ready_threshold.clone())? {
            worker.ready_threshold = duration("ready-threshold", &found)?;
            worker.check().map_err(|rule| format!("ready-threshold (from {}): {rule}", found.source))?;
        }
        if let Some(found) = places.pick("subscribe-url", flags.subscribe_url, file.subscribe_url.clone())? {
            worker = worker.subscribe_url(found.value);
        }
        // An empty one is none, as for the URL.
        let ready_file = places.pick("ready-file", flags.ready_file, file.ready_file.clone())?;
        let ready_file = ready_file.filter(|found| !found.value.as_os_str().is_empty());
        let json_logs = places.pick("log-format", flags.log_format, file.log_format.clone())?;
        let json_logs = json_logs.map_or(Ok(false), |found| json("log-format", &found))?;
        Ok(Self { worker, ready_file, json_logs })
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

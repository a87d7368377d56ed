//! What each process saw, in a file of its own: the oracle knows nothing else of runs and answers.
//!
//! A line is one write to a file that was opened for appending, so it is there when the process is killed right after.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

use anyhow::Context as _;
use dtq::types::TaskId;
use serde::{Deserialize, Serialize};

/// Microseconds since the Unix epoch, by the machine's clock: the processes of a run share it.
pub(crate) type Micros = u64;

pub(crate) const SECOND: Micros = 1_000_000;

pub(crate) fn now() -> Micros {
    let since_epoch = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since_epoch.as_micros()).unwrap_or(Micros::MAX)
}

/// One line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "snake_case")]
pub(crate) enum Entry {
    /// A handler began. `run` counts the runs of this process.
    Begin { at: Micros, task: TaskId, attempt: u32, run: u64, pid: u32 },
    /// It ended.
    End { at: Micros, run: u64, end: End },
    /// The process did not run for longer than a moment, whatever the cause.
    Paused { from: Micros, to: Micros },
    /// The store accepted the task, or knew it.
    Accepted { at: Micros, task: TaskId, created: bool },
    /// The answer to an enqueue is unknown.
    Unknown { at: Micros, task: TaskId, error: String },
    /// The task was refused; nobody enqueues it again.
    Refused { at: Micros, task: TaskId, error: String },
    /// The task will be called off, unless this process dies first.
    Cancelling { at: Micros, task: TaskId },
    /// The store answered that.
    CancelAnswered { at: Micros, task: TaskId, answer: CancelAnswer },
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum End {
    /// It returned its result.
    Ok,
    /// It failed as designed, and may be repeated.
    Failed,
    /// It failed as designed, for good.
    Permanent,
    /// It panicked as designed.
    Panicked,
    /// It was dropped before its end: called off, its lease lost, or its worker stopping.
    Dropped,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum CancelAnswer {
    Cancelled,
    Requested,
    Finished,
    NotFound,
}

/// A ledger that is being written.
#[derive(Debug)]
pub(crate) struct Ledger {
    file: File,
    name: String,
    runs: AtomicU64,
}

impl Ledger {
    pub(crate) fn open(path: &Path, name: &str) -> anyhow::Result<Self> {
        let file = OpenOptions::new().create(true).append(true).open(path);
        let file = file.with_context(|| format!("the ledger {} cannot be written", path.display()))?;
        Ok(Self { file, name: name.to_owned(), runs: AtomicU64::new(0) })
    }

    /// Writes a line. What cannot be written would be missed by the oracle, so the process ends instead.
    pub(crate) fn write(&self, entry: &Entry) {
        let written = serde_json::to_string(entry).map_err(anyhow::Error::from).and_then(|mut line| {
            line.push('\n');
            Ok((&self.file).write_all(line.as_bytes())?)
        });
        if let Err(error) = written {
            eprintln!("the ledger cannot be written: {error}");
            std::process::abort();
        }
    }

    /// Notes that a handler begins.
    pub(crate) fn begin(&self, task: &TaskId, attempt: u32) -> Run<'_> {
        let run = self.runs.fetch_add(1, Ordering::Relaxed);
        self.write(&Entry::Begin { at: now(), task: task.clone(), attempt, run, pid: std::process::id() });
        Run { ledger: self, run, ended: false }
    }
}

/// A run of a handler; its end is noted also when the handler is dropped or panics.
#[derive(Debug)]
pub(crate) struct Run<'a> {
    ledger: &'a Ledger,
    run: u64,
    ended: bool,
}

impl Run<'_> {
    pub(crate) fn ends(mut self, end: End) -> String {
        self.note(end);
        token(&self.ledger.name, self.run)
    }

    fn note(&mut self, end: End) {
        self.ended = true;
        self.ledger.write(&Entry::End { at: now(), run: self.run, end });
    }
}

impl Drop for Run<'_> {
    fn drop(&mut self) {
        if !self.ended {
            self.note(if std::thread::panicking() { End::Panicked } else { End::Dropped });
        }
    }
}

/// A name for one run: what a task's result is, so that the record tells whose result stands.
pub(crate) fn token(process: &str, run: u64) -> String {
    format!("{process}#{run}")
}

/// Everything that was written to a ledger. A last line that was cut by a kill is left out.
pub(crate) fn read(path: &Path) -> anyhow::Result<Vec<Entry>> {
    let text = std::fs::read_to_string(path)?;
    let whole = text.rfind('\n').map_or("", |end| &text[..end]);
    let parse = |line| serde_json::from_str(line).with_context(|| format!("{}: {line}", path.display()));
    whole.lines().map(parse).collect()
}

//! What the ledgers say of each task.

use std::collections::HashMap;
use std::path::Path;

use dtq::types::TaskId;

use crate::inject::{Cause, Reach, Window};
use crate::ledger::{CancelAnswer, End, Entry, Micros, read, token};

/// One run of a handler.
#[derive(Debug, Clone)]
pub(crate) struct Run {
    pub(crate) process: String,
    pub(crate) attempt: u32,
    pub(crate) begin: Micros,
    /// `None` when its process died in it.
    pub(crate) end: Option<(Micros, End)>,
    /// What it returned, if it did.
    pub(crate) token: String,
}

impl Run {
    /// The place of its process in the fleet.
    pub(crate) fn member(&self) -> &str {
        self.process.rsplit_once('.').map_or(&self.process, |(member, _)| member)
    }

    pub(crate) fn ended(&self, how: End) -> bool {
        self.end.is_some_and(|(_, end)| end == how)
    }
}

/// One task, as producers and workers saw it.
#[derive(Debug, Default)]
pub(crate) struct History {
    /// In the order in which the store gave them out.
    pub(crate) runs: Vec<Run>,
    /// When the store first said that it has the task.
    pub(crate) accepted: Option<Micros>,
    /// How often the store said that it made the task.
    pub(crate) created: u32,
    /// How often the answer was unknown.
    pub(crate) unknown: u32,
    pub(crate) refused: bool,
    /// When somebody began to call it off.
    pub(crate) cancelling: Option<Micros>,
    /// What the store answered to that first, and when.
    pub(crate) cancel: Option<(Micros, CancelAnswer)>,
}

/// All that was written.
#[derive(Debug, Default)]
pub(crate) struct Histories {
    pub(crate) tasks: HashMap<TaskId, History>,
    /// Pauses that processes saw of themselves.
    pub(crate) pauses: Vec<Window>,
}

impl Histories {
    /// Reads every ledger in a folder. A store that `forgets` may give an attempt out again; else they rise.
    pub(crate) fn read(folder: &Path, forgets: bool) -> anyhow::Result<Self> {
        let mut all = Self::default();
        for file in std::fs::read_dir(folder)? {
            let path = file?.path();
            if path.extension().is_some_and(|extension| extension == "ledger") {
                let process = path.file_stem().unwrap_or_default().to_string_lossy();
                all.add(&process, read(&path)?);
            }
        }
        // A stopped worker may begin late what another has taken over: attempts come first.
        let order = |run: &Run| (if forgets { 0 } else { run.attempt }, run.begin);
        all.tasks.values_mut().for_each(|history| history.runs.sort_by_key(order));
        Ok(all)
    }

    fn add(&mut self, process: &str, entries: Vec<Entry>) {
        // Where each run of this process is.
        let mut places = HashMap::new();
        for entry in entries {
            match entry {
                Entry::Begin { at, task, attempt, run, .. } => {
                    let runs = &mut self.tasks.entry(task.clone()).or_default().runs;
                    places.insert(run, (task, runs.len()));
                    let (process, token) = (process.to_owned(), token(process, run));
                    runs.push(Run { process, attempt, begin: at, end: None, token });
                }
                Entry::End { at, run, end } => {
                    let place = places.get(&run).and_then(|(task, n)| self.tasks.get_mut(task)?.runs.get_mut(*n));
                    if let Some(run) = place {
                        run.end = Some((at, end));
                    }
                }
                Entry::Paused { from, to } => {
                    let reach = Reach::Process(process.to_owned());
                    self.pauses.push(Window { cause: Cause::Stall, reach, from, to });
                }
                Entry::Accepted { at, task, created } => {
                    let history = self.tasks.entry(task).or_default();
                    history.accepted.get_or_insert(at);
                    history.created += u32::from(created);
                }
                Entry::Unknown { task, .. } => self.tasks.entry(task).or_default().unknown += 1,
                Entry::Refused { task, .. } => self.tasks.entry(task).or_default().refused = true,
                Entry::Cancelling { at, task } => {
                    self.tasks.entry(task).or_default().cancelling.get_or_insert(at);
                }
                Entry::CancelAnswered { at, task, answer } => {
                    self.tasks.entry(task).or_default().cancel.get_or_insert((at, answer));
                }
            }
        }
    }
}

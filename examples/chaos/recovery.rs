//! How long tasks and the fleet took to go on.

use std::collections::HashMap;

use dtq::types::TaskId;

use crate::fleet::PRODUCER;
use crate::history::{History, Run};
use crate::inject::{Cause, Reach, Window};
use crate::ledger::{End, Micros};

/// Times in milliseconds, sorted.
#[derive(Debug, Default)]
pub(crate) struct Times(Vec<u64>);

impl Times {
    fn of(micros: impl Iterator<Item = Micros>) -> Self {
        let mut times: Vec<_> = micros.map(|time| time / 1_000).collect();
        times.sort_unstable();
        Self(times)
    }

    pub(crate) fn count(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn median(&self) -> Option<u64> {
        self.0.get(self.0.len() / 2).copied()
    }

    pub(crate) fn max(&self) -> Option<u64> {
        self.0.last().copied()
    }
}

/// For each task that a killed worker was running: from the kill to its next run, which is another process's.
pub(crate) fn of_tasks(histories: &HashMap<TaskId, History>, windows: &[Window]) -> Times {
    let kills = windows.iter().filter_map(|window| match (&window.cause, &window.reach) {
        (Cause::Kill, Reach::Process(process)) if !process.starts_with(PRODUCER) => Some((process, window.from)),
        _ => None,
    });
    let kills: HashMap<_, _> = kills.collect();
    let gap = |runs: &[Run]| {
        let held = runs.iter().filter(|run| run.end.is_none());
        let gaps = held.filter_map(|held| {
            let killed = *kills.get(&held.process)?;
            let next = runs.iter().filter(|run| run.begin > killed).map(|run| run.begin).min()?;
            Some(next - killed)
        });
        gaps.collect::<Vec<_>>()
    };
    Times::of(histories.values().flat_map(|history| gap(&history.runs)))
}

/// For each restart of the server: from its return to the end of the first run that began and succeeded after it.
pub(crate) fn of_server(histories: &HashMap<TaskId, History>, windows: &[Window]) -> Times {
    let runs = || histories.values().flat_map(|history| &history.runs).filter(|run| run.ended(End::Ok));
    let restarts = windows.iter().filter(|window| window.cause == Cause::Restart);
    Times::of(restarts.filter_map(|window| {
        let ends = runs().filter(|run| run.begin >= window.to).filter_map(|run| run.end);
        ends.map(|(at, _)| at - window.to).min()
    }))
}

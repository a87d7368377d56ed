//! What is stored, and what workers and the mover have in their heads.

use std::cmp::Ordering;

use super::design::{TASKS, WORKERS};

/// Entries of a task at a time; a claim says that this is enough.
const ENTRIES: usize = 4;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct State {
    pub(super) tasks: [Task; TASKS],
    /// Sorted: which of them is which makes no difference.
    pub(super) workers: [Worker; WORKERS],
    pub(super) mover: Mover,
    pub(super) mover_deaths: u8,
}

/// What the store holds of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub(super) struct Task {
    pub(super) status: Status,
    pub(super) attempt: u8,
    /// The entry that the record names.
    pub(super) entry: usize,
    pub(super) entries: [Entry; ENTRIES],
    /// Its place in the schedule: after how many attempts it was put there.
    pub(super) due: Option<u8>,
    pub(super) asked_to_stop: bool,
    /// For the claims only: which attempts were started, a bit for each.
    started: u8,
    /// For the claims only: an attempt was started that had been started before.
    pub(super) started_twice: bool,
    /// For the claims only: it got another status after a terminal one.
    pub(super) revived: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub(super) enum Status {
    #[default]
    Unknown,
    Pending,
    Queued,
    Running,
    Retrying,
    Ended(End),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum End {
    Succeeded,
    /// With a dead letter or without.
    Failed,
    Cancelled,
}

/// A place in the queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub(super) enum Entry {
    #[default]
    None,
    Ready,
    /// Delivered and not acknowledged; `live` until its lease runs out.
    Held {
        live: bool,
    },
    Removed,
}

/// What a worker was handed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Lease {
    pub(super) task: usize,
    pub(super) entry: usize,
    pub(super) attempt: u8,
    /// By the clock, whether the worker looks at it or not.
    pub(super) live: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Worker {
    Idle,
    /// Runs the handler, or is paused in it.
    Working(Lease),
    /// Between the two writes of a settle, with the second one to do.
    Settling(Lease, Write),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Write {
    /// The record; for a retry the place in the schedule too.
    Record(Verdict),
    Acknowledgement,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Verdict {
    Succeeded,
    Retry,
    Failed,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Mover {
    Idle,
    /// Found a due task; `half_way` between its two writes.
    Moving {
        task: usize,
        after: u8,
        half_way: bool,
    },
}

impl State {
    /// Before anything happened.
    pub(super) fn empty() -> Self {
        let mover = Mover::Idle;
        Self { tasks: <_>::default(), workers: [Worker::Idle; WORKERS], mover, mover_deaths: 0 }
    }

    /// The same state without what makes no difference, so that fewer states are visited: removed entries that neither
    /// the record nor a worker speaks of, and which worker and which task is which.
    pub(super) fn normal(mut self) -> Self {
        self.forget_removed();
        self.workers.sort_unstable();
        match self.tasks[0].cmp(&self.tasks[1]) {
            Ordering::Less => self.swapped(),
            Ordering::Equal => self.max(self.swapped()),
            Ordering::Greater => self,
        }
    }

    fn forget_removed(&mut self) {
        for (number, task) in self.tasks.iter_mut().enumerate() {
            let speaks_of_one = matches!(task.status, Status::Queued | Status::Running);
            task.entry = if speaks_of_one { task.entry } else { 0 };
            let named = speaks_of_one.then_some(task.entry);
            for (place, entry) in task.entries.iter_mut().enumerate() {
                let known = |worker: &Worker| worker.lease().is_some_and(|it| (it.task, it.entry) == (number, place));
                if *entry == Entry::Removed && named != Some(place) && !self.workers.iter().any(known) {
                    *entry = Entry::None;
                }
            }
        }
    }

    /// With the two tasks in each other's place.
    fn swapped(mut self) -> Self {
        self.tasks.swap(0, 1);
        for worker in &mut self.workers {
            if let Worker::Working(lease) | Worker::Settling(lease, _) = worker {
                lease.task = 1 - lease.task;
            }
        }
        if let Mover::Moving { task, .. } = &mut self.mover {
            *task = 1 - *task;
        }
        self.workers.sort_unstable();
        self
    }
}

impl Worker {
    fn lease(&self) -> Option<&Lease> {
        match self {
            Self::Idle => None,
            Self::Working(lease) | Self::Settling(lease, _) => Some(lease),
        }
    }
}

impl Task {
    pub(super) fn waits(&self) -> bool {
        matches!(self.status, Status::Pending | Status::Retrying)
    }

    /// Adds an entry at the end of the queue; `None` when the model has no room for more.
    pub(super) fn append(&mut self) -> Option<usize> {
        let entry = self.entries.iter().position(|entry| *entry == Entry::None)?;
        self.entries[entry] = Entry::Ready;
        Some(entry)
    }

    pub(super) fn become_now(&mut self, status: Status) {
        self.revived |= matches!(self.status, Status::Ended(_)) && self.status != status;
        self.status = status;
    }

    pub(super) fn end(&mut self, end: End) {
        self.become_now(Status::Ended(end));
        self.asked_to_stop = false;
    }

    pub(super) fn start(&mut self) {
        let bit = 1 << self.attempt;
        self.started_twice |= self.started & bit != 0;
        self.started |= bit;
    }
}

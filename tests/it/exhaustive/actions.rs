//! Who can do what in a state.

use super::state::{Entry, Mover, State, Status, Task, Verdict, Worker};

/// A step. Tasks and workers are named by their places, which may change with every step: see [`State::normal`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Action {
    Enqueue {
        task: usize,
        delayed: bool,
    },
    Cancel {
        task: usize,
    },
    /// A worker with nothing to do takes a ready entry.
    Claim {
        task: usize,
        entry: usize,
    },
    /// A lease runs out by the store's clock.
    Lapse {
        task: usize,
        entry: usize,
    },
    /// A worker with nothing to do finds an entry whose lease ran out.
    Reclaim {
        task: usize,
        entry: usize,
    },
    Renew {
        worker: usize,
    },
    /// The first write of a settle...
    Settle {
        worker: usize,
        verdict: Verdict,
    },
    /// ...and the second.
    SettleOn {
        worker: usize,
    },
    WorkerDies {
        worker: usize,
    },
    /// The mover finds a due task.
    Find {
        task: usize,
    },
    /// Its first write, then its second.
    Move,
    MoverDies,
}

use Action::{Cancel, Claim, Enqueue, Find, Lapse, Move, MoverDies, Reclaim, Renew, Settle, SettleOn, WorkerDies};

/// What can be tried in a state; what turns out to change nothing is passed over later.
pub(super) fn possible(state: &State, actions: &mut Vec<Action>) {
    for (number, task) in state.tasks.iter().enumerate() {
        of_task(number, task, actions);
    }
    for (number, worker) in state.workers.iter().enumerate() {
        of_worker(number, worker, actions);
    }
    if state.mover != Mover::Idle {
        actions.extend([Move, MoverDies]);
    }
}

fn of_task(task: usize, it: &Task, actions: &mut Vec<Action>) {
    if it.status == Status::Unknown {
        actions.extend([Enqueue { task, delayed: false }, Enqueue { task, delayed: true }]);
        return;
    }
    actions.push(Cancel { task });
    actions.extend(it.due.map(|_| Find { task }));
    for (entry, is) in it.entries.iter().enumerate() {
        match is {
            Entry::Ready => actions.push(Claim { task, entry }),
            Entry::Held { live: true } => actions.push(Lapse { task, entry }),
            Entry::Held { live: false } => actions.push(Reclaim { task, entry }),
            Entry::None | Entry::Removed => {}
        }
    }
}

fn of_worker(worker: usize, is: &Worker, actions: &mut Vec<Action>) {
    match is {
        Worker::Idle => {}
        Worker::Working(_) => {
            let verdicts = [Verdict::Succeeded, Verdict::Retry, Verdict::Failed];
            actions.extend(verdicts.map(|verdict| Settle { worker, verdict }));
            actions.extend([Renew { worker }, WorkerDies { worker }]);
        }
        Worker::Settling(..) => actions.extend([SettleOn { worker }, WorkerDies { worker }]),
    }
}

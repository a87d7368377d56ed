//! The steps. Each is atomic, and finer than the stores' own: a settle and a promotion are two writes here and one in a
//! store. What holds here, with a death between the two, holds there.

use stateright::{Model, Property};

use super::actions::Action::{
    self, Cancel, Claim, Enqueue, Find, Lapse, Move, MoverDies, Reclaim, Renew, Settle, SettleOn, WorkerDies,
};
use super::actions::possible;
use super::claims::claims;
use super::design::{Design, MAX_ATTEMPTS, MOVER_DEATHS};
use super::state::{End, Entry, Lease, Mover, State, Status, Task, Verdict, Worker, Write};

impl Model for Design {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        vec![State::empty()]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        possible(state, actions);
    }

    fn next_state(&self, state: &State, action: Action) -> Option<State> {
        let mut next = *state;
        match action {
            Enqueue { task, delayed } => enqueue(&mut next, task, delayed)?,
            Cancel { task } => cancel(&mut next.tasks[task])?,
            Claim { task, entry } => self.claim(&mut next, task, entry)?,
            Lapse { task, entry } => lapse(&mut next, task, entry),
            Reclaim { task, entry } => reclaim(&mut next, task, entry)?,
            Renew { worker } => self.renew(&mut next, worker)?,
            Settle { worker, verdict } => self.settle(&mut next, worker, verdict)?,
            SettleOn { worker } => self.settle_on(&mut next, worker)?,
            WorkerDies { worker } => next.workers[worker] = Worker::Idle,
            Find { task } => find(&mut next, task)?,
            Move => self.move_on(&mut next)?,
            MoverDies => {
                let can = next.mover != Mover::Idle && next.mover_deaths < MOVER_DEATHS;
                (next.mover, next.mover_deaths) = can.then_some((Mover::Idle, next.mover_deaths + 1))?;
            }
        }
        Some(next.normal()).filter(|next| next != state)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        claims()
    }

    fn within_boundary(&self, state: &State) -> bool {
        // Only wrong designs come here: one step past the claim is enough to refute it.
        state.tasks.iter().all(|task| task.attempt <= MAX_ATTEMPTS + 1)
    }
}

/// The task is accepted.
fn enqueue(state: &mut State, number: usize, delayed: bool) -> Option<()> {
    let task = &mut state.tasks[number];
    task.attempt = 1;
    if delayed {
        (task.status, task.due) = (Status::Pending, Some(0));
    } else {
        (task.status, task.entry) = (Status::Queued, task.append()?);
    }
    Some(())
}

/// Writes the record only: entries and places in the schedule are left for others to find.
fn cancel(task: &mut Task) -> Option<()> {
    match task.status {
        Status::Pending | Status::Queued | Status::Retrying => task.end(End::Cancelled),
        Status::Running => task.asked_to_stop = true,
        Status::Unknown | Status::Ended(_) => return None,
    }
    Some(())
}

fn lapse(state: &mut State, number: usize, entry: usize) {
    state.tasks[number].entries[entry] = Entry::Held { live: false };
    for worker in &mut state.workers {
        if let Worker::Working(lease) = worker
            && (lease.task, lease.entry) == (number, entry)
        {
            lease.live = false;
        }
    }
}

/// Gives the handler of an idle worker the task.
fn hand_out(state: &mut State, number: usize, entry: usize) -> Option<()> {
    let idle = state.workers.iter_mut().find(|worker| **worker == Worker::Idle)?;
    let task = &mut state.tasks[number];
    task.become_now(Status::Running);
    task.entry = entry;
    task.entries[entry] = Entry::Held { live: true };
    task.start();
    *idle = Worker::Working(Lease { task: number, entry, attempt: task.attempt, live: true });
    Some(())
}

fn reclaim(state: &mut State, number: usize, entry: usize) -> Option<()> {
    if !state.workers.contains(&Worker::Idle) {
        return None;
    }
    let task = &mut state.tasks[number];
    if (task.status, task.entry) != (Status::Running, entry) {
        // Settled, and only the acknowledgement is missing; or a duplicate.
        task.entries[entry] = Entry::Removed;
    } else if task.asked_to_stop {
        task.end(End::Cancelled);
    } else if task.attempt >= MAX_ATTEMPTS {
        task.end(End::Failed);
    } else {
        task.attempt += 1;
        hand_out(state, number, entry)?;
    }
    Some(())
}

fn find(state: &mut State, task: usize) -> Option<()> {
    let after = state.tasks[task].due?;
    if state.mover != Mover::Idle {
        return None;
    }
    state.mover = Mover::Moving { task, after, half_way: false };
    Some(())
}

impl Design {
    /// True when the lease is the one that the record speaks of.
    pub(super) fn is_current(&self, state: &State, lease: &Lease) -> bool {
        let task = &state.tasks[lease.task];
        let same = (task.entry, task.attempt) == (lease.entry, lease.attempt);
        task.status == Status::Running && (same || !self.fencing)
    }

    fn claim(&self, state: &mut State, number: usize, entry: usize) -> Option<()> {
        if !state.workers.contains(&Worker::Idle) {
            return None;
        }
        let task = &mut state.tasks[number];
        let good = (task.status, task.entry) == (Status::Queued, entry);
        if good || !self.absorb {
            return hand_out(state, number, entry);
        }
        task.entries[entry] = Entry::Removed;
        Some(())
    }

    /// A renewal in time changes nothing that the model shows; a late one does.
    fn renew(&self, state: &mut State, worker: usize) -> Option<()> {
        let Worker::Working(mut lease) = state.workers[worker] else { return None };
        state.workers[worker] = Worker::Idle;
        if self.is_current(state, &lease) {
            lease.live = true;
            state.workers[worker] = Worker::Working(lease);
            if let Entry::Held { live } = &mut state.tasks[lease.task].entries[lease.entry] {
                *live = true;
            }
        }
        Some(())
    }

    fn settle(&self, state: &mut State, worker: usize, verdict: Verdict) -> Option<()> {
        let Worker::Working(lease) = state.workers[worker] else { return None };
        if verdict == Verdict::Retry && lease.attempt >= MAX_ATTEMPTS {
            return None;
        }
        if !self.is_current(state, &lease) {
            state.workers[worker] = Worker::Idle;
            return Some(());
        }
        let (now, later) = match self.acknowledge_last {
            true => (Write::Record(verdict), Write::Acknowledgement),
            false => (Write::Acknowledgement, Write::Record(verdict)),
        };
        write(&mut state.tasks[lease.task], lease.entry, now);
        state.workers[worker] = Worker::Settling(Lease { live: false, ..lease }, later);
        Some(())
    }

    fn settle_on(&self, state: &mut State, worker: usize) -> Option<()> {
        let Worker::Settling(lease, later) = state.workers[worker] else { return None };
        state.workers[worker] = Worker::Idle;
        if later == Write::Acknowledgement || self.is_current(state, &lease) {
            write(&mut state.tasks[lease.task], lease.entry, later);
        }
        Some(())
    }

    fn move_on(&self, state: &mut State) -> Option<()> {
        let Mover::Moving { task: number, after, half_way } = state.mover else { return None };
        state.mover = if half_way { Mover::Idle } else { Mover::Moving { task: number, after, half_way: true } };
        let task = &mut state.tasks[number];
        if half_way != self.append_first { self.promote(task) } else { remove(task, after) }
    }

    /// Appends an entry; the record names it if the task still waits.
    fn promote(&self, task: &mut Task) -> Option<()> {
        let entry = task.append()?;
        if task.waits() || !self.queued_guard {
            task.attempt += u8::from(task.status == Status::Retrying);
            task.become_now(Status::Queued);
            task.entry = entry;
        }
        Some(())
    }
}

/// Takes a task off the schedule, unless it was put there again meanwhile.
fn remove(task: &mut Task, after: u8) -> Option<()> {
    task.due = task.due.filter(|&due| due != after);
    Some(())
}

fn write(task: &mut Task, entry: usize, write: Write) {
    match write {
        Write::Acknowledgement => task.entries[entry] = Entry::Removed,
        Write::Record(Verdict::Succeeded) => task.end(End::Succeeded),
        Write::Record(Verdict::Failed) => task.end(End::Failed),
        Write::Record(Verdict::Retry) if task.asked_to_stop => task.end(End::Cancelled),
        Write::Record(Verdict::Retry) => {
            task.become_now(Status::Retrying);
            task.due = Some(task.attempt);
        }
    }
}

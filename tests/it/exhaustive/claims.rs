//! What must hold in every state, and what must occur at all.

use stateright::Property;

use super::design::{Design, MAX_ATTEMPTS};
use super::state::{Entry, Mover, State, Status, Task, Worker, Write};

pub(super) const LOST: &str = "no accepted task is lost";
pub(super) const LEASES: &str = "no task has two live leases";
pub(super) const ATTEMPTS: &str = "attempts never exceed the maximum";
pub(super) const END: &str = "a terminal status never changes";
pub(super) const TWICE: &str = "every duplicate is absorbed before a handler sees it";

pub(super) fn claims() -> Vec<Property<Design>> {
    vec![
        Property::always(LOST, |_, state: &State| (0..state.tasks.len()).all(|task| !is_lost(state, task))),
        Property::always(LEASES, |_, state: &State| (0..state.tasks.len()).all(|task| live_leases(state, task) <= 1)),
        Property::always(ATTEMPTS, |_, state: &State| state.tasks.iter().all(|task| task.attempt <= MAX_ATTEMPTS)),
        Property::always(END, |_, state: &State| state.tasks.iter().all(|task| !task.revived)),
        Property::always(TWICE, |_, state: &State| state.tasks.iter().all(|task| !task.started_twice)),
        Property::always("the model has room for one more entry", |_, state: &State| {
            state.tasks.iter().all(|task| task.entries.contains(&Entry::None))
        }),
        // Without these the claims above might hold for want of an occasion.
        Property::sometimes("a task has two entries", |_, state: &State| {
            state.tasks.iter().any(|task| present(task) > 1)
        }),
        Property::sometimes("a paused worker goes on with a lease that is not its own any more", is_anybody_stale),
        Property::sometimes("a settle is cut off before its acknowledgement", |_, state: &State| {
            state.workers == [Worker::Idle; 2] && state.tasks.iter().any(is_settled_but_held)
        }),
        Property::sometimes("all is done", |_, state: &State| {
            state.tasks.iter().all(|task| matches!(task.status, Status::Ended(_)) && present(task) == 0)
        }),
    ]
}

/// True when nothing that is stored, and nobody who is alive, will bring an unfinished task any further.
fn is_lost(state: &State, number: usize) -> bool {
    let task = &state.tasks[number];
    let named = task.entries[task.entry];
    let found_again = match task.status {
        Status::Unknown | Status::Ended(_) => true,
        Status::Pending | Status::Retrying => task.due.is_some(),
        Status::Queued => named == Entry::Ready,
        // With a lease, or to be taken over when it has run out.
        Status::Running => matches!(named, Entry::Held { .. }),
    };
    let settling =
        |worker: &Worker| matches!(worker, Worker::Settling(lease, Write::Record(_)) if lease.task == number);
    let settled_later = state.workers.iter().any(settling);
    let moved_later = matches!(state.mover, Mover::Moving { task, .. } if task == number);
    !(found_again || settled_later || moved_later)
}

/// Workers that run the task's handler within the time of their lease, and the lease that a dead worker left behind.
fn live_leases(state: &State, number: usize) -> usize {
    let task = &state.tasks[number];
    let working = |worker: &Worker| match worker {
        Worker::Working(lease) if lease.task == number && lease.live => Some(lease.entry),
        _ => None,
    };
    let entries: Vec<_> = state.workers.iter().filter_map(working).collect();
    let held = task.status == Status::Running && task.entries[task.entry] == Entry::Held { live: true };
    entries.len() + usize::from(held && !entries.contains(&task.entry))
}

fn present(task: &Task) -> usize {
    task.entries.iter().filter(|entry| matches!(entry, Entry::Ready | Entry::Held { .. })).count()
}

fn is_anybody_stale(design: &Design, state: &State) -> bool {
    state.workers.iter().any(|worker| matches!(worker, Worker::Working(lease) if !design.is_current(state, lease)))
}

fn is_settled_but_held(task: &Task) -> bool {
    let held = task.entries.iter().any(|entry| matches!(entry, Entry::Held { .. }));
    held && matches!(task.status, Status::Ended(_) | Status::Retrying)
}

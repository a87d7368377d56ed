//! What a store means, as plain data: no I/O, nothing of a store. Where the contract leaves a choice, the model takes
//! the one that it is told of, if that is allowed.

use std::collections::BTreeMap;

use dtq::types::{Attempt, ErrorKind, EventKind, QueueStats, Status};

use super::answers::{Answer, CALLED_OFF, Cancelled, RESULT, Renewed, Seen, SeenTask, Step, Stood, Why};
use super::keys::Held;
use super::verbs::{Deferral, End, New, QUEUES, Ticks};

/// How long dead letters are kept: 30 days.
const DEAD_LETTER_RETENTION: Ticks = 30 * 24 * 3600 / 50;

#[derive(Debug, Clone)]
pub(super) struct Task {
    pub(super) new: New,
    pub(super) status: Status,
    pub(super) attempt: u32,
    attempts: Vec<(u32, Why)>,
    pub(super) due: Ticks,
    pub(super) expires: Ticks,
    pub(super) forgotten: Ticks,
    /// The lease that is or was the current one, and its end.
    pub(super) grant: Option<usize>,
    pub(super) lease_end: Ticks,
    pub(super) cancel_requested: bool,
    pub(super) result: bool,
    /// The number that its arguments tell.
    pub(super) payload: usize,
    /// Its place among the tasks that were ready when they were accepted. In which order others stand is not promised.
    pub(super) place: Option<u64>,
    /// The grant whose settlement was the latest thing that happened to it.
    pub(super) settled_by: Option<usize>,
    /// How often it was requeued, and the attempts of its earlier lives.
    pub(super) lives: (u32, u32),
    pub(super) discarded: bool,
    /// Which task of this id it is: an id is free again once its task is forgotten.
    pub(super) life: u64,
}

/// A lease that was handed out at some time.
#[derive(Debug, Clone)]
pub(super) struct Grant {
    pub(super) task: usize,
    pub(super) life: u64,
    pub(super) attempt: u32,
    pub(super) worker: usize,
    /// How it was settled, and whether the task was cancelled in place of going on.
    pub(super) settled: Option<(End, bool)>,
}

#[derive(Debug, Clone, Default)]
pub(super) struct Model {
    pub(super) now: Ticks,
    /// By number; `None` once it is forgotten.
    pub(super) tasks: Vec<Option<Task>>,
    pub(super) grants: Vec<Grant>,
    pub(super) paused: [bool; QUEUES.len()],
    pub(super) stats: [QueueStats; QUEUES.len()],
    pub(super) dead_letters: [Vec<(usize, u32, ErrorKind, Ticks)>; QUEUES.len()],
    events: BTreeMap<usize, Vec<(EventKind, u32)>>,
    lives: u64,
    pub(super) idempotency: Vec<Held>,
    pub(super) unique: Vec<Held>,
}

impl Model {
    /// Plays a verb. `told` is the answer that somebody else gave: the choices of an allowed one are followed.
    pub(super) fn call(&mut self, step: &Step, told: Option<&Answer>) -> Answer {
        self.events.clear();
        match step {
            Step::Enqueue(tasks) => {
                Answer::Accepted(tasks.iter().map(|(task, new)| self.enqueue(*task, new)).collect())
            }
            Step::Claim(wish) => self.claim(wish, told),
            Step::Settle(ends) => self.settle_all(ends, told),
            Step::Renew { worker, leases, lease } => {
                Answer::Renewed(leases.iter().map(|&grant| self.renew(grant, *worker, *lease)).collect())
            }
            Step::Cancel(task) => Answer::Cancelled(self.cancel(*task)),
            Step::Pause { queue, pause } => {
                let before = std::mem::replace(&mut self.paused[*queue], *pause);
                Answer::Paused(before != *pause)
            }
            Step::Purge(queue) => Answer::Purged(self.purge(*queue)),
            Step::Steer(task, hand) => Answer::Steered(self.steer(*task, *hand)),
            Step::Advance(ticks) => {
                self.now += ticks;
                self.forget();
                Answer::Nothing
            }
            Step::Reopen => Answer::Nothing,
        }
    }

    fn enqueue(&mut self, number: usize, new: &New) -> Stood {
        if number == self.tasks.len() {
            self.tasks.push(None);
        }
        if self.tasks[number].is_some() {
            return Stood { task: number, created: false, refused: None };
        }
        let now = self.now;
        let due = match new.deferral {
            Deferral::Now => now,
            Deferral::After(delay) => now + delay,
            Deferral::At(distance) => now.saturating_add_signed(distance),
        };
        if let Some(stood) = self.stands_for(number, new, due) {
            return stood;
        }
        self.lives += 1;
        let ready = due <= now;
        let expires = new.ttl.map_or(Ticks::MAX, |ttl| now + ttl);
        let status = if ready { Status::Queued } else { Status::Pending };
        self.tasks[number] = Some(Task {
            new: new.clone(),
            status,
            attempt: 1,
            attempts: vec![],
            due: due.min(expires),
            expires,
            forgotten: Ticks::MAX,
            grant: None,
            lease_end: 0,
            cancel_requested: false,
            result: false,
            payload: number,
            place: ready.then_some(self.lives),
            settled_by: None,
            lives: (0, 0),
            discarded: false,
            life: self.lives,
        });
        *count(&mut self.stats[new.queue], status) += 1;
        self.event(number, EventKind::Queued);
        self.take_keys(number, new);
        Stood { task: number, created: true, refused: None }
    }

    /// Extends the lease when it is current and this worker's own, be it run out.
    fn renew(&mut self, grant: usize, worker: usize, lease: Ticks) -> Renewed {
        if !self.is_current(grant) || self.grants[grant].worker != worker {
            return Renewed::Lost;
        }
        let end = self.now + lease;
        let task = self.task(self.grants[grant].task);
        task.lease_end = end;
        if task.cancel_requested { Renewed::AskedToStop } else { Renewed::Held }
    }

    fn purge(&mut self, queue: usize) -> usize {
        let waiting = [Status::Pending, Status::Queued, Status::Retrying].map(|status| self.of_status(queue, status));
        let waiting = waiting.concat();
        for &number in &waiting {
            self.task(number).settled_by = None;
            self.finish(number, Status::Cancelled, Some(CALLED_OFF));
        }
        waiting.len()
    }

    fn cancel(&mut self, number: usize) -> Cancelled {
        let Some(task) = &mut self.tasks[number] else { return Cancelled::NotFound };
        match task.status {
            Status::Running => {
                task.cancel_requested = true;
                Cancelled::Asked
            }
            status if status.is_terminal() => Cancelled::Finished(status),
            _ => {
                task.settled_by = None;
                self.finish(number, Status::Cancelled, Some(CALLED_OFF));
                Cancelled::Now
            }
        }
    }

    /// The task of a number that is known to have one.
    pub(super) fn task(&mut self, number: usize) -> &mut Task {
        self.tasks[number].as_mut().expect("a task that is not forgotten")
    }

    pub(super) fn is_current(&self, grant: usize) -> bool {
        let Grant { task, life, .. } = self.grants[grant];
        let held = |task: &Task| task.life == life && task.status == Status::Running && task.grant == Some(grant);
        self.tasks[task].as_ref().is_some_and(held)
    }

    /// The numbers of a queue's tasks of one status, in order of acceptance.
    pub(super) fn of_status(&self, queue: usize, status: Status) -> Vec<usize> {
        let fits = |task: &Task| task.new.queue == queue && task.status == status;
        (0..self.tasks.len()).filter(|&number| self.tasks[number].as_ref().is_some_and(fits)).collect()
    }

    /// The numbers of all tasks that are neither finished nor forgotten.
    pub(super) fn unfinished(&self) -> Vec<usize> {
        let open = |task: &Task| !task.status.is_terminal();
        (0..self.tasks.len()).filter(|&number| self.tasks[number].as_ref().is_some_and(open)).collect()
    }

    /// Lost and not taken over yet.
    pub(super) fn lapsed(&self, queue: usize) -> Vec<usize> {
        let mut lapsed = self.of_status(queue, Status::Running);
        lapsed.retain(|&number| self.tasks[number].as_ref().is_some_and(|task| task.lease_end <= self.now));
        lapsed
    }

    pub(super) fn is_overdue(&self, number: usize) -> bool {
        self.tasks[number].as_ref().is_some_and(|task| task.expires <= self.now)
    }

    /// Moves a task, as the table of statuses allows.
    pub(super) fn change(&mut self, number: usize, to: Status) {
        let task = self.task(number);
        let (from, queue) = (task.status, task.new.queue);
        assert!(dtq::state::allowed(from, to), "the model moves a task from {from} to {to}");
        task.status = to;
        if to != Status::Running {
            task.cancel_requested = false;
        }
        let stats = &mut self.stats[queue];
        *count(stats, from) -= 1;
        *count(stats, to) += 1;
        stats.retries += u64::from(to == Status::Retrying);
    }

    /// Ends a task: note, record, dead letter, event.
    pub(super) fn finish(&mut self, number: usize, status: Status, failure: Option<Why>) {
        if let Some(failure) = failure {
            self.note(number, failure);
        }
        self.change(number, status);
        self.event(number, event_of(status));
        self.free_at_end(number, status);
        let now = self.now;
        let task = self.task(number);
        let kept = if status == Status::DeadLettered { DEAD_LETTER_RETENTION } else { task.new.retention };
        task.forgotten = now + kept;
        if let (Status::DeadLettered, Some((kind, _))) = (status, failure) {
            let (queue, letter) = (task.new.queue, (number, task.attempt, kind, task.forgotten));
            self.dead_letters[queue].push(letter);
        }
        self.forget();
    }

    pub(super) fn note(&mut self, number: usize, failure: Why) {
        let task = self.task(number);
        task.attempts.push((task.attempt, failure));
        let surplus = task.attempts.len().saturating_sub(Attempt::KEPT);
        task.attempts.drain(..surplus);
    }

    pub(super) fn event(&mut self, number: usize, kind: EventKind) {
        let attempt = self.task(number).attempt;
        self.events.entry(number).or_default().push((kind, attempt));
    }

    /// An event of a settlement that is not the task's own affair.
    pub(super) fn absorbed(&mut self, number: usize, attempt: u32) {
        self.events.entry(number).or_default().push((EventKind::DuplicateAbsorbed, attempt));
    }

    fn forget(&mut self) {
        let now = self.now;
        for task in &mut self.tasks {
            task.take_if(|task| task.forgotten <= now);
        }
        for letters in &mut self.dead_letters {
            letters.retain(|&(.., forgotten)| forgotten > now);
        }
    }

    /// What can be seen of these tasks, and of all else, after the latest verb.
    pub(super) fn seen(&self, tasks: &[usize]) -> Seen {
        let letters = self.dead_letters.iter().map(|letters| {
            let mut letters: Vec<_> = letters.iter().map(|&(task, attempt, kind, _)| (task, attempt, kind)).collect();
            letters.sort_by_key(|&(task, attempt, _)| (task, attempt));
            letters
        });
        Seen {
            tasks: tasks.iter().map(|&it| (it, self.tasks[it].as_ref().map(SeenTask::of))).collect(),
            stats: self.stats.to_vec(),
            dead_letters: letters.collect(),
            events: self.events.clone(),
        }
    }
}

impl SeenTask {
    fn of(task: &Task) -> Self {
        Self {
            status: task.status,
            attempt: task.attempt,
            attempts: task.attempts.iter().map(|&(attempt, (kind, words))| (attempt, kind, words.to_owned())).collect(),
            due: matches!(task.status, Status::Pending | Status::Retrying),
            finished: task.status.is_terminal(),
            result: task.result.then(|| RESULT.to_owned()),
            cancel_requested: task.cancel_requested,
            priority: task.new.priority,
            payload: task.payload.to_string(),
            lives: task.lives,
            discarded: task.discarded,
        }
    }
}

fn event_of(status: Status) -> EventKind {
    match status {
        Status::Succeeded => EventKind::Succeeded,
        Status::DeadLettered => EventKind::DeadLettered,
        Status::Cancelled => EventKind::Cancelled,
        Status::Expired => EventKind::Expired,
        _ => EventKind::Failed,
    }
}

fn count(stats: &mut QueueStats, status: Status) -> &mut u64 {
    match status {
        Status::Pending => &mut stats.pending,
        Status::Queued => &mut stats.queued,
        Status::Running => &mut stats.running,
        Status::Retrying => &mut stats.retrying,
        Status::Succeeded => &mut stats.succeeded,
        Status::Failed => &mut stats.failed,
        Status::DeadLettered => &mut stats.dead_lettered,
        Status::Cancelled => &mut stats.cancelled,
        Status::Expired => &mut stats.expired,
    }
}

//! The model's `settle`.

use dtq::types::{EventKind, Status};

use super::answers::{AGAIN, Answer, CALLED_OFF, MOOT, NO, Why};
use super::pure::Model;
use super::verbs::{End, Ticks};

/// What the contract says of a settlement whose lease is not current.
enum Repeat {
    /// It was applied before, and nothing happened to the task since.
    Recognised(Status),
    /// It was applied before; how long a store can tell that is its own affair.
    MayBeRecognised,
    /// It never was.
    Stale,
    /// Nothing is left that could tell.
    Forgotten,
}

impl Model {
    pub(super) fn settle_all(&mut self, ends: &[(usize, End)], told: Option<&Answer>) -> Answer {
        let told = |place: usize| match told {
            Some(Answer::Settled(answers)) => answers.get(place).copied().flatten(),
            _ => None,
        };
        Answer::Settled(ends.iter().enumerate().map(|(at, &(grant, end))| self.settle(grant, end, told(at))).collect())
    }

    fn settle(&mut self, grant: usize, end: End, told: Option<Status>) -> Option<Status> {
        if self.is_current(grant) {
            return Some(self.apply(grant, end));
        }
        let answer = match self.repeat(grant, end) {
            Repeat::Recognised(status) => Some(status),
            Repeat::MayBeRecognised => told,
            Repeat::Forgotten => return None,
            Repeat::Stale => None,
        };
        if answer.is_none() {
            self.absorbed(self.grants[grant].task, self.grants[grant].attempt);
        }
        answer
    }

    fn repeat(&self, grant: usize, end: End) -> Repeat {
        let it = &self.grants[grant];
        let Some(task) = &self.tasks[it.task] else { return Repeat::Forgotten };
        match it.settled.filter(|_| it.life == task.life) {
            Some((before, _)) if before.is_like(end) && task.settled_by == Some(grant) => {
                Repeat::Recognised(task.status)
            }
            Some((before, _)) if before.is_like(end) => Repeat::MayBeRecognised,
            // Whatever it was, the task was cancelled in its place.
            Some((_, true)) if !matches!(end, End::Succeed { .. }) => Repeat::MayBeRecognised,
            _ => Repeat::Stale,
        }
    }

    fn apply(&mut self, grant: usize, end: End) -> Status {
        let number = self.grants[grant].task;
        let task = self.task(number);
        // It was asked to stop: unless it succeeded, that is its end.
        let obeys = task.cancel_requested && !matches!(end, End::Succeed { .. });
        let dead_letter = task.new.dead_letter;
        task.settled_by = Some(grant);
        task.result = matches!(end, End::Succeed { result: true });
        self.grants[grant].settled = Some((end, obeys));
        match end {
            _ if obeys => self.ended(number, Status::Cancelled, Some(CALLED_OFF)),
            End::Succeed { .. } => self.ended(number, Status::Succeeded, None),
            End::Fail if dead_letter => self.ended(number, Status::DeadLettered, Some(NO)),
            End::Fail => self.ended(number, Status::Failed, Some(NO)),
            End::Drop => self.ended(number, Status::Cancelled, Some(MOOT)),
            End::Retry(delay) => {
                self.note(number, AGAIN);
                self.put_off(number, Status::Retrying, delay)
            }
            End::Snooze(delay) => self.put_off(number, Status::Pending, delay),
            End::Release => {
                self.change(number, Status::Queued);
                self.task(number).place = None;
                self.event(number, EventKind::Released);
                Status::Queued
            }
        }
    }

    fn ended(&mut self, number: usize, status: Status, failure: Option<Why>) -> Status {
        self.finish(number, status, failure);
        status
    }

    fn put_off(&mut self, number: usize, status: Status, delay: Ticks) -> Status {
        let due = self.now + delay;
        self.change(number, status);
        let task = self.task(number);
        task.due = due.min(task.expires);
        self.event(number, EventKind::RetryScheduled);
        status
    }
}

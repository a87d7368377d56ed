//! What the model does by hand.

use dtq::store::{RequeueFrom, Steered};
use dtq::types::{EventKind, Status};

use super::pure::{Model, Task};
use super::verbs::{Hand, Ticks};

impl Model {
    pub(super) fn steer(&mut self, number: usize, hand: Hand) -> Steered {
        let Some(task) = &self.tasks[number] else { return Steered::NotFound };
        if let Some(refusal) = refusal(task, hand) {
            return refusal;
        }
        let queue = task.new.queue;
        self.dead_letters[queue].retain(|&(dead, ..)| dead != number);
        match hand {
            Hand::Requeue(_) => self.requeue(number),
            Hand::Discard => self.task(number).discarded = true,
            Hand::Purge => self.tasks[number] = None,
        }
        Steered::Done
    }

    fn requeue(&mut self, number: usize) {
        let now = self.now;
        let task = self.task(number);
        task.lives = (task.lives.0 + 1, task.lives.1 + task.attempt);
        task.attempt = 1;
        task.status = Status::Queued;
        task.expires = task.new.ttl.map_or(Ticks::MAX, |ttl| now + ttl);
        task.forgotten = Ticks::MAX;
        (task.result, task.cancel_requested, task.discarded) = (false, false, false);
        (task.place, task.settled_by) = (None, None);
        let queue = task.new.queue;
        self.stats[queue].queued += 1;
        self.hold_again(number);
        self.event(number, EventKind::Requeued);
    }
}

/// Why a task is left alone.
fn refusal(task: &Task, hand: Hand) -> Option<Steered> {
    let fits = match hand {
        Hand::Requeue(RequeueFrom::Finished) => task.status.is_terminal(),
        Hand::Requeue(RequeueFrom::Unsuccessful) => task.status.is_terminal() && task.status != Status::Succeeded,
        Hand::Requeue(RequeueFrom::DeadLetters) | Hand::Discard | Hand::Purge => task.status == Status::DeadLettered,
    };
    let undone_by_id = matches!(hand, Hand::Requeue(RequeueFrom::Finished | RequeueFrom::Unsuccessful));
    match fits {
        false => Some(Steered::Unfit(task.status)),
        true => (task.discarded && !undone_by_id).then_some(Steered::Discarded),
    }
}

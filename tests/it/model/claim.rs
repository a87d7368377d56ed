//! The model's `claim`.

use std::cmp::Reverse;

use dtq::types::{EventKind, Status};

use super::answers::{Answer, CALLED_OFF, Handed, LOST};
use super::pure::{Grant, Model};
use super::verbs::Wish;

impl Model {
    /// Promotes, takes over, hands out; in the order that was told, if the contract allows it.
    pub(super) fn claim(&mut self, wish: &Wish, told: Option<&Answer>) -> Answer {
        let told = match told {
            Some(Answer::Claimed { handed, .. }) => handed.iter().map(|it| it.task).collect(),
            _ => vec![],
        };
        if self.paused[wish.queue] {
            return Answer::Claimed { handed: vec![], more: false, later: false, paused: true };
        }
        self.promote(wish.queue);
        let lost = self.end_hopeless(wish.queue);
        let taken = told.get(..lost.len()).filter(|told| same_set(told, &lost)).map_or(lost, <[usize]>::to_vec);
        let ready = self.ready(wish.queue);
        let (room, rest) = (wish.max - taken.len(), told.get(taken.len()..).unwrap_or_default());
        let fits = rest.len() == room.min(ready.len()) && self.is_fair(rest, &ready);
        let chosen = if fits { rest.to_vec() } else { ready.iter().copied().take(room).collect() };

        let mut handed: Vec<_> = taken.into_iter().map(|task| self.take_over(task, wish)).collect();
        handed.extend(chosen.iter().map(|&task| self.grant(task, wish, false)));
        let later = [Status::Pending, Status::Retrying].iter().any(|&it| !self.of_status(wish.queue, it).is_empty());
        Answer::Claimed { handed, more: ready.len() > chosen.len(), later, paused: false }
    }

    fn promote(&mut self, queue: usize) {
        for (status, event) in [(Status::Pending, EventKind::Queued), (Status::Retrying, EventKind::Retried)] {
            for number in self.of_status(queue, status) {
                let now = self.now;
                let task = self.task(number);
                if task.due > now {
                    continue;
                }
                task.settled_by = None;
                if self.is_overdue(number) {
                    self.finish(number, Status::Expired, None);
                    continue;
                }
                self.change(number, Status::Queued);
                let task = self.task(number);
                task.place = None;
                task.attempt += u32::from(status == Status::Retrying);
                self.event(number, event);
            }
        }
    }

    /// Ends the lost tasks that may not run again; gives the others.
    fn end_hopeless(&mut self, queue: usize) -> Vec<usize> {
        let mut lost = self.lapsed(queue);
        lost.retain(|&number| {
            let task = self.task(number);
            let (asked, last, dead_letter) =
                (task.cancel_requested, task.attempt >= task.new.max_attempts, task.new.dead_letter);
            if asked {
                self.finish(number, Status::Cancelled, Some(CALLED_OFF));
            } else if last {
                let status = if dead_letter { Status::DeadLettered } else { Status::Failed };
                self.finish(number, status, Some(LOST));
            }
            !asked && !last
        });
        lost
    }

    /// What can be handed out, best first; what is past its time to live ends.
    fn ready(&mut self, queue: usize) -> Vec<usize> {
        let mut ready = self.of_status(queue, Status::Queued);
        ready.retain(|&number| {
            let overdue = self.is_overdue(number);
            if overdue {
                self.task(number).settled_by = None;
                self.finish(number, Status::Expired, None);
            }
            !overdue
        });
        ready.sort_by_key(|&number| self.rank(number));
        ready
    }

    /// True when these are ready, highest priority first, and those of one band that were ready at once when they were
    /// accepted stand in that order.
    fn is_fair(&self, chosen: &[usize], ready: &[usize]) -> bool {
        let mut distinct = chosen.to_vec();
        distinct.sort_unstable();
        distinct.dedup();
        if distinct.len() != chosen.len() || chosen.iter().any(|number| !ready.contains(number)) {
            return false;
        }
        // The passed over stand behind all that were chosen.
        let mut order = chosen.to_vec();
        order.extend(ready.iter().filter(|number| !chosen.contains(number)));
        let in_bands = order.is_sorted_by_key(|&number| self.rank(number).0);
        order.retain(|&number| self.rank(number).1.is_some());
        in_bands && order.is_sorted_by_key(|&number| self.rank(number))
    }

    /// Its band, and its place there if one is promised.
    fn rank(&self, number: usize) -> (Reverse<u8>, Option<u64>) {
        let task = self.tasks[number].as_ref().expect("a task that is not forgotten");
        (Reverse(task.new.priority), task.place)
    }

    fn take_over(&mut self, number: usize, wish: &Wish) -> Handed {
        self.note(number, LOST);
        self.event(number, EventKind::Reclaimed);
        self.task(number).attempt += 1;
        self.grant(number, wish, true)
    }

    fn grant(&mut self, number: usize, wish: &Wish, reclaimed: bool) -> Handed {
        self.change(number, Status::Running);
        self.event(number, EventKind::Started);
        self.free_at_start(number);
        let (grant, end) = (self.grants.len(), self.now + wish.lease);
        let task = self.task(number);
        task.grant = Some(grant);
        task.lease_end = end;
        task.settled_by = None;
        let (life, attempt) = (task.life, task.attempt);
        self.grants.push(Grant { task: number, life, attempt, worker: wish.worker, settled: None });
        Handed { task: number, attempt, reclaimed }
    }
}

fn same_set(one: &[usize], other: &[usize]) -> bool {
    let sorted = |numbers: &[usize]| {
        let mut numbers = numbers.to_vec();
        numbers.sort_unstable();
        numbers
    };
    sorted(one) == sorted(other)
}

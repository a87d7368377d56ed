//! The model's keys: idempotency keys and unique keys.

use dtq::store::Refusal;
use dtq::types::{EventKind, OnConflict, Status};

use super::answers::Stood;
use super::pure::Model;
use super::verbs::{Hold, New, Ticks, UniqueKey};

/// How long an idempotency key is remembered: shorter and longer than records are.
pub(super) const KEEP: Ticks = 5;

/// A key, and the task that it is of.
#[derive(Debug, Clone)]
pub(super) struct Held {
    queue: usize,
    key: usize,
    task: usize,
    life: u64,
    hold: Hold,
    /// When it is free by itself.
    ends: Ticks,
}

impl Held {
    fn is_of(&self, task: usize, life: u64) -> bool {
        (self.task, self.life) == (task, life)
    }
}

impl Model {
    /// The answer to a submission that another task stands for.
    pub(super) fn stands_for(&mut self, number: usize, new: &New, due: Ticks) -> Option<Stood> {
        let stood = |task, refused| Some(Stood { task, created: false, refused });
        if let Some(held) = new.key.and_then(|key| self.holder(false, new.queue, key)) {
            // A key whose task is gone is free.
            if let Some(status) = self.status_of(&held) {
                return stood(held.task, (!status.is_terminal()).then_some(Refusal::InProgress));
            }
        }
        let UniqueKey { key, on_conflict, .. } = new.unique?;
        let held = self.holder(true, new.queue, key)?;
        let status = self.status_of(&held).filter(|status| !status.is_terminal());
        if on_conflict == OnConflict::Skip {
            return stood(held.task, None);
        }
        if on_conflict == OnConflict::Error || status.is_none_or(|status| status == Status::Running) {
            return stood(held.task, Some(Refusal::Unique));
        }
        match on_conflict {
            OnConflict::Replace => self.task(held.task).payload = number,
            _ => self.put_holder_off(held.task, due),
        }
        stood(held.task, None)
    }

    fn put_holder_off(&mut self, number: usize, due: Ticks) {
        let now = self.now;
        if self.task(number).status == Status::Queued {
            if due <= now {
                return;
            }
            self.change(number, Status::Pending);
            let task = self.task(number);
            task.place = None;
            task.settled_by = None;
        }
        let task = self.task(number);
        // One that expires before it is due is looked at then.
        task.due = due.max(now).min(task.expires);
        self.event(number, EventKind::RetryScheduled);
    }

    /// Gives a new task its keys.
    pub(super) fn take_keys(&mut self, number: usize, new: &New) {
        let (now, life) = (self.now, self.task(number).life);
        let held = |key, hold, ends| Held { queue: new.queue, key, task: number, life, hold, ends };
        if let Some(key) = new.key {
            self.idempotency.retain(|it| (it.queue, it.key) != (new.queue, key));
            self.idempotency.push(held(key, Hold::Finished, Ticks::MAX));
        }
        if let Some(UniqueKey { key, hold, .. }) = new.unique {
            let ends = if let Hold::Period(period) = hold { now + period } else { Ticks::MAX };
            self.unique.retain(|it| (it.queue, it.key) != (new.queue, key));
            self.unique.push(held(key, hold, ends));
        }
    }

    /// A task is handed out.
    pub(super) fn free_at_start(&mut self, number: usize) {
        let life = self.task(number).life;
        self.unique.retain(|it| !(it.is_of(number, life) && it.hold == Hold::Started));
    }

    /// A task ends.
    pub(super) fn free_at_end(&mut self, number: usize, status: Status) {
        let (now, life) = (self.now, self.task(number).life);
        for held in self.idempotency.iter_mut().filter(|it| it.is_of(number, life)) {
            held.ends = now + KEEP;
        }
        let stays = |it: &Held| matches!(it.hold, Hold::Period(_)) && status == Status::Succeeded;
        self.unique.retain(|it| !it.is_of(number, life) || stays(it));
    }

    /// A task waits anew: it holds what nobody else does.
    pub(super) fn hold_again(&mut self, number: usize) {
        let (life, new) = (self.task(number).life, self.task(number).new.clone());
        let others = |held: Option<Held>| held.filter(|it| !it.is_of(number, life));
        let key = new.key.filter(|&key| {
            others(self.holder(false, new.queue, key)).is_none_or(|held| self.status_of(&held).is_none())
        });
        let unique = new.unique.filter(|it| others(self.holder(true, new.queue, it.key)).is_none());
        self.take_keys(number, &New { key, unique, ..new });
    }

    fn holder(&self, unique: bool, queue: usize, key: usize) -> Option<Held> {
        let all = if unique { &self.unique } else { &self.idempotency };
        all.iter().find(|it| (it.queue, it.key) == (queue, key) && it.ends > self.now).cloned()
    }

    /// The status of a key's task; `None` when it is gone.
    fn status_of(&self, held: &Held) -> Option<Status> {
        self.tasks[held.task].as_ref().filter(|task| task.life == held.life).map(|task| task.status)
    }
}

//! The leases this worker holds: what the renewal thread extends, and whom it tells when one is lost.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use crate::types::{Lease, QueueName, TaskId};

/// Why a handler's token fired.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Revoked {
    /// The task was called off.
    Cancelled(String),
    /// The lease is another worker's now: whatever this one does with the task is refused.
    Lost,
}

#[derive(Debug)]
struct Hold {
    renewed: Instant,
    token: CancellationToken,
    revoked: Option<Revoked>,
}

/// All of them. One task can be held twice, even in one attempt: snoozed, and claimed again before this worker has
/// noted the end of the first hold. So the whole lease is the key.
#[derive(Debug, Default)]
pub(super) struct Held {
    holds: Mutex<HashMap<Lease, Hold>>,
    /// There are some, after there were none.
    taken: Notify,
    asked: Mutex<Asked>,
    /// Some of them are to be renewed at once.
    urgent: Notify,
}

/// Tasks that were asked to stop.
#[derive(Debug, Default)]
struct Asked {
    /// Held here, and not renewed since.
    leases: Vec<Lease>,
    /// Not held here when that was heard, and when it was: the answer that hands one out may still be on its way.
    others: HashMap<TaskId, Instant>,
}

/// How long the answer to a claim may be on its way, and longer.
const ON_ITS_WAY: Duration = Duration::from_secs(30);

impl Held {
    fn lock(&self) -> MutexGuard<'_, HashMap<Lease, Hold>> {
        self.holds.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a new lease in; the answer is the token its handler gets.
    pub(super) fn take(&self, lease: Lease) -> CancellationToken {
        let token = CancellationToken::new();
        let mut holds = self.lock();
        if self.asked().others.contains_key(&lease.task) {
            self.renew_at_once(vec![lease.clone()]);
        }
        holds.insert(lease, Hold { renewed: Instant::now(), token: token.clone(), revoked: None });
        if holds.len() == 1 {
            self.taken.notify_one();
        }
        token
    }

    /// Never taken before the holds are, when both are.
    fn asked(&self) -> MutexGuard<'_, Asked> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn renew_at_once(&self, leases: Vec<Lease>) {
        if !leases.is_empty() {
            self.asked().leases.extend(leases);
            self.urgent.notify_one();
        }
    }

    /// Notes tasks that were asked to stop: those that are held, or will be, are to be renewed at once.
    pub(super) fn ask(&self, tasks: Vec<TaskId>) {
        let now = Instant::now();
        let holds = self.lock();
        let tasks: HashSet<_> = tasks.into_iter().collect();
        self.renew_at_once(holds.keys().filter(|lease| tasks.contains(&lease.task)).cloned().collect());
        let others = &mut self.asked().others;
        others.retain(|_, heard| now.duration_since(*heard) < ON_ITS_WAY);
        others.extend(tasks.into_iter().map(|task| (task, now)));
    }

    /// Any of them may have been asked to stop.
    pub(super) fn ask_all(&self) {
        let all = self.lock().keys().cloned().collect();
        self.renew_at_once(all);
    }

    /// Those that are to be renewed at once, when there are some. For one caller.
    pub(super) async fn urgent(&self) -> Vec<Lease> {
        loop {
            let leases = std::mem::take(&mut self.asked().leases);
            if !leases.is_empty() {
                return leases;
            }
            self.urgent.notified().await;
        }
    }

    /// Lets go of a settled lease.
    pub(super) fn release(&self, lease: &Lease) {
        self.lock().remove(lease);
    }

    /// Why this lease was revoked, if it was.
    pub(super) fn revoked(&self, lease: &Lease) -> Option<Revoked> {
        self.lock().get(lease)?.revoked.clone()
    }

    /// How many there are.
    pub(super) fn count(&self) -> usize {
        self.lock().len()
    }

    /// Resolves when there are some. For one caller.
    pub(super) async fn some(&self) {
        while self.count() == 0 {
            self.taken.notified().await;
        }
    }

    /// Those of one queue.
    pub(super) fn of_queue(&self, queue: &QueueName) -> Vec<Lease> {
        self.lock().keys().filter(|lease| lease.task.queue() == queue).cloned().collect()
    }

    /// The queues of which something is held.
    pub(super) fn queues(&self) -> Vec<QueueName> {
        let mut queues: Vec<_> = self.lock().keys().map(|lease| lease.task.queue().clone()).collect();
        queues.sort();
        queues.dedup();
        queues
    }

    /// Those that were not renewed for `age`.
    pub(super) fn older_than(&self, age: Duration) -> Vec<Lease> {
        let holds = self.lock();
        let old = |hold: &Hold| hold.renewed.elapsed() >= age && hold.revoked != Some(Revoked::Lost);
        holds.iter().filter(|(_, hold)| old(hold)).map(|(lease, _)| lease.clone()).collect()
    }

    /// Notes a renewal that began at `began`.
    pub(super) fn renewed(&self, lease: &Lease, began: Instant) {
        if let Some(hold) = self.lock().get_mut(lease) {
            hold.renewed = began;
        }
    }

    /// Notes that a handler should stop, and tells it.
    pub(super) fn revoke(&self, lease: &Lease, why: Revoked) {
        if let Some(hold) = self.lock().get_mut(lease) {
            hold.revoked.get_or_insert(why);
            hold.token.cancel();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_task_that_was_asked_to_stop_before_it_was_held_is_urgent_when_it_is() {
        let held = Held::default();
        let lease =
            |token: &str| Lease { task: TaskId::generate(QueueName::default()), attempt: 1, token: token.into() };
        let (first, second, third) = (lease("first"), lease("second"), lease("third"));
        held.take(first.clone());
        held.take(third);
        held.ask(vec![first.task.clone(), second.task.clone()]);
        assert_eq!(held.urgent().await, [first]);
        held.take(second.clone());
        assert_eq!(held.urgent().await, [second]);
        held.ask_all();
        assert_eq!(held.urgent().await.len(), 3);
    }

    #[test]
    fn letting_go_of_a_lease_keeps_the_next_one_of_the_same_attempt() {
        let held = Held::default();
        let task = TaskId::generate(QueueName::default());
        let lease = |token: &str| Lease { task: task.clone(), attempt: 1, token: token.into() };
        held.take(lease("first"));
        held.take(lease("second"));
        held.release(&lease("first"));
        assert_eq!(held.older_than(Duration::ZERO), [lease("second")]);
    }
}

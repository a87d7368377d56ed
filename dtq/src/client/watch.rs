//! Waiting for tasks to end: one reader of the event log for all who wait, however many.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use tokio::sync::{Notify, watch};
use tokio::time::Instant;
use tokio::time::error::Elapsed;

use crate::policy;
use crate::store::{EventQuery, Store};
use crate::types::{Event, EventCursor, EventKind, QueueName, Status, TaskId};

/// Waiters look for themselves after this time, and then ever less often: a bound on what a lost event can cost. Events are
/// lost only when the log is trimmed faster than it is read; when it cannot be read at all, the reader has them look.
const FIRST_LOOK: Duration = Duration::from_secs(20);
const LONGEST_LOOK: Duration = Duration::from_secs(60);

/// How long the reader pauses, and waiters rely on themselves, when the log cannot be read.
const PAUSE: Duration = Duration::from_secs(1);

/// How long one read of the event log waits.
const READ_WAIT: Duration = Duration::from_secs(2);

/// What a waiter is told: how its task ended, and how often there was reason to look again.
#[derive(Debug, Clone, Copy, Default)]
struct Told {
    ended: Option<Status>,
    looks: u64,
}

type Waiters = HashMap<TaskId, watch::Sender<Told>>;

pub(super) struct Watch {
    shared: Arc<Shared>,
}

struct Shared {
    store: Arc<dyn Store>,
    state: Mutex<State>,
    /// Somebody waits for a task of a queue that is not being read yet.
    widened: Notify,
}

#[derive(Default)]
struct State {
    waiters: Waiters,
    /// The number of the reader at work; 0 when there is none.
    reader: u64,
    readers_ever: u64,
}

impl Watch {
    pub(super) fn new(store: Arc<dyn Store>) -> Self {
        Self { shared: Arc::new(Shared { store, state: Mutex::default(), widened: Notify::new() }) }
    }

    /// Begins to watch for the end of a task. Must be called within a tokio runtime.
    pub(super) fn subscribe(&self, id: &TaskId) -> Ended {
        let mut state = self.shared.lock();
        let widens = !state.waiters.keys().any(|known| known.queue() == id.queue());
        let sender = state.waiters.entry(id.clone()).or_insert_with(|| watch::channel(Told::default()).0);
        let receiver = sender.subscribe();
        if state.reader == 0 {
            state.readers_ever += 1;
            state.reader = state.readers_ever;
            let guard = ReaderGuard { shared: self.shared.clone(), number: state.reader };
            tokio::spawn(async move { read(&guard.shared).await });
        } else if widens {
            self.shared.widened.notify_one();
        }
        Ended { receiver, id: id.clone(), shared: Arc::downgrade(&self.shared), own_looks: 0 }
    }
}

impl Shared {
    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The queues somebody waits for; none ends the reader.
    fn watched(&self) -> Vec<QueueName> {
        let mut state = self.lock();
        let mut queues: Vec<_> = state.waiters.keys().map(|id| id.queue().clone()).collect();
        queues.sort();
        queues.dedup();
        if queues.is_empty() {
            state.reader = 0;
        }
        queues
    }

    fn tell(&self, events: &[Event]) {
        let state = self.lock();
        for event in events {
            if let (Some(id), Some(status)) = (&event.task, ended_as(event.kind))
                && let Some(waiter) = state.waiters.get(id)
            {
                waiter.send_modify(|told| told.ended = Some(status));
            }
        }
    }

    /// Has every waiter look: what ended before the reading began is in no event that will be read.
    fn look_again(&self) {
        for waiter in self.lock().waiters.values() {
            waiter.send_modify(|told| told.looks += 1);
        }
    }
}

/// Marks the reader as ended even when its runtime is torn down in mid-read. By then another one may be at work.
struct ReaderGuard {
    shared: Arc<Shared>,
    number: u64,
}

impl Drop for ReaderGuard {
    fn drop(&mut self) {
        let mut state = self.shared.lock();
        if state.reader == self.number {
            state.reader = 0;
        }
    }
}

async fn read(shared: &Shared) {
    let mut after = EventCursor::end();
    let mut covered = Vec::new();
    loop {
        let queues = shared.watched();
        if queues.is_empty() {
            return;
        }
        // The first read of a queue only finds the end of its log.
        let begins = queues != covered;
        let wait = if begins { Duration::ZERO } else { READ_WAIT };
        let query = EventQuery { queues: queues.clone(), after: after.clone(), limit: 1000, wait };
        let page = tokio::select! {
            page = shared.store.events(query) => page,
            () = shared.widened.notified() => continue,
        };
        match page {
            Ok(page) => {
                shared.tell(&page.events);
                after = page.next;
                if begins {
                    covered = queues;
                    shared.look_again();
                }
            }
            Err(_) => {
                // The waiters' own looks report the outage. What they miss meanwhile they see when the reading begins anew.
                covered.clear();
                shared.look_again();
                tokio::time::sleep(PAUSE).await;
            }
        }
    }
}

fn ended_as(kind: EventKind) -> Option<Status> {
    match kind {
        EventKind::Succeeded => Some(Status::Succeeded),
        EventKind::Failed => Some(Status::Failed),
        EventKind::DeadLettered => Some(Status::DeadLettered),
        EventKind::Cancelled => Some(Status::Cancelled),
        EventKind::Expired => Some(Status::Expired),
        _ => None,
    }
}

/// One waiter's view.
pub(super) struct Ended {
    receiver: watch::Receiver<Told>,
    id: TaskId,
    shared: Weak<Shared>,
    /// How often the waiter looked without being told to.
    own_looks: u32,
}

impl Ended {
    /// How the task ended, as far as events told.
    pub(super) fn status(&mut self) -> Option<Status> {
        self.receiver.borrow_and_update().ended
    }

    /// Waits until an event tells of an end, it is time to look again, or the deadline, if there is one.
    pub(super) async fn changed(&mut self, deadline: Option<Instant>) {
        let pause = policy::growing_pause(FIRST_LOOK, LONGEST_LOOK, self.own_looks, fastrand::f64());
        if self.changed_within(pause, deadline).await.is_err() {
            self.own_looks = self.own_looks.saturating_add(1);
        }
    }

    /// The same, when an event is about to come.
    pub(super) async fn changed_soon(&mut self, deadline: Option<Instant>) {
        // Without one the caller looks as well.
        let _ = self.changed_within(PAUSE, deadline).await;
    }

    async fn changed_within(&mut self, pause: Duration, deadline: Option<Instant>) -> Result<(), Elapsed> {
        let again = Instant::now() + pause;
        let until = deadline.map_or(again, |deadline| deadline.min(again));
        // Either way the caller looks; an error within means that the watch is gone.
        tokio::time::timeout_at(until, self.receiver.changed()).await.map(drop)
    }
}

impl Drop for Ended {
    fn drop(&mut self) {
        let Some(shared) = self.shared.upgrade() else { return };
        let mut state = shared.lock();
        // This receiver is still counted: one means that nobody else waits for the task.
        if state.waiters.get(&self.id).is_some_and(|sender| sender.receiver_count() <= 1) {
            state.waiters.remove(&self.id);
        }
    }
}

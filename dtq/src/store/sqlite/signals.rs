//! Who waits for what, and waking them.

use std::collections::HashMap;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use tokio::sync::Notify;
use tokio::sync::futures::OwnedNotified;

use crate::types::QueueName;

/// What a committed transaction brought.
#[derive(Debug, Default)]
pub(super) struct News {
    /// Who is to look at which queue.
    pub(super) queues: Vec<(QueueName, Wake)>,
    /// Events were written.
    pub(super) events: bool,
    /// Running tasks were asked to stop.
    pub(super) stops: bool,
}

/// Who is to look at a queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wake {
    /// So many of those who wait: each ready task needs one of them.
    Some(u64),
    /// All: a time changed until which they would sleep, or what holds the queue back.
    All,
}

/// The bells of one queue.
#[derive(Debug, Default)]
struct Bells {
    /// Rings for one who waits: there is a ready task.
    ready: Arc<Notify>,
    /// Rings for all who wait: they are to look again.
    changed: Arc<Notify>,
}

/// What a waiting call heard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Heard {
    /// A task is ready, and nobody else was told.
    Task,
    /// Something changed.
    Change,
}

type Hearing = Pin<Box<OwnedNotified>>;

/// A call that listens, whether it is waited for or not.
pub(super) struct Ears {
    ready: Vec<Hearing>,
    changed: Vec<Hearing>,
}

impl Ears {
    /// Waits for a bell.
    pub(super) async fn hear(mut self) -> Heard {
        poll_fn(|context| self.poll(context)).await
    }

    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Heard> {
        let mut rings = |bells: &mut [Hearing]| bells.iter_mut().any(|bell| bell.as_mut().poll(context).is_ready());
        if rings(&mut self.ready) {
            Poll::Ready(Heard::Task)
        } else if rings(&mut self.changed) {
            Poll::Ready(Heard::Change)
        } else {
            Poll::Pending
        }
    }
}

/// Wakes the waiting calls of one store in this process.
#[derive(Debug, Default)]
pub(super) struct Signals {
    /// For each queue that was ever waited for.
    queues: Mutex<HashMap<QueueName, Bells>>,
    /// There may be events.
    pub(super) logged: Notify,
    /// Running tasks may have been asked to stop.
    pub(super) stops: Notify,
    watchers: AtomicUsize,
    looking: AtomicBool,
}

impl Signals {
    /// Wakes whom the news concern.
    pub(super) fn announce(&self, news: &News) {
        for (queue, wake) in &news.queues {
            self.ring(queue, *wake);
        }
        if news.events {
            self.logged.notify_waiters();
        }
        if news.stops {
            self.stops.notify_waiters();
        }
    }

    /// Wakes everybody.
    pub(super) fn announce_all(&self) {
        self.queues().values().for_each(|bells| bells.changed.notify_waiters());
        self.logged.notify_waiters();
        self.stops.notify_waiters();
    }

    fn ring(&self, queue: &QueueName, wake: Wake) {
        let queues = self.queues();
        let Some(bells) = queues.get(queue) else { return };
        match wake {
            Wake::Some(count) => (0..count).for_each(|_| bells.ready.notify_one()),
            Wake::All => bells.changed.notify_waiters(),
        }
    }

    /// Listens for news of these queues: what rings from now on is heard.
    pub(super) fn listen(&self, names: &[QueueName]) -> Ears {
        let mut queues = self.queues();
        let hear = |name: &QueueName| {
            let bells = queues.entry(name.clone()).or_default();
            (armed(&bells.ready), armed(&bells.changed))
        };
        let (ready, changed) = names.iter().map(hear).unzip();
        Ears { ready, changed }
    }

    fn queues(&self) -> MutexGuard<'_, HashMap<QueueName, Bells>> {
        self.queues.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts the caller among the watchers until the guard is dropped.
    pub(super) fn watch(&self) -> Watcher<'_> {
        self.watchers.fetch_add(1, Ordering::SeqCst);
        Watcher(self)
    }

    /// True while somebody looks for other processes' commits by itself.
    pub(super) fn is_looked_for(&self) -> bool {
        self.looking.load(Ordering::SeqCst)
    }

    /// True while somebody waits, so that other processes' commits are worth looking for. After a false the next watcher
    /// has to ask for it.
    pub(super) fn look_on(&self) -> bool {
        // In this order: a watcher that is not seen here sees that nobody looks.
        self.looking.store(false, Ordering::SeqCst);
        let watched = self.watchers.load(Ordering::SeqCst) > 0;
        self.looking.store(watched, Ordering::SeqCst);
        watched
    }
}

/// Hears what rings from now on; what rang while nobody listened is news to nobody who looks after this.
fn armed(bell: &Arc<Notify>) -> Hearing {
    loop {
        let mut news = Box::pin(Arc::clone(bell).notified_owned());
        if !news.as_mut().enable() {
            return news;
        }
    }
}

/// One waiting call.
pub(super) struct Watcher<'a>(&'a Signals);

impl Drop for Watcher<'_> {
    fn drop(&mut self) {
        self.0.watchers.fetch_sub(1, Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    fn queue(name: &str) -> QueueName {
        QueueName::new(name).unwrap()
    }

    fn heard(ears: &mut Ears) -> Option<Heard> {
        poll_fn(|context| ears.poll(context)).now_or_never()
    }

    fn tell(signals: &Signals, name: &str, wake: Wake) {
        signals.announce(&News { queues: vec![(queue(name), wake)], ..News::default() });
    }

    #[test]
    fn one_ready_task_wakes_one_who_waits_for_its_queue() {
        let signals = Signals::default();
        let mut others = signals.listen(&[queue("b")]);
        let mut waiters = [signals.listen(&[queue("a"), queue("b")]), signals.listen(&[queue("a")])];
        tell(&signals, "a", Wake::Some(1));
        assert_eq!(waiters.iter_mut().filter_map(heard).collect::<Vec<_>>(), [Heard::Task]);
        assert_eq!(heard(&mut others), None);
    }

    #[test]
    fn who_goes_away_unheard_passes_the_news_on() {
        let signals = Signals::default();
        let first = signals.listen(&[queue("a")]);
        let mut second = signals.listen(&[queue("a")]);
        tell(&signals, "a", Wake::Some(1));
        assert_eq!(heard(&mut second), None);
        drop(first);
        assert_eq!(heard(&mut second), Some(Heard::Task));
    }

    #[test]
    fn old_news_wakes_nobody_and_a_change_for_all_wakes_all() {
        let signals = Signals::default();
        drop(signals.listen(&[queue("a")]));
        tell(&signals, "a", Wake::Some(3));
        let mut waiters = [signals.listen(&[queue("a")]), signals.listen(&[queue("a")])];
        assert!(waiters.iter_mut().all(|ears| heard(ears).is_none()));
        tell(&signals, "a", Wake::All);
        assert!(waiters.iter_mut().all(|ears| heard(ears) == Some(Heard::Change)));
    }

    #[test]
    fn who_begins_to_wait_is_seen_or_sees_that_nobody_looks() {
        let signals = Signals::default();
        assert!(!signals.look_on() && !signals.is_looked_for());
        let watcher = signals.watch();
        assert!(signals.look_on() && signals.is_looked_for());
        drop(watcher);
        assert!(!signals.look_on() && !signals.is_looked_for());
    }
}

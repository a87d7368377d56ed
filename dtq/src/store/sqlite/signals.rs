//! Who waits for what, and waking them.

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

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

/// Wakes the waiting calls of one store in this process.
#[derive(Debug, Default)]
pub(super) struct Signals {
    /// For each queue that was ever waited for.
    ready: Mutex<HashMap<QueueName, Arc<Notify>>>,
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
        self.bells().values().for_each(|bell| bell.notify_waiters());
        self.logged.notify_waiters();
        self.stops.notify_waiters();
    }

    fn ring(&self, queue: &QueueName, wake: Wake) {
        let Some(bell) = self.bells().get(queue).cloned() else { return };
        match wake {
            // Where fewer wait, the next one who would does not: it looks again.
            Wake::Some(count) => (0..count).for_each(|_| bell.notify_one()),
            Wake::All => bell.notify_waiters(),
        }
    }

    /// The bells of these queues. What rings from now on is heard.
    pub(super) fn listen(&self, queues: &[QueueName]) -> Vec<Pin<Box<OwnedNotified>>> {
        let mut bells = self.bells();
        queues.iter().map(|queue| armed(bells.entry(queue.clone()).or_default())).collect()
    }

    fn bells(&self) -> std::sync::MutexGuard<'_, HashMap<QueueName, Arc<Notify>>> {
        self.ready.lock().unwrap_or_else(PoisonError::into_inner)
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
fn armed(bell: &Arc<Notify>) -> Pin<Box<OwnedNotified>> {
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

    fn heard(news: &mut [Pin<Box<OwnedNotified>>]) -> bool {
        news.iter_mut().any(|news| news.now_or_never().is_some())
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
        assert_eq!(waiters.iter_mut().filter_map(|news| heard(news).then_some(())).count(), 1);
        assert!(!heard(&mut others));
    }

    #[test]
    fn who_goes_away_unheard_passes_the_news_on() {
        let signals = Signals::default();
        let first = signals.listen(&[queue("a")]);
        let mut second = signals.listen(&[queue("a")]);
        tell(&signals, "a", Wake::Some(1));
        assert!(!heard(&mut second));
        drop(first);
        assert!(heard(&mut second));
    }

    #[test]
    fn old_news_wakes_nobody_and_a_change_for_all_wakes_all() {
        let signals = Signals::default();
        drop(signals.listen(&[queue("a")]));
        tell(&signals, "a", Wake::Some(3));
        let mut waiters = [signals.listen(&[queue("a")]), signals.listen(&[queue("a")])];
        assert!(!waiters.iter_mut().any(|news| heard(news)));
        tell(&signals, "a", Wake::All);
        assert!(waiters.iter_mut().all(|news| heard(news)));
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

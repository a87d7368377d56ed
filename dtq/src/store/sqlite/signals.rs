//! Who waits for what, and waking them.

use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::Notify;

/// What a committed transaction brought.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct News {
    /// Tasks became ready, or were scheduled.
    pub(super) tasks: bool,
    /// Events were written.
    pub(super) events: bool,
    /// Running tasks were asked to stop.
    pub(super) stops: bool,
}

/// Wakes the waiting calls of one store in this process.
#[derive(Debug, Default)]
pub(super) struct Signals {
    /// Something may be ready.
    pub(super) ready: Notify,
    /// There may be events.
    pub(super) logged: Notify,
    /// Running tasks may have been asked to stop.
    pub(super) stops: Notify,
    watchers: AtomicUsize,
}

impl Signals {
    /// Wakes whom the news concern.
    pub(super) fn announce(&self, news: News) {
        if news.tasks {
            self.ready.notify_waiters();
        }
        if news.events {
            self.logged.notify_waiters();
        }
        if news.stops {
            self.stops.notify_waiters();
        }
    }

    /// True while somebody waits, so that other processes' commits are worth looking for.
    pub(super) fn watched(&self) -> bool {
        self.watchers.load(Ordering::SeqCst) > 0
    }

    /// Counts the caller among the watchers until the guard is dropped.
    pub(super) fn watch(&self) -> Watcher<'_> {
        self.watchers.fetch_add(1, Ordering::SeqCst);
        Watcher(self)
    }
}

/// One waiting call.
pub(super) struct Watcher<'a>(&'a Signals);

impl Drop for Watcher<'_> {
    fn drop(&mut self) {
        self.0.watchers.fetch_sub(1, Ordering::SeqCst);
    }
}

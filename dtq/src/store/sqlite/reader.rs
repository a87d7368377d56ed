//! The thread that owns the read connection, so that readers wait for no writer. While somebody waits for news, it also
//! looks for other processes' commits.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

use rusqlite::Connection;

use super::errors::Outcome;
use super::signals::{News, Signals};
use super::time::StoreTime;
use crate::types::Timestamp;

/// How often to look for other processes' commits. One look costs about two microseconds.
const POLL: Duration = Duration::from_millis(5);

/// What a reading job sees: one state of the database.
pub(super) struct View<'c> {
    pub(super) conn: &'c Connection,
    pub(super) now: Timestamp,
}

/// A reading job; it answers by itself.
pub(super) type Reading = Box<dyn FnOnce(&Reader) + Send>;

/// What the reader thread owns.
pub(super) struct Reader {
    pub(super) conn: Connection,
    pub(super) time: Arc<StoreTime>,
    pub(super) signals: Arc<Signals>,
}

impl Reader {
    /// Starts the thread. It ends when the last sender is dropped.
    pub(super) fn spawn(self) -> std::io::Result<Sender<Reading>> {
        let (sender, jobs) = channel();
        std::thread::Builder::new().name("dtq-sqlite-read".into()).spawn(move || self.serve(&jobs))?;
        Ok(sender)
    }

    /// Runs `work` on one state of the database.
    pub(super) fn view<T>(&self, work: impl FnOnce(&View<'_>) -> Outcome<T>) -> Outcome<T> {
        let snapshot = self.conn.unchecked_transaction()?;
        let value = work(&View { conn: &self.conn, now: self.time.now() })?;
        snapshot.commit()?;
        Ok(value)
    }

    fn serve(self, jobs: &Receiver<Reading>) {
        let mut seen = None;
        loop {
            // A waiting call always reads first: that wakes this thread from the plain `recv`.
            let next = match self.signals.watched() {
                true => jobs.recv_timeout(POLL),
                false => jobs.recv().map_err(|_| RecvTimeoutError::Disconnected),
            };
            match next {
                Ok(job) => job(&self),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
            if self.signals.watched() {
                self.look(&mut seen);
            }
        }
    }

    /// Wakes all who wait when another connection has committed since the last look.
    fn look(&self, seen: &mut Option<i64>) {
        // An error shows itself to the next read; here it only means no news.
        let version = self.data_version().ok();
        if version.is_some() && version != *seen {
            *seen = version;
            self.signals.announce(News { tasks: true, events: true, stops: true });
        }
    }

    fn data_version(&self) -> rusqlite::Result<i64> {
        self.conn.prepare_cached("PRAGMA data_version")?.query_row((), |row| row.get(0))
    }
}

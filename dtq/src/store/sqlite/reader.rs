//! The thread that owns the read connection, so that readers wait for no writer.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};

use rusqlite::Connection;

use super::errors::Outcome;
use super::time::StoreTime;
use crate::types::Timestamp;

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

    fn serve(&self, jobs: &Receiver<Reading>) {
        while let Ok(job) = jobs.recv() {
            job(self);
        }
    }
}

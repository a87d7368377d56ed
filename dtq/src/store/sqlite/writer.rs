//! The thread that owns the write connection. It runs what has queued up in one transaction (group commit) and answers
//! only after the commit.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use rusqlite::Connection;
use tokio::sync::oneshot;

use super::connect::has_moved;
use super::errors::{Fault, Outcome};
use super::time::StoreTime;
use super::txn::{Sweeps, Txn};
use super::watch::Watch;
use crate::failpoint;
use crate::store::StoreError;

/// Jobs join a transaction until it is this old: long enough to share one sync, short for other processes.
const GROUP_TIME: Duration = Duration::from_millis(4);
/// Jobs of one transaction at most.
const GROUP_JOBS: usize = 256;
/// The pause after a commit while other processes want the lock too: their attempts are up to a millisecond apart.
const COURTESY: Duration = Duration::from_micros(500);

/// Work for the writer. It may run twice: alone again, when another job spoiled the transaction.
pub(super) trait Job: Send {
    /// Does the work and keeps its value.
    fn run(&mut self, txn: &mut Txn<'_>) -> Outcome<()>;
    /// The verb it is of.
    fn operation(&self) -> &'static str;
    /// Tells the caller; `failure` when the work was not committed.
    fn answer(self: Box<Self>, failure: Option<&Fault>);
}

/// What the writer is sent.
pub(super) enum Message {
    /// Work.
    Job(Box<dyn Job>),
    /// Somebody began to wait: other processes' commits are worth looking for.
    Look,
}

impl Message {
    fn job(self) -> Option<Box<dyn Job>> {
        match self {
            Self::Job(job) => Some(job),
            Self::Look => None,
        }
    }
}

/// A closure as a job.
pub(super) struct Call<T, F> {
    pub(super) operation: &'static str,
    pub(super) store: Arc<str>,
    pub(super) work: F,
    pub(super) value: Option<T>,
    pub(super) reply: oneshot::Sender<Result<T, StoreError>>,
}

impl<T, F> Job for Call<T, F>
where
    T: Send,
    F: Fn(&mut Txn<'_>) -> Outcome<T> + Send,
{
    fn run(&mut self, txn: &mut Txn<'_>) -> Outcome<()> {
        self.value = Some((self.work)(txn)?);
        Ok(())
    }

    fn operation(&self) -> &'static str {
        self.operation
    }

    fn answer(self: Box<Self>, failure: Option<&Fault>) {
        if failure.is_none() {
            failpoint::reach(self.operation, "applied");
        }
        let answer = match (failure, self.value) {
            (Some(fault), _) => Err(fault.to_error(self.operation, &self.store)),
            (None, Some(value)) => Ok(value),
            // Dropping the sender tells the caller that nothing ran.
            (None, None) => return,
        };
        // The caller may have gone; the work stands.
        let _ = self.reply.send(answer);
    }
}

/// What the writer thread owns.
pub(super) struct Writer {
    pub(super) conn: Connection,
    pub(super) time: Arc<StoreTime>,
    pub(super) watch: Watch,
    pub(super) event_log: u64,
    /// Raised when the lock was found held by another process.
    pub(super) contended: Arc<AtomicBool>,
    pub(super) sweeps: Sweeps,
    pub(super) courteous_until: Option<Instant>,
}

/// Why a transaction came to nothing.
enum Spoiled {
    /// One of its jobs failed.
    Job(Fault),
    /// It could not begin or commit.
    Whole(Fault),
}

impl Writer {
    pub(super) fn new(
        conn: Connection,
        time: Arc<StoreTime>,
        watch: Watch,
        event_log: u64,
        contended: Arc<AtomicBool>,
    ) -> Self {
        let sweeps = Sweeps::default();
        Self { conn, time, watch, event_log, contended, sweeps, courteous_until: None }
    }

    /// Starts the thread. It ends when the last sender is dropped.
    pub(super) fn spawn(self) -> std::io::Result<Sender<Message>> {
        let (sender, jobs) = channel();
        std::thread::Builder::new().name("dtq-sqlite-write".into()).spawn(move || self.serve(&jobs))?;
        Ok(sender)
    }

    fn serve(mut self, messages: &Receiver<Message>) {
        while let Some(message) = self.next(messages) {
            if let Some(first) = message.job() {
                let mut group = vec![first];
                let result = self.transaction(&mut group, Some(messages));
                self.conclude(group, result);
                self.be_courteous();
            }
            self.watch.look(&self.conn);
        }
    }

    /// `None` when the last sender has gone.
    fn next(&self, messages: &Receiver<Message>) -> Option<Message> {
        let Some(patience) = self.watch.patience() else { return messages.recv().ok() };
        match messages.recv_timeout(patience) {
            Ok(message) => Some(message),
            Err(RecvTimeoutError::Timeout) => Some(Message::Look),
            Err(RecvTimeoutError::Disconnected) => None,
        }
    }

    fn conclude(&mut self, group: Vec<Box<dyn Job>>, result: Result<(), Spoiled>) {
        match result {
            Ok(()) => group.into_iter().for_each(|job| job.answer(None)),
            Err(Spoiled::Job(_)) if group.len() > 1 => self.one_by_one(group),
            Err(Spoiled::Job(fault) | Spoiled::Whole(fault)) => {
                group.into_iter().for_each(|job| job.answer(Some(&fault)));
            }
        }
    }

    /// A job that fails must not take its neighbours with it: each one gets a transaction of its own.
    fn one_by_one(&mut self, group: Vec<Box<dyn Job>>) {
        for job in group {
            let mut alone = vec![job];
            let result = self.transaction(&mut alone, None);
            self.conclude(alone, result);
        }
    }

    /// Runs the group in one transaction, letting more jobs from `arrivals` join it.
    fn transaction(
        &mut self,
        group: &mut Vec<Box<dyn Job>>,
        arrivals: Option<&Receiver<Message>>,
    ) -> Result<(), Spoiled> {
        if let Err(fault) = self.begin() {
            // Whoever queued up meanwhile has waited as long.
            group.extend(arrivals.into_iter().flat_map(Receiver::try_iter).filter_map(Message::job));
            return Err(Spoiled::Whole(fault));
        }
        let looked_at = self.sweeps.looked_at;
        let result = self.run_and_commit(group, arrivals);
        if result.is_err() {
            self.sweeps.looked_at = looked_at;
        }
        if result.is_err() && !self.conn.is_autocommit() {
            // Some errors roll back by themselves; a failing rollback leaves nothing else to try.
            let _ = execute(&self.conn, "ROLLBACK");
        }
        result
    }

    fn begin(&self) -> Outcome<()> {
        if has_moved(&self.conn) {
            return Err(Fault::Moved);
        }
        // IMMEDIATE: a deferred transaction that reads and then writes fails at once beside another writer.
        execute(&self.conn, "BEGIN IMMEDIATE")
    }

    fn run_and_commit(
        &mut self,
        group: &mut Vec<Box<dyn Job>>,
        arrivals: Option<&Receiver<Message>>,
    ) -> Result<(), Spoiled> {
        let mut txn = Txn::new(&self.conn, self.time.now(), self.event_log, &mut self.sweeps);
        run_group(&mut txn, group, arrivals).map_err(Spoiled::Job)?;
        txn.flush().map_err(Spoiled::Job)?;
        let news = txn.into_news();
        if failpoint::ENABLED {
            for job in &*group {
                failpoint::reach(job.operation(), "uncommitted");
            }
        }
        execute(&self.conn, "COMMIT").map_err(Spoiled::Whole)?;
        self.watch.announce(&news);
        Ok(())
    }

    /// Leaves a gap for other processes, for a second after one of them was met.
    fn be_courteous(&mut self) {
        if self.contended.swap(false, Ordering::Relaxed) {
            self.courteous_until = Some(Instant::now() + Duration::from_secs(1));
        }
        if self.courteous_until.is_some_and(|end| Instant::now() < end) {
            std::thread::sleep(COURTESY);
        }
    }
}

fn run_group(txn: &mut Txn<'_>, group: &mut Vec<Box<dyn Job>>, arrivals: Option<&Receiver<Message>>) -> Outcome<()> {
    let since = Instant::now();
    let mut next = 0;
    loop {
        group[next].run(txn)?;
        next += 1;
        let Some(arrivals) = arrivals.filter(|_| next < GROUP_JOBS && since.elapsed() < GROUP_TIME) else {
            return Ok(());
        };
        match arrivals.try_iter().find_map(Message::job) {
            Some(job) => group.push(job),
            None => return Ok(()),
        }
    }
}

fn execute(conn: &Connection, sql: &'static str) -> Outcome<()> {
    conn.prepare_cached(sql)?.execute(())?;
    Ok(())
}

//! A write transaction as the verbs see it: the queues it touches are read once and written back once.

use std::collections::HashMap;

use rusqlite::Connection;

use super::errors::Outcome;
use super::eventlog;
use super::queue::Queue;
use super::reader::View;
use super::signals::News;
use crate::types::{EventKind, QueueName, Timestamp};

/// When a process looks at each queue next, by queue id, and when it looked.
#[derive(Default)]
pub(super) struct Sweeps {
    /// When it last looked for silent workers, or a worker of its own was heard of.
    pub(super) looked_at: Timestamp,
    /// For finished tasks whose retention is over.
    pub(super) forgotten: HashMap<i64, Timestamp>,
    /// How many tasks of a queue with a depth limit had ended at some time.
    pub(super) ended: HashMap<i64, (Timestamp, u64)>,
    /// For tasks of silent workers.
    pub(super) silent: HashMap<i64, Timestamp>,
}

/// A running transaction.
pub(super) struct Txn<'c> {
    pub(super) conn: &'c Connection,
    pub(super) now: Timestamp,
    event_log: u64,
    pub(super) sweeps: &'c mut Sweeps,
    queues: Vec<Queue>,
    news: News,
}

/// A transaction at work on one queue.
pub(super) struct Step<'t> {
    pub(super) conn: &'t Connection,
    pub(super) now: Timestamp,
    pub(super) queue: &'t mut Queue,
    pub(super) sweeps: &'t mut Sweeps,
    pub(super) news: &'t mut News,
}

impl<'c> Txn<'c> {
    pub(super) fn new(conn: &'c Connection, now: Timestamp, event_log: u64, sweeps: &'c mut Sweeps) -> Self {
        Self { conn, now, event_log, sweeps, queues: Vec::new(), news: News::default() }
    }

    /// Goes to work on a queue; `None` when it never held a task.
    pub(super) fn step(&mut self, name: &QueueName) -> Outcome<Option<Step<'_>>> {
        let place = match self.queues.iter().position(|queue| queue.name == *name) {
            Some(place) => place,
            None => match Queue::load(self.conn, name)? {
                Some(queue) => self.keep(queue),
                None => return Ok(None),
            },
        };
        Ok(Some(self.at(place)))
    }

    /// Goes to work on a queue, making it when it is new.
    pub(super) fn step_or_new(&mut self, name: &QueueName) -> Outcome<Step<'_>> {
        // Asked by place: the borrow of a `Step` must not last over the other branch.
        if self.step(name)?.is_none() {
            let queue = Queue::create(self.conn, name)?;
            self.keep(queue);
        }
        let place = self.queues.iter().position(|queue| queue.name == *name).unwrap_or_default();
        Ok(self.at(place))
    }

    fn keep(&mut self, queue: Queue) -> usize {
        self.queues.push(queue);
        self.queues.len() - 1
    }

    fn at(&mut self, place: usize) -> Step<'_> {
        let (conn, now) = (self.conn, self.now);
        Step { conn, now, queue: &mut self.queues[place], sweeps: self.sweeps, news: &mut self.news }
    }

    /// The state so far, for reading jobs that share this connection.
    pub(super) fn view(&mut self) -> Outcome<View<'c>> {
        self.flush()?;
        Ok(View { conn: self.conn, now: self.now })
    }

    /// Writes a worker event.
    pub(super) fn worker_event(&mut self, kind: EventKind, worker: &str) -> Outcome<()> {
        self.news.events = true;
        let batch = eventlog::encode_worker(kind, worker);
        eventlog::append(self.conn, self.now, None, &batch, 1, self.event_log)
    }

    /// Writes the queues and their events back.
    pub(super) fn flush(&mut self) -> Outcome<()> {
        for queue in &mut self.queues {
            queue.save(self.conn)?;
            if let Some((batch, count)) = queue.take_events() {
                self.news.events = true;
                eventlog::append(self.conn, self.now, Some(queue.id), &batch, count, self.event_log)?;
            }
            if let Some(wake) = queue.take_wake(self.conn)? {
                self.news.queues.push((queue.name.clone(), wake));
            }
        }
        Ok(())
    }

    /// What waiting calls are to be told after the commit.
    pub(super) fn into_news(self) -> News {
        self.news
    }
}

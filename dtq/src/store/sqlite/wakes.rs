//! Whom a transaction gives reason to look at a queue.

use rusqlite::Connection;

use super::errors::Outcome;
use super::row::status_code;
use super::signals::Wake;
use crate::types::Status;

/// What gathers during a transaction.
#[derive(Default)]
pub(super) struct Wakes {
    ones: u64,
    /// The earliest due time that a task was given.
    due: Option<i64>,
    all: bool,
}

impl Wakes {
    /// A task became ready, or may start since another one ended.
    pub(super) fn one(&mut self) {
        self.ones += 1;
    }

    /// All who wait must look again.
    pub(super) fn all(&mut self) {
        self.all = true;
    }

    /// A task is due then: those who wait may sleep no longer.
    pub(super) fn due_at(&mut self, due: i64) {
        self.due = self.due.into_iter().chain([due]).min();
    }

    /// Whom to wake, once everything is written; `ready`: tasks that may start.
    pub(super) fn of(self, conn: &Connection, queue: i64, ready: u64) -> Outcome<Option<Wake>> {
        // Whoever sleeps knows of the first due task that there was. One that is due after it changes nothing.
        let first = match self.due {
            Some(due) => first_due(conn, queue)?.is_some_and(|first| due <= first),
            None => false,
        };
        if self.all || first {
            return Ok(Some(Wake::All));
        }
        let ones = self.ones.min(ready);
        Ok((ones > 0).then_some(Wake::Some(ones)))
    }
}

/// When the first pending or retrying task is due.
pub(super) fn first_due(conn: &Connection, queue: i64) -> Outcome<Option<i64>> {
    let mut earliest = conn.prepare_cached("SELECT min(key) FROM tasks WHERE queue = ?1 AND status = ?2")?;
    let mut of = |status| earliest.query_row([queue, status_code(status)], |row| row.get::<_, Option<i64>>(0));
    Ok([of(Status::Pending)?, of(Status::Retrying)?].into_iter().flatten().min())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::sqlite::migrations;
    use crate::store::sqlite::queue::Queue;
    use crate::types::QueueName;

    fn queue() -> (Connection, Queue) {
        let mut conn = Connection::open_in_memory().unwrap();
        migrations::run(&mut conn).unwrap();
        let queue = Queue::create(&conn, &QueueName::new("a").unwrap()).unwrap();
        (conn, queue)
    }

    #[test]
    fn tasks_that_stay_ready_wake_as_many() {
        let (conn, mut queue) = queue();
        (0..3).for_each(|_| queue.moved(None, Status::Queued));
        queue.moved(Some(Status::Queued), Status::Running);
        assert_eq!(queue.take_wake(&conn).unwrap(), Some(Wake::Some(2)));
        assert_eq!(queue.take_wake(&conn).unwrap(), None);
    }

    #[test]
    fn nobody_wakes_for_what_may_not_start() {
        let (conn, mut queue) = queue();
        queue.concurrency = Some(1);
        queue.moved(None, Status::Running);
        queue.moved(None, Status::Queued);
        assert_eq!(queue.take_wake(&conn).unwrap(), None);
        queue.moved(Some(Status::Running), Status::Retrying);
        assert_eq!(queue.take_wake(&conn).unwrap(), Some(Wake::Some(1)));
        queue.paused = true;
        queue.moved(None, Status::Queued);
        assert_eq!(queue.take_wake(&conn).unwrap(), None);
    }
}

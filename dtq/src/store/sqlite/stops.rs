//! `stops`: telling which running tasks were asked to stop.

use rusqlite::params;
use uuid::Uuid;

use super::SqliteStore;
use super::errors::{Fault, Outcome};
use super::reader::View;
use super::row::Head;
use super::txn::Step;
use super::wait::Deadline;
use crate::store::{Result, StopQuery, Stops};
use crate::types::{QueueName, TaskId};

/// Tasks named in one answer at most.
const PAGE: usize = 1000;

/// Notes that a running task was asked. The note goes with the task's end.
pub(super) fn add(step: &mut Step<'_>, head: &Head) -> Outcome<()> {
    let sql = "INSERT OR IGNORE INTO stops (task, queue, uuid) VALUES (?1, ?2, ?3)";
    step.prepare(sql)?.execute(params![head.seq, step.queue.id, head.uuid.as_bytes()])?;
    step.news.stops = true;
    Ok(())
}

impl SqliteStore {
    pub(super) async fn await_stops(&self, query: StopQuery) -> Result<Stops> {
        let signals = &self.inner.signals;
        let _watcher = self.watch();
        let deadline = Deadline::after(query.wait);
        loop {
            let mut news = std::pin::pin!(signals.stops.notified());
            // Before the look: what is committed after it must wake us.
            news.as_mut().enable();
            let asked = query.clone();
            let stops = self.read("stops", move |view| stops(view, &asked)).await?;
            if !stops.tasks.is_empty() || deadline.passed() {
                return Ok(stops);
            }
            deadline.wait_for(news, None).await;
        }
    }
}

fn stops(view: &View<'_>, query: &StopQuery) -> Outcome<Stops> {
    let after: i64 = match &query.after {
        None => 0,
        Some(place) => place.parse().map_err(|_| Fault::Data(format!("{place:?} is not a place among stops")))?,
    };
    let sql = "SELECT s.seq, s.uuid, q.name FROM stops s JOIN queues q ON q.id = s.queue
               WHERE s.seq > ?1 ORDER BY s.seq LIMIT ?2";
    let mut statement = view.conn.prepare_cached(sql)?;
    let read = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, Uuid::from_bytes(row.get(1)?), row.get(2)?));
    let rows = statement.query_map(params![after, i64::try_from(PAGE).unwrap_or(i64::MAX)], read)?;
    let rows = rows.collect::<rusqlite::Result<Vec<(i64, Uuid, String)>>>()?;
    let last = rows.last().map_or(after, |(seq, ..)| *seq);
    let of_queue = |(_, uuid, name): &(i64, Uuid, String)| {
        let queue: Option<&QueueName> = query.queues.iter().find(|queue| queue.as_str() == name);
        Some(TaskId::new(queue?.clone(), *uuid))
    };
    let tasks = rows.iter().filter_map(of_queue).collect();
    Ok(Stops { tasks, incomplete: false, next: Some(last.to_string()) })
}

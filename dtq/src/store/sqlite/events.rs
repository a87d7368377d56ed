//! `events`: reading the log.

use rusqlite::{OptionalExtension, Row, params};

use super::SqliteStore;
use super::errors::{Fault, Outcome};
use super::eventlog;
use super::reader::View;
use super::wait::Deadline;
use crate::store::{EventQuery, Result};
use crate::types::{EventCursor, EventPage, QueueName, Timestamp};

const READ: &str = "SELECT upto, at, queue, batch FROM events WHERE upto > ?1 ORDER BY upto";

impl SqliteStore {
    /// Reads on from the cursor, and waits for the first event when there is none.
    pub(super) async fn read_events(&self, mut query: EventQuery) -> Result<EventPage> {
        let signals = &self.inner.signals;
        let _watcher = self.watch();
        let deadline = Deadline::after(query.wait);
        loop {
            let mut news = std::pin::pin!(signals.logged.notified());
            // Before the look: what is committed after it must wake us.
            news.as_mut().enable();
            let asked = query.clone();
            let page = self.read("events", move |view| page(view, &asked)).await?;
            if !page.events.is_empty() || deadline.passed() {
                return Ok(page);
            }
            query.after = page.next;
            deadline.wait_for(news, None).await;
        }
    }
}

fn page(view: &View<'_>, query: &EventQuery) -> Outcome<EventPage> {
    let after = position(view, &query.after)?;
    let wanted = queue_ids(view, &query.queues)?;
    let mut page = EventPage { events: Vec::new(), next: EventCursor(after.to_string()) };
    let mut read = view.conn.prepare_cached(READ)?;
    let mut rows = read.query([after])?;
    let mut last = None;
    while let Some(row) = rows.next()? {
        last = Some(row.get::<_, i64>(0)?);
        let at = Timestamp::from_millis(row.get(1)?);
        match row.get::<_, Option<i64>>(2)? {
            None => page.events.push(eventlog::decode_worker(blob(row)?, at)?),
            Some(id) => {
                if let Some((_, name)) = wanted.iter().find(|(wanted, _)| *wanted == id) {
                    eventlog::decode(blob(row)?, at, name, &mut page.events)?;
                }
            }
        }
        if page.events.len() >= query.limit.max(1) {
            break;
        }
    }
    if let Some(last) = last {
        page.next = EventCursor(last.to_string());
    }
    Ok(page)
}

fn blob<'r>(row: &'r Row<'_>) -> Outcome<&'r [u8]> {
    row.get_ref(3)?.as_blob().map_err(|error| Fault::Data(format!("an event batch: {error}")))
}

/// A cursor is the number of the last event seen; empty text stands before all.
fn position(view: &View<'_>, cursor: &EventCursor) -> Outcome<i64> {
    match cursor.as_str() {
        "" => Ok(0),
        EventCursor::END => Ok(view.conn.query_row("SELECT ifnull(max(upto), 0) FROM events", [], |row| row.get(0))?),
        text => text.parse().map_err(|_| Fault::Data(format!("{text:?} is not an event cursor of this store"))),
    }
}

fn queue_ids(view: &View<'_>, names: &[QueueName]) -> Outcome<Vec<(i64, QueueName)>> {
    let mut find = view.conn.prepare_cached("SELECT id FROM queues WHERE name = ?1")?;
    let mut ids = Vec::new();
    for name in names {
        let id: Option<i64> = find.query_row(params![name.as_str()], |row| row.get(0)).optional()?;
        ids.extend(id.map(|id| (id, name.clone())));
    }
    Ok(ids)
}

//! `list`: tasks, one status after the other.

use rusqlite::{OptionalExtension, Row, params};
use uuid::Uuid;

use super::errors::{Fault, Outcome};
use super::inspect::read_failure;
use super::reader::View;
use super::row::{HEAD, Head, PARKED, head, status_code};
use crate::store::listing::Place;
use crate::store::{LOOKED_AT, TaskPage, TaskQuery};
use crate::types::{Failure, ListOrder, Status, TaskId, TaskSummary, Timestamp};

pub(super) fn list(view: &View<'_>, query: &TaskQuery) -> Outcome<TaskPage> {
    let mut place = Some(Place::of(query).ok_or_else(|| no_place(query))?);
    let mut page = TaskPage { tasks: Vec::new(), next: None, now: view.now };
    let mut budget = LOOKED_AT;
    while let Some(at) = place {
        if page.tasks.len() >= query.limit || budget == 0 {
            page.next = Some(at.to_string());
            break;
        }
        place = match walk(view, query, &at, &mut page, &mut budget)? {
            Some(within) => Some(Place { status: at.status, within: Some(within.to_string()) }),
            None => at.next(query),
        };
    }
    Ok(page)
}

fn no_place(query: &TaskQuery) -> Fault {
    Fault::Data(format!("{:?} is not a place of this listing", query.after))
}

/// A place among the tasks of one status.
#[derive(Clone, Copy)]
struct Within {
    key: i64,
    seq: i64,
}

impl Within {
    fn read(text: &str) -> Option<Self> {
        let (key, seq) = text.split_once(' ')?;
        Some(Self { key: key.parse().ok()?, seq: seq.parse().ok()? })
    }
}

impl std::fmt::Display for Within {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.key, self.seq)
    }
}

/// Looks at tasks of one status until the page is full; gives where to go on.
fn walk(
    view: &View<'_>,
    query: &TaskQuery,
    place: &Place,
    page: &mut TaskPage,
    budget: &mut usize,
) -> Outcome<Option<Within>> {
    let newest = query.order == ListOrder::NewestFirst;
    let first = if newest { i64::MAX } else { i64::MIN };
    let mut last = match &place.within {
        Some(within) => Within::read(within).ok_or_else(|| no_place(query))?,
        None => Within { key: first, seq: first },
    };
    let sql = statement(place.status, newest);
    let mut statement = view.conn.prepare_cached(&sql)?;
    let code = status_code(place.status);
    // One more than is looked at tells whether there are more.
    let limit = i64::try_from(*budget + 1).unwrap_or(i64::MAX);
    let mut rows = statement.query(params![query.queue.as_str(), code, last.key, last.seq, limit])?;
    while let Some(row) = rows.next()? {
        if *budget == 0 || page.tasks.len() == query.limit {
            return Ok(Some(last));
        }
        *budget -= 1;
        let head = Head::read(row)?;
        last = Within { key: head.place(), seq: head.seq };
        if head.forgotten(view.now) {
            continue;
        }
        let task = summary(view, query, row, head)?;
        if query.filter.fits(&task, view.now) {
            page.tasks.push(task);
        }
    }
    Ok(None)
}

/// By key, which the index holds in order. What is running has a key that each renewal moves: there the order is that of
/// acceptance, and the running tasks of the queue are sorted for it, which are no more than its workers have room for. Ready
/// tasks that were passed over stand elsewhere in the index: each part is read as far as the page may need it.
fn statement(status: Status, newest: bool) -> String {
    let (sign, order) = if newest { ("<", " DESC") } else { (">", "") };
    let columns = concat!(head!(), ", name, finished_at, requeues");
    let part = |place: &str, by: &str| {
        format!(
            "SELECT {columns} FROM tasks WHERE queue = (SELECT id FROM queues WHERE name = ?1) AND status = ?2
             AND {place} ORDER BY {by} LIMIT ?5"
        )
    };
    let by = format!("key{order}, seq{order}");
    match status {
        Status::Running => part(&format!("seq {sign} ?4"), &format!("seq{order}")),
        Status::Queued => {
            // One bound of each part is the place itself, kept within it: then the index serves both bounds.
            let (ready_too, parked_too) = match newest {
                true => (String::new(), format!("key >= {PARKED} AND ")),
                false => (format!("key < {PARKED} AND "), String::new()),
            };
            let ready = part(&format!("{ready_too}(key, seq) {sign} (min(?3, {PARKED} - 1), ?4)"), &by);
            let parked = part(&format!("{parked_too}(key, seq) {sign} (max(?3, 0) | {PARKED}, ?4)"), &by);
            format!(
                "SELECT * FROM (SELECT * FROM ({ready}) UNION ALL SELECT * FROM ({parked}))
                 ORDER BY key & ~{PARKED}{order}, seq{order} LIMIT ?5"
            )
        }
        _ => part(&format!("(key, seq) {sign} (?3, ?4)"), &by),
    }
}

fn summary(view: &View<'_>, query: &TaskQuery, row: &Row<'_>, head: Head) -> Outcome<TaskSummary> {
    let waiting = matches!(head.status, Status::Pending | Status::Retrying);
    let finished_at = head.status.is_terminal().then_some(row.get(HEAD + 1).map(Timestamp::from_millis)?);
    Ok(TaskSummary {
        id: TaskId::new(query.queue.clone(), Uuid::from_bytes(row.get(1)?)),
        task: row.get(HEAD)?,
        status: head.status,
        attempt: head.attempt,
        max_attempts: head.policy.max_attempts,
        priority: head.priority,
        enqueued_at: head.enqueued_at,
        due_at: waiting.then(|| Timestamp::from_millis(head.key)),
        finished_at,
        failure: last_failure(view, head.seq)?,
        requeues: row.get(HEAD + 2)?,
        cancel_requested: head.status == Status::Running && head.cancel_reason.is_some(),
    })
}

fn last_failure(view: &View<'_>, seq: i64) -> Outcome<Option<Failure>> {
    let sql = "SELECT kind, message FROM attempts WHERE task = ?1 ORDER BY n DESC LIMIT 1";
    Ok(view.conn.prepare_cached(sql)?.query_row([seq], |row| read_failure(row, 0)).optional()?)
}

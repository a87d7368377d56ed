//! `dead_letters`: a queue's list of them.

use rusqlite::{Row, params};
use uuid::Uuid;

use super::errors::{Fault, Outcome};
use super::inspect::read_failure;
use super::reader::View;
use super::row::status_code;
use crate::store::{DeadLetterPage, DeadLetterQuery, LOOKED_AT};
use crate::types::{DeadLetter, Status, TaskId, Timestamp};

/// A window on the list; a position is the entry's key, which rises strictly within a queue.
pub(super) fn list(view: &View<'_>, query: &DeadLetterQuery) -> Outcome<DeadLetterPage> {
    let sql = "SELECT t.key, t.uuid, t.name, t.finished_at, t.attempt, a.kind, a.message
               FROM tasks t JOIN attempts a ON a.task = t.seq
                    AND a.n = (SELECT max(n) FROM attempts WHERE task = t.seq)
               WHERE t.queue = (SELECT id FROM queues WHERE name = ?1) AND t.status = ?2 AND t.key > ?3
               ORDER BY t.key LIMIT ?4";
    // Keys up to now belong to letters whose retention is over.
    let after = position(query)?.max(view.now.as_millis());
    let code = status_code(Status::DeadLettered);
    let mut statement = view.conn.prepare_cached(sql)?;
    // One more than is looked at tells whether there are more.
    let limit = i64::try_from(LOOKED_AT + 1).unwrap_or(i64::MAX);
    let mut rows = statement.query(params![query.queue.as_str(), code, after, limit])?;
    let mut page = DeadLetterPage { letters: Vec::new(), next: None, now: view.now };
    let mut last = query.after.clone();
    for looked_at in 0.. {
        let Some(row) = rows.next()? else { break };
        if looked_at == LOOKED_AT || page.letters.len() == query.limit {
            page.next = Some(last.unwrap_or_else(|| after.to_string()));
            break;
        }
        let letter = read(query, row)?;
        last = Some(letter.position.clone());
        if query.filter.fits(&letter, view.now) {
            page.letters.push(letter);
        }
    }
    Ok(page)
}

fn read(query: &DeadLetterQuery, row: &Row<'_>) -> rusqlite::Result<DeadLetter> {
    Ok(DeadLetter {
        position: row.get::<_, i64>(0)?.to_string(),
        id: TaskId::new(query.queue.clone(), Uuid::from_bytes(row.get(1)?)),
        task: row.get(2)?,
        at: Timestamp::from_millis(row.get(3)?),
        attempt: row.get(4)?,
        failure: read_failure(row, 5)?,
    })
}

fn position(query: &DeadLetterQuery) -> Outcome<i64> {
    let Some(after) = &query.after else { return Ok(i64::MIN) };
    after.parse().map_err(|_| Fault::Data(format!("{after:?} is not a position in this store's dead letters")))
}

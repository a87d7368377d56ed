//! The stored form of events, and the log's bound.
//!
//! A batch of task events is a sequence of 21-byte entries: the kind's letter, the attempt (4 bytes, little endian) and
//! the uuid. A worker event is the letter and the worker's id. A third of what text takes, and nothing to escape.

use rusqlite::{Connection, params};
use uuid::Uuid;

use super::errors::{Fault, Outcome};
use crate::types::{Event, EventKind, QueueName, TaskId, Timestamp, WorkerId};

const ENTRY: usize = 21;
/// The log is trimmed whenever it has grown by this many events...
const TRIM_EVERY: i64 = 256;
/// ...by so many rows at most: more than can have come since, so that a log whose bound was lowered shrinks in steps.
const TRIM_ROWS: i64 = 1_024;

/// Adds a task event to a batch.
pub(super) fn encode(batch: &mut Vec<u8>, kind: EventKind, attempt: u32, uuid: &Uuid) {
    batch.push(letter(kind));
    batch.extend_from_slice(&attempt.to_le_bytes());
    batch.extend_from_slice(uuid.as_bytes());
}

/// The batch of one worker event.
pub(super) fn encode_worker(kind: EventKind, worker: &str) -> Vec<u8> {
    let mut batch = vec![letter(kind)];
    batch.extend_from_slice(worker.as_bytes());
    batch
}

/// The letters are ASCII.
fn letter(kind: EventKind) -> u8 {
    u8::try_from(kind.code()).unwrap_or(b'?')
}

/// Appends a batch of `count` events to the log.
pub(super) fn append(
    conn: &Connection,
    now: Timestamp,
    queue: Option<i64>,
    batch: &[u8],
    count: u32,
    keep: u64,
) -> Outcome<()> {
    let before = newest(conn)?;
    let upto = before + i64::from(count);
    conn.prepare_cached("INSERT INTO events (upto, at, queue, batch) VALUES (?1, ?2, ?3, ?4)")?.execute(params![
        upto,
        now.as_millis(),
        queue,
        batch
    ])?;
    if upto / TRIM_EVERY != before / TRIM_EVERY {
        trim(conn, upto, keep)?;
    }
    Ok(())
}

/// The number of the newest event; 0 before the first.
pub(super) fn newest(conn: &Connection) -> Outcome<i64> {
    let newest: Option<i64> = conn.prepare_cached("SELECT max(upto) FROM events")?.query_row((), |row| row.get(0))?;
    Ok(newest.unwrap_or(0))
}

/// Drops what is older than the latest `keep` events. The newest row stays in any case.
fn trim(conn: &Connection, newest: i64, keep: u64) -> Outcome<()> {
    let oldest = newest.saturating_sub(i64::try_from(keep.max(1)).unwrap_or(i64::MAX));
    let sql = "DELETE FROM events WHERE upto IN (SELECT upto FROM events WHERE upto <= ?1 ORDER BY upto LIMIT ?2)";
    conn.prepare_cached(sql)?.execute([oldest, TRIM_ROWS])?;
    Ok(())
}

/// Reads a batch of task events.
pub(super) fn decode(batch: &[u8], at: Timestamp, queue: &QueueName, events: &mut Vec<Event>) -> Outcome<()> {
    let (entries, rest) = batch.as_chunks::<ENTRY>();
    if !rest.is_empty() {
        return Err(Fault::Data(format!("an event batch of {} bytes", batch.len())));
    }
    for &[code, a, b, c, d, ref uuid @ ..] in entries {
        let task = TaskId::new(queue.clone(), Uuid::from_bytes(*uuid));
        let attempt = u32::from_le_bytes([a, b, c, d]);
        events.push(Event { kind: kind_of(code)?, at, task: Some(task), attempt, worker: None });
    }
    Ok(())
}

/// Reads a worker event.
pub(super) fn decode_worker(batch: &[u8], at: Timestamp) -> Outcome<Event> {
    let Some((&code, worker)) = batch.split_first() else {
        return Err(Fault::Data("an empty event".into()));
    };
    let worker = WorkerId::named(String::from_utf8_lossy(worker));
    Ok(Event { kind: kind_of(code)?, at, task: None, attempt: 0, worker: Some(worker) })
}

fn kind_of(code: u8) -> Outcome<EventKind> {
    EventKind::from_code(char::from(code)).ok_or_else(|| Fault::Data(format!("an event of the unknown kind {code}")))
}

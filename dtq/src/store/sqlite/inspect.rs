//! `get`, `stats`, `queues`: looking without touching.

use bytes::Bytes;
use rusqlite::{OptionalExtension, Row, params};

use super::errors::{Fault, Outcome};
use super::keys;
use super::notes::{self, Notes};
use super::queue::read_counts;
use super::reader::View;
use super::row::{Body, HEAD, Head, head_and_body};
use crate::types::{Attempt, ErrorKind, Failure, QueueName, QueueStats, Record, Requeued, Status, TaskId, Timestamp};

/// What only a record needs of a row.
struct Tail {
    finished_at: Timestamp,
    result: Option<Bytes>,
    requeues: u32,
    earlier: u32,
    discarded_at: Option<Timestamp>,
}

/// Everything known of a task.
pub(super) fn get(view: &View<'_>, id: &TaskId) -> Outcome<Option<Record>> {
    let sql = concat!(
        "SELECT ",
        head_and_body!(),
        ", finished_at, result, requeues, earlier, discarded_at FROM tasks WHERE uuid = ?1 AND queue = (SELECT id FROM queues WHERE name = ?2)"
    );
    let read = |row: &Row<'_>| Ok((Head::read(row)?, Body::read(row)?, Tail::read(row)?));
    let uuid = id.uuid();
    let found = view.conn.prepare_cached(sql)?.query_row(params![uuid.as_bytes(), id.queue().as_str()], read);
    match found.optional()? {
        Some((head, body, tail)) if !head.forgotten(view.now) => {
            let attempts = attempts(view, head.seq)?;
            let (idempotency_key, unique_key) = keys::of_task(view, &head)?;
            let notes = notes::of_task(view, &head)?;
            let record = record(id.clone(), head, body, tail, attempts, notes);
            Ok(Some(Record { idempotency_key, unique_key, ..record }))
        }
        _ => Ok(None),
    }
}

impl Tail {
    fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        let result = row.get_ref(HEAD + 3)?.as_blob_or_null()?.map(Bytes::copy_from_slice);
        Ok(Self {
            finished_at: Timestamp::from_millis(row.get(HEAD + 2)?),
            result,
            requeues: row.get(HEAD + 4)?,
            earlier: row.get(HEAD + 5)?,
            discarded_at: row.get::<_, Option<i64>>(HEAD + 6)?.map(Timestamp::from_millis),
        })
    }
}

fn record(id: TaskId, head: Head, body: Body, tail: Tail, attempts: Vec<Attempt>, notes: Notes) -> Record {
    let waiting = matches!(head.status, Status::Pending | Status::Retrying);
    let Tail { requeues, earlier, discarded_at, .. } = tail;
    Record {
        requeued: head.was_requeued().then_some(Requeued { times: requeues, attempts: earlier, at: head.requeued_at }),
        discarded_at,
        id,
        task: body.name,
        status: head.status,
        attempt: head.attempt,
        priority: head.priority,
        policy: head.policy,
        payload: body.payload,
        result: tail.result,
        enqueued_at: head.enqueued_at,
        due_at: waiting.then(|| Timestamp::from_millis(head.key)),
        finished_at: head.status.is_terminal().then_some(tail.finished_at),
        attempts,
        cancel_requested: head.status == Status::Running && head.cancel_reason.is_some(),
        idempotency_key: None,
        unique_key: None,
        progress: notes.progress,
        log: notes.log,
        checkpoint: notes.checkpoint,
    }
}

fn attempts(view: &View<'_>, seq: i64) -> Outcome<Vec<Attempt>> {
    let sql = "SELECT number, started_at, ended_at, kind, message FROM attempts WHERE task = ?1 ORDER BY n";
    let read = |row: &Row<'_>| {
        Ok(Attempt {
            number: row.get(0)?,
            started_at: Timestamp::from_millis(row.get(1)?),
            ended_at: Timestamp::from_millis(row.get(2)?),
            failure: read_failure(row, 3)?,
        })
    };
    Ok(view.conn.prepare_cached(sql)?.query_map([seq], read)?.collect::<rusqlite::Result<_>>()?)
}

pub(super) fn read_failure(row: &Row<'_>, first: usize) -> rusqlite::Result<Failure> {
    let kind: String = row.get(first)?;
    Ok(Failure { kind: ErrorKind::from_name(&kind), message: row.get(first + 1)? })
}

/// Counts of one queue: kept current by each step, so this reads one row however many tasks there are.
pub(super) fn stats(view: &View<'_>, queue: &QueueName) -> Outcome<QueueStats> {
    let sql = "SELECT pending, queued, running, retrying, succeeded, failed, dead_lettered, cancelled, expired, retries
               FROM queues WHERE name = ?1";
    let counts = view.conn.prepare_cached(sql)?.query_row([queue.as_str()], |row| read_counts(row, 0)).optional()?;
    Ok(counts.unwrap_or_default())
}

/// All queues, sorted by name.
pub(super) fn queues(view: &View<'_>) -> Outcome<Vec<QueueName>> {
    let mut names = view.conn.prepare_cached("SELECT name FROM queues ORDER BY name")?;
    let names = names.query_map((), |row| row.get(0))?.collect::<rusqlite::Result<Vec<String>>>()?;
    names.iter().map(|name| queue_name(name)).collect()
}

pub(super) fn queue_name(name: &str) -> Outcome<QueueName> {
    QueueName::new(name).map_err(|error| Fault::Data(error.to_string()))
}

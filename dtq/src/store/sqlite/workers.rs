//! `heartbeat`, `farewell`, `workers`: who is there.

use std::time::Duration;

use rusqlite::{Connection, OptionalExtension, Row, params};

use super::errors::Outcome;
use super::inspect::queue_name;
use super::reader::View;
use super::row::millis;
use super::txn::{Sweeps, Txn};
use crate::store::Heartbeat;
use crate::types::{EventKind, QueueName, Timestamp, WorkerId, WorkerInfo};

/// How long a silent worker is remembered: longer than any lease, so whatever it held was taken over by then.
const REMEMBERED: Duration = Duration::from_secs(24 * 3600);

/// Writes a heartbeat. The first one, and one after a silence longer than its life, starts the worker anew.
pub(super) fn heartbeat(txn: &mut Txn<'_>, heartbeat: &Heartbeat) -> Outcome<()> {
    let Heartbeat { worker, ttl, .. } = heartbeat;
    let now = txn.now.as_millis();
    forget(txn.conn, now)?;
    let seq = alive(txn.conn, txn.sweeps, txn.now, &worker.id, *ttl)?;
    let known = "SELECT started_at FROM workers WHERE seq = ?1 AND expires_at > ?2";
    let known = txn.conn.prepare_cached(known)?.query_row([seq, now], |row| row.get::<_, Option<i64>>(0)).optional()?;
    let started_at = known.flatten();
    let queues = worker.queues.iter().map(QueueName::as_str).collect::<Vec<_>>().join(",");
    let expires_at = now.saturating_add(millis(*ttl));
    let sql = "UPDATE workers SET queues = ?2, concurrency = ?3, running = ?4, started_at = ?5, seen_at = ?6,
               expires_at = ?7, tasks = ?8 WHERE seq = ?1";
    let since = started_at.unwrap_or(now);
    let tasks = worker.tasks.join(",");
    let params = params![seq, queues, worker.concurrency, worker.running, since, now, expires_at, tasks];
    txn.conn.prepare_cached(sql)?.execute(params)?;
    if started_at.is_none() { txn.worker_event(EventKind::WorkerStarted, worker.id.as_str()) } else { Ok(()) }
}

fn forget(conn: &Connection, now: i64) -> Outcome<()> {
    let sql = "DELETE FROM workers WHERE silent_at <= ?1";
    conn.prepare_cached(sql)?.execute([now.saturating_sub(millis(REMEMBERED))])?;
    Ok(())
}

/// Notes a worker's sign of life, and gives its number.
pub(super) fn alive(
    conn: &Connection,
    sweeps: &mut Sweeps,
    now: Timestamp,
    worker: &WorkerId,
    silence: Duration,
) -> Outcome<i64> {
    let silent_at = now.as_millis().saturating_add(millis(silence));
    let find = "SELECT seq, silent_at FROM workers WHERE id = ?1";
    let read = |row: &Row<'_>| Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?));
    let found = conn.prepare_cached(find)?.query_row([worker.as_str()], read).optional()?;
    match found {
        // Busy workers claim a thousand times a second: most of that says nothing new.
        Some((seq, until)) if until >= silent_at.saturating_sub(millis(silence / 16)) => Ok(seq),
        Some((seq, _)) => {
            heard(conn, sweeps, now)?;
            let sql = "UPDATE workers SET silence = ?2, silent_at = ?3 WHERE seq = ?1";
            conn.prepare_cached(sql)?.execute([seq, millis(silence), silent_at])?;
            Ok(seq)
        }
        None => {
            heard(conn, sweeps, now)?;
            let sql = "INSERT INTO workers (id, queues, concurrency, running, seen_at, expires_at, silence, silent_at)
                       VALUES (?1, '', 0, 0, 0, 0, ?2, ?3)";
            Ok(conn.prepare_cached(sql)?.insert(params![worker.as_str(), millis(silence), silent_at])?)
        }
    }
}

/// Notes that a worker was heard of.
fn heard(conn: &Connection, sweeps: &mut Sweeps, now: Timestamp) -> Outcome<()> {
    forgive(conn, sweeps, now)?;
    conn.prepare_cached("UPDATE fleet SET seen_at = ?1")?.execute([now.as_millis()])?;
    Ok(())
}

/// When nobody was heard of for half of somebody's silence, all were stopped together (a machine asleep, a file locked),
/// and that is no worker's fault: that silence begins anew. Not so one that was over before. This process's own looks
/// count, too; they are not written down, so that an idle claim writes nothing.
pub(super) fn forgive(conn: &Connection, sweeps: &mut Sweeps, now: Timestamp) -> Outcome<()> {
    let seen_at = conn.prepare_cached("SELECT seen_at FROM fleet")?.query_row((), |row| row.get::<_, i64>(0))?;
    let (now, seen_at) = (now.as_millis(), seen_at.max(sweeps.looked_at.as_millis()));
    let sql = "UPDATE workers SET silent_at = ?1 + silence WHERE silent_at > ?2 AND silence / 2 < ?3";
    conn.prepare_cached(sql)?.execute([now, seen_at, now.saturating_sub(seen_at)])?;
    sweeps.looked_at = Timestamp::from_millis(now);
    Ok(())
}

/// Removes a heartbeat. The worker stays known until its latest sign of life counts no more.
pub(super) fn farewell(txn: &mut Txn<'_>, worker: &WorkerId) -> Outcome<()> {
    let now = txn.now.as_millis();
    let sql = "UPDATE workers SET started_at = NULL, expires_at = 0
               WHERE id = ?1 AND started_at IS NOT NULL AND expires_at > ?2";
    let lived = txn.conn.prepare_cached(sql)?.execute(params![worker.as_str(), now])? > 0;
    if lived { txn.worker_event(EventKind::WorkerStopped, worker.as_str()) } else { Ok(()) }
}

/// Workers whose heartbeat lives, by start time.
pub(super) fn workers(view: &View<'_>) -> Outcome<Vec<WorkerInfo>> {
    let sql = "SELECT id, queues, concurrency, running, started_at, seen_at, tasks FROM workers
               WHERE started_at IS NOT NULL AND expires_at > ?1
               ORDER BY started_at, id";
    let mut read = view.conn.prepare_cached(sql)?;
    let mut rows = read.query([view.now.as_millis()])?;
    let mut workers = Vec::new();
    while let Some(row) = rows.next()? {
        workers.push(info(row)?);
    }
    Ok(workers)
}

fn info(row: &Row<'_>) -> Outcome<WorkerInfo> {
    let queues: String = row.get(1)?;
    let tasks: String = row.get(6)?;
    Ok(WorkerInfo {
        id: WorkerId::named(row.get::<_, String>(0)?),
        queues: queues.split(',').filter(|name| !name.is_empty()).map(queue_name).collect::<Outcome<_>>()?,
        tasks: tasks.split(',').filter(|name| !name.is_empty()).map(str::to_owned).collect(),
        concurrency: row.get(2)?,
        running: row.get(3)?,
        started_at: Timestamp::from_millis(row.get(4)?),
        seen_at: Timestamp::from_millis(row.get(5)?),
    })
}

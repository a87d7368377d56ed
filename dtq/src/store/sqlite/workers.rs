//! `heartbeat`, `farewell`, `workers`: who is there.

use std::time::Duration;

use rusqlite::{Row, params};

use super::errors::Outcome;
use super::inspect::queue_name;
use super::reader::View;
use super::row::millis;
use super::txn::Txn;
use crate::types::{EventKind, QueueName, Timestamp, WorkerId, WorkerInfo};

/// Writes a heartbeat. The first one, and one after a silence longer than its life, starts the worker anew.
pub(super) fn heartbeat(txn: &mut Txn<'_>, worker: &WorkerInfo, ttl: Duration) -> Outcome<()> {
    let now = txn.now.as_millis();
    // Lapsed rows go first, the worker's own included: what is left is alive.
    txn.conn.prepare_cached("DELETE FROM workers WHERE expires_at <= ?1")?.execute([now])?;
    let queues = worker.queues.iter().map(QueueName::as_str).collect::<Vec<_>>().join(",");
    let expires_at = now.saturating_add(millis(ttl));
    let id = worker.id.as_str();
    let refresh = "UPDATE workers SET queues = ?2, concurrency = ?3, running = ?4, seen_at = ?5, expires_at = ?6
                   WHERE id = ?1";
    let params = params![id, queues, worker.concurrency, worker.running, now, expires_at];
    if txn.conn.prepare_cached(refresh)?.execute(params)? > 0 {
        return Ok(());
    }
    let insert = "INSERT INTO workers (id, queues, concurrency, running, started_at, seen_at, expires_at)
                  VALUES (?1, ?2, ?3, ?4, ?5, ?5, ?6)";
    txn.conn.prepare_cached(insert)?.execute(params)?;
    txn.worker_event(EventKind::WorkerStarted, id)
}

/// Removes a heartbeat.
pub(super) fn farewell(txn: &mut Txn<'_>, worker: &WorkerId) -> Outcome<()> {
    let now = txn.now.as_millis();
    let delete = "DELETE FROM workers WHERE id = ?1 AND expires_at > ?2";
    let lived = txn.conn.prepare_cached(delete)?.execute(params![worker.as_str(), now])? > 0;
    if lived { txn.worker_event(EventKind::WorkerStopped, worker.as_str()) } else { Ok(()) }
}

/// Workers whose heartbeat lives, by start time.
pub(super) fn workers(view: &View<'_>) -> Outcome<Vec<WorkerInfo>> {
    let sql = "SELECT id, queues, concurrency, running, started_at, seen_at FROM workers WHERE expires_at > ?1
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
    Ok(WorkerInfo {
        id: WorkerId::named(row.get::<_, String>(0)?),
        queues: queues.split(',').filter(|name| !name.is_empty()).map(queue_name).collect::<Outcome<_>>()?,
        concurrency: row.get(2)?,
        running: row.get(3)?,
        started_at: Timestamp::from_millis(row.get(4)?),
        seen_at: Timestamp::from_millis(row.get(5)?),
    })
}

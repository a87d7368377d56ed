//! `pause`, `set_limits`, `declare_limits`, `limits`: what holds a queue back.

use rusqlite::{OptionalExtension, params};

use super::errors::Outcome;
use super::inspect::stats;
use super::kinds::{limit_of, running, set_by_hand};
use super::reader::View;
use super::txn::{Step, Txn};
use crate::store::{LimitsDeclaration, LimitsRequest, PauseRequest};
use crate::types::{AuditAction, By, Limit, Pause, QueueLimits, QueueName, TaskLimit, Timestamp};

/// Pauses a queue, or lets it go on; false when it is so already.
pub(super) fn pause(txn: &mut Txn<'_>, request: &PauseRequest) -> Outcome<bool> {
    let mut step = txn.step_or_new(&request.queue)?;
    if step.queue.paused == request.pause {
        return Ok(false);
    }
    let (since, by) = (request.pause.then_some(step.now.as_millis()), &request.by);
    let (actor, reason) = if request.pause { (by.actor.as_str(), by.reason.as_str()) } else { ("", "") };
    let sql = "UPDATE queues SET paused_at = ?2, paused_by = ?3, paused_why = ?4 WHERE id = ?1";
    step.prepare(sql)?.execute(params![step.queue.id, since, actor, reason])?;
    step.queue.paused = request.pause;
    let action = if request.pause { AuditAction::Pause } else { AuditAction::Resume };
    step.audit(action, request.queue.as_str(), 0, by)?;
    if !request.pause {
        step.queue.wakes.all();
    }
    Ok(true)
}

/// Changes limits by hand.
pub(super) fn set(txn: &mut Txn<'_>, request: &LimitsRequest) -> Outcome<()> {
    let mut step = txn.step_or_new(&request.queue)?;
    let changes = &request.changes;
    let mut changed = false;
    if let Some(depth) = changes.depth.map(Limit::bound).filter(|depth| *depth != step.queue.max_depth) {
        step.prepare("UPDATE queues SET max_depth = ?2 WHERE id = ?1")?.execute(params![step.queue.id, depth])?;
        step.queue.max_depth = depth;
        changed = true;
    }
    if let Some(most) = changes.concurrency.map(Limit::bound).filter(|most| *most != step.queue.concurrency) {
        step.prepare("UPDATE queues SET concurrency = ?2 WHERE id = ?1")?.execute(params![step.queue.id, most])?;
        step.queue.concurrency = most;
        changed = true;
    }
    for (name, limit) in &changes.tasks {
        let setting = limit.map(|limit| limit.bound().map_or(-1, i64::from));
        changed |= change(&step, name, Column::Setting, setting)?;
    }
    if changed {
        conclude(&mut step, Some((&changes.to_string(), &request.by)))?;
    }
    Ok(())
}

/// Notes what workers declare.
pub(super) fn declare(txn: &mut Txn<'_>, declaration: &LimitsDeclaration) -> Outcome<()> {
    // A queue without limits is not made for being told so.
    let limited = declaration.tasks.iter().any(|(_, limit)| limit.is_some());
    if !limited && txn.step(&declaration.queue)?.is_none() {
        return Ok(());
    }
    let mut step = txn.step_or_new(&declaration.queue)?;
    let mut changed = false;
    for (name, limit) in &declaration.tasks {
        changed |= change(&step, name, Column::Declared, limit.map(i64::from))?;
    }
    if changed { conclude(&mut step, None) } else { Ok(()) }
}

#[derive(Clone, Copy)]
enum Column {
    Declared,
    Setting,
}

/// Gives a column of a name's row another value; false when it has it.
fn change(step: &Step<'_>, name: &str, column: Column, value: Option<i64>) -> Outcome<bool> {
    let (read, write) = match column {
        Column::Declared => (
            "SELECT declared FROM limits WHERE queue = ?1 AND name = ?2",
            "INSERT INTO limits (queue, name, declared) VALUES (?1, ?2, ?3)
             ON CONFLICT (queue, name) DO UPDATE SET declared = excluded.declared",
        ),
        Column::Setting => (
            "SELECT setting FROM limits WHERE queue = ?1 AND name = ?2",
            "INSERT INTO limits (queue, name, setting) VALUES (?1, ?2, ?3)
             ON CONFLICT (queue, name) DO UPDATE SET setting = excluded.setting",
        ),
    };
    let before: Option<Option<i64>> =
        step.prepare(read)?.query_row(params![step.queue.id, name], |row| row.get(0)).optional()?;
    if before.flatten() == value {
        return Ok(false);
    }
    step.prepare(write)?.execute(params![step.queue.id, name, value])?;
    Ok(true)
}

fn conclude(step: &mut Step<'_>, audit: Option<(&str, &By)>) -> Outcome<()> {
    let id = step.queue.id;
    let sql = "DELETE FROM limits WHERE queue = ?1 AND declared IS NULL AND setting IS NULL
               AND NOT EXISTS (SELECT 1 FROM parked WHERE queue = ?1 AND name = limits.name)";
    step.prepare(sql)?.execute([id])?;
    let sql = "UPDATE queues SET by_kind =
                   EXISTS (SELECT 1 FROM limits WHERE queue = ?1 AND coalesce(setting, declared, -1) >= 0)
                   OR EXISTS (SELECT 1 FROM parked WHERE queue = ?1)
               WHERE id = ?1 RETURNING by_kind";
    step.queue.by_kind = step.prepare(sql)?.query_row([id], |row| row.get(0))?;
    // What was passed over may start.
    step.queue.wakes.all();
    match audit {
        Some((words, by)) => step.audit(AuditAction::SetLimits, words, 0, by),
        None => Ok(()),
    }
}

/// What holds a queue back.
pub(super) fn limits(view: &View<'_>, queue: &QueueName) -> Outcome<QueueLimits> {
    let sql = "SELECT id, paused_at, paused_by, paused_why, max_depth, concurrency FROM queues WHERE name = ?1";
    let read = |row: &rusqlite::Row<'_>| {
        let by = By { actor: row.get(2)?, reason: row.get(3)? };
        let since = row.get::<_, Option<i64>>(1)?.map(Timestamp::from_millis);
        let paused = since.map(|since| Pause { since, by });
        let limits = QueueLimits { paused, max_depth: row.get(4)?, concurrency: row.get(5)?, ..QueueLimits::default() };
        Ok((row.get(0)?, limits))
    };
    let found = view.conn.prepare_cached(sql)?.query_row([queue.as_str()], read).optional()?;
    let Some((id, mut limits)) = found else { return Ok(QueueLimits::default()) };
    let stats = stats(view, queue)?;
    limits.depth = stats.pending + stats.queued + stats.retrying;
    limits.running = stats.running;
    limits.tasks = tasks(view, id)?;
    Ok(limits)
}

fn tasks(view: &View<'_>, queue: i64) -> Outcome<Vec<TaskLimit>> {
    let sql = "SELECT name, declared, setting,
                      (SELECT count(*) FROM parked WHERE queue = limits.queue AND name = limits.name)
               FROM limits WHERE queue = ?1 ORDER BY name";
    let running = running(view.conn, queue)?;
    let mut read = view.conn.prepare_cached(sql)?;
    let mut rows = read.query([queue])?;
    let mut tasks = Vec::new();
    while let Some(row) = rows.next()? {
        let (task, declared, setting): (String, _, _) = (row.get(0)?, row.get(1)?, row.get(2)?);
        // Without a limit nobody counts what runs.
        let limited = limit_of(declared, setting).is_some();
        let running = running.get(&task).copied().filter(|_| limited).unwrap_or(0);
        let held_back = u64::try_from(row.get::<_, i64>(3)?).unwrap_or(0);
        tasks.push(TaskLimit { task, declared, set: set_by_hand(setting), running, held_back });
    }
    Ok(tasks)
}

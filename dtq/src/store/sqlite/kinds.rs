//! Limits of how many tasks of one name run at once. What runs is counted, so nothing can be lost count of; what may not
//! start is parked: it stays queued, behind all that is ready, and is found by its name once it may.

use std::collections::HashMap;

use rusqlite::{Connection, OptionalExtension, params};

use super::claim::{Hand, agenda, tasks};
use super::errors::Outcome;
use super::moves::Ending;
use super::row::{Body, Head, PARKED, head_and_body, status_code};
use super::txn::Step;
use crate::store::BATCH;
use crate::types::{Limit, Status};

/// The limit that a row of `limits` means.
pub(super) fn limit_of(declared: Option<u32>, setting: Option<i64>) -> Option<u32> {
    set_by_hand(setting).map_or(declared, Limit::bound)
}

/// What was set by hand.
pub(super) fn set_by_hand(setting: Option<i64>) -> Option<Limit> {
    setting.map(|setting| u32::try_from(setting).map_or(Limit::Unlimited, Limit::AtMost))
}

/// Tasks of one name.
struct Kind {
    name: String,
    limit: Option<u32>,
    running: u64,
    /// The place and the row of the best of those that are parked.
    parked: Option<(i64, i64)>,
}

impl Kind {
    fn may_start(&self) -> bool {
        self.limit.is_none_or(|limit| self.running < u64::from(limit))
    }
}

/// The names of one queue that have limits, or of which some are parked.
pub(super) struct Kinds {
    queue: i64,
    list: Vec<Kind>,
}

impl Kinds {
    /// Reads them. What runs is read task by task: that many there are.
    pub(super) fn load(conn: &Connection, queue: i64) -> Outcome<Self> {
        let running = running(conn, queue)?;
        let mut rows = conn.prepare_cached("SELECT name, declared, setting FROM limits WHERE queue = ?1")?;
        let mut rows = rows.query([queue])?;
        let mut list = Vec::new();
        while let Some(row) = rows.next()? {
            let name: String = row.get(0)?;
            let (limit, running) = (limit_of(row.get(1)?, row.get(2)?), running.get(&name).copied().unwrap_or(0));
            let parked = best(conn, queue, &name)?;
            list.push(Kind { name, limit, running, parked });
        }
        Ok(Self { queue, list })
    }

    /// True when one that was parked may start.
    pub(super) fn any_free(&self) -> bool {
        self.best().is_some()
    }

    /// True when nothing is limited or parked any more.
    fn are_done(&self) -> bool {
        self.list.iter().all(|kind| kind.limit.is_none() && kind.parked.is_none())
    }

    /// The first of those that are parked and may start: its place and row.
    fn best(&self) -> Option<(i64, i64)> {
        self.list.iter().filter(|kind| kind.may_start()).filter_map(|kind| kind.parked).min()
    }

    fn of(&mut self, name: &str) -> Option<&mut Kind> {
        self.list.iter_mut().find(|kind| kind.name == name)
    }

    /// Looks again at what is parked of a name.
    fn refresh(&mut self, conn: &Connection, name: &str) -> Outcome<()> {
        let queue = self.queue;
        if let Some(kind) = self.of(name) {
            kind.parked = best(conn, queue, name)?;
        }
        Ok(())
    }
}

/// How many tasks of each name run.
pub(super) fn running(conn: &Connection, queue: i64) -> Outcome<HashMap<String, u64>> {
    let sql = "SELECT name, count(*) FROM tasks WHERE queue = ?1 AND status = ?2 GROUP BY name";
    let mut read = conn.prepare_cached(sql)?;
    let count = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, u64::try_from(row.get::<_, i64>(1)?).unwrap_or(0)));
    Ok(read.query_map([queue, status_code(Status::Running)], count)?.collect::<rusqlite::Result<_>>()?)
}

fn best(conn: &Connection, queue: i64, name: &str) -> Outcome<Option<(i64, i64)>> {
    let sql = "SELECT place, task FROM parked WHERE queue = ?1 AND name = ?2 ORDER BY place LIMIT 1";
    let read = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?));
    Ok(conn.prepare_cached(sql)?.query_row(params![queue, name], read).optional()?)
}

/// Grants ready tasks until the hand is full, in order, and none beyond the limit of its name; parks and expires up to
/// [`BATCH`] on the way.
pub(super) fn take_ready(step: &mut Step<'_>, hand: &mut Hand<'_>) -> Outcome<()> {
    let mut kinds = Kinds::load(step.conn, step.queue.id)?;
    let mut budget = BATCH;
    while let Some((head, body)) = next(step, &kinds)? {
        if hand.room() == 0 || budget == 0 {
            hand.more = true;
            return Ok(());
        }
        let name = body.name.clone();
        if head.expired(step.now) {
            budget -= 1;
            step.finish(&head, &Ending::by_store(&head, Status::Expired, None))?;
        } else if kinds.of(&name).is_some_and(|kind| !kind.may_start()) {
            budget -= 1;
            step.park(&head, &name)?;
        } else {
            hand.grant(step, &head, body, false)?;
            if let Some(kind) = kinds.of(&name) {
                kind.running += 1;
            }
        }
        kinds.refresh(step.conn, &name)?;
    }
    if kinds.are_done() { step.end_limits() } else { Ok(()) }
}

/// What is next in order: ready, or parked and free to start.
fn next(step: &Step<'_>, kinds: &Kinds) -> Outcome<Option<(Head, Body)>> {
    let ready = agenda(step, Status::Queued, PARKED - 1, 1)?.pop();
    let first = ready.as_ref().map_or(i64::MAX, |(head, _)| head.key);
    let Some((_, row)) = kinds.best().filter(|&(place, _)| place < first) else { return Ok(ready) };
    let sql = concat!("SELECT ", head_and_body!(), " FROM tasks WHERE seq = ?1");
    Ok(tasks(step, sql, [row])?.pop())
}

impl Step<'_> {
    /// Passes a ready task over until more of its name may run.
    fn park(&mut self, head: &Head, name: &str) -> Outcome<()> {
        self.prepare("UPDATE tasks SET key = ?2 WHERE seq = ?1")?.execute([head.seq, head.key | PARKED])?;
        let sql = "INSERT INTO parked (queue, name, place, task) VALUES (?1, ?2, ?3, ?4)";
        self.prepare(sql)?.execute(params![self.queue.id, name, head.key, head.seq])?;
        Ok(())
    }

    /// Forgets that a task was passed over, if it was: it starts, ends, or is put off.
    pub(super) fn unpark(&mut self, head: &Head) -> Outcome<()> {
        if !head.is_parked() {
            return Ok(());
        }
        let sql =
            "DELETE FROM parked WHERE queue = ?1 AND name = (SELECT name FROM tasks WHERE seq = ?2) AND place = ?3";
        self.prepare(sql)?.execute([self.queue.id, head.seq, head.key & !PARKED])?;
        Ok(())
    }

    /// From here on the queue's tasks are handed out without a look at their names.
    fn end_limits(&mut self) -> Outcome<()> {
        self.prepare("DELETE FROM limits WHERE queue = ?1 AND declared IS NULL AND setting IS NULL")?
            .execute([self.queue.id])?;
        self.prepare("UPDATE queues SET by_kind = 0 WHERE id = ?1")?.execute([self.queue.id])?;
        self.queue.by_kind = false;
        Ok(())
    }
}

//! `claim`: handing out work. Due tasks are promoted first, lost leases taken over next, then ready tasks granted.

use std::time::Duration;

use rusqlite::{Params, params};

use super::errors::Outcome;
use super::moves::Ending;
use super::row::{Body, Grant, Head, OPEN, delivery, head, head_and_body, millis, status_code};
use super::txn::{Step, Txn};
use super::wakes::first_due;
use super::{kinds, reclaim, ticks, unheard, workers};
use crate::store::{BATCH, Claim, Claimed};
use crate::types::{Delivery, EventKind, Status, TaskId, Timestamp};

/// How often a worker that has room looks for lost tasks while there are running ones.
const LOOK: Duration = Duration::from_secs(1);

/// Hands out work of one queue.
pub(super) fn run(txn: &mut Txn<'_>, claim: &Claim) -> Outcome<Claimed> {
    let Some(mut step) = txn.step(&claim.queue)? else {
        return Ok(Claimed::default());
    };
    step.sweep_forgotten()?;
    let mut hand = Hand::new(&step, claim);
    if step.queue.paused {
        unheard::run(&mut step, &mut hand)?;
        return Ok(Claimed { deliveries: hand.deliveries, paused: true, ..Claimed::default() });
    }
    promote(&mut step)?;
    let ticks = ticks::due(&mut step, &claim.queue)?;
    unheard::run(&mut step, &mut hand)?;
    reclaim::run(&mut step, &mut hand)?;
    let more = hand.more;
    let capped = hand.leave(step.queue.left());
    if step.queue.by_kind {
        kinds::take_ready(&mut step, &mut hand)?;
    } else {
        hand.take_ready(&mut step)?;
    }
    if capped && hand.room() == 0 {
        // Only the end of a running task makes room, and that wakes somebody.
        hand.more = more;
    }
    if claim.max == 0 && hand.more {
        // Who only looks may have been woken in another's place.
        step.queue.wakes.one();
    }
    let next_due = next_due(&step)?;
    // Without a server to ask, looking costs little: when somebody's silence ends is not reckoned.
    let waits = hand.deliveries.is_empty() || hand.room() > 0;
    let look_in = (waits && step.queue.running() > 0).then_some(LOOK);
    // Every worker is told when the next one is due: there is no server whom that would burden.
    let (deliveries, more, watches, paused) = (hand.deliveries, hand.more, false, false);
    Ok(Claimed { deliveries, more, next_due, look_in, watches, ticks, paused })
}

/// Moves due tasks to the queue, earliest first.
fn promote(step: &mut Step<'_>) -> Outcome<()> {
    for head in due(step)? {
        if head.expired(step.now) {
            step.finish(&head, &Ending::by_store(&head, Status::Expired, None))?;
            continue;
        }
        let retry = head.status == Status::Retrying;
        let attempt = if retry { head.attempt.saturating_add(1) } else { head.attempt };
        step.make_ready(&head, attempt, head.settled)?;
        step.queue.event(if retry { EventKind::Retried } else { EventKind::Queued }, attempt, &head.uuid);
    }
    Ok(())
}

fn due(step: &Step<'_>) -> Outcome<Vec<Head>> {
    // Each half comes in order from the index, so the merge stops at the limit.
    let sql = concat!(
        "SELECT ",
        head!(),
        " FROM tasks WHERE queue = ?1 AND status = ?2 AND key <= ?4 UNION ALL SELECT ",
        head!(),
        " FROM tasks WHERE queue = ?1 AND status = ?3 AND key <= ?4 ORDER BY key LIMIT ?5"
    );
    let (pending, retrying) = (status_code(Status::Pending), status_code(Status::Retrying));
    let params = params![step.queue.id, pending, retrying, step.now.as_millis(), limit(BATCH)];
    Ok(step.prepare(sql)?.query_map(params, Head::read)?.collect::<rusqlite::Result<_>>()?)
}

/// How long until the next pending or retrying task, or the next tick, is due.
fn next_due(step: &Step<'_>) -> Outcome<Option<Duration>> {
    let due = [first_due(step.conn, step.queue.id)?, step.queue.tick_at()].into_iter().flatten().min();
    Ok(due.map(|due| Timestamp::from_millis(due).since(step.now)))
}

/// The deliveries of one claim, as they gather.
pub(super) struct Hand<'a> {
    pub(super) claim: &'a Claim,
    max: usize,
    /// The number of this claim's grants; drawn with the first of them, so that an idle claim writes nothing.
    grant: Option<i64>,
    /// The number of this claim's worker, looked up with the first grant.
    worker: Option<i64>,
    lease_until: i64,
    deliveries: Vec<Delivery>,
    pub(super) more: bool,
}

impl<'a> Hand<'a> {
    fn new(step: &Step<'_>, claim: &'a Claim) -> Self {
        let lease_until = step.now.as_millis().saturating_add(millis(claim.lease));
        let max = claim.max.min(BATCH);
        Self { claim, max, grant: None, worker: None, lease_until, deliveries: Vec::new(), more: false }
    }

    pub(super) fn room(&self) -> usize {
        self.max - self.deliveries.len()
    }

    /// Makes room for no more than the queue's limit leaves; true when that is less than was asked for. What was taken over
    /// ran before, so it counts already.
    fn leave(&mut self, left: Option<u64>) -> bool {
        let Some(left) = left.and_then(|left| usize::try_from(left).ok()).filter(|&left| left < self.room()) else {
            return false;
        };
        self.max = self.deliveries.len() + left;
        true
    }

    /// Grants ready tasks until the hand is full; expires up to [`BATCH`] on the way.
    fn take_ready(&mut self, step: &mut Step<'_>) -> Outcome<()> {
        let mut expiring = BATCH;
        loop {
            // One more than fits: it tells whether more are ready.
            let wanted = self.room() + 1;
            let ready = agenda(step, Status::Queued, i64::MAX, wanted)?;
            let (last, expired_before) = (ready.len() < wanted, expiring);
            for (head, body) in ready {
                if head.expired(step.now) && expiring > 0 {
                    expiring -= 1;
                    step.finish(&head, &Ending::by_store(&head, Status::Expired, None))?;
                } else if self.room() == 0 || head.expired(step.now) {
                    self.more = true;
                    return Ok(());
                } else {
                    self.grant(step, &head, body, false)?;
                }
            }
            if last || expiring == expired_before {
                return Ok(());
            }
        }
    }

    pub(super) fn grant(&mut self, step: &mut Step<'_>, head: &Head, body: Body, reclaimed: bool) -> Outcome<()> {
        let number = *self.grant.get_or_insert_with(|| step.queue.next_turn());
        let worker = match self.worker {
            Some(worker) => worker,
            None => *self.worker.insert(workers::alive(
                step.conn,
                step.sweeps,
                step.now,
                &self.claim.worker,
                self.claim.silence,
            )?),
        };
        let sql = "UPDATE tasks SET status = ?2, key = ?3, token = ?4, settled = ?5, started_at = ?6, worker = ?7
                   WHERE seq = ?1";
        let (running, at) = (status_code(Status::Running), step.now);
        step.prepare(sql)?.execute([head.seq, running, self.lease_until, number, OPEN, at.as_millis(), worker])?;
        if reclaimed {
            let sql = "UPDATE tasks SET attempt = ?2 WHERE seq = ?1";
            step.prepare(sql)?.execute(params![head.seq, head.attempt])?;
        }
        step.unpark(head)?;
        step.free_at_start(head)?;
        // What was running goes on with its attempt, unless it was lost.
        if reclaimed || head.status != Status::Running {
            step.queue.moved(Some(head.status), Status::Running);
            step.queue.event(EventKind::Started, head.attempt, &head.uuid);
        }
        let id = TaskId::new(self.claim.queue.clone(), head.uuid);
        let grant = Grant { worker: &self.claim.worker, number, at, reclaimed };
        self.deliveries.push(delivery(id, head, body, &grant));
        Ok(())
    }
}

/// The first tasks of one status, up to a key.
pub(super) fn agenda(step: &Step<'_>, status: Status, key: i64, count: usize) -> Outcome<Vec<(Head, Body)>> {
    let sql = concat!(
        "SELECT ",
        head_and_body!(),
        " FROM tasks WHERE queue = ?1 AND status = ?2 AND key <= ?3 ORDER BY key LIMIT ?4"
    );
    let params = [step.queue.id, status_code(status), key, limit(count)];
    tasks(step, sql, params)
}

/// The rows of a query for [`head_and_body!`].
pub(super) fn tasks(step: &Step<'_>, sql: &str, params: impl Params) -> Outcome<Vec<(Head, Body)>> {
    let read = |row: &rusqlite::Row<'_>| Ok((Head::read(row)?, Body::read(row)?));
    Ok(step.prepare(sql)?.query_map(params, read)?.collect::<rusqlite::Result<_>>()?)
}

pub(super) fn limit(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

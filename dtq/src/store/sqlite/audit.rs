//! What was done by hand: written in the step that did it, and bounded.

use rusqlite::params;

use super::errors::{Fault, Outcome};
use super::reader::View;
use super::txn::Step;
use crate::store::AuditQuery;
use crate::types::{AuditAction, AuditEntry, By, Timestamp};

/// How many entries are written between two looks for old ones: each look passes all that are kept.
const TRIM_EVERY: i64 = 100;

/// Among how many of the latest entries that of an earlier step is looked for.
const STEP_WITHIN: i64 = 32;

impl Step<'_> {
    /// Notes an action on this queue and how many tasks it reached.
    pub(super) fn audit(&mut self, action: AuditAction, target: &str, tasks: usize, by: &By) -> Outcome<()> {
        self.write_audit(action, target, tasks, by, None)
    }

    /// Notes a step of an action that takes several: together they have one entry.
    pub(super) fn audit_step(
        &mut self,
        action: AuditAction,
        target: &str,
        tasks: usize,
        by: &By,
        run: &str,
    ) -> Outcome<()> {
        let sql = "UPDATE audit SET tasks = tasks + ?3, at = ?4 WHERE run = ?2
                   AND seq IN (SELECT seq FROM audit WHERE queue = ?1 ORDER BY seq DESC LIMIT ?5)";
        let added = i64::try_from(tasks).unwrap_or(i64::MAX);
        let values = params![self.queue.id, run, added, self.now.as_millis(), STEP_WITHIN];
        if self.prepare(sql)?.execute(values)? > 0 {
            return Ok(());
        }
        self.write_audit(action, target, tasks, by, Some(run))
    }

    fn write_audit(
        &mut self,
        action: AuditAction,
        target: &str,
        tasks: usize,
        by: &By,
        run: Option<&str>,
    ) -> Outcome<()> {
        let sql = "INSERT INTO audit (queue, at, action, target, tasks, actor, reason, run)
                   VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
        let tasks = i64::try_from(tasks).unwrap_or(i64::MAX);
        let at = self.now.as_millis();
        let values = params![self.queue.id, at, action.as_str(), target, tasks, by.actor, by.reason, run];
        let seq = self.prepare(sql)?.insert(values)?;
        if seq % TRIM_EVERY == 0 {
            self.trim_audit()?;
        }
        Ok(())
    }

    fn trim_audit(&self) -> Outcome<()> {
        let sql = "DELETE FROM audit WHERE queue = ?1 AND seq <=
                   (SELECT seq FROM audit WHERE queue = ?1 ORDER BY seq DESC LIMIT 1 OFFSET ?2)";
        let kept = i64::try_from(AuditEntry::KEPT).unwrap_or(i64::MAX);
        self.prepare(sql)?.execute([self.queue.id, kept])?;
        Ok(())
    }
}

/// A window on a queue's log, newest first.
pub(super) fn list(view: &View<'_>, query: &AuditQuery) -> Outcome<Vec<AuditEntry>> {
    let sql = "SELECT seq, at, action, target, tasks, actor, reason FROM audit
               WHERE queue = (SELECT id FROM queues WHERE name = ?1) AND seq < ?2 ORDER BY seq DESC LIMIT ?3";
    let before = match &query.before {
        None => i64::MAX,
        Some(position) => {
            position.parse().map_err(|_| Fault::Data(format!("{position:?} is not a position of this log")))?
        }
    };
    let read = |row: &rusqlite::Row<'_>| {
        Ok(AuditEntry {
            position: row.get::<_, i64>(0)?.to_string(),
            at: Timestamp::from_millis(row.get(1)?),
            queue: query.queue.clone(),
            action: AuditAction::from_name(&row.get::<_, String>(2)?),
            target: row.get(3)?,
            tasks: u64::try_from(row.get::<_, i64>(4)?).unwrap_or(0),
            by: By { actor: row.get(5)?, reason: row.get(6)? },
        })
    };
    let limit = i64::try_from(query.limit).unwrap_or(i64::MAX);
    let params = params![query.queue.as_str(), before, limit];
    Ok(view.conn.prepare_cached(sql)?.query_map(params, read)?.collect::<rusqlite::Result<_>>()?)
}

//! `report`: what running attempts tell of themselves.

use bytes::Bytes;
use rusqlite::{OptionalExtension, params};

use super::errors::Outcome;
use super::reader::View;
use super::row::Head;
use super::settle::find;
use super::txn::{Step, Txn};
use crate::store::Report;
use crate::types::{LogLine, Progress, Share, Timestamp};

/// Which rows of `notes` and `log` a task has, so that one that has none costs nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Noted(i64);

impl Noted {
    const NOTES: i64 = 1;
    const LOG: i64 = 2;
    const CHECKPOINT: i64 = 4;

    /// The stored bits.
    pub(super) const fn read(bits: i64) -> Self {
        Self(bits)
    }

    pub(super) const fn has_checkpoint(self) -> bool {
        self.0 & Self::CHECKPOINT != 0
    }

    const fn has_notes(self) -> bool {
        self.0 & Self::NOTES != 0
    }

    const fn has_log(self) -> bool {
        self.0 & Self::LOG != 0
    }

    fn with(self, report: &Report) -> Self {
        // Lines are counted among the notes.
        let log = if report.lines.is_empty() { 0 } else { Self::LOG };
        let checkpoint = if report.checkpoint.is_some() { Self::CHECKPOINT } else { 0 };
        Self(self.0 | Self::NOTES | log | checkpoint)
    }
}

/// What a record tells of it.
#[derive(Default)]
pub(super) struct Notes {
    pub(super) progress: Option<Progress>,
    pub(super) log: Vec<LogLine>,
    pub(super) checkpoint: Option<Bytes>,
}

/// Keeps what attempts of any queues tell.
pub(super) fn run(txn: &mut Txn<'_>, reports: &[Report]) -> Outcome<Vec<bool>> {
    reports.iter().map(|report| keep(txn, report)).collect()
}

fn keep(txn: &mut Txn<'_>, report: &Report) -> Outcome<bool> {
    let lease = &report.lease;
    let Some(step) = txn.step(lease.task.queue())? else { return Ok(false) };
    let Some((head, token)) = find(&step, lease)?.filter(|(head, token)| head.held_by(lease, token)) else {
        return Ok(false);
    };
    let noted = head.noted.with(report);
    if noted != head.noted {
        let sql = "UPDATE tasks SET noted = ?2 WHERE seq = ?1";
        step.prepare(sql)?.execute([head.seq, noted.0])?;
        step.prepare("INSERT OR IGNORE INTO notes (task) VALUES (?1)")?.execute([head.seq])?;
    }
    if let Some((done, message)) = &report.progress {
        let sql = "UPDATE notes SET done = ?2, message = ?3, attempt = ?4, at = ?5 WHERE task = ?1";
        let at = step.now.as_millis();
        step.prepare(sql)?.execute(params![head.seq, done.millionths(), message, head.attempt, at])?;
    }
    if let Some(checkpoint) = &report.checkpoint {
        let sql = "UPDATE notes SET checkpoint = ?2 WHERE task = ?1";
        step.prepare(sql)?.execute(params![head.seq, &checkpoint[..]])?;
    }
    if !report.lines.is_empty() {
        write_lines(&step, &head, token.grant, report)?;
    }
    Ok(true)
}

fn write_lines(step: &Step<'_>, head: &Head, grant: i64, report: &Report) -> Outcome<()> {
    let known = "SELECT lines FROM notes WHERE task = ?1 AND lines_of = ?2";
    let known: Option<i64> = step.prepare(known)?.query_row([head.seq, grant], |row| row.get(0)).optional()?;
    let first = i64::try_from(report.first_line).unwrap_or(i64::MAX);
    // What a copy of this call wrote before.
    let written = usize::try_from(known.unwrap_or(0).saturating_sub(first)).unwrap_or(0);
    let last = "SELECT coalesce(max(n), 0) FROM log WHERE task = ?1";
    let mut n: i64 = step.prepare(last)?.query_row([head.seq], |row| row.get(0))?;
    let mut insert = step.prepare("INSERT INTO log (task, n, at, attempt, text) VALUES (?1, ?2, ?3, ?4, ?5)")?;
    for text in report.lines.iter().skip(written) {
        n += 1;
        insert.execute(params![head.seq, n, step.now.as_millis(), head.attempt, text])?;
    }
    let kept = i64::try_from(LogLine::KEPT).unwrap_or(i64::MAX);
    if n > kept {
        step.prepare("DELETE FROM log WHERE task = ?1 AND n <= ?2")?.execute([head.seq, n - kept])?;
    }
    let end = first.saturating_add(i64::try_from(report.lines.len()).unwrap_or(i64::MAX)).max(known.unwrap_or(0));
    let sql = "UPDATE notes SET lines_of = ?2, lines = ?3 WHERE task = ?1";
    step.prepare(sql)?.execute([head.seq, grant, end])?;
    Ok(())
}

impl Step<'_> {
    /// Deletes what a task's attempts told.
    pub(super) fn forget_notes(&self, seq: i64, noted: Noted) -> Outcome<()> {
        if noted.has_notes() {
            self.prepare("DELETE FROM notes WHERE task = ?1")?.execute([seq])?;
        }
        if noted.has_log() {
            self.prepare("DELETE FROM log WHERE task = ?1")?.execute([seq])?;
        }
        Ok(())
    }
}

/// What the attempts of a task told.
pub(super) fn of_task(view: &View<'_>, head: &Head) -> Outcome<Notes> {
    let mut notes = Notes::default();
    if head.noted.has_notes() {
        let sql = "SELECT done, message, attempt, at, checkpoint FROM notes WHERE task = ?1";
        let read = |row: &rusqlite::Row<'_>| {
            let progress = match row.get::<_, Option<u32>>(0)? {
                None => None,
                Some(done) => Some(Progress {
                    done: Share::from_millionths(done),
                    message: row.get(1)?,
                    attempt: row.get(2)?,
                    at: Timestamp::from_millis(row.get(3)?),
                }),
            };
            Ok((progress, row.get_ref(4)?.as_blob_or_null()?.map(Bytes::copy_from_slice)))
        };
        let found = view.conn.prepare_cached(sql)?.query_row([head.seq], read).optional()?;
        (notes.progress, notes.checkpoint) = found.unwrap_or_default();
    }
    if head.noted.has_log() {
        let sql = "SELECT at, attempt, text FROM log WHERE task = ?1 ORDER BY n";
        let read = |row: &rusqlite::Row<'_>| {
            Ok(LogLine { at: Timestamp::from_millis(row.get(0)?), attempt: row.get(1)?, text: row.get(2)? })
        };
        let mut lines = view.conn.prepare_cached(sql)?;
        notes.log = lines.query_map([head.seq], read)?.collect::<rusqlite::Result<_>>()?;
    }
    Ok(notes)
}

//! Deleting what need not be remembered any more, a few at a time: finished tasks, and work done at most once.

use std::time::Duration;

use rusqlite::params;

use super::errors::Outcome;
use super::keys::Keyed;
use super::notes::Noted;
use super::once;
use super::row::{DISCARDED, status_code};
use super::txn::Step;
use crate::store::BATCH;
use crate::types::Status;

/// How often a queue is looked at while nothing is left to delete.
const INTERVAL: Duration = Duration::from_secs(1);
/// And while more is left: once a transaction at most, since its time stands still.
const BACKLOG_INTERVAL: Duration = Duration::from_millis(1);

impl Step<'_> {
    /// Deletes up to [`BATCH`] of it. Looks once a second, and in each transaction while more are left, so
    /// that deleting keeps pace with finishing.
    pub(super) fn sweep_forgotten(&mut self) -> Outcome<()> {
        if self.sweeps.forgotten.get(&self.queue.id).is_some_and(|&next| self.now < next) {
            return Ok(());
        }
        let mut room = BATCH;
        let finished = Status::ALL.into_iter().filter(|status| status.is_terminal()).map(status_code);
        for code in finished.chain([DISCARDED]) {
            room -= self.sweep_status(code, room)?;
        }
        room -= once::forget(self, room)?;
        room -= self.sweep_keys(room)?;
        let pause = if room == 0 { BACKLOG_INTERVAL } else { INTERVAL };
        self.sweeps.forgotten.insert(self.queue.id, self.now.plus(pause));
        Ok(())
    }

    fn sweep_status(&mut self, code: i64, room: usize) -> Outcome<usize> {
        if room == 0 {
            return Ok(0);
        }
        let sql =
            "SELECT seq, keyed, noted FROM tasks WHERE queue = ?1 AND status = ?2 AND key <= ?3 ORDER BY key LIMIT ?4";
        let limit = i64::try_from(room).unwrap_or(i64::MAX);
        let rows = self
            .prepare(sql)?
            .query_map(params![self.queue.id, code, self.now.as_millis(), limit], |row| {
                Ok((row.get(0)?, Keyed::read(row.get(1)?), Noted::read(row.get(2)?)))
            })?
            .collect::<rusqlite::Result<Vec<(i64, Keyed, Noted)>>>()?;
        for &(seq, keyed, noted) in &rows {
            self.delete(seq, true, keyed, noted)?;
        }
        Ok(rows.len())
    }
}

//! `wait`: sleeping until there may be work.

use std::future::Future;
use std::time::Duration;

use rusqlite::{OptionalExtension, Row};
use tokio::time::Instant;

use super::SqliteStore;
use super::errors::Outcome;
use super::kinds::Kinds;
use super::reader::View;
use super::row::{PARKED, status_code};
use super::signals::Heard;
use crate::store::{Result, Wait};
use crate::types::{QueueName, Status, Timestamp};

/// How often to look at a clock that is moved by hand: nobody tells when it is.
const HAND: Duration = Duration::from_millis(5);

impl SqliteStore {
    /// Returns as soon as one of the queues has something to claim: a ready task, a due one, a lease that ran out.
    pub(super) async fn wait_for_work(&self, wait: Wait) -> Result<()> {
        let _watcher = self.watch();
        let deadline = Deadline::after(wait.timeout);
        loop {
            // Before the look: what is committed after it must wake us.
            let ears = self.inner.signals.listen(&wait.queues);
            let queues = wait.queues.clone();
            let Some(sleep) = self.read("wait", move |view| until_work(view, &queues)).await? else {
                return Ok(());
            };
            if deadline.passed() {
                return Ok(());
            }
            let hand = self.inner.time.is_manual().then_some(HAND);
            let heard = deadline.wait_for(ears.hear(), sleep.into_iter().chain(hand).min()).await;
            if heard == Some(Heard::Task) {
                return Ok(());
            }
        }
    }
}

/// `None` when there is something to claim, else how long until time alone brings something.
fn until_work(view: &View<'_>, queues: &[QueueName]) -> Outcome<Option<Option<Duration>>> {
    let mut next: Option<i64> = None;
    // Of a paused queue nothing is moved.
    for gate in queues.iter().filter_map(|queue| Gate::read(view, queue).transpose()) {
        let gate = gate?;
        if gate.paused {
            continue;
        }
        if gate.tick_at.is_some_and(|tick| tick <= view.now.as_millis()) || gate.lets_start(view)? {
            return Ok(None);
        }
        next = next.into_iter().chain(gate.tick_at).min();
        for status in [Status::Pending, Status::Retrying, Status::Running] {
            match first_key(view, gate.id, status)? {
                Some(key) if key <= view.now.as_millis() => return Ok(None),
                key => next = next.into_iter().chain(key).min(),
            }
        }
    }
    Ok(Some(next.map(|next| Timestamp::from_millis(next).since(view.now))))
}

/// What holds a queue back.
struct Gate {
    id: i64,
    paused: bool,
    /// As many run as may.
    exhausted: bool,
    by_kind: bool,
    /// When the first of its schedules wants to be looked at.
    tick_at: Option<i64>,
}

impl Gate {
    /// `None` for a queue that does not exist.
    fn read(view: &View<'_>, queue: &QueueName) -> Outcome<Option<Self>> {
        let sql = "SELECT id, paused_at IS NOT NULL, coalesce(running >= concurrency, 0), by_kind, tick_at
                   FROM queues WHERE name = ?1";
        let read = |row: &Row<'_>| {
            let (id, paused, exhausted, by_kind) = (row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?);
            Ok(Self { id, paused, exhausted, by_kind, tick_at: row.get(4)? })
        };
        Ok(view.conn.prepare_cached(sql)?.query_row([queue.as_str()], read).optional()?)
    }

    /// True when a ready task may start.
    fn lets_start(&self, view: &View<'_>) -> Outcome<bool> {
        if self.exhausted {
            return Ok(false);
        }
        let ready = first_key(view, self.id, Status::Queued)?.is_some_and(|key| key < PARKED);
        Ok(ready || self.by_kind && Kinds::load(view.conn, self.id)?.any_free())
    }
}

fn first_key(view: &View<'_>, queue: i64, status: Status) -> Outcome<Option<i64>> {
    let sql = "SELECT min(key) FROM tasks WHERE queue = ?1 AND status = ?2";
    Ok(view.conn.prepare_cached(sql)?.query_row([queue, status_code(status)], |row| row.get(0))?)
}

/// When a waiting call gives up, by tokio's time: a test that pauses it does not wait for real.
pub(super) struct Deadline {
    since: Instant,
    timeout: Duration,
}

impl Deadline {
    pub(super) fn after(timeout: Duration) -> Self {
        Self { since: Instant::now(), timeout }
    }

    pub(super) fn passed(&self) -> bool {
        self.since.elapsed() >= self.timeout
    }

    /// Waits for news until the deadline, or for `at_most`; `None` when there were none.
    pub(super) async fn wait_for<T>(&self, news: impl Future<Output = T>, at_most: Option<Duration>) -> Option<T> {
        let left = self.timeout.saturating_sub(self.since.elapsed());
        let sleep = at_most.map_or(left, |at_most| at_most.min(left));
        tokio::time::timeout(sleep, news).await.ok()
    }
}

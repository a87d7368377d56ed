//! `wait`: sleeping until there may be work.

use std::future::Future;
use std::time::Duration;

use rusqlite::{OptionalExtension, params};
use tokio::time::Instant;

use super::SqliteStore;
use super::errors::Outcome;
use super::reader::View;
use super::row::status_code;
use crate::store::{Result, Wait};
use crate::types::{QueueName, Status, Timestamp};

/// How often to look at a clock that is moved by hand: nobody tells when it is.
const HAND: Duration = Duration::from_millis(5);

impl SqliteStore {
    /// Returns as soon as one of the queues has something to claim: a ready task, a due one, a lease that ran out.
    pub(super) async fn wait_for_work(&self, wait: Wait) -> Result<()> {
        let signals = &self.inner.signals;
        let _watcher = signals.watch();
        let deadline = Deadline::after(wait.timeout);
        loop {
            let mut news = std::pin::pin!(signals.ready.notified());
            // Before the look: what is committed after it must wake us.
            news.as_mut().enable();
            let queues = wait.queues.clone();
            let Some(sleep) = self.read("wait", move |view| until_work(view, &queues)).await? else {
                return Ok(());
            };
            if deadline.passed() {
                return Ok(());
            }
            let hand = self.inner.time.is_manual().then_some(HAND);
            deadline.wait_for(news, sleep.into_iter().chain(hand).min()).await;
        }
    }
}

/// `None` when there is something to claim, else how long until time alone brings something.
fn until_work(view: &View<'_>, queues: &[QueueName]) -> Outcome<Option<Option<Duration>>> {
    let mut next: Option<i64> = None;
    for queue in queues {
        let tick = first_tick(view, queue)?;
        if tick.is_some_and(|tick| tick <= view.now.as_millis()) {
            return Ok(None);
        }
        next = next.into_iter().chain(tick).min();
        for status in [Status::Queued, Status::Pending, Status::Retrying, Status::Running] {
            match first_key(view, queue, status)? {
                Some(_) if status == Status::Queued => return Ok(None),
                Some(key) if key <= view.now.as_millis() => return Ok(None),
                key => next = next.into_iter().chain(key).min(),
            }
        }
    }
    Ok(Some(next.map(|next| Timestamp::from_millis(next).since(view.now))))
}

fn first_key(view: &View<'_>, queue: &QueueName, status: Status) -> Outcome<Option<i64>> {
    let sql = "SELECT min(key) FROM tasks WHERE queue = (SELECT id FROM queues WHERE name = ?1) AND status = ?2";
    let params = params![queue.as_str(), status_code(status)];
    Ok(view.conn.prepare_cached(sql)?.query_row(params, |row| row.get(0))?)
}

fn first_tick(view: &View<'_>, queue: &QueueName) -> Outcome<Option<i64>> {
    let sql = "SELECT tick_at FROM queues WHERE name = ?1";
    Ok(view.conn.prepare_cached(sql)?.query_row([queue.as_str()], |row| row.get(0)).optional()?.flatten())
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

    /// Waits for news until the deadline, or for `at_most`.
    pub(super) async fn wait_for(&self, news: impl Future<Output = ()>, at_most: Option<Duration>) {
        let left = self.timeout.saturating_sub(self.since.elapsed());
        let sleep = at_most.map_or(left, |at_most| at_most.min(left));
        // Running out of time is no failure here.
        let _ = tokio::time::timeout(sleep, news).await;
    }
}

//! Looking for other processes' commits. The connection that writes does it: to it this process's own are no news, and
//! telling those apart saves every commit from waking everybody.

use std::sync::Arc;
use std::time::Duration;

use rusqlite::Connection;

use super::signals::{News, Signals};

/// How often to look while somebody waits: a look takes about ten microseconds, a notice half of this on average.
pub(super) const POLL: Duration = Duration::from_millis(3);

/// What the writer knows of those who wait, and of other processes.
pub(super) struct Watch {
    pub(super) signals: Arc<Signals>,
    /// Whether other processes can see the database.
    pub(super) shared: bool,
    /// What `PRAGMA data_version` said last.
    pub(super) seen: Option<i64>,
}

impl Watch {
    /// How long to wait for work before the next look; `None`: as long as it takes.
    pub(super) fn patience(&self) -> Option<Duration> {
        (self.shared && self.signals.look_on()).then_some(POLL)
    }

    /// Tells those whom a transaction of this process concerns.
    pub(super) fn announce(&self, news: &News) {
        self.signals.announce(news);
    }

    /// Wakes all who wait when another process has committed since the last look.
    pub(super) fn look(&mut self, conn: &Connection) {
        // An error shows itself to the next transaction; here it only means no news.
        let version = self.shared.then(|| data_version(conn).ok()).flatten();
        if version.is_some() && version != self.seen {
            self.seen = version;
            self.signals.announce_all();
        }
    }
}

fn data_version(conn: &Connection) -> rusqlite::Result<i64> {
    conn.prepare_cached("PRAGMA data_version")?.query_row((), |row| row.get(0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::sqlite::signals::Heard;
    use crate::store::sqlite::tests::Scratch;
    use crate::types::QueueName;
    use futures_util::FutureExt;

    #[test]
    fn commits_of_other_connections_are_news_and_own_ones_are_not() {
        let scratch = Scratch::new();
        let open = || Connection::open(scratch.file()).unwrap();
        let (own, other) = (open(), open());
        own.execute_batch("PRAGMA journal_mode = WAL; CREATE TABLE t (a);").unwrap();
        let mut watch = Watch { signals: Arc::default(), shared: true, seen: None };
        watch.look(&own);
        let news_after = |watch: &mut Watch, writer: &Connection| {
            let ears = watch.signals.listen(&[QueueName::new("a").unwrap()]);
            writer.execute_batch("INSERT INTO t VALUES (1)").unwrap();
            watch.look(&own);
            ears.hear().now_or_never()
        };
        assert_eq!(news_after(&mut watch, &own), None);
        assert_eq!(news_after(&mut watch, &other), Some(Heard::Change));
        // An own commit does not cover another's, whichever came first.
        for order in [[&other, &own], [&own, &other]] {
            let ears = watch.signals.listen(&[QueueName::new("a").unwrap()]);
            for writer in order {
                writer.execute_batch("BEGIN IMMEDIATE; INSERT INTO t VALUES (1); COMMIT").unwrap();
            }
            watch.look(&own);
            assert_eq!(ears.hear().now_or_never(), Some(Heard::Change));
        }
    }
}

//! What users can choose about the embedded store.

use std::time::Duration;

use crate::clock::Clock;

/// How hard a commit is pressed onto the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Synchronous {
    /// Every commit reaches the disk before the caller hears of it: nothing acknowledged is lost on power loss.
    #[default]
    Full,
    /// Commits reach the disk some time later. Safe when the process dies; a power loss can take the last commits.
    Normal,
}

/// Settings of a [`SqliteStore`](super::SqliteStore).
#[derive(Debug, Clone)]
pub struct SqliteOptions {
    /// Durability of a commit; [`Synchronous::Full`] unless said otherwise.
    pub synchronous: Synchronous,
    /// How long a call waits for another process's write before it is refused; 5 seconds unless said otherwise.
    pub busy_timeout: Duration,
    /// How many events the log keeps at about most; 100,000 unless said otherwise.
    pub event_log: u64,
    /// The store's clock: the machine's, unless a test moves it by hand.
    pub clock: Clock,
}

impl Default for SqliteOptions {
    fn default() -> Self {
        Self {
            synchronous: Synchronous::default(),
            busy_timeout: Duration::from_secs(5),
            event_log: 100_000,
            clock: Clock::default(),
        }
    }
}

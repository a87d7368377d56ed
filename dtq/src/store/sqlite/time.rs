//! The store's time: the chosen clock, never going back within this process.

use std::sync::atomic::{AtomicI64, Ordering};

use crate::clock::Clock;
use crate::types::Timestamp;

/// A clock that never goes back, shared by the threads of one store.
#[derive(Debug)]
pub(super) struct StoreTime {
    clock: Clock,
    latest: AtomicI64,
}

impl StoreTime {
    pub(super) fn new(clock: Clock) -> Self {
        Self { clock, latest: AtomicI64::new(i64::MIN) }
    }

    /// The present; an instant already told at least.
    pub(super) fn now(&self) -> Timestamp {
        let told = self.clock.now().as_millis();
        Timestamp::from_millis(told.max(self.latest.fetch_max(told, Ordering::SeqCst)))
    }

    /// True when the clock stands still until somebody moves it.
    pub(super) fn is_manual(&self) -> bool {
        matches!(self.clock, Clock::Manual(_))
    }
}

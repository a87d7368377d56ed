//! The only file that reads a wall clock. The embedded store asks it; nothing else decides by it.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, SystemTime};

use crate::types::Timestamp;

/// A source of time for the embedded store.
#[derive(Debug, Clone, Default)]
pub enum Clock {
    /// The machine's clock.
    #[default]
    System,
    /// A clock that moves only when told to.
    Manual(ManualClock),
}

impl Clock {
    /// The current instant.
    pub fn now(&self) -> Timestamp {
        match self {
            Self::System => SystemTime::now().into(),
            Self::Manual(clock) => clock.now(),
        }
    }
}

/// A clock for tests: starts at the time of its making and stands still until it is advanced. Clones share the time.
#[derive(Debug, Clone)]
pub struct ManualClock(Arc<AtomicI64>);

impl ManualClock {
    /// A clock that stands at the present.
    pub fn new() -> Self {
        Self(Arc::new(AtomicI64::new(Timestamp::from(SystemTime::now()).as_millis())))
    }

    /// The instant it stands at.
    pub fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.0.load(Ordering::SeqCst))
    }

    /// Moves it forward.
    pub fn advance(&self, by: Duration) {
        let next = self.now().plus(by);
        self.0.store(next.as_millis(), Ordering::SeqCst);
    }
}

impl Default for ManualClock {
    fn default() -> Self {
        Self::new()
    }
}

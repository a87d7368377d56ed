//! One line when a store goes away, one when it is back, and patience in between.

use std::time::{Duration, Instant};

/// The longest pause between two tries: work goes on within two of them after the store's return.
const LONGEST_PAUSE: Duration = Duration::from_secs(1);
const FIRST_PAUSE: Duration = Duration::from_millis(50);

/// Tracks one loop's trouble with the store.
#[derive(Debug)]
pub(super) struct Outage {
    what: &'static str,
    since: Option<Instant>,
    tries: u32,
}

impl Outage {
    pub(super) fn new(what: &'static str) -> Self {
        Self { what, since: None, tries: 0 }
    }

    /// Notes a failed call and says how long to pause.
    pub(super) fn failed(&mut self, error: &dyn std::fmt::Display) -> Duration {
        if self.since.is_none() {
            self.since = Some(Instant::now());
            tracing::warn!(doing = self.what, %error, "the store failed; trying again until it works");
        } else {
            tracing::debug!(doing = self.what, %error, tries = self.tries, "the store still fails");
        }
        self.tries = self.tries.saturating_add(1);
        let pause = FIRST_PAUSE.saturating_mul(1 << self.tries.min(8)).min(LONGEST_PAUSE);
        // Half to full: workers that lost one server together do not come back in step.
        pause.mul_f64(0.5 + 0.5 * fastrand::f64())
    }

    /// Notes a call that worked.
    pub(super) fn over(&mut self) {
        if let Some(since) = self.since.take() {
            tracing::info!(doing = self.what, seconds = since.elapsed().as_secs_f64(), "the store works again");
        }
        self.tries = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_and_stay_under_a_second() {
        let mut outage = Outage::new("test");
        let pauses: Vec<_> = (0..50).map(|_| outage.failed(&"down")).collect();
        assert!(pauses[0] <= Duration::from_millis(100));
        assert!(pauses.iter().all(|pause| *pause <= LONGEST_PAUSE));
        assert!(pauses[49] >= LONGEST_PAUSE / 2);
    }
}

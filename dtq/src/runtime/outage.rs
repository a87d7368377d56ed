//! One line when a store goes away, one when it is back, and patience in between.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The longest pause between two tries: work goes on within two of them after the store's return.
const LONGEST_PAUSE: Duration = Duration::from_secs(1);
const FIRST_PAUSE: Duration = Duration::from_millis(50);

/// A loop that rests while the store is away and back finds its connection broken this much later at most.
const ECHO: Duration = Duration::from_secs(5);

/// A worker's trouble with its store, of all its loops together: an outage is told once, not once a loop.
#[derive(Debug, Default)]
pub(super) struct Trouble {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Loops whose last call failed.
    failing: usize,
    /// Since when, if it was told.
    told: Option<Instant>,
    /// When the last outage ended.
    over: Option<Instant>,
}

impl Trouble {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Tracks one loop's part in it.
#[derive(Debug)]
pub(super) struct Outage {
    what: &'static str,
    trouble: Arc<Trouble>,
    tries: u32,
}

impl Outage {
    pub(super) fn new(what: &'static str, trouble: &Arc<Trouble>) -> Self {
        Self { what, trouble: trouble.clone(), tries: 0 }
    }

    /// Notes a failed call and says how long to pause.
    pub(super) fn failed(&mut self, error: &dyn std::fmt::Display) -> Duration {
        if self.is_news() {
            tracing::warn!(doing = self.what, %error, "the store failed; trying again until it works");
        } else {
            tracing::debug!(doing = self.what, %error, tries = self.tries, "the store still fails");
        }
        self.tries = self.tries.saturating_add(1);
        let pause = FIRST_PAUSE.saturating_mul(1 << self.tries.min(8)).min(LONGEST_PAUSE);
        // Half to full: workers that lost one server together do not come back in step.
        pause.mul_f64(0.5 + 0.5 * fastrand::f64())
    }

    /// True for the first failure of an outage; a single one soon after an outage is its echo.
    fn is_news(&self) -> bool {
        let mut state = self.trouble.lock();
        if self.tries == 0 {
            state.failing += 1;
        }
        let echo = self.tries == 0 && state.over.is_some_and(|over| over.elapsed() < ECHO);
        let news = state.told.is_none() && !echo;
        if news {
            state.told = Some(Instant::now());
        }
        news
    }

    /// Notes a call that worked.
    pub(super) fn over(&mut self) {
        if let Some(since) = self.leave() {
            tracing::info!(doing = self.what, seconds = since.elapsed().as_secs_f64(), "the store works again");
        }
    }

    /// Gives the beginning of an outage that was told and ends with this.
    fn leave(&mut self) -> Option<Instant> {
        if std::mem::take(&mut self.tries) == 0 {
            return None;
        }
        let mut state = self.trouble.lock();
        state.failing = state.failing.saturating_sub(1);
        let since = if state.failing == 0 { state.told.take() } else { None };
        if since.is_some() {
            state.over = Some(Instant::now());
        }
        since
    }
}

impl Drop for Outage {
    fn drop(&mut self) {
        // A loop that ends knows nothing of the store's return.
        self.leave();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_and_stay_under_a_second() {
        let mut outage = Outage::new("test", &Arc::default());
        let pauses: Vec<_> = (0..50).map(|_| outage.failed(&"down")).collect();
        assert!(pauses[0] <= Duration::from_millis(100));
        assert!(pauses.iter().all(|pause| *pause <= LONGEST_PAUSE));
        assert!(pauses[49] >= LONGEST_PAUSE / 2);
    }

    #[test]
    fn an_outage_is_news_once_for_all_loops_and_its_echo_is_none() {
        let trouble = Arc::default();
        let (mut fetch, mut beat) = (Outage::new("fetch", &trouble), Outage::new("beat", &trouble));
        let fails = |outage: &mut Outage| {
            let news = outage.is_news();
            outage.tries += 1;
            news
        };
        assert!(fails(&mut fetch) && !fails(&mut fetch) && !fails(&mut beat));
        assert!(beat.leave().is_none() && fetch.leave().is_some());
        assert!(!fails(&mut beat), "its connection broke in the outage that is over");
        assert!(fails(&mut beat), "but the store is away again");
    }
}

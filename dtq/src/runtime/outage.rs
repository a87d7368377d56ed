//! One line when a store goes away, one when it is back, and patience in between. A connection that flaps is not told
//! each time.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::policy;
use crate::store::StoreError;

/// The longest pause between two tries: work goes on within two of them after the store's return.
const LONGEST_PAUSE: Duration = Duration::from_secs(1);
const FIRST_PAUSE: Duration = Duration::from_millis(100);

/// Breaks that follow each other within this time of calm are one unrest, and told once.
const CALM: Duration = Duration::from_secs(10);

/// An outage that lasts this long is told even then.
const LASTING: Duration = Duration::from_secs(1);

/// An unrest that goes on is told again after this time.
const REMINDER: Duration = Duration::from_secs(60);

/// A duration for a log line: nobody wants its nanoseconds.
pub(super) fn shown(duration: Duration) -> humantime::FormattedDuration {
    let millis = u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
    humantime::format_duration(Duration::from_millis(millis))
}

/// A worker's trouble with its store, of all its loops together: an outage is told once, not once a loop, and a connection
/// that breaks again and again is not told each time.
#[derive(Debug, Default)]
pub(super) struct Trouble {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Loops whose last call failed.
    failing: usize,
    /// Since when one of them fails.
    since: Option<Instant>,
    /// True when this outage was told.
    told: bool,
    /// True when it was told that this outage will not end by itself.
    told_for_good: bool,
    /// When an outage was last told.
    told_at: Option<Instant>,
    /// When the last outage ended, told or not.
    over: Option<Instant>,
    /// Outages that were not told, since the last one that was.
    untold: u32,
}

impl State {
    /// True when this failure is to be told.
    fn fails(&mut self, now: Instant, first_of_loop: bool, for_good: bool) -> bool {
        let passed = |since: Option<Instant>, time| since.is_none_or(|since| now.duration_since(since) >= time);
        self.failing += usize::from(first_of_loop);
        let since = *self.since.get_or_insert(now);
        let news = passed(self.over, CALM) || passed(self.told_at, REMINDER) || passed(Some(since), LASTING);
        // A password that was changed, say, shows only when the connection is made anew: the first error told of another cause.
        let tell = news && !self.told || for_good && !self.told_for_good;
        if tell {
            self.told = true;
            self.told_for_good = for_good;
            self.told_at = Some(now);
        }
        tell
    }

    /// The beginning of the outage, when it ends with this loop's and was told.
    fn works(&mut self, now: Instant) -> Option<Instant> {
        self.failing = self.failing.saturating_sub(1);
        if self.failing > 0 {
            return None;
        }
        self.over = Some(now);
        let since = self.since.take();
        self.told_for_good = false;
        let told = std::mem::take(&mut self.told);
        self.untold = if told { 0 } else { self.untold.saturating_add(1) };
        since.filter(|_| told)
    }
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
    pub(super) fn failed(&mut self, error: &StoreError) -> Duration {
        self.tell(error);
        let pause = policy::growing_pause(FIRST_PAUSE, LONGEST_PAUSE, self.tries, fastrand::f64());
        self.tries = self.tries.saturating_add(1);
        pause
    }

    fn tell(&self, error: &StoreError) {
        let mut state = self.trouble.lock();
        let news = state.fails(Instant::now(), self.tries == 0, !error.is_transient());
        let breaks = state.untold;
        drop(state);
        let doing = self.what;
        match (news, breaks) {
            (true, 0) => tracing::warn!(doing, %error, "the store failed; trying again until it works"),
            (true, breaks) => tracing::warn!(
                doing, %error, breaks,
                "the store failed; trying again until it works (it broke so many times since this was last said)"
            ),
            (false, _) => tracing::debug!(doing, %error, tries = self.tries, "the store still fails"),
        }
    }

    /// Notes a call that worked.
    pub(super) fn over(&mut self) {
        if let Some(since) = self.leave() {
            let after = shown(since.elapsed());
            tracing::info!(%after, "the store works again");
        }
    }

    /// Gives the beginning of an outage that was told and ends with this.
    fn leave(&mut self) -> Option<Instant> {
        match std::mem::take(&mut self.tries) {
            0 => None,
            _ => self.trouble.lock().works(Instant::now()),
        }
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
        let down = StoreError::Timeout { operation: "claim", store: "here".into(), after: Duration::ZERO };
        let mut outage = Outage::new("test", &Arc::default());
        let pauses: Vec<_> = (0..50).map(|_| outage.failed(&down)).collect();
        assert!(pauses[0] <= Duration::from_millis(100));
        assert!(pauses.iter().all(|pause| *pause <= LONGEST_PAUSE));
        assert!(pauses[49] >= LONGEST_PAUSE / 2);
    }

    const LOOP_BEGINS: bool = true;

    #[test]
    fn an_outage_is_told_once_for_all_loops_until_it_ends_for_all() {
        let (mut state, now) = (State::default(), Instant::now());
        assert!(state.fails(now, LOOP_BEGINS, false));
        assert!(!state.fails(now, false, false) && !state.fails(now, LOOP_BEGINS, false));
        assert_eq!(state.works(now), None);
        assert_eq!(state.works(now), Some(now));
        assert!(state.fails(now + CALM, LOOP_BEGINS, false), "calm had returned");
    }

    #[test]
    fn an_outage_that_will_not_end_by_itself_is_told_once_more() {
        let (mut state, now) = (State::default(), Instant::now());
        assert!(state.fails(now, LOOP_BEGINS, false));
        assert!(state.fails(now, false, true) && !state.fails(now, false, true) && !state.fails(now, false, false));
    }

    /// How many lines a store costs in an hour that breaks at once after each time it works.
    fn told_in_an_hour(every: Duration, lasting: Duration) -> usize {
        let (mut state, began) = (State::default(), Instant::now());
        let breaks = (0..).map(|n| began + every * n).take_while(|now| now.duration_since(began).as_secs() < 3600);
        let told = breaks.map(|now| {
            let told = state.fails(now, LOOP_BEGINS, false);
            let told = state.fails(now + lasting, false, false) || told;
            state.works(now + lasting);
            usize::from(told)
        });
        told.sum()
    }

    #[test]
    fn a_connection_that_flaps_is_told_once_a_minute() {
        for every in [400, 3000] {
            let told = told_in_an_hour(Duration::from_millis(every), Duration::from_millis(100));
            assert!((55..=61).contains(&told), "{told} for a break each {every} ms");
        }
    }

    #[test]
    fn an_outage_that_lasts_is_told_also_in_a_time_of_unrest() {
        assert_eq!(told_in_an_hour(Duration::from_secs(100), Duration::from_millis(100)), 36);
        assert_eq!(told_in_an_hour(Duration::from_secs(6), Duration::from_secs(3)), 600);
    }
}

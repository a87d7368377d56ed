//! Schedules of the program's tasks, in a test that asks for them.

use std::panic::Location;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::{TestApp, locked};
use crate::clock::ManualClock;
use crate::runtime::tick;
use crate::store::Store;
use crate::types::ScheduleSpec;

/// The shortest step of the clock: less is no time to a store.
const SHORTEST: Duration = Duration::from_millis(1);

/// The schedules that follow a test's clock; none until the test starts them.
#[derive(Debug, Clone, Default)]
pub(super) struct Schedules {
    specs: Arc<Mutex<Vec<ScheduleSpec>>>,
}

impl Schedules {
    /// Moves the clock, from tick to tick.
    #[allow(clippy::panic, reason = "a test fails by it")]
    pub(super) async fn advance(&self, store: &dyn Store, clock: &ManualClock, by: Duration, place: &Location<'_>) {
        let specs = locked(&self.specs).clone();
        if specs.is_empty() {
            return clock.advance(by);
        }
        let mut left = by;
        loop {
            let next = tick(store, &specs).await.unwrap_or_else(|error| panic!("{place}: {error}"));
            if left.is_zero() {
                return;
            }
            let step = next.unwrap_or(left).max(SHORTEST).min(left);
            clock.advance(step);
            left -= step;
        }
    }
}

impl TestApp {
    /// Starts the schedules in the code of the program's tasks (`cron`, `every`): from now on [`TestApp::advance`] goes from
    /// tick to tick, and [`TestApp::drain`] runs what they enqueued. Without this a test is alone with what it enqueues
    /// itself.
    ///
    /// ```standalone_crate
    /// use dtq::prelude::*;
    ///
    /// #[dtq::task(cron = "*/5 * * * *")]
    /// async fn sweep() {}
    ///
    /// # async fn test(t: &TestApp) {
    /// t.start_schedules().await;
    /// t.advance("10m").await;
    /// t.drain().await.assert_ran::<sweep>(2);
    /// # }
    /// # tokio::runtime::Runtime::new().unwrap().block_on(test(&TestApp::new()));
    /// ```
    ///
    /// # Panics
    /// When two tasks share a name.
    #[track_caller]
    #[allow(clippy::panic, reason = "a test fails by it")]
    pub fn start_schedules(&self) -> impl Future<Output = ()> + '_ {
        let place = Location::caller();
        async move {
            let registry = self.app().registry().unwrap_or_else(|error| panic!("{place}: {error}"));
            *locked(&self.schedules.specs) = registry.schedules();
            self.schedules.advance(&**self.client.store(), &self.clock, Duration::ZERO, place).await;
        }
    }
}

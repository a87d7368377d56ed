//! Tests of a user's tasks: a store in memory whose clock the test moves, and a worker that runs when the test says so.
//! See `docs/testing.md`.

mod drain;
mod enqueued;
mod harness;
mod report;
mod schedules;
mod span;

use std::fmt;
use std::future::Future;
use std::panic::Location;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

pub use enqueued::Enqueued;
pub use harness::{TestReturn, run};
pub use report::{Drained, Ran};
pub use span::Span;

use crate::app::App;
use crate::client::{Client, ClientScope};
use crate::clock::{Clock, ManualClock};
use crate::connect;
use crate::task::Task;
use crate::types::Timestamp;
use enqueued::Sent;
use schedules::Schedules;

/// One test's own world: a store in memory, its clock, the program's tasks, and the state that the test gives them.
///
/// `#[dtq::test]` makes one for each test, and everything that the test enqueues goes to its store. By hand, for a test with a
/// runtime of its own: [`TestApp::new`] and [`TestApp::scope`].
///
/// ```standalone_crate
/// use dtq::prelude::*;
///
/// #[dtq::task]
/// async fn charge(order: u64) -> Result<String, TaskError> {
///     Ok(format!("receipt {order}"))
/// }
///
/// # async fn by_hand() {
/// let t = TestApp::new();
/// t.scope(async {
///     charge::enqueue(17).await.unwrap();
///     t.assert_enqueued::<charge>(|call| call.order == 17);
///     t.drain().await.assert_all_succeeded();
/// })
/// .await;
/// # }
/// # tokio::runtime::Runtime::new().unwrap().block_on(by_hand());
/// ```
pub struct TestApp {
    client: Client,
    clock: ManualClock,
    app: Mutex<App>,
    sent: Arc<Mutex<Sent>>,
    schedules: Schedules,
    /// Held while a drain claims and renews: the clock moves before that or after, so that a lease which ends by its move
    /// is found ended.
    step: Arc<tokio::sync::Mutex<()>>,
}

impl TestApp {
    /// An app with an empty store. Its clock stands at the present, and stands still.
    ///
    /// # Panics
    /// When the machine has no memory or no thread to spare.
    #[allow(clippy::panic, reason = "a test fails by it")]
    #[allow(clippy::new_without_default, reason = "a default is cheap and cannot fail")]
    pub fn new() -> Self {
        let clock = ManualClock::new();
        let store = connect::in_memory(Clock::Manual(clock.clone()))
            .unwrap_or_else(|error| panic!("a store in memory could not be opened: {error}"));
        let sent: Arc<Mutex<Sent>> = Arc::default();
        let notes = Arc::clone(&sent);
        let client = Client::recorded(store, Arc::new(move |task, answer| locked(&notes).note(task, answer)));
        Self { client, clock, app: Mutex::default(), sent, schedules: Schedules::default(), step: Arc::default() }
    }

    /// Gives a value to all handlers that take `#[state]` of its type, as [`App::state`] does. A second value of one type
    /// replaces the first for what runs from then on.
    pub fn state<T: Send + Sync + 'static>(&self, value: T) -> &Self {
        locked(&self.app).state(value);
        self
    }

    /// Does the program's own set-up, or a part of it that suits tests.
    ///
    /// ```
    /// # use dtq::prelude::*;
    /// fn set_up(app: &mut App) {
    ///     app.state(String::from("Hello"));
    /// }
    ///
    /// # fn test(t: &TestApp) {
    /// t.set_up(set_up);
    /// # }
    /// # test(&TestApp::new());
    /// ```
    pub fn set_up(&self, set_up: impl FnOnce(&mut App)) -> &Self {
        set_up(&mut locked(&self.app));
        self
    }

    /// Registers a task by hand; only needed for tasks that are not linked in, see [`App::register`].
    pub fn register<T: Task>(&self) -> &Self {
        locked(&self.app).register::<T>();
        self
    }

    /// The client of the test's store, to ask and to cancel; `enqueue` uses it by itself.
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// The present, as the test's store sees it.
    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Moves the store's clock: delays, backoff, times to live, retention and leases follow. Nothing runs by itself: call
    /// [`TestApp::drain`]. What a handler waits for by itself (`timeout`, its own sleeps) goes by real time.
    ///
    /// ```
    /// # use dtq::prelude::*;
    /// # async fn test(t: &TestApp) {
    /// t.advance("10m").await;
    /// t.advance(std::time::Duration::from_millis(1)).await;
    /// # }
    /// # tokio::runtime::Runtime::new().unwrap().block_on(test(&TestApp::new()));
    /// ```
    ///
    /// # Panics
    /// When text is no duration such as `"1h30m"`.
    #[track_caller]
    pub fn advance<S: Span>(&self, by: S) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        let (clock, by, step) = (self.clock.clone(), by.span(), Arc::clone(&self.step));
        let (schedules, store, place) = (self.schedules.clone(), self.client.store().clone(), Location::caller());
        // A type without `S` in it: when `S` does not fit, the compiler says so once.
        Box::pin(async move {
            let _step = step.lock().await;
            schedules.advance(&*store, &clock, by, place).await;
            // Whoever waits for a time that has come may go on.
            tokio::task::yield_now().await;
        })
    }

    /// Runs a future in which everything that is enqueued goes to this app's store, see [`Client::scope`].
    pub fn scope<F: Future>(&self, future: F) -> ClientScope<F> {
        self.client.scope(future)
    }

    fn app(&self) -> MutexGuard<'_, App> {
        locked(&self.app)
    }

    fn sent(&self) -> MutexGuard<'_, Sent> {
        locked(&self.sent)
    }
}

impl fmt::Debug for TestApp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TestApp").field("now", &self.now()).finish_non_exhaustive()
    }
}

/// A test that failed while it held the lock has been told of already.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A duration as people write it.
fn shown(duration: Duration) -> String {
    humantime::format_duration(duration).to_string()
}

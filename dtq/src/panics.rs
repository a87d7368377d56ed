//! Panics of user code, caught and told with message and place.

use std::any::Any;
use std::cell::RefCell;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;

use futures_util::FutureExt;
use tokio_util::task::AbortOnDropHandle;

use crate::client::Client;
use crate::policy::Ended;
use crate::types::{ErrorKind, Failure};

thread_local! {
    /// Where this thread panicked last. A panic is caught on the thread it happened on, so the place is its own.
    static PLACE: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Makes the place of a panic known to the catchers below; keeps the program's own hook.
pub(crate) fn install_hook() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let previous = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            let place = info.location().map(ToString::to_string);
            // A thread that is being torn down has no place to keep it; then the message stands alone.
            let _ = PLACE.try_with(|slot| slot.replace(place));
            previous(info);
        }));
    });
}

/// Awaits a future; a panic in it is told as a failed attempt.
// Not an `async fn`, here and below: that would have room for the future twice, as it was given and as it is awaited.
pub(crate) fn caught<T>(future: impl Future<Output = T>) -> impl Future<Output = Result<T, Ended>> {
    AssertUnwindSafe(future).catch_unwind().map(|caught| caught.map_err(panicked))
}

/// Starts and awaits a handler; a panic in it becomes a failed attempt.
pub(crate) fn caught_in<F: Future<Output = Ended>>(handler: impl FnOnce() -> F) -> impl Future<Output = Ended> {
    caught(async { handler().await }).map(|ended| ended.unwrap_or_else(|panicked| panicked))
}

/// Runs a function on the pool for blocking work, with the current client as its own; a panic in it becomes a failed
/// attempt. Dropped before a thread took it up, it never runs.
pub(crate) async fn spawn_blocking(function: impl FnOnce() -> Ended + Send + 'static) -> Ended {
    let guarded = || catch_unwind(AssertUnwindSafe(function)).unwrap_or_else(panicked);
    let carried = Client::carry(guarded);
    AbortOnDropHandle::new(tokio::task::spawn_blocking(carried)).await.unwrap_or_else(|error| Ended::Again {
        after: None,
        failure: Failure::new(ErrorKind::WorkerLost, format!("the blocking thread ended early: {error}")),
    })
}

fn panicked(payload: Box<dyn Any + Send>) -> Ended {
    let message = payload
        .downcast_ref::<&str>()
        .map(ToString::to_string)
        .or_else(|| payload.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "a panic whose payload is not text".into());
    // The payload is the user's: dropping it may panic again, outside of any catch. Leaking it cannot.
    std::mem::forget(payload);
    let place = PLACE.take().map(|place| format!(" at {place}")).unwrap_or_default();
    Ended::Again { after: None, failure: Failure::new(ErrorKind::Panic, format!("panicked{place}: {message}")) }
}

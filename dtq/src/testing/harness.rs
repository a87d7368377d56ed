//! What `#[dtq::test]` runs a test in.

use std::fmt::Debug;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::Pin;

use tokio::runtime::{Builder, Runtime};

use super::TestApp;
use crate::client::Client;

/// Runs one test: on a runtime of its own, whose threads all know the test's store. So what the test spawns cannot end up
/// in another one.
///
/// # Panics
/// When the test does.
pub fn run(several_threads: bool, test: impl for<'a> FnOnce(&'a TestApp) -> Pin<Box<dyn Future<Output = ()> + 'a>>) {
    let app = TestApp::new();
    let runtime = runtime(several_threads, app.client.clone());
    let before = Client::replace_of_thread(Some(app.client.clone()));
    let ended = catch_unwind(AssertUnwindSafe(|| runtime.block_on(app.scope(test(&app)))));
    Client::replace_of_thread(before);
    // A plain function that never returns must not keep a test from failing.
    runtime.shutdown_background();
    if let Err(panic) = ended {
        resume_unwind(panic);
    }
}

#[allow(clippy::panic, reason = "a test fails by it")]
fn runtime(several_threads: bool, client: Client) -> Runtime {
    let mut builder = if several_threads { Builder::new_multi_thread() } else { Builder::new_current_thread() };
    let builder = builder.enable_all().worker_threads(2).on_thread_start(move || {
        Client::replace_of_thread(Some(client.clone()));
    });
    builder.build().unwrap_or_else(|error| panic!("a runtime for the test could not be started: {error}"))
}

/// What a test may return.
#[diagnostic::on_unimplemented(
    message = "a test cannot return `{Self}`",
    label = "not a test's return type",
    note = "return nothing, or `Result<(), E>` with an `E` that is `Debug`"
)]
pub trait TestReturn {
    /// Passes, or panics with the error.
    fn check(self);
}

impl TestReturn for () {
    fn check(self) {}
}

impl<E: Debug> TestReturn for Result<(), E> {
    #[allow(clippy::panic, reason = "a test fails by it")]
    fn check(self) {
        if let Err(error) = self {
            panic!("the test returned an error: {error:?}");
        }
    }
}

//! Loops that must not end: a panic in one is a bug of ours, told once and survived.

use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::time::Duration;

use futures_util::FutureExt;

/// Runs a loop until it returns by itself; starts it again after a panic.
pub(super) async fn supervise<F: Future<Output = ()>>(name: &'static str, mut start: impl FnMut() -> F) {
    const PAUSE: Duration = Duration::from_millis(500);
    while AssertUnwindSafe(start()).catch_unwind().await.is_err() {
        tracing::error!(name, "a worker loop panicked and is started again; please report this");
        tokio::time::sleep(PAUSE).await;
    }
}

//! The tasks that are measured.

use std::sync::Arc;

use dtq::{Context, TaskError};
use tokio_util::sync::CancellationToken;

use crate::ledger::Ledger;

/// Does nothing but leave its mark.
#[dtq::task(queue = "bench", retention = "0s")]
pub(super) async fn noop(#[state] ledger: &Arc<Ledger>, n: usize, padding: String) {
    let _ = padding;
    ledger.mark(n);
}

/// The same, with a result.
#[dtq::task(queue = "bench", retention = "1h")]
pub(super) async fn echo(#[state] ledger: &Arc<Ledger>, n: usize, padding: String) -> usize {
    let _ = padding;
    ledger.mark(n);
    n
}

/// Fails twice, then does what `noop` does.
#[dtq::task(queue = "bench", retention = "0s", max_attempts = 3, backoff = fixed("1ms"))]
pub(super) async fn stubborn(ctx: &Context, #[state] ledger: &Arc<Ledger>, n: usize) -> Result<(), TaskError> {
    if ctx.attempt() < 3 {
        return Err(TaskError::new("not yet"));
    }
    ledger.mark(n);
    Ok(())
}

/// Opens once, for all who wait.
pub(crate) type Gate = CancellationToken;

/// Runs until the gate opens; its record stays.
#[dtq::task(queue = "bench", retention = "1h")]
pub(super) async fn held(#[state] ledger: &Arc<Ledger>, #[state] gate: &Arc<Gate>, n: usize, padding: String) {
    let _ = padding;
    ledger.mark(n);
    gate.cancelled().await;
}

/// Arguments that fill up the payload: `{"n":12345,"padding":".."}`.
pub(super) fn padding(payload: usize) -> String {
    "x".repeat(payload.saturating_sub(24))
}

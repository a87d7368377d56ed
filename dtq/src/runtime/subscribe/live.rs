//! The deliveries that are being worked on, so that one whose message was lost can be called off.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio_util::sync::CancellationToken;

/// Deliveries by the id of their entry.
#[derive(Debug, Default)]
pub(super) struct Live {
    tokens: Mutex<HashMap<String, CancellationToken>>,
}

impl Live {
    pub(super) fn begin(&self, id: Option<&str>, token: &CancellationToken) {
        if let Some(id) = id {
            self.lock().insert(id.to_owned(), token.clone());
        }
    }

    pub(super) fn end(&self, id: Option<&str>) {
        if let Some(id) = id {
            self.lock().remove(id);
        }
    }

    /// Tells a handler that its message is another consumer's. False when none works on it, or it was told before.
    pub(super) fn lost(&self, id: &str) -> bool {
        let token = self.lock().get(id).cloned().filter(|token| !token.is_cancelled());
        token.inspect(CancellationToken::cancel).is_some()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, CancellationToken>> {
        self.tokens.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

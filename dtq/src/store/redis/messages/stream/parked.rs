//! Entries of a claiming subscription that wait longer than until they are idle: they are kept alive for the rest.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// Ids by the time until which they are kept alive.
#[derive(Debug, Default)]
pub(super) struct Parked {
    until: Mutex<HashMap<String, Instant>>,
}

impl Parked {
    pub(super) fn park(&self, id: &str, until: Instant) {
        self.lock().insert(id.to_owned(), until);
    }

    /// Those whose time is over, which are parked no more.
    pub(super) fn over(&self, now: Instant) -> Vec<String> {
        self.lock().extract_if(|_, until| *until <= now).map(|(id, _)| id).collect()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Instant>> {
        self.until.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

//! What was read here and is not settled yet.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use bytes::Bytes;

/// Entries by id, or values by themselves, with how many there are of each.
#[derive(Debug, Default)]
pub(super) struct Held {
    items: Mutex<HashMap<Bytes, usize>>,
}

impl Held {
    pub(super) fn take(&self, item: Bytes) {
        *self.lock().entry(item).or_default() += 1;
    }

    pub(super) fn release(&self, item: &[u8]) {
        let mut items = self.lock();
        if let Some(count) = items.get_mut(item) {
            *count -= 1;
            if *count == 0 {
                items.remove(item);
            }
        }
    }

    pub(super) fn holds(&self, item: &[u8]) -> bool {
        self.lock().contains_key(item)
    }

    pub(super) fn all(&self) -> HashMap<Bytes, usize> {
        self.lock().clone()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Bytes, usize>> {
        self.items.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

//! What can go wrong between a caller and a store.

use std::time::Duration;

/// A store call that failed. [`StoreError::is_transient`] says whether trying again can help.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The store cannot be reached, or the connection broke. Whether the call was applied is not known.
    #[error("{operation}: the store at {store} cannot be reached: {detail}")]
    Unreachable {
        /// The verb.
        operation: &'static str,
        /// The store's address, without its password.
        store: String,
        /// The cause.
        detail: String,
    },
    /// No answer in time. Whether the call was applied is not known.
    #[error("{operation}: no answer from the store at {store} within {}", humantime::format_duration(*.after))]
    Timeout {
        /// The verb.
        operation: &'static str,
        /// The store's address, without its password.
        store: String,
        /// The time limit that passed.
        after: Duration,
    },
    /// The store answers but refuses to work for now (loading, out of memory, read-only, disk full, busy).
    #[error("{operation}: the store at {store} refuses for now: {detail}{remedy}")]
    Refused {
        /// The verb.
        operation: &'static str,
        /// The store's address, without its password.
        store: String,
        /// The store's own words.
        detail: String,
        /// What to do about it, beginning with a separator; empty when there is nothing to say.
        remedy: &'static str,
    },
    /// The store is set up in a way that dtq cannot work with.
    #[error("the store at {store} cannot be used: {detail}")]
    Unusable {
        /// The store's address, without its password.
        store: String,
        /// What is wrong and what to do.
        detail: String,
    },
    /// The store works, and will never take this call as it is.
    #[error("{operation}: the store at {store} rejects the call: {detail}")]
    Rejected {
        /// The verb.
        operation: &'static str,
        /// The store's address, without its password.
        store: String,
        /// The store's own words.
        detail: String,
    },
    /// Stored data does not have the form that this version writes.
    #[error("{operation}: unreadable data in the store at {store}: {detail}")]
    Corrupt {
        /// The verb.
        operation: &'static str,
        /// The store's address, without its password.
        store: String,
        /// What was found.
        detail: String,
    },
}

impl StoreError {
    /// True when the same call may succeed later without anybody changing the call.
    pub const fn is_transient(&self) -> bool {
        matches!(self, Self::Unreachable { .. } | Self::Timeout { .. } | Self::Refused { .. })
    }

    /// True when the store may have done what it was asked, and only the answer was lost.
    pub const fn may_be_applied(&self) -> bool {
        matches!(self, Self::Unreachable { .. } | Self::Timeout { .. })
    }

    /// True when the fault lies in the call or the data it meets: another call may well succeed, this one will not.
    pub const fn is_of_the_call(&self) -> bool {
        matches!(self, Self::Rejected { .. } | Self::Corrupt { .. })
    }
}

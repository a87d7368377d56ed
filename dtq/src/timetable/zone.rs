//! Time zones: the offset of local time at an instant, and when it changes. UTC needs no rules.

use super::rules::{self, Rules};

/// A change of a zone's offset. All numbers are seconds; instants count from the beginning of 1970 (UTC).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Change {
    pub(super) at: i64,
    /// Local time minus UTC from then on.
    pub(super) offset: i64,
}

/// A zone whose rules are known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Zone {
    Utc,
    Named(Rules),
}

impl Zone {
    /// The zone of that name; says what is wrong with a name of none.
    pub(super) fn find(name: &str) -> Result<Self, String> {
        if name == "UTC" { Ok(Self::Utc) } else { Rules::find(name).map(Self::Named) }
    }

    /// Local time minus UTC at an instant.
    pub(super) fn offset(&self, at: i64) -> i64 {
        match self {
            Self::Utc => 0,
            Self::Named(rules) => rules.offset(at),
        }
    }

    /// The first change after an instant.
    pub(super) fn next_change(&self, after: i64) -> Option<Change> {
        match self {
            Self::Utc => None,
            Self::Named(rules) => rules.next_change(after),
        }
    }

    /// The last change up to an instant.
    pub(super) fn last_change(&self, until: i64) -> Option<Change> {
        match self {
            Self::Utc => None,
            Self::Named(rules) => rules.last_change(until),
        }
    }
}

/// The names of all zones that are known, sorted.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    rules::names()
}

//! What holds a queue back: a pause, a bound on its depth, limits on how much of it runs at once.

use std::collections::BTreeMap;
use std::fmt;

use super::audit::By;
use super::timestamp::Timestamp;

/// Since when a queue hands out nothing, by whose wish, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pause {
    /// When it was paused, by the store's clock.
    pub since: Timestamp,
    /// Who paused it, and why.
    pub by: By,
}

/// A bound on something, or none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Limit {
    /// So many and no more; zero holds everything back.
    AtMost(u32),
    /// As many as may be.
    Unlimited,
}

impl Limit {
    /// The bound, if there is one.
    pub const fn bound(self) -> Option<u32> {
        match self {
            Self::AtMost(bound) => Some(bound),
            Self::Unlimited => None,
        }
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AtMost(bound) => fmt::Display::fmt(bound, f),
            Self::Unlimited => f.write_str("none"),
        }
    }
}

/// Changes of a queue's limits; what is not named stays as it is.
///
/// ```
/// use dtq::types::LimitChanges;
///
/// let changes = LimitChanges::new().depth(10_000).task("charge", 5).no_concurrency();
/// assert_eq!(changes.to_string(), "depth=10000 concurrency=none charge=5");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LimitChanges {
    pub(crate) depth: Option<Limit>,
    pub(crate) concurrency: Option<Limit>,
    /// By task; `None`: what its workers declare holds again.
    pub(crate) tasks: BTreeMap<String, Option<Limit>>,
}

impl LimitChanges {
    /// No change.
    pub fn new() -> Self {
        Self::default()
    }

    /// Ready and scheduled tasks that the queue takes at most; zero takes none.
    #[must_use]
    pub fn depth(mut self, most: u32) -> Self {
        self.depth = Some(Limit::AtMost(most));
        self
    }

    /// The queue takes what comes.
    #[must_use]
    pub fn no_depth(mut self) -> Self {
        self.depth = Some(Limit::Unlimited);
        self
    }

    /// Tasks of the queue that run at once at most, on all workers together; zero starts none.
    #[must_use]
    pub fn concurrency(mut self, most: u32) -> Self {
        self.concurrency = Some(Limit::AtMost(most));
        self
    }

    /// As many tasks of the queue run at once as there are workers for.
    #[must_use]
    pub fn no_concurrency(mut self) -> Self {
        self.concurrency = Some(Limit::Unlimited);
        self
    }

    /// Tasks of this name that run at once at most, on all workers together, whatever its workers declare; zero starts none.
    #[must_use]
    pub fn task(self, name: impl Into<String>, most: u32) -> Self {
        self.of_task(name.into(), Some(Limit::AtMost(most)))
    }

    /// As many tasks of this name run at once as there are workers for, whatever its workers declare.
    #[must_use]
    pub fn no_task(self, name: impl Into<String>) -> Self {
        self.of_task(name.into(), Some(Limit::Unlimited))
    }

    /// For tasks of this name holds again what their workers declare (`#[dtq::task(concurrency = ..)]`).
    #[must_use]
    pub fn task_as_declared(self, name: impl Into<String>) -> Self {
        self.of_task(name.into(), None)
    }

    fn of_task(mut self, name: String, limit: Option<Limit>) -> Self {
        self.tasks.insert(name, limit);
        self
    }

    /// True when nothing is to be changed.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The tasks that are named.
    pub fn task_names(&self) -> impl Iterator<Item = &str> {
        self.tasks.keys().map(String::as_str)
    }
}

/// The changes in one line, as the audit log keeps them.
impl fmt::Display for LimitChanges {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let queue = [("depth", self.depth), ("concurrency", self.concurrency)];
        let queue = queue.into_iter().filter_map(|(what, limit)| Some(format!("{what}={}", limit?)));
        let tasks = self.tasks.iter().map(|(task, limit)| match limit {
            Some(limit) => format!("{task}={limit}"),
            None => format!("{task}=declared"),
        });
        f.write_str(&queue.chain(tasks).collect::<Vec<_>>().join(" "))
    }
}

/// How many tasks of one name may run at once in a queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskLimit {
    /// The name.
    pub task: String,
    /// What its workers declare.
    pub declared: Option<u32>,
    /// What was set by hand: it goes before what is declared.
    pub set: Option<Limit>,
    /// How many run.
    pub running: u64,
    /// How many are ready and were passed over since no more of them may run. They are among the queue's `queued`.
    pub held_back: u64,
}

impl TaskLimit {
    /// The limit that holds.
    pub fn limit(&self) -> Limit {
        let declared = self.declared.map_or(Limit::Unlimited, Limit::AtMost);
        self.set.unwrap_or(declared)
    }
}

/// What holds a queue back, and how far it is.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct QueueLimits {
    /// Set while the queue is paused.
    pub paused: Option<Pause>,
    /// Ready and scheduled tasks that it takes at most.
    pub max_depth: Option<u32>,
    /// Ready and scheduled tasks that it holds: pending, queued and retrying ones.
    pub depth: u64,
    /// Tasks that run at once at most.
    pub concurrency: Option<u32>,
    /// Tasks that run.
    pub running: u64,
    /// Tasks with a limit of their own, by name; also those without one any more of which some are still held back.
    pub tasks: Vec<TaskLimit>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_set_by_hand_goes_before_what_is_declared() {
        let limit =
            |declared, set| TaskLimit { task: "t".into(), declared, set, running: 0, held_back: 0 }.limit().bound();
        assert_eq!(limit(None, None), None);
        assert_eq!(limit(Some(3), None), Some(3));
        assert_eq!(limit(Some(3), Some(Limit::AtMost(7))), Some(7));
        assert_eq!(limit(Some(3), Some(Limit::Unlimited)), None);
    }
}

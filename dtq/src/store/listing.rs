//! Windows on a queue's tasks and dead letters.

use crate::types::{DeadLetter, DeadLetterFilter, ListOrder, QueueName, Status, TaskFilter, TaskSummary, Timestamp};

/// The most tasks that one call looks at before it answers, fitting or not.
pub const LOOKED_AT: usize = 1000;

/// A window on a queue's dead letters.
#[derive(Debug, Clone)]
pub struct DeadLetterQuery {
    /// The queue.
    pub queue: QueueName,
    /// Which.
    pub filter: DeadLetterFilter,
    /// [`DeadLetterPage::next`], or the `position` of the last entry already seen.
    pub after: Option<String>,
    /// Entries at most.
    pub limit: usize,
}

impl DeadLetterQuery {
    /// The first `limit` dead letters of a queue.
    pub fn first(queue: QueueName, limit: usize) -> Self {
        Self { queue, filter: DeadLetterFilter::default(), after: None, limit }
    }
}

/// Dead letters, oldest first, and where to read on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeadLetterPage {
    /// Those that fit, perhaps fewer than asked for.
    pub letters: Vec<DeadLetter>,
    /// Where to read on; `None` at the end.
    pub next: Option<String>,
    /// The store's clock.
    pub now: Timestamp,
}

/// A window on a queue's tasks.
#[derive(Debug, Clone)]
pub struct TaskQuery {
    /// The queue.
    pub queue: QueueName,
    /// The statuses that are wanted, in this order; all when empty.
    pub statuses: Vec<Status>,
    /// Which of them.
    pub filter: TaskFilter,
    /// From which end.
    pub order: ListOrder,
    /// [`TaskPage::next`].
    pub after: Option<String>,
    /// Tasks at most.
    pub limit: usize,
}

/// Tasks in order, and where to read on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskPage {
    /// Those that fit, perhaps fewer than asked for, and perhaps none.
    pub tasks: Vec<TaskSummary>,
    /// Where to read on; `None` at the end.
    pub next: Option<String>,
    /// The store's clock.
    pub now: Timestamp,
}

/// Where a listing is: at a status, and within its tasks at a place that the store understands.
#[cfg(any(feature = "redis", feature = "sqlite"))]
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::store) struct Place {
    pub(in crate::store) status: Status,
    pub(in crate::store) within: Option<String>,
}

#[cfg(any(feature = "redis", feature = "sqlite"))]
impl Place {
    /// Where a query goes on; `None` when the text is of no listing.
    pub(in crate::store) fn of(query: &TaskQuery) -> Option<Self> {
        let Some(after) = &query.after else {
            let status = statuses(query).first().copied()?;
            return Some(Self { status, within: None });
        };
        let (status, within) = after.split_once('/')?;
        let within = (!within.is_empty()).then(|| within.to_owned());
        Some(Self { status: status.parse().ok()?, within })
    }

    /// The beginning of the next status.
    pub(in crate::store) fn next(&self, query: &TaskQuery) -> Option<Self> {
        let statuses = statuses(query);
        let at = statuses.iter().position(|&status| status == self.status)?;
        // A status that is named twice is walked once.
        let new = |&after: &usize| !statuses[..after].contains(&statuses[after]);
        let next = (at + 1..statuses.len()).find(new)?;
        Some(Self { status: statuses[next], within: None })
    }
}

#[cfg(any(feature = "redis", feature = "sqlite"))]
impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.status, self.within.as_deref().unwrap_or_default())
    }
}

#[cfg(any(feature = "redis", feature = "sqlite"))]
fn statuses(query: &TaskQuery) -> &[Status] {
    if query.statuses.is_empty() { &Status::ALL } else { &query.statuses }
}

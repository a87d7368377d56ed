//! A queue's tasks: listed, and called off many at a time.

use std::time::Duration;

use super::{BulkReport, Client};
use crate::store::{Steer, StoreError, Target, TaskPage, TaskQuery};
use crate::types::{ListOrder, QueueName, Status, TaskFilter, TaskSummary, Timestamp};

/// The tasks of a queue that fit a filter: see [`Client::tasks`].
#[derive(Debug, Clone)]
pub struct Tasks {
    client: Client,
    queue: QueueName,
    statuses: Vec<Status>,
    filter: TaskFilter,
    order: ListOrder,
}

impl Tasks {
    /// Those of this status; of several when it is called again. They are listed in the order of these calls.
    #[must_use]
    pub fn status(mut self, status: Status) -> Self {
        self.statuses.push(status);
        self
    }

    /// Those of this registered name.
    #[must_use]
    pub fn task(mut self, name: impl Into<String>) -> Self {
        self.filter.task = Some(name.into());
        self
    }

    /// Those accepted at this instant or later.
    #[must_use]
    pub fn enqueued_from(mut self, at: Timestamp) -> Self {
        self.filter.enqueued_from = Some(at);
        self
    }

    /// Those accepted before this instant.
    #[must_use]
    pub fn enqueued_before(mut self, at: Timestamp) -> Self {
        self.filter.enqueued_before = Some(at);
        self
    }

    /// Those that finished at this instant or later.
    #[must_use]
    pub fn finished_from(mut self, at: Timestamp) -> Self {
        self.filter.finished_from = Some(at);
        self
    }

    /// Those that finished before this instant.
    #[must_use]
    pub fn finished_before(mut self, at: Timestamp) -> Self {
        self.filter.finished_before = Some(at);
        self
    }

    /// Those accepted longer ago than this.
    #[must_use]
    pub fn older_than(mut self, age: Duration) -> Self {
        self.filter.older_than = Some(age);
        self
    }

    /// The other way round.
    #[must_use]
    pub fn newest_first(mut self) -> Self {
        self.order = ListOrder::NewestFirst;
        self
    }

    /// The filter as it was put together; its text is what the audit log names.
    pub fn filter(&self) -> &TaskFilter {
        &self.filter
    }

    /// One page. Fewer than `limit` tasks do not mean the end: that is [`TaskPage::next`], which is given as `after` to
    /// read on.
    ///
    /// # Errors
    /// When the store fails, or `after` is of no listing.
    pub async fn page(&self, after: Option<String>, limit: usize) -> Result<TaskPage, StoreError> {
        let Self { queue, statuses, filter, order, .. } = self.clone();
        self.client.inner.store.list(TaskQuery { queue, statuses, filter, order, after, limit }).await
    }

    /// The first `limit` tasks.
    ///
    /// ```
    /// # use dtq::types::Status;
    /// # async fn example(client: &dtq::Client) -> Result<(), Box<dyn std::error::Error>> {
    /// let queue = dtq::types::QueueName::new("high")?;
    /// for task in client.tasks(&queue).status(Status::Running).task("charge").list(50).await? {
    ///     println!("{} attempt {} of {}", task.id, task.attempt, task.max_attempts);
    /// }
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// When the store fails.
    pub async fn list(&self, limit: usize) -> Result<Vec<TaskSummary>, StoreError> {
        let mut tasks = Vec::new();
        let mut after = None;
        while tasks.len() < limit {
            let page = self.page(after, limit - tasks.len()).await?;
            tasks.extend(page.tasks);
            after = page.next;
            if after.is_none() {
                break;
            }
        }
        Ok(tasks)
    }

    /// Calls all of them off that are not finished and were accepted before it began, in bounded steps. A task that is in
    /// none of the wanted statuses any more when its step comes is left alone; one that moves on to a status that was already
    /// passed (a running one that is to be retried) is missed: call again until nothing is done.
    ///
    /// # Errors
    /// When the store fails; what was done until then stays done, and the same call goes on with the rest.
    pub async fn cancel(&self, reason: impl Into<String>) -> Result<BulkReport, StoreError> {
        let statuses: Vec<Status> = ALONG.into_iter().filter(|it| self.wants(*it)).collect();
        if statuses.is_empty() {
            return Ok(BulkReport::default());
        }
        let (words, reason) = (self.words(&statuses), reason.into());
        let walk = Self { statuses: statuses.clone(), order: ListOrder::OldestFirst, ..self.clone() };
        let action = Steer::Cancel { statuses };
        let (mut report, mut after, mut began) = (BulkReport::default(), None, None);
        loop {
            let page = walk.page(after, PAGE).await?;
            let began: Timestamp = *began.get_or_insert(page.now);
            let there = page.tasks.into_iter().filter(|task| task.enqueued_at <= began);
            let targets = there.map(|task| Target::from(task.id)).collect();
            self.client.steer_page(&self.queue, targets, &action, (&words, &reason), &mut report).await?;
            after = page.next;
            if after.is_none() {
                return Ok(report);
            }
        }
    }

    fn wants(&self, status: Status) -> bool {
        self.statuses.is_empty() || self.statuses.contains(&status)
    }

    fn words(&self, statuses: &[Status]) -> String {
        let names: Vec<_> = statuses.iter().map(|status| status.as_str()).collect();
        format!("{} {}", names.join(" or "), self.filter)
    }
}

/// The unfinished statuses, in the order in which tasks pass them: who walks along meets a task that moves on.
const ALONG: [Status; 4] = [Status::Retrying, Status::Pending, Status::Queued, Status::Running];

/// Tasks read at once.
const PAGE: usize = 512;

impl Client {
    /// A queue's tasks, all of them until they are narrowed down. What is listed is light: [`Client::get`] has the rest.
    pub fn tasks(&self, queue: &QueueName) -> Tasks {
        Tasks {
            client: self.clone(),
            queue: queue.clone(),
            statuses: Vec::new(),
            filter: TaskFilter::default(),
            order: ListOrder::default(),
        }
    }
}

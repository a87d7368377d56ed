//! A queue's dead letters: looked at, grouped, and dealt with.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::time::Duration;

use bytes::Bytes;

use super::{BulkReport, Client, RequeueError};
use crate::store::{DeadLetterPage, DeadLetterQuery, RequeueFrom, Steer, StoreError, Target};
use crate::types::{DeadLetter, DeadLetterFilter, ErrorGroup, ErrorKind, QueueName, Timestamp};

/// The dead letters of a queue that fit a filter: see [`Client::dead_letters`].
#[derive(Debug, Clone)]
pub struct DeadLetters {
    client: Client,
    queue: QueueName,
    filter: DeadLetterFilter,
}

/// Dead letters by what they failed with.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ErrorGroups {
    /// The groups, the largest first: [`DeadLetters::GROUPS`] at most.
    pub groups: Vec<ErrorGroup>,
    /// Letters whose group found no room any more.
    pub others: u64,
}

/// What of a letter its group shares.
type Shared = (String, ErrorKind, String);

impl DeadLetters {
    /// The most groups that [`DeadLetters::groups`] tells apart.
    pub const GROUPS: usize = 1000;

    /// Those of the task of this registered name.
    #[must_use]
    pub fn task(mut self, name: impl Into<String>) -> Self {
        self.filter.task = Some(name.into());
        self
    }

    /// Those whose last failure is of this kind.
    #[must_use]
    pub fn kind(mut self, kind: ErrorKind) -> Self {
        self.filter.kind = Some(kind);
        self
    }

    /// Those whose last failure's message contains this text, letter by letter.
    #[must_use]
    pub fn saying(mut self, text: impl Into<String>) -> Self {
        self.filter.text = Some(text.into());
        self
    }

    /// Those dead for longer than this.
    #[must_use]
    pub fn older_than(mut self, age: Duration) -> Self {
        self.filter.older_than = Some(age);
        self
    }

    /// Those dead for this long at most.
    #[must_use]
    pub fn newer_than(mut self, age: Duration) -> Self {
        self.filter.newer_than = Some(age);
        self
    }

    /// The filter as it was put together; its text is what the audit log names.
    pub fn filter(&self) -> &DeadLetterFilter {
        &self.filter
    }

    /// One page, oldest first. Fewer than `limit` letters do not mean the end: that is [`DeadLetterPage::next`].
    ///
    /// # Errors
    /// When the store fails, or `after` is no position of this list.
    pub async fn page(&self, after: Option<String>, limit: usize) -> Result<DeadLetterPage, StoreError> {
        let (queue, filter) = (self.queue.clone(), self.filter.clone());
        self.client.inner.store.dead_letters(DeadLetterQuery { queue, filter, after, limit }).await
    }

    /// The first `limit` letters, oldest first.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn list(&self, limit: usize) -> Result<Vec<DeadLetter>, StoreError> {
        let mut letters = Vec::new();
        let mut after = None;
        while letters.len() < limit {
            let page = self.page(after, limit - letters.len()).await?;
            letters.extend(page.letters);
            after = page.next;
            if after.is_none() {
                break;
            }
        }
        Ok(letters)
    }

    /// How many there are, by task, kind of error and what their messages share. Reads them all, page by page.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn groups(&self) -> Result<ErrorGroups, StoreError> {
        let mut known: HashMap<Shared, ErrorGroup> = HashMap::new();
        let mut others = 0;
        let mut after = None;
        loop {
            let page = self.page(after, PAGE).await?;
            for letter in page.letters {
                others += u64::from(!grouped(&mut known, letter));
            }
            after = page.next;
            if after.is_none() {
                break;
            }
        }
        let mut groups: Vec<_> = known.into_values().collect();
        groups.sort_by(|a, b| {
            (b.count, &a.task, &a.message, a.kind.as_str()).cmp(&(a.count, &b.task, &b.message, b.kind.as_str()))
        });
        Ok(ErrorGroups { groups, others })
    }

    /// Puts all of them back into the queue; see [`Client::requeue`] for what that means. Those that die again meanwhile
    /// are left for the next time.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # async fn example(client: &dtq::Client) -> Result<(), Box<dyn std::error::Error>> {
    /// let queue = dtq::types::QueueName::new("high")?;
    /// let report = client.dead_letters(&queue).task("charge").saying("timed out").requeue("deployed the fix").await?;
    /// println!("{} requeued", report.done);
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// When the store fails; what was done until then stays done, and the same call goes on with the rest.
    pub async fn requeue(&self, reason: impl Into<String>) -> Result<BulkReport, StoreError> {
        self.all(&Steer::Requeue { from: RequeueFrom::DeadLetters, payload: None }, &reason.into()).await
    }

    /// The same, with other arguments in place of the stored ones.
    ///
    /// # Errors
    /// When the arguments cannot be what they are, or the store fails.
    pub async fn requeue_with(
        &self,
        json: impl Into<Bytes>,
        reason: impl Into<String>,
    ) -> Result<BulkReport, RequeueError> {
        let payload = json.into();
        self.client.check_arguments(&payload)?;
        let action = Steer::Requeue { from: RequeueFrom::DeadLetters, payload: Some(payload) };
        Ok(self.all(&action, &reason.into()).await?)
    }

    /// Takes all of them off the list; their records stay for the rest of their time.
    ///
    /// # Errors
    /// As for [`DeadLetters::requeue`].
    pub async fn discard(&self, reason: impl Into<String>) -> Result<BulkReport, StoreError> {
        self.all(&Steer::Discard, &reason.into()).await
    }

    /// Removes all of them and their records.
    ///
    /// # Errors
    /// As for [`DeadLetters::requeue`].
    pub async fn purge(&self, reason: impl Into<String>) -> Result<BulkReport, StoreError> {
        self.all(&Steer::Purge, &reason.into()).await
    }

    /// Acts on every letter that was dead when it began.
    async fn all(&self, action: &Steer, reason: &str) -> Result<BulkReport, StoreError> {
        let words = self.filter.to_string();
        let (mut report, mut after, mut began) = (BulkReport::default(), None, None);
        loop {
            let page = self.page(after, PAGE).await?;
            let began: Timestamp = *began.get_or_insert(page.now);
            let dead = page.letters.into_iter().filter(|letter| letter.at <= began);
            let targets = dead.map(|letter| Target { id: letter.id, finished_at: Some(letter.at) }).collect();
            self.client.steer_page(&self.queue, targets, action, (&words, reason), &mut report).await?;
            after = page.next;
            if after.is_none() {
                return Ok(report);
            }
        }
    }
}

/// Letters read at once.
const PAGE: usize = 512;

/// Counts a letter; false when there is no room for its group.
fn grouped(known: &mut HashMap<Shared, ErrorGroup>, letter: DeadLetter) -> bool {
    let full = known.len() >= DeadLetters::GROUPS;
    let message = ErrorGroup::shared(&letter.failure.message);
    match known.entry((letter.task, letter.failure.kind, message)) {
        Entry::Occupied(entry) => {
            let group = entry.into_mut();
            group.count += 1;
            group.first_at = group.first_at.min(letter.at);
            if letter.at >= group.last_at {
                (group.last_at, group.example) = (letter.at, letter.id);
            }
        }
        Entry::Vacant(_) if full => return false,
        Entry::Vacant(entry) => {
            let (task, kind, message) = entry.key().clone();
            let (first_at, last_at, example) = (letter.at, letter.at, letter.id);
            entry.insert(ErrorGroup { task, kind, message, count: 1, first_at, last_at, example });
        }
    }
    true
}

impl Client {
    /// A queue's dead letters, all of them until they are narrowed down. [`Client::get`] shows one in full.
    pub fn dead_letters(&self, queue: &QueueName) -> DeadLetters {
        DeadLetters { client: self.clone(), queue: queue.clone(), filter: DeadLetterFilter::default() }
    }
}

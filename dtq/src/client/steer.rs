//! What operators do by hand, in bounded steps.

use bytes::Bytes;
use serde::de::IgnoredAny;

use super::Client;
use crate::store::{BATCH, RequeueFrom, Steer, Steered, Steering, StoreError, Target};
use crate::types::{QueueName, TaskId};

/// What became of all tasks that an action was for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct BulkReport {
    /// Cancelled, requeued, discarded or removed.
    pub done: u64,
    /// Running, and asked to stop.
    pub requested: u64,
    /// Left alone, because they changed before the action came to them: somebody else was faster.
    pub left_alone: u64,
}

impl BulkReport {
    fn count(&mut self, steered: &[Steered]) {
        for one in steered {
            match one {
                Steered::Done => self.done += 1,
                Steered::Requested => self.requested += 1,
                _ => self.left_alone += 1,
            }
        }
    }
}

/// Why an action by hand was not done, or not to its end: what was done stays done, and is in the audit log.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum RequeueError {
    /// The new arguments are not JSON.
    #[error("the new arguments are not JSON: {0}")]
    NotJson(String),
    /// The new arguments are too large.
    #[error("the new arguments take {size} bytes, the limit is {limit} (Limits::max_payload)")]
    TooLarge {
        /// Bytes.
        size: usize,
        /// Bytes.
        limit: usize,
    },
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Finished tasks to put back into their queue: see [`Client::requeue`].
#[derive(Debug, Clone)]
#[must_use = "nothing is requeued before `send`"]
pub struct Requeue {
    client: Client,
    ids: Vec<TaskId>,
    from: RequeueFrom,
    payload: Option<Bytes>,
}

impl Requeue {
    /// Replaces the arguments, with a JSON object by argument name, kept byte for byte. Whether they suit the task's function
    /// is seen by the worker; a program that knows the task asks [`Registration::check_payload`] first.
    ///
    /// [`Registration::check_payload`]: crate::registry::Registration::check_payload
    pub fn arguments(mut self, json: impl Into<Bytes>) -> Self {
        self.payload = Some(json.into());
        self
    }

    /// Also tasks that succeeded: they run again, and their result is forgotten.
    pub fn even_succeeded(mut self) -> Self {
        self.from = RequeueFrom::Finished;
        self
    }

    /// Requeues them, in steps of [`BATCH`]; says what became of each, in the order of the ids.
    ///
    /// # Errors
    /// When the arguments cannot be what they are (then nothing is done), or the store fails.
    pub async fn send(self, reason: impl Into<String>) -> Result<Vec<Steered>, RequeueError> {
        if let Some(payload) = &self.payload {
            self.client.check_arguments(payload)?;
        }
        let action = Steer::Requeue { from: self.from, payload: self.payload };
        Ok(self.client.steer_ids(self.ids, &action, &reason.into()).await?)
    }
}

impl Client {
    /// Puts finished tasks that did not succeed back into their queues, at the end of their band: dead letters, discarded ones
    /// too, and failed, cancelled and expired tasks that are still kept. Each begins a new life: attempt 1, all its attempts, all
    /// of its time to live, its id, its priority and its history. No limit of the queue refuses it.
    ///
    /// ```
    /// # async fn example(client: &dtq::Client, id: dtq::types::TaskId) -> Result<(), Box<dyn std::error::Error>> {
    /// let told = client.requeue([id]).arguments(r#"{"order": 17, "cents": 500}"#).send("amount corrected").await?;
    /// println!("{}", told[0]);
    /// # Ok(()) }
    /// ```
    pub fn requeue(&self, ids: impl IntoIterator<Item = TaskId>) -> Requeue {
        let ids = ids.into_iter().collect();
        Requeue { client: self.clone(), ids, from: RequeueFrom::Unsuccessful, payload: None }
    }

    /// Lets one finished task that did not succeed run again: [`Client::requeue`] in short.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn retry(&self, id: &TaskId, reason: impl Into<String>) -> Result<Steered, StoreError> {
        let action = Steer::Requeue { from: RequeueFrom::Unsuccessful, payload: None };
        self.steer_one(id, action, reason).await
    }

    /// Takes a dead letter off its list. The record stays for the rest of the dead letter's time, with
    /// [`discarded_at`](crate::types::Record::discarded_at); [`Client::retry`] still works.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn discard(&self, id: &TaskId, reason: impl Into<String>) -> Result<Steered, StoreError> {
        self.steer_one(id, Steer::Discard, reason).await
    }

    /// Removes a dead letter and its record.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn purge_dead_letter(&self, id: &TaskId, reason: impl Into<String>) -> Result<Steered, StoreError> {
        self.steer_one(id, Steer::Purge, reason).await
    }

    async fn steer_one(&self, id: &TaskId, action: Steer, reason: impl Into<String>) -> Result<Steered, StoreError> {
        let told = self.steer_ids(vec![id.clone()], &action, &reason.into()).await?;
        Ok(told.first().copied().unwrap_or(Steered::NotFound))
    }

    async fn steer_ids(&self, ids: Vec<TaskId>, action: &Steer, reason: &str) -> Result<Vec<Steered>, StoreError> {
        let mut told = vec![Steered::NotFound; ids.len()];
        let mut places: Vec<usize> = (0..ids.len()).collect();
        places.sort_by_key(|&place| ids[place].queue());
        for of_queue in places.chunk_by(|&a, &b| ids[a].queue() == ids[b].queue()) {
            for step in of_queue.chunks(BATCH) {
                let first = &ids[step[0]];
                let words = if step.len() == 1 { first.to_string() } else { format!("{} tasks by id", step.len()) };
                let targets = step.iter().map(|&place| ids[place].clone().into()).collect();
                let answers = self.steer_step(first.queue(), targets, action, words, reason).await?;
                for (&place, answer) in step.iter().zip(answers) {
                    told[place] = answer;
                }
            }
        }
        Ok(told)
    }

    async fn steer_step(
        &self,
        queue: &QueueName,
        targets: Vec<Target>,
        action: &Steer,
        words: String,
        reason: &str,
    ) -> Result<Vec<Steered>, StoreError> {
        let (queue, action) = (queue.clone(), action.clone());
        self.inner.store.steer(Steering { queue, targets, action, words, by: self.by(reason) }).await
    }

    /// Acts on all that a page brought; adds what became of them.
    pub(super) async fn steer_page(
        &self,
        queue: &QueueName,
        targets: Vec<Target>,
        action: &Steer,
        asked: (&str, &str),
        report: &mut BulkReport,
    ) -> Result<(), StoreError> {
        let (words, reason) = asked;
        for step in targets.chunks(BATCH) {
            let told = self.steer_step(queue, step.to_vec(), action, words.to_owned(), reason).await?;
            report.count(&told);
        }
        Ok(())
    }

    /// Arguments that somebody typed.
    pub(super) fn check_arguments(&self, payload: &Bytes) -> Result<(), RequeueError> {
        let limit = self.inner.limits.max_payload;
        if payload.len() > limit {
            return Err(RequeueError::TooLarge { size: payload.len(), limit });
        }
        match serde_json::from_slice::<IgnoredAny>(payload) {
            Ok(_) => Ok(()),
            Err(error) => Err(RequeueError::NotJson(error.to_string())),
        }
    }
}

//! What is refused before it is sent.

use std::time::Duration;

use super::EnqueueError;
use crate::store::BATCH;
use crate::types::{Deferral, MAX_KEY, NewTask, Timestamp, Until, check_task_name};

/// 9999-12-31T23:59:59.999Z. An instant is not held against `max_delay`: that would take a client's clock.
const LAST_INSTANT: Timestamp = Timestamp::from_millis(253_402_300_799_999);

/// Bounds on what a client sends.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Bytes of encoded arguments; 1 MiB by default.
    pub max_payload: usize,
    /// The longest delay; 366 days by default.
    pub max_delay: Duration,
    /// How long the store may take to accept up to [`BATCH`] tasks; 10 s by default. A larger batch may take as many times
    /// as long. A store that is away mostly fails earlier, by its own time limits.
    pub enqueue_timeout: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_payload: 1024 * 1024,
            max_delay: Duration::from_secs(366 * 24 * 3600),
            enqueue_timeout: Duration::from_secs(10),
        }
    }
}

impl Limits {
    /// How long so many tasks may take to be accepted.
    pub(super) fn time_for(&self, tasks: usize) -> Duration {
        let steps = tasks.div_ceil(BATCH).max(1);
        self.enqueue_timeout.saturating_mul(u32::try_from(steps).unwrap_or(u32::MAX))
    }

    pub(super) fn check(&self, task: &NewTask) -> Result<(), EnqueueError> {
        check_task_name(&task.task)?;
        let invalid = |option, rule| Err(EnqueueError::Invalid { task: task.task.clone(), option, rule });
        if task.policy.max_attempts == 0 {
            return invalid("max_attempts", "it must be at least 1");
        }
        if task.policy.timeout.is_some_and(|timeout| timeout.is_zero()) {
            return invalid("timeout", "it must be longer than zero");
        }
        if let Some(key) = &task.idempotency {
            check_key(&task.task, "idempotency_key", &key.key)?;
            if key.keep.is_zero() {
                return invalid("idempotency_key", "the time for which it is remembered must be longer than zero");
            }
        }
        if let Some(key) = &task.unique {
            check_key(&task.task, "unique", &key.key)?;
            if key.until == Until::Period(Duration::ZERO) {
                return invalid("unique", "its period must be longer than zero");
            }
        }
        if task.payload.len() > self.max_payload {
            return Err(EnqueueError::PayloadTooLarge {
                task: task.task.clone(),
                size: task.payload.len(),
                limit: self.max_payload,
            });
        }
        match task.deferral {
            Deferral::At(at) if at > LAST_INSTANT => invalid("at", "it lies after the year 9999"),
            Deferral::After(delay) if delay > self.max_delay => {
                Err(EnqueueError::DelayTooLong { task: task.task.clone(), delay, limit: self.max_delay })
            }
            _ => Ok(()),
        }
    }
}

fn check_key(task: &str, option: &'static str, key: &str) -> Result<(), EnqueueError> {
    match key.len() {
        0 => Err(EnqueueError::Invalid {
            task: task.to_owned(),
            option,
            rule: "the key is empty, or an argument in it has no text",
        }),
        size if size > MAX_KEY => Err(EnqueueError::KeyTooLong { task: task.to_owned(), option, size, limit: MAX_KEY }),
        _ => Ok(()),
    }
}

//! What a drain did.

use std::collections::HashMap;
use std::fmt;
use std::time::Duration;

use bytes::Bytes;
use serde::de::DeserializeOwned;

use super::shown;
use crate::codec;
use crate::store::{Settled, Settlement, Verdict};
use crate::task::Task;
use crate::types::{EventKind, Failure, Record, Status, TaskId};

/// One attempt, and how it ended; or a task that ended without one.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Ran {
    /// The task, with its queue.
    pub id: TaskId,
    /// Its stored name.
    pub task: String,
    /// Which attempt this was, from 1; 0 for a task that ended without one: that expired, or was lost for the last time.
    pub attempt: u32,
    /// Executions before it fails for good.
    pub max_attempts: u32,
    /// What it came to: `succeeded`, `retrying`, `dead_lettered` and so on; `running` when its lease was lost.
    pub status: Status,
    /// Why it did not succeed.
    pub failure: Option<Failure>,
    /// Until its next attempt.
    pub due_in: Option<Duration>,
    arguments: Bytes,
    result: Option<Bytes>,
}

impl Ran {
    pub(super) fn of(settlement: Settlement, answer: Settled) -> Self {
        let Settlement { delivery, verdict } = settlement;
        let status = match answer {
            Settled::Applied(status) => status,
            Settled::Stale => Status::Running,
        };
        let (failure, due_in, result) = match verdict {
            Verdict::Succeeded { result } => (None, None, result),
            Verdict::Retry { delay, failure } => (Some(failure), Some(delay), None),
            Verdict::Snooze { delay } => (None, Some(delay), None),
            Verdict::Failed { failure } => (Some(failure), None, None),
            Verdict::Cancelled { reason } => {
                (Some(Failure::new(crate::types::ErrorKind::Cancelled, reason)), None, None)
            }
            Verdict::Release => (None, None, None),
        };
        Self {
            id: delivery.lease.task,
            task: delivery.task,
            attempt: delivery.lease.attempt,
            max_attempts: delivery.policy.max_attempts,
            status,
            failure,
            due_in,
            arguments: delivery.payload,
            result,
        }
    }

    pub(super) fn without_attempt(id: TaskId, kind: EventKind, record: Option<Record>) -> Self {
        let status = match kind {
            EventKind::Expired => Status::Expired,
            EventKind::Cancelled => Status::Cancelled,
            EventKind::Failed => Status::Failed,
            EventKind::Succeeded => Status::Succeeded,
            _ => Status::DeadLettered,
        };
        let failure = record.as_ref().and_then(|record| record.last_failure().cloned());
        let (task, arguments, max_attempts) = match record {
            Some(record) => (record.task, record.payload, record.policy.max_attempts),
            None => (String::from("?"), Bytes::new(), 0),
        };
        Self { id, task, attempt: 0, max_attempts, status, failure, due_in: None, arguments, result: None }
    }

    /// The result of an attempt that succeeded.
    ///
    /// # Panics
    /// When it did not succeed, or its result is not of this type.
    #[track_caller]
    #[allow(clippy::panic, reason = "a test fails by it")]
    pub fn result<T: DeserializeOwned>(&self) -> T {
        if self.status != Status::Succeeded {
            panic!("there is no result: {self}");
        }
        match codec::decode_result(self.result.as_ref()) {
            Ok(result) => result,
            Err(error) => panic!("the result of `{}` is of another type: {error}", self.task),
        }
    }

    fn is_of<T: Task>(&self) -> bool {
        self.task == T::DEF.name || T::DEF.aliases.contains(&self.task.as_str())
    }
}

impl fmt::Display for Ran {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}: {}", self.task, String::from_utf8_lossy(&self.arguments), self.status)?;
        match (self.attempt, self.status) {
            (0, Status::Expired) => write!(f, ": its ttl passed before it was started")?,
            (0, _) => {}
            (attempt, Status::Running) => {
                write!(f, ": attempt {attempt} lost its lease before it ended, so its end was refused")?;
            }
            (attempt, _) if self.status != Status::Succeeded => {
                write!(f, " after attempt {attempt} of {}", self.max_attempts)?;
            }
            _ => {}
        }
        if let Some(failure) = &self.failure {
            write!(f, ": {failure}")?;
        }
        match self.due_in {
            Some(due_in) => write!(f, " (comes again after t.advance({:?}))", shown(due_in)),
            None => Ok(()),
        }
    }
}

/// What a drain did: every attempt, in the order in which they ended.
#[derive(Debug, Clone, Default)]
#[must_use = "look at what ran, for instance with `assert_all_succeeded`"]
pub struct Drained {
    ran: Vec<Ran>,
    /// Until the next delayed task or retry of any queue.
    next_due: Option<Duration>,
}

#[allow(clippy::panic, reason = "a test fails by it")]
impl Drained {
    pub(super) fn add(&mut self, ran: Ran) {
        self.ran.push(ran);
    }

    pub(super) fn waits(&mut self, next_due: Option<Duration>) {
        self.next_due = next_due;
    }

    pub(super) fn has(&self, id: &TaskId) -> bool {
        self.ran.iter().any(|ran| ran.id == *id)
    }

    pub(super) fn followed_by(mut self, later: Self) -> Self {
        self.ran.extend(later.ran);
        Self { ran: self.ran, next_due: later.next_due }
    }

    /// Every attempt, and every task that ended without one.
    pub fn attempts(&self) -> &[Ran] {
        &self.ran
    }

    /// The attempts of one task.
    pub fn of<T: Task>(&self) -> Vec<&Ran> {
        self.ran.iter().filter(|ran| ran.is_of::<T>()).collect()
    }

    /// How long until the next delayed task or retry; `None` when there is none.
    pub fn next_due(&self) -> Option<Duration> {
        self.next_due
    }

    /// Asserts that something ran, and that each task came to `succeeded` in the end.
    ///
    /// # Panics
    /// When nothing ran, or a task came to something else. The message says what became of each.
    #[track_caller]
    pub fn assert_all_succeeded(&self) -> &Self {
        if self.ran.is_empty() {
            panic!("nothing ran: {}", self.why_nothing());
        }
        let last = self.last();
        let others = last.iter().filter(|ran| ran.status != Status::Succeeded).count();
        if others > 0 {
            panic!("{others} of {} did not succeed:\n{}", tasks(last.len()), list(&last));
        }
        self
    }

    /// Asserts how many attempts of a task there were.
    ///
    /// # Panics
    /// When there were more or fewer.
    #[track_caller]
    pub fn assert_ran<T: Task>(&self, times: usize) -> &Self {
        let ran = self.of::<T>().iter().filter(|ran| ran.attempt > 0).count();
        if ran != times {
            let hint = match T::DEF.schedule {
                Some(_) if ran < times => {
                    "\n  its schedule ticks from t.start_schedules() on, when t.advance(..) passes a tick"
                }
                _ => "",
            };
            panic!("`{}` ran {ran} times, where {times} were expected:\n{self}{hint}", T::DEF.name);
        }
        self
    }

    /// Asserts that nothing ran, and nothing ended otherwise.
    ///
    /// # Panics
    /// When something did.
    #[track_caller]
    pub fn assert_nothing_ran(&self) -> &Self {
        if !self.ran.is_empty() {
            panic!("nothing should have run:\n{self}");
        }
        self
    }

    /// The results of a task's successful attempts.
    ///
    /// # Panics
    /// When one is not of the task's result type.
    #[track_caller]
    pub fn results<T: Task>(&self) -> Vec<T::Output>
    where
        T::Output: DeserializeOwned,
    {
        let mut results = Vec::new();
        for ran in self.of::<T>().into_iter().filter(|ran| ran.status == Status::Succeeded) {
            results.push(ran.result());
        }
        results
    }

    /// What each task came to, in the order in which they first ended.
    fn last(&self) -> Vec<&Ran> {
        let mut places: HashMap<&TaskId, usize> = HashMap::new();
        let mut last: Vec<&Ran> = Vec::new();
        for ran in &self.ran {
            let place = *places.entry(&ran.id).or_insert(last.len());
            match last.get_mut(place) {
                Some(slot) => *slot = ran,
                None => last.push(ran),
            }
        }
        last
    }

    fn why_nothing(&self) -> String {
        match self.next_due {
            Some(due) => {
                format!("the next task is due in {}: call t.advance({0:?}) before t.drain()", shown(due))
            }
            None => "no task is in the store; was the call awaited?".into(),
        }
    }
}

/// One line for each attempt.
impl fmt::Display for Drained {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.ran.as_slice() {
            [] => write!(f, "  nothing ran: {}", self.why_nothing()),
            ran => f.write_str(&list(&ran.iter().collect::<Vec<_>>())),
        }
    }
}

fn tasks(count: usize) -> String {
    if count == 1 { "1 task".into() } else { format!("{count} tasks") }
}

fn list(ran: &[&Ran]) -> String {
    ran.iter().map(|ran| format!("  - {ran}")).collect::<Vec<_>>().join("\n")
}

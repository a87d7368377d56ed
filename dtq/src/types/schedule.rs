//! Schedules: tasks that come again and again, at times of a timetable.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use bytes::Bytes;
use uuid::Uuid;

use super::id::TaskId;
use super::name::{NameError, Priority, QueueName, check_schedule_name};
use super::options::{NewTask, Policy};
use super::timestamp::Timestamp;

/// A schedule's identity: a queue, and a name within it. As text: `queue:name`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ScheduleId {
    queue: QueueName,
    name: String,
}

impl ScheduleId {
    /// Takes a name within a queue: the same rule as for the names of tasks.
    ///
    /// # Errors
    /// When the name breaks the rule.
    pub fn new(queue: QueueName, name: &str) -> Result<Self, NameError> {
        check_schedule_name(name)?;
        Ok(Self { queue, name: name.to_owned() })
    }

    /// The queue that its tasks go to.
    pub fn queue(&self) -> &QueueName {
        &self.queue
    }

    /// The name within the queue.
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl fmt::Display for ScheduleId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.queue, self.name)
    }
}

impl fmt::Debug for ScheduleId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

/// `queue:name`; a name alone is one of the queue `default`. A name with a `:` in it needs its queue in front.
impl FromStr for ScheduleId {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, NameError> {
        let (queue, name) = text.split_once(':').unwrap_or((QueueName::DEFAULT, text));
        Self::new(QueueName::new(queue)?, name)
    }
}

/// When a schedule fires, as it was written. `dtq::timetable::Timetable` reads and checks it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Timing {
    /// A cron expression of five fields, by the clocks of a zone.
    Cron {
        /// Minute, hour, day of the month, month, day of the week.
        expression: String,
        /// A name of the IANA time zone database, such as `Europe/Berlin`.
        zone: String,
    },
    /// A fixed interval: at the multiples of it since the beginning of 1970 (UTC).
    Every(Duration),
}

impl Timing {
    /// The zone of those that name none.
    pub const UTC: &'static str = "UTC";
}

/// What becomes of ticks that nobody was there for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Missed {
    /// They are left out. A tick counts as missed when it is more than [`Missed::LATE`] old, or a later one is due.
    Skip,
    /// One task makes up for all of them.
    #[default]
    Once,
    /// One task for each, for the latest [`Missed::MOST`] at most.
    All,
}

impl Missed {
    /// How late a tick may be and yet not be missed.
    pub const LATE: Duration = Duration::from_secs(60);
    /// The most ticks that are made up for at a time.
    pub const MOST: usize = 100;

    #[cfg(any(feature = "redis", feature = "sqlite"))]
    pub(crate) const ALL: [Self; 3] = [Self::Skip, Self::Once, Self::All];

    /// The name used in options, stores and JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Skip => "skip",
            Self::Once => "once",
            Self::All => "all",
        }
    }
}

/// What becomes of a tick while the task of the one before is unfinished: queued, delayed, running or retrying.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Overlap {
    /// It makes a task all the same.
    #[default]
    Allow,
    /// It is passed over.
    Skip,
}

impl Overlap {
    #[cfg(any(feature = "redis", feature = "sqlite"))]
    pub(crate) const ALL: [Self; 2] = [Self::Allow, Self::Skip];

    /// The name used in options, stores and JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Skip => "skip",
        }
    }
}

/// All that a user says of a schedule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScheduleSpec {
    /// Its identity.
    pub id: ScheduleId,
    /// When it fires.
    pub timing: Timing,
    /// What becomes of missed ticks.
    pub missed: Missed,
    /// What becomes of ticks that come too soon.
    pub overlap: Overlap,
    /// The task that each tick makes.
    pub task: String,
    /// The task's encoded arguments.
    pub payload: Bytes,
    /// The task's band.
    pub priority: Priority,
    /// What the store enforces of the task's options.
    pub policy: Policy,
}

impl ScheduleSpec {
    /// A task of it.
    pub fn new_task(&self, uuid: Uuid) -> NewTask {
        let id = TaskId::new(self.id.queue.clone(), uuid);
        NewTask {
            priority: self.priority,
            policy: self.policy.clone(),
            ..NewTask::new(id, self.task.as_str(), self.payload.clone())
        }
    }
}

/// Who made a schedule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// The code of a task, by the workers that know it.
    Code,
    /// A client, at run time.
    Client,
}

/// A schedule as it stands in a store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Schedule {
    /// What was said of it.
    pub spec: ScheduleSpec,
    /// Who made it.
    pub origin: Origin,
    /// Rises with each change.
    pub revision: u64,
    /// It fires nothing until somebody resumes it.
    pub paused: bool,
    /// False for a schedule of the code that no worker declares any more: it fires nothing until one does.
    pub declared: bool,
    /// When it was made, changed or resumed: its first tick comes after that.
    pub since: Timestamp,
    /// The next tick; `None` until a worker has reckoned it.
    pub next: Option<Timestamp>,
    /// The latest tick that made a task.
    pub last: Option<Timestamp>,
    /// The latest task that it made.
    pub last_task: Option<TaskId>,
    /// Tasks that it made.
    pub fired: u64,
    /// Ticks that made none, because the task before them was unfinished.
    pub passed: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_text_and_back() {
        let id: ScheduleId = "high:nightly".parse().unwrap();
        assert_eq!((id.queue().as_str(), id.name(), id.to_string().as_str()), ("high", "nightly", "high:nightly"));
        let id: ScheduleId = "nightly".parse().unwrap();
        assert_eq!(id.to_string(), "default:nightly");
        let id: ScheduleId = "high:billing::close".parse().unwrap();
        assert_eq!(id.name(), "billing::close");
    }

    #[test]
    fn ids_that_would_break_a_key_are_refused() {
        for bad in ["", "high:", ":a", "high:@a", "a b", "high:a\nb"] {
            assert!(bad.parse::<ScheduleId>().is_err(), "{bad:?}");
        }
    }
}

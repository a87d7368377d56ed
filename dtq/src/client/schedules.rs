//! Schedules at run time: add, change, pause, resume, remove, run now, list.

use std::fmt;

use super::{Call, Client, EnqueueError, Handle};
use crate::store::{Accepted, Fire, Fired, ScheduleAction, ScheduleOutcome, ScheduleRequest, StoreError};
use crate::task::Task;
use crate::timetable::{Timetable, TimetableError};
use crate::types::{
    Deferral, Missed, NameError, NewTask, Overlap, QueueName, Schedule, ScheduleId, ScheduleSpec, Timestamp, uuid_alone,
};

/// How often running a schedule now is tried when its ticks come in between.
const TRIES: usize = 10;

/// Why nothing was done about a schedule.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum ScheduleError {
    /// Its name breaks the rules.
    #[error(transparent)]
    Name(#[from] NameError),
    /// It would never fire, or not as it is written.
    #[error(transparent)]
    Timetable(#[from] TimetableError),
    /// Its task could not be enqueued.
    #[error(transparent)]
    Enqueue(#[from] EnqueueError),
    /// There is none of this name.
    #[error("there is no schedule {0}")]
    NotFound(ScheduleId),
    /// There is another one of this name.
    #[error("there is a schedule {0} already: change that one, or choose another name")]
    Exists(ScheduleId),
    /// It stands in the code of a task that a worker knows.
    #[error("the schedule {0} stands in the code of its task: change it there; here it can be paused, resumed and run")]
    InCode(ScheduleId),
    /// The queue holds as many schedules as it can.
    #[error("the queue of {0} has 1000 schedules already: remove one, or use another queue")]
    Full(ScheduleId),
    /// Its ticks came so fast that the run could not be put between them.
    #[error("the schedule {0} was changed again and again meanwhile: try again")]
    Busy(ScheduleId),
    /// The store failed. What was asked may have been done all the same, and may be asked again.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// A schedule to be made: a name, a timetable, and the call that each tick makes.
///
/// ```no_run
/// use dtq::prelude::*;
/// use dtq::types::{Missed, Overlap};
/// use dtq::{NewSchedule, timetable::Timetable};
///
/// #[dtq::task]
/// async fn report(customer: u64) {}
///
/// # async fn example(client: &Client) -> Result<(), Box<dyn std::error::Error>> {
/// let nightly = Timetable::cron("30 2 * * *", "Europe/Berlin")?;
/// let schedule = NewSchedule::new("report-17", nightly, &report::call(17))?.overlap(Overlap::Skip).missed(Missed::Skip);
/// let id = client.schedules().add(schedule).await?;
/// client.schedules().because("the rates are wrong").pause(&id).await?;
/// # Ok(()) }
/// ```
#[derive(Debug, Clone)]
pub struct NewSchedule {
    spec: ScheduleSpec,
    task: NewTask,
}

impl NewSchedule {
    /// A schedule of a call: its queue is the call's, and the call's options hold for each of its tasks.
    ///
    /// # Errors
    /// When the name breaks the rules, the call cannot be encoded, or it has a delay or a key of its own.
    pub fn new<T: Task>(name: &str, timetable: Timetable, call: &Call<T>) -> Result<Self, ScheduleError> {
        Self::of(name, timetable, call.new_task()?)
    }

    /// A schedule of a task that is given by its name and encoded arguments. The task's id serves for its queue only.
    ///
    /// # Errors
    /// When the name breaks the rules, or the task has a delay or a key.
    pub fn of(name: &str, timetable: Timetable, task: NewTask) -> Result<Self, ScheduleError> {
        if task.deferral != Deferral::None {
            let rule = "a schedule says itself when its tasks are made";
            return Err(EnqueueError::Invalid { task: task.task, option: "delay", rule }.into());
        }
        for (option, is_given) in [("unique", task.unique.is_some()), ("idempotency_key", task.idempotency.is_some())] {
            if is_given {
                let rule = "the tasks of a schedule hold no keys; Overlap::Skip lets one run at a time";
                return Err(EnqueueError::Invalid { task: task.task, option, rule }.into());
            }
        }
        let spec = ScheduleSpec {
            id: ScheduleId::new(task.id.queue().clone(), name)?,
            timing: timetable.timing().clone(),
            missed: Missed::default(),
            overlap: Overlap::default(),
            task: task.task.clone(),
            payload: task.payload.clone(),
            priority: task.priority,
            policy: task.policy.clone(),
        };
        Ok(Self { spec, task })
    }

    /// What becomes of ticks that no worker was there for; one task for all of them by default.
    #[must_use]
    pub fn missed(mut self, missed: Missed) -> Self {
        self.spec.missed = missed;
        self
    }

    /// What becomes of a tick while the task of the one before is unfinished; it makes a task all the same by default.
    #[must_use]
    pub fn overlap(mut self, overlap: Overlap) -> Self {
        self.spec.overlap = overlap;
        self
    }

    /// Its identity.
    pub fn id(&self) -> &ScheduleId {
        &self.spec.id
    }
}

/// A schedule, and what can be said of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScheduleInfo {
    /// As it stands in the store.
    pub schedule: Schedule,
    /// Its timetable in plain words, such as `every 5 minutes`.
    pub words: String,
    /// Its next tick; `None` while it is paused or not declared by any worker.
    pub next: Option<Timestamp>,
}

impl ScheduleInfo {
    fn of(schedule: Schedule) -> Self {
        let timetable = Timetable::of(&schedule.spec.timing);
        let first = |timetable: &Timetable| schedule.next.or_else(|| timetable.next_after(schedule.since));
        let next = timetable.as_ref().ok().filter(|_| !schedule.paused && schedule.declared).and_then(first);
        // Of a program with more features, or a newer version.
        let words = timetable.map_or_else(|error| error.to_string(), |timetable| timetable.to_string());
        Self { schedule, words, next }
    }
}

/// `default:nightly: report, at 02:30, Europe/Berlin; next 2026-05-01T00:30:00.000Z`.
impl fmt::Display for ScheduleInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Schedule { spec, paused, declared, .. } = &self.schedule;
        write!(f, "{}: {}, {}; ", spec.id, spec.task, self.words)?;
        match self.next {
            _ if *paused => f.write_str("paused"),
            _ if !declared => f.write_str("no worker has it in its code any more"),
            Some(next) => write!(f, "next {next}"),
            None => f.write_str("it will not come again"),
        }
    }
}

/// What a client can do about schedules: [`Client::schedules`].
#[derive(Debug, Clone)]
pub struct Schedules {
    client: Client,
    /// For the audit log.
    reason: String,
}

impl Client {
    /// Schedules: tasks that come again and again.
    pub fn schedules(&self) -> Schedules {
        Schedules { client: self.clone(), reason: String::new() }
    }
}

impl Schedules {
    /// Why the next things are done; kept in the audit log, with who asked.
    #[must_use]
    pub fn because(mut self, reason: impl Into<String>) -> Self {
        self.reason = reason.into();
        self
    }

    /// Makes a schedule; its first tick is the first one after now. Adding the same once more changes nothing.
    ///
    /// # Errors
    /// When another one has its name, the queue has too many, a limit is passed, or the store fails.
    pub async fn add(&self, schedule: NewSchedule) -> Result<ScheduleId, ScheduleError> {
        let id = schedule.spec.id.clone();
        self.client.limits().check(&schedule.task)?;
        self.steer(&id, ScheduleAction::Add(schedule.spec)).await?;
        Ok(id)
    }

    /// Gives a schedule that was added another timetable, task or policy. What was to come by the old one does not come;
    /// the next tick is the new one's first after now. It stays paused when it was.
    ///
    /// # Errors
    /// When there is none of its name, it stands in code, a limit is passed, or the store fails.
    pub async fn change(&self, schedule: NewSchedule) -> Result<(), ScheduleError> {
        let id = schedule.spec.id.clone();
        self.client.limits().check(&schedule.task)?;
        self.steer(&id, ScheduleAction::Change(schedule.spec)).await
    }

    /// Lets it fire nothing until it is resumed, also when it stands in code and its workers start anew. Tasks that it made
    /// already stay.
    ///
    /// # Errors
    /// When there is none of its name, or the store fails.
    pub async fn pause(&self, id: &ScheduleId) -> Result<(), ScheduleError> {
        self.steer(id, ScheduleAction::Pause).await
    }

    /// Ends a pause. Ticks of the pause do not come any more; the next one is the first after now.
    ///
    /// # Errors
    /// When there is none of its name, or the store fails.
    pub async fn resume(&self, id: &ScheduleId) -> Result<(), ScheduleError> {
        self.steer(id, ScheduleAction::Resume).await
    }

    /// Forgets a schedule that was added. Tasks that it made already stay.
    ///
    /// # Errors
    /// When there is none of its name, it stands in code, or the store fails.
    pub async fn remove(&self, id: &ScheduleId) -> Result<(), ScheduleError> {
        self.steer(id, ScheduleAction::Remove).await
    }

    /// Makes a task of it now, also when it is paused or its last task is unfinished. Its next tick stays where it is.
    ///
    /// # Errors
    /// When there is none of its name, its ticks leave no time in between, or the store fails.
    pub async fn run_now(&self, id: &ScheduleId) -> Result<Handle<serde_json::Value>, ScheduleError> {
        let uuid = uuid_alone();
        for _ in 0..TRIES {
            let info = self.get(id).await?.ok_or_else(|| ScheduleError::NotFound(id.clone()))?;
            let schedule = info.schedule;
            let task = schedule.spec.new_task(uuid);
            let made = Accepted { id: task.id.clone(), created: true, refused: None };
            let fire = Fire {
                id: id.clone(),
                revision: schedule.revision,
                from: schedule.next,
                next: None,
                tick: None,
                tasks: vec![task],
                asked: Some(self.client.by(&*self.reason)),
            };
            if self.client.store().fire(fire).await? == Fired::Applied {
                return Ok(Handle::new(self.client.clone(), made));
            }
        }
        Err(ScheduleError::Busy(id.clone()))
    }

    /// All schedules, by queue and name.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn list(&self) -> Result<Vec<ScheduleInfo>, StoreError> {
        let mut all = Vec::new();
        for queue in self.client.queues().await? {
            all.extend(self.of_queue(&queue).await?);
        }
        Ok(all)
    }

    /// A queue's schedules, by name.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn of_queue(&self, queue: &QueueName) -> Result<Vec<ScheduleInfo>, StoreError> {
        let found = self.client.store().schedules(queue).await?;
        Ok(found.schedules.into_iter().map(ScheduleInfo::of).collect())
    }

    /// One schedule; `None` when there is none of its name.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn get(&self, id: &ScheduleId) -> Result<Option<ScheduleInfo>, StoreError> {
        let all = self.of_queue(id.queue()).await?;
        Ok(all.into_iter().find(|info| info.schedule.spec.id == *id))
    }

    async fn steer(&self, id: &ScheduleId, action: ScheduleAction) -> Result<(), ScheduleError> {
        let by = self.client.by(&*self.reason);
        match self.client.store().steer_schedule(ScheduleRequest { id: id.clone(), action, by }).await? {
            ScheduleOutcome::Done => Ok(()),
            ScheduleOutcome::NotFound => Err(ScheduleError::NotFound(id.clone())),
            ScheduleOutcome::Exists => Err(ScheduleError::Exists(id.clone())),
            ScheduleOutcome::InCode => Err(ScheduleError::InCode(id.clone())),
            ScheduleOutcome::Full => Err(ScheduleError::Full(id.clone())),
        }
    }
}

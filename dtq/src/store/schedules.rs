//! What the verbs on schedules take and give.

use std::time::Duration;

use crate::types::{AuditAction, By, NewTask, Schedule, ScheduleId, ScheduleSpec, Timestamp};

/// The most schedules that one queue holds.
pub const MOST_SCHEDULES: usize = 1_000;
/// How long a schedule of the code goes on when no worker declares it any more.
pub const DECLARED_FOR: Duration = Duration::from_secs(60);
/// How long a schedule of the code is remembered after that: whether it was paused, and its next tick.
pub const UNDECLARED_KEPT: Duration = Duration::from_secs(30 * 24 * 3600);
/// How long a tick that was handed to a worker is hidden from others. It decides nothing: [`super::Store::fire`] does.
pub const TICK_HELD: Duration = Duration::from_secs(2);

/// The schedules that a worker's code has for one queue.
#[derive(Debug, Clone)]
pub struct Declaration {
    /// All of one queue; at most [`MOST_SCHEDULES`].
    pub specs: Vec<ScheduleSpec>,
    /// What the first declaration of this worker answered; `None` for that one.
    pub stamp: Option<Timestamp>,
}

/// The answer to a declaration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Declared {
    /// What tells declarations of this worker from earlier and later ones.
    pub stamp: Timestamp,
    /// What became of each, in the order given.
    pub outcomes: Vec<DeclareOutcome>,
}

/// What became of a schedule that was declared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeclareOutcome {
    /// It stands as declared.
    Standing,
    /// A worker that was started later declares another one under this name; that one stands.
    Outdated,
    /// A client made a schedule of this name; that one stands.
    Taken,
    /// The queue has [`MOST_SCHEDULES`] already.
    Full,
}

/// What is to be done with a schedule.
#[derive(Debug, Clone)]
pub enum ScheduleAction {
    /// Makes it.
    Add(ScheduleSpec),
    /// Gives another meaning to one that a client made; its next tick is reckoned anew.
    Change(ScheduleSpec),
    /// Lets it fire nothing until it is resumed.
    Pause,
    /// Ends a pause; its next tick is reckoned from now.
    Resume,
    /// Forgets it.
    Remove,
}

impl ScheduleAction {
    /// What the audit log calls it.
    pub fn audited(&self) -> AuditAction {
        match self {
            Self::Add(_) => AuditAction::AddSchedule,
            Self::Change(_) => AuditAction::ChangeSchedule,
            Self::Pause => AuditAction::PauseSchedule,
            Self::Resume => AuditAction::ResumeSchedule,
            Self::Remove => AuditAction::RemoveSchedule,
        }
    }
}

/// Somebody's wish about a schedule.
#[derive(Debug, Clone)]
pub struct ScheduleRequest {
    /// The schedule.
    pub id: ScheduleId,
    /// What is to be done with it.
    pub action: ScheduleAction,
    /// Who asks, and why.
    pub by: By,
}

/// What became of an action on a schedule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScheduleOutcome {
    /// It is as asked, now or since an earlier copy of the same call.
    Done,
    /// There is no such schedule.
    NotFound,
    /// There is another one of this name.
    Exists,
    /// It stands in the code of a task that a worker knows, and must be changed there.
    InCode,
    /// The queue has [`MOST_SCHEDULES`] already.
    Full,
}

/// A schedule that is due, or whose next tick is to be reckoned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tick {
    /// As it stands.
    pub schedule: Schedule,
    /// The store's time.
    pub now: Timestamp,
}

/// Tasks for ticks of a schedule.
#[derive(Debug, Clone)]
pub struct Fire {
    /// The schedule.
    pub id: ScheduleId,
    /// [`Schedule::revision`] of the schedule that this was reckoned from.
    pub revision: u64,
    /// [`Schedule::next`] of the same.
    pub from: Option<Timestamp>,
    /// The tick after those that fire now; `None` when none will come.
    pub next: Option<Timestamp>,
    /// The latest of the ticks that fire now.
    pub tick: Option<Timestamp>,
    /// One task a tick, of the schedule's queue, ready at once; at most [`super::BATCH`].
    pub tasks: Vec<NewTask>,
    /// Who asked for it, and why, when it is no tick: then neither a pause nor an unfinished task keeps it from firing, and
    /// `next` changes nothing.
    pub asked: Option<By>,
}

/// What became of ticks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fired {
    /// The tasks were made.
    Applied,
    /// None was made, since the schedule's last task is unfinished; the next tick is set.
    PassedOver,
    /// The schedule was changed or fired meanwhile, or is gone: nothing happened.
    Stale,
}

/// The schedules of a queue, at an instant.
#[derive(Debug, Clone, Default)]
pub struct Schedules {
    /// The store's time.
    pub now: Timestamp,
    /// By name.
    pub schedules: Vec<Schedule>,
}

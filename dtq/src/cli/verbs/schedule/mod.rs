//! `schedule`: tasks that come again and again.

mod list;
mod make;
mod steer;

use clap::Subcommand;

use crate::cli::failure::{Done, Failure};
use crate::cli::session::{Session, unknown};
use crate::client::ScheduleError;
use crate::types::ScheduleId;

/// What to do with schedules.
#[derive(Debug, Subcommand)]
pub(in crate::cli) enum ScheduleVerb {
    /// List schedules: when they come in plain words, and when next
    List(list::List),
    /// Make a task of schedules now; their next ticks stay where they are
    Run(steer::Which),
    /// Let schedules fire nothing until they are resumed
    Pause(steer::Which),
    /// Let paused schedules go on
    Resume(steer::Which),
    /// Add a schedule
    Add(make::Make),
    /// Give a schedule that was added another timetable, task or policy
    Change(make::Make),
    /// Forget schedules that were added; asks
    Remove(steer::Remove),
}

impl ScheduleVerb {
    /// The task that is to be called, if there is one.
    pub(in crate::cli) fn task(&self) -> Option<&str> {
        match self {
            Self::Add(verb) | Self::Change(verb) => Some(verb.task()),
            _ => None,
        }
    }

    pub(super) async fn run(&self, session: &mut Session) -> Done {
        match self {
            Self::List(verb) => verb.run(session).await,
            Self::Run(verb) => verb.run_now(session).await,
            Self::Pause(verb) => verb.set_paused(session, true).await,
            Self::Resume(verb) => verb.set_paused(session, false).await,
            Self::Add(verb) => verb.run(session, false).await,
            Self::Change(verb) => verb.run(session, true).await,
            Self::Remove(verb) => verb.run(session).await,
        }
    }
}

/// What went wrong, in words that help on the command line.
async fn explain(session: &Session, error: ScheduleError) -> Failure {
    match error {
        ScheduleError::NotFound(id) => not_found(session, &id).await,
        ScheduleError::Store(_) | ScheduleError::Busy(_) => Failure::work(error),
        error => Failure::usage(error),
    }
}

async fn not_found(session: &Session, id: &ScheduleId) -> Failure {
    let known = session.client.schedules().list().await.unwrap_or_default();
    let known: Vec<_> = known.iter().map(|info| info.schedule.spec.id.to_string()).collect();
    let known: Vec<_> = known.iter().map(String::as_str).collect();
    unknown("schedule", &id.to_string(), &known, &format!("`{} schedule list` lists them", session.program))
}

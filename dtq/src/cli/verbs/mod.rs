//! One file per verb. A verb reads what it was given, calls the client, and shows the answer: as a table, or with `--json`
//! as one object a line.

mod audit;
mod cancel;
pub(super) mod completions;
mod dlq;
mod doctor;
mod enqueue;
mod events;
mod get;
mod list;
mod queue;
mod retry;
mod schedule;
mod status;
pub(super) mod tasks;
mod workers;

use clap::Subcommand;

use super::failure::Done;
use super::session::Session;

/// The verbs that work on a store.
#[derive(Debug, Subcommand)]
pub(super) enum Verb {
    /// Enqueue one call of a task and print its id
    Enqueue(enqueue::Enqueue),
    /// Show a task: where it is in its life, its arguments, its result, its failed attempts
    Get(get::Get),
    /// List tasks by status, queue, name and time
    List(list::List),
    /// Call tasks off: some by id, or all that fit
    Cancel(cancel::Cancel),
    /// Let finished tasks run again, with attempts that begin anew
    Retry(retry::Retry),
    /// Look at dead letters, and deal with them
    #[command(subcommand)]
    Dlq(dlq::DlqVerb),
    /// Look at queues, pause, purge and limit them
    #[command(subcommand)]
    Queue(queue::QueueVerb),
    /// Look at schedules, and steer them
    #[command(subcommand)]
    Schedule(schedule::ScheduleVerb),
    /// List the live workers
    Workers(workers::Workers),
    /// Print lifecycle events, those that are kept or live
    Events(events::Events),
    /// List what was done by hand: by whom, when, and why
    Audit(audit::Audit),
    /// Show queues, workers and what waits, on one screen
    Status(status::Status),
    /// Look for what is wrong: with the store, with workers, with queues
    Doctor(doctor::Doctor),
}

impl Verb {
    /// The task that is to be called, for a verb that calls one.
    pub(super) fn task(&self) -> Option<&str> {
        match self {
            Self::Enqueue(verb) => Some(&verb.call.task),
            Self::Schedule(verb) => verb.task(),
            _ => None,
        }
    }

    /// True for what may make a store that is not there yet.
    pub(super) fn creates(&self) -> bool {
        match self {
            Self::Queue(verb) => verb.steers(),
            verb => verb.task().is_some(),
        }
    }

    pub(super) async fn run(self, session: &mut Session) -> Done {
        match self {
            Self::Enqueue(verb) => verb.run(session).await,
            Self::Get(verb) => verb.run(session).await,
            Self::List(verb) => verb.run(session).await,
            Self::Cancel(verb) => verb.run(session).await,
            Self::Retry(verb) => verb.run(session).await,
            Self::Dlq(verb) => verb.run(session).await,
            Self::Queue(verb) => verb.run(session).await,
            Self::Schedule(verb) => verb.run(session).await,
            Self::Workers(verb) => verb.run(session).await,
            Self::Events(verb) => verb.run(session).await,
            Self::Audit(verb) => verb.run(session).await,
            Self::Status(verb) => verb.run(session).await,
            Self::Doctor(verb) => verb.run(session).await,
        }
    }
}

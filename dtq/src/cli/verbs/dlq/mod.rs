//! `dlq`: dead letters, looked at and dealt with.

mod act;
mod look;

use clap::Subcommand;

use crate::cli::failure::Done;
use crate::cli::session::Session;

/// What to do with dead letters.
#[derive(Debug, Subcommand)]
pub(in crate::cli) enum DlqVerb {
    /// List dead letters, oldest first
    List(look::List),
    /// Count dead letters by task, kind of error and what their messages share
    Group(look::Group),
    /// Show dead letters in full; the same as `get`
    Show(super::get::Get),
    /// Put dead letters back into their queues; their attempts begin anew
    Requeue(act::Requeue),
    /// Take dead letters off the list; their records stay for the rest of their time
    Discard(act::Discard),
    /// Remove dead letters and their records
    Purge(act::Purge),
}

impl DlqVerb {
    pub(super) async fn run(&self, session: &mut Session) -> Done {
        match self {
            Self::List(verb) => verb.run(session).await,
            Self::Group(verb) => verb.run(session).await,
            Self::Show(verb) => verb.run(session).await,
            Self::Requeue(verb) => verb.run(session).await,
            Self::Discard(verb) => verb.run(session).await,
            Self::Purge(verb) => verb.run(session).await,
        }
    }
}

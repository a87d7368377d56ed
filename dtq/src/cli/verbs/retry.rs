//! `retry`: finished tasks run again.

use clap::Args;
use serde_json::json;

use crate::cli::failure::{Done, Failure, exit};
use crate::cli::output::note;
use crate::cli::session::Session;
use crate::client::RequeueError;
use crate::store::Steered;
use crate::types::TaskId;

/// Which tasks run again.
#[derive(Debug, Clone, Args)]
pub(in crate::cli) struct Retry {
    /// Their ids: QUEUE:UUID
    #[arg(required = true, value_name = "ID")]
    ids: Vec<TaskId>,

    /// Run them with these arguments, a JSON object by name, in place of their own
    #[arg(long, value_name = "JSON")]
    arguments: Option<String>,

    /// Also those that succeeded; their results are forgotten
    #[arg(long)]
    even_succeeded: bool,

    /// Why: kept in the audit log
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    reason: String,

    /// One JSON object a line
    #[arg(long)]
    json: bool,
}

impl Retry {
    /// Puts them back into their queues; their attempts begin anew.
    pub(super) async fn run(&self, session: &mut Session) -> Done {
        let mut requeue = session.acting().requeue(self.ids.clone());
        if let Some(arguments) = &self.arguments {
            check_arguments(session, &self.ids, arguments).await?;
            requeue = requeue.arguments(arguments.clone());
        }
        let requeue = if self.even_succeeded { requeue.even_succeeded() } else { requeue };
        let told = requeue.send(&*self.reason).await.map_err(refused)?;
        tell(session, &self.ids, &told, "queued again", self.json)
    }
}

pub(super) fn refused(error: RequeueError) -> Failure {
    match error {
        RequeueError::Store(error) => Failure::work(error),
        error => Failure::usage(error),
    }
}

/// Holds new arguments against the tasks that are to get them, where this program has those.
pub(super) async fn check_arguments(session: &Session, ids: &[TaskId], arguments: &str) -> Done {
    for id in ids {
        let Some(record) = session.client.get(id).await? else { continue };
        match session.registry.as_ref().map(|registry| registry.get(&record.task)) {
            Some(Some(task)) => task
                .check_payload(arguments.as_bytes())
                .map_err(|error| Failure::usage(format!("task {:?}: {error}", record.task)))?,
            _ => note(&format!(
                "{id}: {} does not have the task {:?}: its arguments are not checked",
                session.program, record.task
            )),
        }
    }
    Ok(())
}

/// Tells what became of each; exit code 1 when one was not done.
pub(super) fn tell(session: &mut Session, ids: &[TaskId], told: &[Steered], done: &str, json: bool) -> Done {
    for (id, &steered) in ids.iter().zip(told) {
        let words = match steered {
            Steered::Done => done.to_owned(),
            other => other.to_string(),
        };
        match (json, steered) {
            (true, _) => session.out.json(&json!({ "id": id, "outcome": outcome(steered), "says": words }))?,
            (false, Steered::Done | Steered::Requested) => session.out.line(&format!("{id}: {words}"))?,
            (false, _) => note(&format!("{id}: {words}")),
        }
    }
    match told.iter().all(|steered| matches!(steered, Steered::Done | Steered::Requested)) {
        true => Ok(()),
        false => Err(Failure::silent(exit::FAILURE)),
    }
}

/// An outcome's name for programs.
fn outcome(steered: Steered) -> &'static str {
    match steered {
        Steered::Done => "done",
        Steered::Requested => "requested",
        Steered::Unfit(_) => "unfit",
        Steered::Discarded => "discarded",
        Steered::Changed => "changed",
        Steered::NotFound => "not_found",
    }
}

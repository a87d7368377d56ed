//! `cancel`: calling tasks off.

use clap::Args;
use serde_json::json;

use crate::cli::confirm::Consent;
use crate::cli::failure::{Done, Failure, exit};
use crate::cli::output::note;
use crate::cli::session::{Keyed, Session};
use crate::store::CancelOutcome;
use crate::types::TaskId;

/// Which tasks to call off.
#[derive(Debug, Clone, Args)]
pub(in crate::cli) struct Cancel {
    /// Their ids: QUEUE:UUID
    #[arg(required_unless_present = "key", value_name = "ID")]
    ids: Vec<TaskId>,

    #[command(flatten)]
    keyed: Keyed,

    /// Why: kept in the tasks' records and in the audit log
    #[arg(long, value_name = "TEXT", default_value = "")]
    reason: String,

    #[command(flatten)]
    consent: Consent,

    /// One JSON object a line
    #[arg(long)]
    json: bool,

    /// Say nothing of what went well
    #[arg(long, short)]
    quiet: bool,
}

impl Cancel {
    pub(super) async fn run(&self, session: &mut Session) -> Done {
        let ids = session.ids(&self.ids, &self.keyed).await?;
        self.consent.ask(&touched(session, &ids).await?)?;
        let client = session.acting();
        let mut known = true;
        for id in &ids {
            let outcome = client.cancel(id, &*self.reason).await?;
            known &= outcome != CancelOutcome::NotFound;
            self.tell(session, id, outcome)?;
        }
        if known { Ok(()) } else { Err(Failure::silent(exit::FAILURE)) }
    }

    fn tell(&self, session: &mut Session, id: &TaskId, outcome: CancelOutcome) -> Done {
        let (name, words) = match outcome {
            CancelOutcome::Cancelled => ("cancelled", "cancelled".to_owned()),
            CancelOutcome::Requested => ("requested", "running: its worker is told to stop it".to_owned()),
            CancelOutcome::AlreadyFinished(status) => ("already_finished", format!("nothing to do: {status} already")),
            CancelOutcome::NotFound => ("not_found", "nothing is known of it".to_owned()),
        };
        if self.json {
            let status = match outcome {
                CancelOutcome::AlreadyFinished(status) => Some(status.as_str()),
                _ => None,
            };
            return session.out.json(&json!({ "id": id, "outcome": name, "status": status }));
        }
        match outcome {
            CancelOutcome::NotFound => note(&format!("{id}: {words}")),
            _ if self.quiet => {}
            _ => session.out.line(&format!("{id}: {words}"))?,
        }
        Ok(())
    }
}

/// What will be called off, in words.
async fn touched(session: &Session, ids: &[TaskId]) -> Done<String> {
    let mut lines = vec![match ids.len() {
        1 => "This calls off the task".to_owned(),
        many => format!("This calls off {many} tasks:"),
    }];
    for id in ids {
        lines.push(match session.client.get(id).await? {
            Some(record) => format!("  {id}  {}  {}", record.task, record.status),
            None => format!("  {id}  (nothing is known of it)"),
        });
    }
    Ok(lines.join("\n"))
}

//! `schedule run`, `pause`, `resume` and `remove`.

use clap::Args;
use serde_json::json;

use super::{explain, not_found};
use crate::cli::confirm::Consent;
use crate::cli::failure::Done;
use crate::cli::session::Session;
use crate::client::Schedules;
use crate::types::ScheduleId;

/// Which schedules.
#[derive(Debug, Clone, Args)]
pub(in crate::cli) struct Which {
    /// QUEUE:NAME, as `schedule list` shows them
    #[arg(required = true, value_name = "SCHEDULE")]
    ids: Vec<ScheduleId>,

    /// Why: kept in the audit log
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    reason: String,

    /// One JSON object a line
    #[arg(long)]
    json: bool,
}

impl Which {
    fn schedules(&self, session: &Session) -> Schedules {
        session.acting().schedules().because(&*self.reason)
    }

    /// Makes a task of each, and prints its id.
    pub(super) async fn run_now(&self, session: &mut Session) -> Done {
        for id in &self.ids {
            let handle = match self.schedules(session).run_now(id).await {
                Ok(handle) => handle,
                Err(error) => return Err(explain(session, error).await),
            };
            match self.json {
                true => session.out.json(&json!({ "schedule": id.to_string(), "id": handle.id() }))?,
                false => session.out.line(&handle.id().to_string())?,
            }
        }
        Ok(())
    }

    /// Pauses them, or lets them go on.
    pub(super) async fn set_paused(&self, session: &mut Session, pause: bool) -> Done {
        for id in &self.ids {
            let schedules = self.schedules(session);
            let done = if pause { schedules.pause(id).await } else { schedules.resume(id).await };
            if let Err(error) = done {
                return Err(explain(session, error).await);
            }
            match self.json {
                true => session.out.json(&json!({ "schedule": id.to_string(), "paused": pause }))?,
                false => session.out.line(&format!("{id}: {}", if pause { "paused" } else { "goes on" }))?,
            }
        }
        Ok(())
    }
}

/// Which schedules to forget.
#[derive(Debug, Clone, Args)]
pub(in crate::cli) struct Remove {
    #[command(flatten)]
    which: Which,

    #[command(flatten)]
    consent: Consent,
}

impl Remove {
    /// Asks, and forgets them.
    pub(super) async fn run(&self, session: &mut Session) -> Done {
        let mut lines = vec!["This removes".to_owned()];
        for id in &self.which.ids {
            match session.client.schedules().get(id).await? {
                Some(info) => lines.push(format!("  {info}")),
                None => return Err(not_found(session, id).await),
            }
        }
        self.consent.ask(&lines.join("\n"))?;
        for id in &self.which.ids {
            if let Err(error) = self.which.schedules(session).remove(id).await {
                return Err(explain(session, error).await);
            }
            match self.which.json {
                true => session.out.json(&json!({ "schedule": id.to_string(), "removed": true }))?,
                false => session.out.line(&format!("{id}: removed"))?,
            }
        }
        Ok(())
    }
}

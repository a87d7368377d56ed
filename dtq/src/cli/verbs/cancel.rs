//! `cancel`: calling tasks off.

use clap::{ArgGroup, Args};
use serde_json::json;

use crate::cli::confirm::Consent;
use crate::cli::failure::{Done, Failure, exit};
use crate::cli::filter::TaskArgs;
use crate::cli::output::note;
use crate::cli::session::{Keyed, Session};
use crate::client::{BulkReport, Tasks};
use crate::store::CancelOutcome;
use crate::types::{QueueName, Status, TaskId};

/// Tasks that are counted for a question; beyond that it says `more than`.
const COUNTED: usize = 10_000;

/// What does not go together with ids.
const FILTERS: [&str; 7] =
    ["queue", "status", "task", "enqueued_from", "enqueued_before", "finished_from", "finished_before"];

/// Which tasks to call off.
#[derive(Debug, Clone, Args)]
#[command(group = ArgGroup::new("which").args(["ids", "key", "queue"]).required(true).multiple(true))]
pub(in crate::cli) struct Cancel {
    /// Their ids, QUEUE:UUID; or --key, or --queue, for all of a queue that are not finished and fit
    #[arg(conflicts_with_all = FILTERS, value_name = "ID")]
    ids: Vec<TaskId>,

    #[command(flatten)]
    keyed: Keyed,

    #[command(flatten)]
    filter: TaskArgs,

    /// Why: kept in the tasks' records and in the audit log
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
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
        if ids.is_empty() {
            return self.all(session).await;
        }
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

    /// Calls off all that fit, queue by queue.
    async fn all(&self, session: &mut Session) -> Done {
        if let Some(status) = self.filter.status.iter().find(|status| status.is_terminal()) {
            return Err(Failure::usage(format!("what is {status} is finished: it cannot be called off")));
        }
        let (client, now) = (session.acting(), session.now().await?);
        let mut wanted = Vec::new();
        for queue in session.queues(&self.filter.queue).await? {
            let tasks = self.unfinished(self.filter.tasks(&client, &queue, now));
            let count = tasks.list(COUNTED + 1).await?.len();
            if count > 0 {
                wanted.push((queue, tasks, count));
            }
        }
        if wanted.is_empty() {
            note("no task fits that is not finished");
            return Ok(());
        }
        let line = |(queue, tasks, count): &(QueueName, Tasks, usize)| {
            let count = if *count > COUNTED { format!("more than {COUNTED}") } else { count.to_string() };
            format!("  {count} of queue {queue:?} ({})", tasks.filter())
        };
        let lines: Vec<_> = wanted.iter().map(line).collect();
        self.consent.ask(&format!("This calls off tasks that are not finished:\n{}", lines.join("\n")))?;
        for (queue, tasks, _) in wanted {
            let BulkReport { done, requested, left_alone } = tasks.cancel(&*self.reason).await?;
            match (self.json, self.quiet) {
                (true, _) => session.out.json(&json!({
                    "queue": queue.as_str(), "done": done, "requested": requested, "left_alone": left_alone
                }))?,
                (false, false) => {
                    session
                        .out
                        .line(&format!("{queue}: {done} cancelled, {requested} running ones are told to stop"))?;
                }
                (false, true) => {}
            }
        }
        Ok(())
    }

    /// Of all statuses, those that can be called off.
    fn unfinished(&self, tasks: Tasks) -> Tasks {
        match self.filter.status.is_empty() {
            true => Status::ALL.into_iter().filter(|it| !it.is_terminal()).fold(tasks, Tasks::status),
            false => tasks,
        }
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

//! `list`: tasks by status, queue, name and time.

use clap::Args;
use serde_json::{Value, json};

use super::get::paint;
use crate::cli::failure::Done;
use crate::cli::filter::TaskArgs;
use crate::cli::output::{Cell, Table, note, prose, relative, word};
use crate::cli::session::Session;
use crate::types::{TaskSummary, Timestamp};

/// Which tasks to list.
#[derive(Debug, Clone, Args)]
pub(in crate::cli) struct List {
    #[command(flatten)]
    filter: TaskArgs,

    /// Those that came last first
    #[arg(long)]
    newest_first: bool,

    /// So many at most
    #[arg(long, value_name = "N", default_value_t = 50)]
    limit: usize,

    /// One JSON object a line
    #[arg(long)]
    json: bool,
}

impl List {
    /// Lists them queue by queue.
    pub(super) async fn run(&self, session: &mut Session) -> Done {
        let now = session.now().await?;
        let mut tasks: Vec<TaskSummary> = Vec::new();
        for queue in session.queues(&self.filter.queue).await? {
            let wanted = self.filter.tasks(&session.client, &queue, now);
            let wanted = if self.newest_first { wanted.newest_first() } else { wanted };
            // One more than is shown: so it is known whether there are more.
            tasks.extend(wanted.list(self.limit.saturating_add(1) - tasks.len()).await?);
            if tasks.len() > self.limit {
                break;
            }
        }
        let more = tasks.len() > self.limit;
        tasks.truncate(self.limit);
        match self.json {
            true => tasks.iter().try_for_each(|task| session.out.json(&shape(task)))?,
            false => session.out.table(&table(&tasks, now), "no task fits")?,
        }
        if let (true, Some(name)) = (tasks.is_empty(), &self.filter.task) {
            session.doubt_task(name).await?;
        }
        if more {
            note(&format!("there are more than these {}: --limit shows more", self.limit));
        }
        Ok(())
    }
}

fn table(tasks: &[TaskSummary], now: Timestamp) -> Table {
    let headings =
        [word("id"), word("task"), word("status"), word("attempt"), word("enqueued"), word("next"), prose("error")];
    let mut table = Table::new(&headings);
    for task in tasks {
        let next = match (task.due_at, task.finished_at) {
            (Some(due), _) => format!("due {}", relative(due, now)),
            (None, Some(finished)) => format!("ended {}", relative(finished, now)),
            (None, None) if task.cancel_requested => "asked to stop".to_owned(),
            (None, None) => String::new(),
        };
        table.row([
            (&task.id).into(),
            (&task.task).into(),
            Cell::painted(task.status, paint(task.status)),
            format!("{} of {}", task.attempt, task.max_attempts).into(),
            relative(task.enqueued_at, now).into(),
            next.into(),
            task.failure.as_ref().map(ToString::to_string).unwrap_or_default().into(),
        ]);
    }
    table
}

fn shape(task: &TaskSummary) -> Value {
    json!({
        "id": task.id,
        "task": task.task,
        "queue": task.id.queue().as_str(),
        "status": task.status.as_str(),
        "attempt": task.attempt,
        "max_attempts": task.max_attempts,
        "priority": task.priority.level(),
        "enqueued_at": task.enqueued_at.to_string(),
        "due_at": task.due_at.map(|at| at.to_string()),
        "finished_at": task.finished_at.map(|at| at.to_string()),
        "cancel_requested": task.cancel_requested,
        "requeues": task.requeues,
        "error": task.failure.as_ref().map(|it| json!({ "kind": it.kind.as_str(), "message": it.message })),
    })
}

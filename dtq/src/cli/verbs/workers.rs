//! `workers`: who is there.

use clap::Args;
use serde_json::{Value, json};

use crate::cli::failure::Done;
use crate::cli::output::{Table, instant, prose, relative, word};
use crate::cli::session::Session;
use crate::types::{QueueName, Timestamp, WorkerInfo};

/// How to list workers.
#[derive(Debug, Clone, Args)]
pub(in crate::cli) struct Workers {
    /// One JSON object a line
    #[arg(long)]
    json: bool,
}

impl Workers {
    pub(super) async fn run(&self, session: &mut Session) -> Done {
        let workers = session.client.workers().await?;
        if self.json {
            return workers.iter().try_for_each(|worker| session.out.json(&shape(worker)));
        }
        let table = table(&workers, session.now().await?);
        session.out.table(&table, "no worker is alive")
    }
}

/// Workers by row.
pub(super) fn table(workers: &[WorkerInfo], now: Timestamp) -> Table {
    let headings = [word("worker"), word("running"), word("started"), word("seen"), prose("queues"), prose("tasks")];
    let mut table = Table::new(&headings);
    for worker in workers {
        table.row([
            (&worker.id).into(),
            format!("{} of {}", worker.running, worker.concurrency).into(),
            instant(worker.started_at, now).into(),
            relative(worker.seen_at, now).into(),
            names(&worker.queues).join(", ").into(),
            worker.tasks.join(", ").into(),
        ]);
    }
    table
}

/// A worker for programs.
pub(super) fn shape(worker: &WorkerInfo) -> Value {
    json!({
        "id": worker.id.as_str(),
        "queues": names(&worker.queues),
        "tasks": worker.tasks,
        "concurrency": worker.concurrency,
        "running": worker.running,
        "started_at": worker.started_at.to_string(),
        "seen_at": worker.seen_at.to_string(),
    })
}

fn names(queues: &[QueueName]) -> Vec<&str> {
    queues.iter().map(QueueName::as_str).collect()
}

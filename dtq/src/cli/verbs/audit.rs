//! `audit`: what was done by hand.

use clap::Args;
use serde_json::{Value, json};

use crate::cli::failure::Done;
use crate::cli::output::{Table, instant, number, prose, word};
use crate::cli::session::Session;
use crate::store::AuditQuery;
use crate::types::{AuditEntry, QueueName};

/// Which entries to list.
#[derive(Debug, Clone, Args)]
pub(in crate::cli) struct Audit {
    /// Only of this queue; may be given more than once [default: all]
    #[arg(long, value_name = "QUEUE")]
    queue: Vec<QueueName>,

    /// The latest so many of them
    #[arg(long, value_name = "N", default_value_t = 50)]
    limit: usize,

    /// One JSON object a line
    #[arg(long)]
    json: bool,
}

impl Audit {
    /// Lists them, newest first.
    pub(super) async fn run(&self, session: &mut Session) -> Done {
        let mut entries = Vec::new();
        for queue in session.queues(&self.queue).await? {
            let query = AuditQuery { queue, before: None, limit: self.limit };
            entries.extend(session.client.audit(query).await?);
        }
        // Stable: of one queue's entries, those of one millisecond stay in order.
        entries.sort_by_key(|entry| std::cmp::Reverse(entry.at));
        entries.truncate(self.limit);
        if self.json {
            return entries.iter().try_for_each(|entry| session.out.json(&shape(entry)));
        }
        let now = session.now().await?;
        let headings =
            [word("when"), word("queue"), word("action"), number("tasks"), word("by"), word("target"), prose("reason")];
        let mut table = Table::new(&headings);
        for entry in &entries {
            table.row([
                instant(entry.at, now).into(),
                (&entry.queue).into(),
                entry.action.into(),
                entry.tasks.into(),
                (&entry.by.actor).into(),
                (&entry.target).into(),
                (&entry.by.reason).into(),
            ]);
        }
        session.out.table(&table, "nothing was done by hand")
    }
}

fn shape(entry: &AuditEntry) -> Value {
    json!({
        "at": entry.at.to_string(),
        "queue": entry.queue.as_str(),
        "action": entry.action.as_str(),
        "target": entry.target,
        "tasks": entry.tasks,
        "actor": entry.by.actor,
        "reason": entry.by.reason,
    })
}

//! `queue pause`, `queue resume` and `queue purge`.

use clap::Args;
use serde_json::json;

use crate::cli::confirm::Consent;
use crate::cli::failure::Done;
use crate::cli::output::note;
use crate::cli::session::Session;
use crate::client::{PurgeFilter, PurgeReport};
use crate::types::QueueName;

/// Which queues to pause, or to let go on.
#[derive(Debug, Clone, Args)]
pub(in crate::cli) struct Pause {
    /// Their names
    #[arg(required = true, value_name = "QUEUE")]
    queues: Vec<QueueName>,

    /// Why: kept with the pause and in the audit log
    #[arg(long, value_name = "TEXT", default_value = "")]
    reason: String,

    /// One JSON object a line
    #[arg(long)]
    json: bool,
}

impl Pause {
    /// Pauses them, or lets them go on.
    pub(super) async fn run(&self, session: &mut Session, pause: bool) -> Done {
        session.doubt(&self.queues).await?;
        let client = session.acting();
        for queue in &self.queues {
            let changed = match pause {
                true => client.pause(queue, &*self.reason).await?,
                false => client.resume(queue, &*self.reason).await?,
            };
            let words = match (pause, changed) {
                (true, true) => "paused: what runs finishes, nothing more starts",
                (true, false) => "nothing to do: it is paused already",
                (false, true) => "goes on",
                (false, false) => "nothing to do: it is not paused",
            };
            match self.json {
                true => session.out.json(&json!({ "queue": queue.as_str(), "paused": pause, "changed": changed }))?,
                false => session.out.line(&format!("{queue}: {words}"))?,
            }
        }
        Ok(())
    }
}

/// What to drop.
#[derive(Debug, Clone, Args)]
pub(in crate::cli) struct Purge {
    /// The queue
    #[arg(value_name = "QUEUE")]
    queue: QueueName,

    /// Only tasks of this name
    #[arg(long, value_name = "NAME")]
    task: Option<String>,

    /// Tell what runs to stop, too
    #[arg(long)]
    stop_running: bool,

    /// Why: kept in the tasks' records and in the audit log
    #[arg(long, value_name = "TEXT", default_value = "")]
    reason: String,

    /// Only count
    #[arg(long)]
    dry_run: bool,

    #[command(flatten)]
    consent: Consent,

    /// Answer with a JSON object
    #[arg(long)]
    json: bool,
}

impl Purge {
    /// Counts, asks, drops.
    pub(super) async fn run(&self, session: &mut Session) -> Done {
        let queue = &self.queue;
        session.queues(std::slice::from_ref(queue)).await?;
        let client = session.acting();
        let counted = client.count_purge(queue, self.filter()).await?;
        if self.dry_run {
            return self.tell(session, counted, "would be ");
        }
        if counted == PurgeReport::default() {
            note(&format!("nothing waits in {queue:?} that fits"));
            return self.tell(session, counted, "");
        }
        let of = self.task.as_ref().map(|task| format!(" named {task:?}")).unwrap_or_default();
        let running = match self.stop_running {
            true => format!("\n  and tells {} that run to stop", counted.stopping),
            false => String::new(),
        };
        let dropped = counted.dropped;
        self.consent.ask(&format!("This cancels {dropped} tasks{of} that wait in the queue {queue:?}{running}"))?;
        let report = client.purge(queue, self.filter(), &*self.reason).await?;
        self.tell(session, report, "")
    }

    fn filter(&self) -> PurgeFilter {
        let filter = self.task.iter().fold(PurgeFilter::new(), PurgeFilter::task);
        if self.stop_running { filter.stop_running() } else { filter }
    }

    fn tell(&self, session: &mut Session, report: PurgeReport, would: &str) -> Done {
        let (queue, PurgeReport { dropped, stopping }) = (&self.queue, report);
        if self.json {
            return session.out.json(&json!({
                "queue": queue.as_str(), "dropped": dropped, "stopping": stopping, "dry_run": self.dry_run
            }));
        }
        let running =
            if self.stop_running { format!(", {stopping} that run are {would}told to stop") } else { String::new() };
        session.out.line(&format!("{queue}: {dropped} {would}cancelled{running}"))
    }
}

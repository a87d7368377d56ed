//! `dlq requeue`, `dlq discard` and `dlq purge`: by id, or all that fit.

use clap::{ArgGroup, Args};
use serde_json::json;

use crate::cli::confirm::Consent;
use crate::cli::failure::{Done, Failure};
use crate::cli::filter::LetterArgs;
use crate::cli::output::note;
use crate::cli::session::Session;
use crate::cli::verbs::retry;
use crate::client::{BulkReport, Client, DeadLetters};
use crate::store::Steered;
use crate::types::{QueueName, TaskId};

/// Groups of errors that a question names.
const NAMED: usize = 5;

/// Which dead letters are meant: some by id, or those of queues that fit.
#[derive(Debug, Clone, Args)]
#[command(group = ArgGroup::new("which").args(["ids", "queue"]).required(true).multiple(true))]
struct Which {
    /// Their ids, QUEUE:UUID; or --queue, for all of a queue that fit
    #[arg(conflicts_with_all = ["queue", "task", "kind", "saying", "older_than", "newer_than"], value_name = "ID")]
    ids: Vec<TaskId>,

    #[command(flatten)]
    filter: LetterArgs,

    /// Why: kept in the audit log
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    reason: String,

    #[command(flatten)]
    consent: Consent,

    /// One JSON object a line
    #[arg(long)]
    json: bool,
}

impl Which {
    /// Says what will be touched, and asks. False when nothing fits.
    async fn ask(&self, session: &Session, what: &str) -> Done<bool> {
        if !self.ids.is_empty() {
            let ids: Vec<_> = self.ids.iter().map(|id| format!("\n  {id}")).collect();
            return self.consent.ask(&format!("{what}{}", ids.concat())).map(|()| true);
        }
        let mut lines = Vec::new();
        for queue in session.queues(&self.filter.queue).await? {
            let letters = self.filter.letters(&session.client, &queue);
            let found = letters.groups().await?;
            let count = found.groups.iter().map(|group| group.count).sum::<u64>() + found.others;
            if count == 0 {
                continue;
            }
            lines.push(format!("{what}: {count} of queue {queue:?} ({})", letters.filter()));
            lines.extend(found.groups.iter().take(NAMED).map(|group| {
                format!("  {:>6}  {}  {}: {}", group.count, group.task, group.kind.as_str(), group.message)
            }));
        }
        if lines.is_empty() {
            note("no dead letter fits");
            return Ok(false);
        }
        self.consent.ask(&lines.join("\n")).map(|()| true)
    }

    /// Acts on all that fit, queue by queue.
    async fn all(&self, session: &mut Session, done: &str, act: impl AsyncFn(DeadLetters) -> Done<BulkReport>) -> Done {
        let client = session.acting();
        for queue in session.queues(&self.filter.queue).await? {
            let report = act(self.filter.letters(&client, &queue)).await?;
            self.tell(session, &queue, report, done)?;
        }
        Ok(())
    }

    fn tell(&self, session: &mut Session, queue: &QueueName, report: BulkReport, done: &str) -> Done {
        let BulkReport { done: count, left_alone, .. } = report;
        if self.json {
            return session.out.json(&json!({ "queue": queue.as_str(), "done": count, "left_alone": left_alone }));
        }
        let rest = match left_alone {
            0 => String::new(),
            some => format!("; {some} changed before they were reached"),
        };
        session.out.line(&format!("{queue}: {count} {done}{rest}"))
    }

    /// Acts on each id.
    async fn each(
        &self,
        session: &mut Session,
        done: &str,
        act: impl AsyncFn(&Client, &TaskId) -> Done<Steered>,
    ) -> Done {
        let client = session.acting();
        let mut told = Vec::new();
        for id in &self.ids {
            told.push(act(&client, id).await?);
        }
        retry::tell(session, &self.ids, &told, done, self.json)
    }
}

/// Which dead letters run again.
#[derive(Debug, Clone, Args)]
pub(in crate::cli) struct Requeue {
    #[command(flatten)]
    which: Which,

    /// Run them with these arguments, a JSON object by name, in place of their own
    #[arg(long, value_name = "JSON")]
    arguments: Option<String>,
}

impl Requeue {
    pub(super) async fn run(&self, session: &mut Session) -> Done {
        const DONE: &str = "requeued";
        let (which, arguments) = (&self.which, &self.arguments);
        if which.ids.is_empty() {
            if !which.ask(session, "This puts dead letters back into their queue").await? {
                return Ok(());
            }
            return which
                .all(session, DONE, async |letters| match arguments {
                    Some(arguments) => {
                        letters.requeue_with(arguments.clone(), &*which.reason).await.map_err(retry::refused)
                    }
                    None => letters.requeue(&*which.reason).await.map_err(Failure::from),
                })
                .await;
        }
        let mut requeue = session.acting().requeue(which.ids.clone());
        if let Some(arguments) = arguments {
            retry::check_arguments(session, &which.ids, arguments).await?;
            requeue = requeue.arguments(arguments.clone());
        }
        let told = requeue.send(&*which.reason).await.map_err(retry::refused)?;
        retry::tell(session, &which.ids, &told, DONE, which.json)
    }
}

/// Which dead letters to take off the list.
#[derive(Debug, Clone, Args)]
pub(in crate::cli) struct Discard {
    #[command(flatten)]
    which: Which,
}

impl Discard {
    pub(super) async fn run(&self, session: &mut Session) -> Done {
        let (which, done) = (&self.which, "discarded");
        match which.ask(session, "This takes dead letters off the list").await? {
            false => Ok(()),
            true if which.ids.is_empty() => {
                which.all(session, done, async |letters| Ok(letters.discard(&*which.reason).await?)).await
            }
            true => which.each(session, done, async |client, id| Ok(client.discard(id, &*which.reason).await?)).await,
        }
    }
}

/// Which dead letters to remove.
#[derive(Debug, Clone, Args)]
pub(in crate::cli) struct Purge {
    #[command(flatten)]
    which: Which,
}

impl Purge {
    pub(super) async fn run(&self, session: &mut Session) -> Done {
        let (which, done) = (&self.which, "removed");
        match which.ask(session, "This removes dead letters and their records").await? {
            false => Ok(()),
            true if which.ids.is_empty() => {
                which.all(session, done, async |letters| Ok(letters.purge(&*which.reason).await?)).await
            }
            true => {
                let act = async |client: &Client, id: &TaskId| Ok(client.purge_dead_letter(id, &*which.reason).await?);
                which.each(session, done, act).await
            }
        }
    }
}

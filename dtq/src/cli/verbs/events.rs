//! `events`: what happened, and what happens now.

use std::pin::Pin;
use std::time::Duration;

use clap::Args;
use futures_util::stream::{SelectAll, Stream, StreamExt, unfold};
use serde_json::{Value, json};

use crate::cli::failure::{Done, Failure};
use crate::cli::output::note;
use crate::cli::session::Session;
use crate::cli::signals::Signals;
use crate::client::Client;
use crate::store::{EventQuery, StoreError};
use crate::types::{Event, EventCursor, EventKind, EventPage, QueueName, TaskId};

/// Events read at a time.
const PAGE: usize = 500;
/// How long one read waits for news.
const WAIT: Duration = Duration::from_secs(5);
/// How often to look for queues that were not there before, and how long to wait when the store fails.
const LOOK: Duration = Duration::from_secs(1);

/// Which events to print.
#[derive(Debug, Clone, Args)]
pub(in crate::cli) struct Events {
    /// Print events as they happen, until Ctrl-C; from now on
    #[arg(long, short)]
    follow: bool,

    /// With --follow: print those that are kept first
    #[arg(long, requires = "follow")]
    from_start: bool,

    /// Only of this queue; may be given more than once [default: all, and the workers']
    #[arg(long, value_name = "QUEUE")]
    queue: Vec<QueueName>,

    /// Only of this task: QUEUE:UUID
    #[arg(long, value_name = "ID")]
    task: Option<TaskId>,

    /// Only of this kind, such as TASK_FAILED or failed; may be given more than once
    #[arg(long, value_name = "KIND", value_parser = kind)]
    kind: Vec<EventKind>,

    /// One JSON object a line
    #[arg(long)]
    json: bool,
}

/// A kind by the contract's name; what all names of tasks' events begin with may be left out.
fn kind(text: &str) -> Result<EventKind, String> {
    let name = text.to_ascii_uppercase().replace('-', "_");
    let fits = |kind: &EventKind| kind.as_str() == name || kind.as_str().strip_prefix("TASK_") == Some(&name);
    let known = || EventKind::ALL.map(EventKind::as_str).join(", ");
    EventKind::ALL.into_iter().find(fits).ok_or_else(|| format!("the kinds are {}", known()))
}

impl Events {
    pub(super) async fn run(&self, session: &mut Session) -> Done {
        let queues = self.queues(session).await?;
        match self.follow {
            true => self.follow(session, queues).await,
            false => self.kept(session, queues).await,
        }
    }

    async fn queues(&self, session: &Session) -> Done<Vec<QueueName>> {
        match &self.task {
            Some(task) => Ok(vec![task.queue().clone()]),
            None => session.queues(&self.queue).await,
        }
    }

    /// Prints what is kept, oldest first, and ends.
    async fn kept(&self, session: &mut Session, queues: Vec<QueueName>) -> Done {
        let mut after = EventCursor::start();
        loop {
            let page = read(&session.client, &queues, after, Duration::ZERO).await?;
            if page.events.is_empty() {
                return Ok(());
            }
            self.print(session, &page.events)?;
            after = page.next;
        }
    }

    async fn follow(&self, session: &mut Session, mut queues: Vec<QueueName>) -> Done {
        let mut signals = Signals::listen().map_err(Failure::work)?;
        let mut looks = tokio::time::interval(LOOK);
        let begin = if self.from_start { EventCursor::start() } else { EventCursor::end() };
        let mut pages = SelectAll::new();
        pages.push(live(session.client.clone(), queues.clone(), begin));
        loop {
            tokio::select! {
                Some(page) = pages.next() => match page {
                    Ok(events) => self.print(session, &events)?,
                    Err(error) if error.is_transient() => note(&format!("{error}; trying again")),
                    Err(error) => return Err(error.into()),
                },
                _ = looks.tick(), if self.queue.is_empty() && self.task.is_none() => {
                    // A failure is told by those who read.
                    let all = session.client.queues().await.unwrap_or_default();
                    let new: Vec<_> = all.into_iter().filter(|queue| !queues.contains(queue)).collect();
                    if !new.is_empty() {
                        queues.extend(new.iter().cloned());
                        // All that happened in a queue that was not there before is new.
                        let of_tasks = live(session.client.clone(), new, EventCursor::start());
                        pages.push(Box::pin(of_tasks.map(|page| page.map(without_workers))));
                    }
                },
                () = signals.next() => return Ok(()),
            }
        }
    }

    fn print(&self, session: &mut Session, events: &[Event]) -> Done {
        events.iter().filter(|event| self.wants(event)).try_for_each(|event| match self.json {
            true => session.out.json(&shape(event)),
            false => session.out.line(&line(event)),
        })
    }

    fn wants(&self, event: &Event) -> bool {
        let narrowed = self.task.is_some() || !self.queue.is_empty();
        let of_task = self.task.is_none() || event.task == self.task;
        (self.kind.is_empty() || self.kind.contains(&event.kind)) && of_task && (!narrowed || event.task.is_some())
    }
}

async fn read(
    client: &Client,
    queues: &[QueueName],
    after: EventCursor,
    wait: Duration,
) -> Result<EventPage, StoreError> {
    client.events(EventQuery { queues: queues.to_vec(), after, limit: PAGE, wait }).await
}

type Pages = Pin<Box<dyn Stream<Item = Result<Vec<Event>, StoreError>>>>;

/// The events of some queues and of workers, from a place on, without end.
fn live(client: Client, queues: Vec<QueueName>, begin: EventCursor) -> Pages {
    Box::pin(unfold((client, queues, begin), |(client, queues, after)| async move {
        let page = read(&client, &queues, after.clone(), WAIT).await;
        let (events, after) = match page {
            Ok(page) => (Ok(page.events), page.next),
            Err(error) => {
                tokio::time::sleep(LOOK).await;
                (Err(error), after)
            }
        };
        Some((events, (client, queues, after)))
    }))
}

/// Events of workers come with those of any queue: once is enough.
fn without_workers(events: Vec<Event>) -> Vec<Event> {
    events.into_iter().filter(|event| event.task.is_some()).collect()
}

fn line(event: &Event) -> String {
    let subject = match (&event.task, &event.worker) {
        (Some(task), _) => format!("{task}  attempt {}", event.attempt),
        (None, Some(worker)) => worker.to_string(),
        (None, None) => String::new(),
    };
    format!("{}  {:<23}  {subject}", event.at, event.kind)
}

fn shape(event: &Event) -> Value {
    let of_task = |attempt| event.task.is_some().then_some(attempt);
    json!({
        "kind": event.kind.as_str(),
        "at": event.at.to_string(),
        "task": event.task,
        "queue": event.task.as_ref().map(|task| task.queue().as_str()),
        "attempt": of_task(event.attempt),
        "worker": event.worker.as_ref().map(crate::types::WorkerId::as_str),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_known_by_long_and_short_names() {
        for name in ["TASK_DEAD_LETTERED", "dead-lettered", "dead_lettered"] {
            assert_eq!(kind(name), Ok(EventKind::DeadLettered));
        }
        assert_eq!(kind("worker_started"), Ok(EventKind::WorkerStarted));
        assert!(kind("done").unwrap_err().contains("TASK_SUCCEEDED"));
    }
}

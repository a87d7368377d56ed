//! `status`: one screen that tells how things are.

use std::time::Duration;

use clap::Args;
use serde_json::{Value, json};

use super::{queue, workers};
use crate::cli::failure::{Done, Failure};
use crate::cli::filter::duration;
use crate::cli::output::{Table, absolute, number, prose, relative, span, word};
use crate::cli::session::Session;
use crate::cli::signals::Signals;
use crate::types::{QueueName, QueueStats, Status as TaskStatus, Timestamp, WorkerInfo};

/// Queues with their counts.
type Counts = [(QueueName, QueueStats)];

/// How to show it.
#[derive(Debug, Clone, Args)]
pub(in crate::cli) struct Status {
    /// Show it again and again, until Ctrl-C
    #[arg(long, short)]
    watch: bool,

    /// Time between two looks
    #[arg(long, value_name = "DURATION", default_value = "2s", value_parser = duration, requires = "watch")]
    every: Duration,

    /// One JSON object a look
    #[arg(long)]
    json: bool,
}

impl Status {
    pub(super) async fn run(&self, session: &mut Session) -> Done {
        if !self.watch {
            return self.show(session).await;
        }
        let mut signals = Signals::listen().map_err(Failure::work)?;
        let mut looks = tokio::time::interval(self.every.max(Duration::from_millis(100)));
        loop {
            tokio::select! {
                _ = looks.tick() => {
                    if session.out.is_terminal() && !self.json {
                        // Clears the screen, from its upper left.
                        session.out.write("\x1b[H\x1b[2J")?;
                    }
                    self.show(session).await?;
                }
                () = signals.next() => return Ok(()),
            }
        }
    }

    async fn show(&self, session: &mut Session) -> Done {
        let store = session.client.describe().await?;
        let (counts, workers) = (session.counts(&[]).await?, session.client.workers().await?);
        let waits = waits(session, &counts, store.now).await?;
        let address = session.client.store().address().to_owned();
        if self.json {
            return session.out.json(&json!({
                "store": { "address": address, "product": store.product, "version": store.version },
                "at": store.now.to_string(),
                "queues": queue_shapes(&counts, &waits),
                "workers": workers.iter().map(workers::shape).collect::<Vec<_>>(),
            }));
        }
        let (running, slots) = (sum(&workers, |it| it.running), sum(&workers, |it| it.concurrency));
        session.out.line(&format!("{} {} at {address}, {}", store.product, store.version, absolute(store.now)))?;
        session.out.write("\n")?;
        match counts.is_empty() {
            true => session.out.line("no queue ever held a task")?,
            false => {
                session.out.table(&queue_table(&counts, &waits), "")?;
                queue::tell_pauses(session, &counts).await?;
            }
        }
        session.out.write("\n")?;
        match workers.is_empty() {
            true => session.out.line("no worker is alive"),
            false => {
                let fleet = if workers.len() == 1 { "1 worker".into() } else { format!("{} workers", workers.len()) };
                session.out.line(&format!("{fleet}, {running} of {slots} slots busy"))?;
                session.out.table(&table(&workers, store.now), "")
            }
        }
    }
}

/// How long ago the task was enqueued that each queue hands out next; `None` where none is ready.
async fn waits(session: &Session, counts: &Counts, now: Timestamp) -> Done<Vec<Option<Duration>>> {
    let mut waits = Vec::new();
    for (queue, stats) in counts {
        let next = match stats.queued {
            0 => Vec::new(),
            _ => session.client.tasks(queue).status(TaskStatus::Queued).list(1).await?,
        };
        waits.push(next.first().map(|task| now.since(task.enqueued_at)));
    }
    Ok(waits)
}

fn queue_shapes(counts: &Counts, waits: &[Option<Duration>]) -> Vec<Value> {
    let shape = |((name, stats), wait): (&(QueueName, QueueStats), &Option<Duration>)| {
        let mut shape = queue::shape(name, stats);
        shape["next_waits_ms"] = wait.map(|wait| u64::try_from(wait.as_millis()).unwrap_or(u64::MAX)).into();
        shape
    };
    counts.iter().zip(waits).map(shape).collect()
}

fn queue_table(counts: &Counts, waits: &[Option<Duration>]) -> Table {
    let mut table = Table::new(&[
        word("queue"),
        number("ready"),
        number("next waits"),
        number("running"),
        number("delayed"),
        number("retrying"),
        number("dead-lettered"),
    ]);
    for ((queue, stats), wait) in counts.iter().zip(waits) {
        table.row([
            queue.into(),
            stats.queued.into(),
            wait.map(span).unwrap_or_default().into(),
            stats.running.into(),
            stats.pending.into(),
            stats.retrying.into(),
            queue::bad(stats.dead_lettered),
        ]);
    }
    table
}

fn sum(workers: &[WorkerInfo], number: impl Fn(&WorkerInfo) -> u32) -> u64 {
    workers.iter().map(|worker| u64::from(number(worker))).sum()
}

/// Workers in short.
fn table(workers: &[WorkerInfo], now: Timestamp) -> Table {
    let mut table = Table::new(&[word("worker"), word("running"), word("seen"), prose("queues")]);
    for worker in workers {
        let queues: Vec<_> = worker.queues.iter().map(QueueName::as_str).collect();
        table.row([
            (&worker.id).into(),
            format!("{} of {}", worker.running, worker.concurrency).into(),
            relative(worker.seen_at, now).into(),
            queues.join(", ").into(),
        ]);
    }
    table
}

//! `status`: one screen that tells how things are.

use std::time::Duration;

use clap::Args;
use serde_json::json;

use super::{queue, workers};
use crate::cli::failure::{Done, Failure};
use crate::cli::output::{Table, absolute, prose, relative, word};
use crate::cli::session::Session;
use crate::cli::signals::Signals;
use crate::types::WorkerInfo;

/// How to show it.
#[derive(Debug, Clone, Args)]
pub(in crate::cli) struct Status {
    /// Show it again and again, until Ctrl-C
    #[arg(long, short)]
    watch: bool,

    /// Time between two looks
    #[arg(long, value_name = "DURATION", default_value = "2s", value_parser = humantime::parse_duration, requires = "watch")]
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
        let address = session.client.store().address().to_owned();
        if self.json {
            return session.out.json(&json!({
                "store": { "address": address, "product": store.product, "version": store.version },
                "at": store.now.to_string(),
                "queues": counts.iter().map(|(name, stats)| queue::shape(name, stats)).collect::<Vec<_>>(),
                "workers": workers.iter().map(workers::shape).collect::<Vec<_>>(),
            }));
        }
        let (running, slots) = (sum(&workers, |it| it.running), sum(&workers, |it| it.concurrency));
        session.out.line(&format!("{} {} at {address}, {}", store.product, store.version, absolute(store.now)))?;
        session.out.write("\n")?;
        match counts.is_empty() {
            true => session.out.line("no queue ever held a task")?,
            false => session.out.table(&queue::table(&counts), "")?,
        }
        session.out.write("\n")?;
        match workers.is_empty() {
            true => session.out.line("no worker is alive"),
            false => {
                session.out.line(&format!("{} workers, {running} of {slots} slots busy", workers.len()))?;
                session.out.table(&table(&workers, store.now), "")
            }
        }
    }
}

fn sum(workers: &[WorkerInfo], number: impl Fn(&WorkerInfo) -> u32) -> u64 {
    workers.iter().map(|worker| u64::from(number(worker))).sum()
}

/// Workers in short.
fn table(workers: &[WorkerInfo], now: crate::types::Timestamp) -> Table {
    let mut table = Table::new(&[word("worker"), word("running"), word("seen"), prose("queues")]);
    for worker in workers {
        let queues: Vec<_> = worker.queues.iter().map(crate::types::QueueName::as_str).collect();
        table.row([
            (&worker.id).into(),
            format!("{} of {}", worker.running, worker.concurrency).into(),
            relative(worker.seen_at, now).into(),
            queues.join(", ").into(),
        ]);
    }
    table
}

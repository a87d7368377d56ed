//! `queue`: what is in the queues, and what holds them back.

mod limits;
mod steer;

use clap::{Args, Subcommand};
use serde_json::{Value, json};

use crate::cli::failure::Done;
use crate::cli::output::{Cell, Paint, Table, escape, instant, number, word};
use crate::cli::session::Session;
use crate::types::{By, Pause, QueueName, QueueStats, Status, Timestamp};

/// What to do with queues.
#[derive(Debug, Subcommand)]
pub(in crate::cli) enum QueueVerb {
    /// List all queues with what is in them
    List(List),
    /// Show every count of queues
    Stats(Stats),
    /// Let workers start nothing more of queues; what runs finishes
    Pause(steer::Pause),
    /// Let paused queues go on
    Resume(steer::Pause),
    /// Cancel what waits in a queue; asks
    Purge(steer::Purge),
    /// Show what holds a queue back, and change it
    Limits(limits::Limits),
}

/// How to list queues.
#[derive(Debug, Clone, Args)]
pub(in crate::cli) struct List {
    /// One JSON object a line
    #[arg(long)]
    json: bool,
}

/// Which queues to show.
#[derive(Debug, Clone, Args)]
pub(in crate::cli) struct Stats {
    /// Their names [default: all]
    #[arg(value_name = "QUEUE")]
    queues: Vec<QueueName>,

    /// One JSON object a line
    #[arg(long)]
    json: bool,
}

impl QueueVerb {
    /// True for what may be done before there is any task, and so before there is a store.
    pub(in crate::cli) fn steers(&self) -> bool {
        match self {
            Self::Pause(_) => true,
            Self::Limits(limits) => !limits.changes().is_empty(),
            _ => false,
        }
    }

    pub(super) async fn run(&self, session: &mut Session) -> Done {
        match self {
            Self::List(verb) => verb.run(session).await,
            Self::Stats(verb) => verb.run(session).await,
            Self::Pause(verb) => verb.run(session, true).await,
            Self::Resume(verb) => verb.run(session, false).await,
            Self::Purge(verb) => verb.run(session).await,
            Self::Limits(verb) => verb.run(session).await,
        }
    }
}

impl List {
    async fn run(&self, session: &mut Session) -> Done {
        let counts = session.counts(&[]).await?;
        if self.json {
            return counts.iter().try_for_each(|(queue, stats)| session.out.json(&shape(queue, stats)));
        }
        session.out.table(&table(&counts), "no queue ever held a task")?;
        tell_pauses(session, &counts).await
    }
}

/// A line for each paused queue: without it, its tasks seem to wait for no reason.
pub(super) async fn tell_pauses(session: &mut Session, counts: &[(QueueName, QueueStats)]) -> Done {
    let now = session.now().await?;
    for (queue, _) in counts {
        if let Some(pause) = session.client.limits_of(queue).await?.paused {
            session.out.line(&format!("{queue:?} is paused {}", since(&pause, now)))?;
        }
    }
    Ok(())
}

/// `since 2026-11-30 13:22:16Z (3m ago) by ann: the bank is down`.
fn since(pause: &Pause, now: Timestamp) -> String {
    let By { actor, reason } = &pause.by;
    let reason = if reason.is_empty() { String::new() } else { format!(": {}", escape(reason)) };
    format!("since {} by {}{reason}", instant(pause.since, now), escape(actor))
}

/// Queues by row.
fn table(counts: &[(QueueName, QueueStats)]) -> Table {
    let mut table = Table::new(&[
        word("queue"),
        number("ready"),
        number("running"),
        number("delayed"),
        number("retrying"),
        number("succeeded"),
        number("failed"),
        number("dead-lettered"),
    ]);
    for (queue, stats) in counts {
        table.row([
            queue.into(),
            stats.queued.into(),
            stats.running.into(),
            stats.pending.into(),
            stats.retrying.into(),
            stats.succeeded.into(),
            bad(stats.failed),
            bad(stats.dead_lettered),
        ]);
    }
    table
}

/// A count of what should not be.
pub(super) fn bad(count: u64) -> Cell {
    Cell::painted(count, if count > 0 { Paint::Bad } else { Paint::Plain })
}

impl Stats {
    async fn run(&self, session: &mut Session) -> Done {
        let counts = session.counts(&self.queues).await?;
        if self.json {
            return counts.iter().try_for_each(|(queue, stats)| session.out.json(&shape(queue, stats)));
        }
        for (place, (queue, stats)) in counts.iter().enumerate() {
            session.out.write(if place > 0 { "\n" } else { "" })?;
            let mut rows = vec![("queue", Cell::from(queue))];
            rows.extend(Status::ALL.map(|status| (status.as_str(), Cell::from(stats.of(status)))));
            rows.push(("retries", stats.retries.into()));
            session.out.sheet(&rows)?;
        }
        Ok(())
    }
}

/// A queue for programs: a count by each status, and of retries.
pub(super) fn shape(queue: &QueueName, stats: &QueueStats) -> Value {
    let mut shape = json!({ "queue": queue.as_str(), "retries": stats.retries });
    for status in Status::ALL {
        shape[status.as_str()] = stats.of(status).into();
    }
    shape
}

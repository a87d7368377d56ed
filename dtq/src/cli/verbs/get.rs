//! `get`: everything that is known of tasks.

use std::time::Duration;

use clap::{ArgGroup, Args};

use crate::cli::failure::{Done, Failure as Ended, exit};
use crate::cli::filter::duration;
use crate::cli::output::{Cell, Output, Paint, RecordShape, instant, note, relative, span};
use crate::cli::session::{Keyed, Session};
use crate::client::Handle;
use crate::types::{ErrorKind, Failure, Progress, Record, Requeued, Status, TaskId, Timestamp};

/// Which tasks to show.
#[derive(Debug, Clone, Args)]
#[command(group = ArgGroup::new("which").args(["ids", "key"]).required(true).multiple(true))]
pub(in crate::cli) struct Get {
    /// Their ids, as `enqueue` printed them: QUEUE:UUID
    #[arg(value_name = "ID")]
    ids: Vec<TaskId>,

    #[command(flatten)]
    keyed: Keyed,

    /// Wait up to this long for each of them to finish, such as 30s; then one that did not succeed means exit code 1
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    wait: Option<Duration>,

    /// One JSON object a line
    #[arg(long)]
    json: bool,
}

impl Get {
    pub(super) async fn run(&self, session: &mut Session) -> Done {
        let mut well = true;
        for (place, id) in session.ids(&self.ids, &self.keyed).await?.iter().enumerate() {
            if let Some(time) = self.wait {
                // How it ended, or that it did not, stands in its record.
                let handle: Handle<serde_json::Value> = session.client.handle(id.clone());
                let _ = handle.result(time).await;
            }
            let Some(record) = session.client.get(id).await? else {
                note(&format!("nothing is known of {id}: it never existed, or its retention is over"));
                well = false;
                continue;
            };
            well &= self.wait.is_none() || record.status == Status::Succeeded;
            match self.json {
                true => session.out.json(&RecordShape::from(&record))?,
                false => {
                    // Asked for after the wait: what came to pass in it is past.
                    let now = session.now().await?;
                    session.out.write(if place > 0 { "\n" } else { "" })?;
                    show(&mut session.out, &record, now)?;
                }
            }
        }
        if well { Ok(()) } else { Err(Ended::silent(exit::FAILURE)) }
    }
}

fn show(out: &mut Output, record: &Record, now: Timestamp) -> Done {
    let text = |bytes: &[u8]| Cell::from(String::from_utf8_lossy(bytes));
    let at = |at: Timestamp| Cell::from(instant(at, now));
    let asked = if record.cancel_requested { ", asked to stop" } else { "" };
    let mut rows = vec![
        ("id", (&record.id).into()),
        ("task", (&record.task).into()),
        ("status", Cell::painted(format!("{}{asked}", record.status), paint(record.status))),
        ("attempt", format!("{} of {}", record.attempt, record.policy.max_attempts).into()),
        ("priority", record.priority.into()),
        ("arguments", text(&record.payload)),
        ("enqueued", at(record.enqueued_at)),
    ];
    rows.extend(record.requeued.map(|life| ("requeued", requeued(life, now))));
    rows.extend(record.due_at.map(|due| ("due", at(due))));
    rows.extend(record.finished_at.map(|finished| ("finished", at(finished))));
    rows.extend(record.policy.timeout.map(|timeout| ("timeout", span(timeout).into())));
    rows.extend(record.policy.ttl.map(|ttl| ("expires", at(record.enqueued_at.plus(ttl)))));
    rows.extend(record.progress.as_ref().map(|told| ("progress", progress(told, now))));
    rows.extend(record.checkpoint.as_ref().map(|state| ("checkpoint", text(state))));
    rows.extend(record.result.as_ref().map(|result| ("result", text(result))));
    for attempt in &record.attempts {
        let time = span(attempt.ended_at.since(attempt.started_at));
        let line = format!("attempt {} ended {} after {time}", attempt.number, instant(attempt.ended_at, now));
        rows.push(("failed", Cell::painted(line, Paint::Bad)));
        rows.push(("  error", why(&attempt.failure)));
    }
    let told = record.log.iter().map(|line| format!("{} attempt {}: {}", line.at, line.attempt, line.text));
    rows.extend(told.map(|line| ("log", line.into())));
    out.sheet(&rows)
}

/// How often it was requeued: the attempts of its earlier lives stand among the failed ones.
fn requeued(life: Requeued, now: Timestamp) -> Cell {
    let times = if life.times == 1 { "once".to_owned() } else { format!("{} times", life.times) };
    format!("{times}, {}; {} attempts before", instant(life.at, now), life.attempts).into()
}

/// The kind goes without saying where it is the ordinary one: the row is named `error`.
fn why(failure: &Failure) -> Cell {
    match failure.kind {
        ErrorKind::Error => failure.message.as_str().into(),
        _ => failure.into(),
    }
}

fn progress(told: &Progress, now: Timestamp) -> Cell {
    let message = if told.message.is_empty() { String::new() } else { format!(" {}", told.message) };
    format!("{}{message} (attempt {}, {})", told.done, told.attempt, relative(told.at, now)).into()
}

/// The colour of a status.
pub(super) fn paint(status: Status) -> Paint {
    match status {
        Status::Succeeded => Paint::Good,
        Status::Running | Status::Retrying => Paint::Busy,
        Status::Failed | Status::DeadLettered | Status::Expired => Paint::Bad,
        Status::Pending | Status::Queued | Status::Cancelled => Paint::Plain,
    }
}

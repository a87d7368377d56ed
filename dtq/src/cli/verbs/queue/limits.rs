//! `queue limits`: shown, and changed.

use clap::Args;
use serde_json::{Value, json};

use crate::cli::failure::Done;
use crate::cli::output::{Cell, Paint, Table, instant, number, word};
use crate::cli::session::Session;
use crate::types::{Limit, LimitChanges, QueueLimits, QueueName, TaskLimit, Timestamp};

/// Which limits to show or to change.
#[derive(Debug, Clone, Args)]
pub(in crate::cli) struct Limits {
    /// The queue
    #[arg(value_name = "QUEUE")]
    queue: QueueName,

    /// Let it take so many ready and scheduled tasks; none for any number
    #[arg(long, value_name = "N|none", value_parser = limit)]
    depth: Option<Limit>,

    /// Let so many of its tasks run at once, on all workers together; none for any number
    #[arg(long, value_name = "N|none", value_parser = limit)]
    concurrency: Option<Limit>,

    /// Let so many tasks of this name run at once; `declared` for what its workers declare; may be given more than once
    #[arg(long, value_name = "NAME=N|none|declared", value_parser = task_limit)]
    task: Vec<(String, Option<Limit>)>,

    /// Why: kept in the audit log
    #[arg(long, value_name = "TEXT", default_value = "")]
    reason: String,

    /// Answer with a JSON object
    #[arg(long)]
    json: bool,
}

fn limit(text: &str) -> Result<Limit, String> {
    match text {
        "none" => Ok(Limit::Unlimited),
        number => number.parse().map(Limit::AtMost).map_err(|_| "write a whole number, or none".into()),
    }
}

fn task_limit(text: &str) -> Result<(String, Option<Limit>), String> {
    let (name, bound) = text.split_once('=').ok_or("write NAME=N, NAME=none or NAME=declared")?;
    let bound = if bound == "declared" { None } else { Some(limit(bound)?) };
    Ok((name.to_owned(), bound))
}

impl Limits {
    /// Changes what is named, and shows what holds then.
    pub(super) async fn run(&self, session: &mut Session) -> Done {
        let changes = self.changes();
        session.doubt(std::slice::from_ref(&self.queue)).await?;
        for (name, _) in &self.task {
            session.doubt_task(name).await?;
        }
        if !changes.is_empty() {
            session.acting().set_limits(&self.queue, changes, &*self.reason).await?;
        }
        let limits = session.client.limits_of(&self.queue).await?;
        match self.json {
            true => session.out.json(&shape(&self.queue, &limits)),
            false => {
                let now = session.now().await?;
                show(session, &self.queue, &limits, now)
            }
        }
    }

    pub(in crate::cli) fn changes(&self) -> LimitChanges {
        let mut changes = LimitChanges::new();
        changes = match self.depth {
            Some(Limit::AtMost(most)) => changes.depth(most),
            Some(Limit::Unlimited) => changes.no_depth(),
            None => changes,
        };
        changes = match self.concurrency {
            Some(Limit::AtMost(most)) => changes.concurrency(most),
            Some(Limit::Unlimited) => changes.no_concurrency(),
            None => changes,
        };
        self.task.iter().fold(changes, |changes, (name, limit)| match limit {
            Some(Limit::AtMost(most)) => changes.task(name, *most),
            Some(Limit::Unlimited) => changes.no_task(name),
            None => changes.task_as_declared(name),
        })
    }
}

fn show(session: &mut Session, queue: &QueueName, limits: &QueueLimits, now: Timestamp) -> Done {
    let bound = |bound: Option<u32>| bound.map_or_else(|| "no limit".to_owned(), |bound| bound.to_string());
    let paused = match &limits.paused {
        None => Cell::from("no"),
        Some(pause) => {
            let words = format!("since {} by {}: {}", instant(pause.since, now), pause.by.actor, pause.by.reason);
            Cell::painted(words, Paint::Busy)
        }
    };
    session.out.sheet(&[
        ("queue", queue.into()),
        ("paused", paused),
        ("depth", format!("{} of {}", limits.depth, bound(limits.max_depth)).into()),
        ("running", format!("{} of {}", limits.running, bound(limits.concurrency)).into()),
    ])?;
    if limits.tasks.is_empty() {
        return Ok(());
    }
    let headings =
        [word("task"), number("running"), number("limit"), number("declared"), number("set"), number("held back")];
    let mut table = Table::new(&headings);
    for task in &limits.tasks {
        table.row([
            (&task.task).into(),
            task.running.into(),
            task.limit().into(),
            task.declared.map(|bound| bound.to_string()).unwrap_or_default().into(),
            task.set.map(|bound| bound.to_string()).unwrap_or_default().into(),
            task.held_back.into(),
        ]);
    }
    session.out.write("\n")?;
    session.out.table(&table, "")
}

/// What holds a queue back, for programs; `null` is no limit.
pub(super) fn shape(queue: &QueueName, limits: &QueueLimits) -> Value {
    let paused = limits
        .paused
        .as_ref()
        .map(|pause| json!({ "since": pause.since.to_string(), "actor": pause.by.actor, "reason": pause.by.reason }));
    let task = |task: &TaskLimit| {
        json!({
            "task": task.task,
            "running": task.running,
            "limit": task.limit().bound(),
            "declared": task.declared,
            "set": task.set.map(|set| set.bound().map_or(Value::from("none"), Value::from)),
            "held_back": task.held_back,
        })
    };
    json!({
        "queue": queue.as_str(),
        "paused": paused,
        "depth": limits.depth,
        "max_depth": limits.max_depth,
        "running": limits.running,
        "concurrency": limits.concurrency,
        "tasks": limits.tasks.iter().map(task).collect::<Vec<_>>(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_numbers_or_words() {
        assert_eq!(limit("7"), Ok(Limit::AtMost(7)));
        assert_eq!(limit("none"), Ok(Limit::Unlimited));
        assert_eq!(task_limit("charge=declared"), Ok(("charge".into(), None)));
        assert_eq!(task_limit("billing:charge=0"), Ok(("billing:charge".into(), Some(Limit::AtMost(0)))));
        assert!(limit("-1").is_err() && limit("many").is_err() && task_limit("charge").is_err());
    }
}

//! `tasks`: what is registered.

use std::time::Duration;

use clap::Args;
use serde_json::json;

use crate::cli::failure::Done;
use crate::cli::output::{Output, Table, number, prose, word};
use crate::registry::Registry;
use crate::task::TaskDef;
use crate::types::Backoff;

/// What to list.
#[derive(Debug, Clone, Args)]
pub(in crate::cli) struct Tasks {
    /// One JSON object a line
    #[arg(long)]
    json: bool,

    /// Run set-up first, to find what it registers by hand (done anyway when nothing else is found)
    #[arg(long)]
    pub(in crate::cli) set_up: bool,
}

impl Tasks {
    pub(in crate::cli) fn list(&self, registry: &Registry, out: &mut Output) -> Done {
        if self.json {
            return registry.iter().try_for_each(|task| out.json(&as_json(&task.def)));
        }
        let headings = [
            word("task"),
            word("queue"),
            number("prio"),
            number("attempts"),
            word("backoff"),
            word("arguments"),
            prose("more"),
        ];
        let mut table = Table::new(&headings);
        for def in registry.iter().map(|task| &task.def) {
            table.row([
                def.name.into(),
                def.queue.into(),
                def.priority.into(),
                def.max_attempts.into(),
                backoff(&def.backoff).into(),
                def.arguments.join(", ").into(),
                details(def).into(),
            ]);
        }
        out.table(&table, "no task is registered")
    }
}

fn as_json(def: &TaskDef) -> serde_json::Value {
    let millis = |duration: Duration| u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
    json!({
        "name": def.name,
        "aliases": def.aliases,
        "queue": def.queue,
        "priority": def.priority,
        "max_attempts": def.max_attempts,
        "timeout_ms": def.timeout.map(millis),
        "retention_ms": millis(def.retention),
        "ttl_ms": def.ttl.map(millis),
        "dead_letter": def.dead_letter,
        "concurrency": def.concurrency,
        "backoff": backoff(&def.backoff),
        "idempotency_key": def.idempotency_key,
        "unique": def.unique,
        "blocking": def.blocking,
        "arguments": def.arguments,
        "schedule": schedule(def),
        "module": def.module,
        "file": def.file,
        "line": def.line,
    })
}

/// Its schedule, other names, limit and keys.
fn details(def: &TaskDef) -> String {
    let aliases = (!def.aliases.is_empty()).then(|| format!("alias {}", def.aliases.join(", ")));
    let limit = def.concurrency.map(|most| format!("{most} at once"));
    let unique = def.unique.map(|key| format!("unique {key:?}"));
    let key = def.idempotency_key.map(|key| format!("idempotency key {key:?}"));
    [schedule(def), aliases, limit, unique, key].into_iter().flatten().collect::<Vec<_>>().join("; ")
}

/// Its schedule in plain words.
fn schedule(def: &TaskDef) -> Option<String> {
    Some(def.schedule?.timetable().ok()?.to_string())
}

fn backoff(backoff: &Backoff) -> String {
    let show = humantime::format_duration;
    match backoff {
        Backoff::Exponential { base, factor, cap, jitter } => {
            format!("exponential {} x{factor} to {} ±{:.0}%", show(*base), show(*cap), jitter * 100.0)
        }
        Backoff::Linear { step, cap } => format!("linear {} to {}", show(*step), show(*cap)),
        Backoff::Fixed(delay) => format!("fixed {}", show(*delay)),
        Backoff::Custom(_) => "own function".into(),
    }
}

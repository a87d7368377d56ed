//! `tasks`: what is registered.

use std::process::ExitCode;
use std::time::Duration;

use serde_json::json;

use super::{Failure, print};
use crate::registry::Registry;
use crate::task::TaskDef;
use crate::types::Backoff;

pub(super) fn list(registry: &Registry, json: bool) -> Result<ExitCode, Failure> {
    let mut text = String::new();
    if !json {
        text.push_str(&format!(
            "{:<28} {:<14} {:>4} {:>8} {:<34} arguments [aliases]\n",
            "task", "queue", "prio", "attempts", "backoff"
        ));
    }
    for task in registry.iter() {
        text.push_str(&if json { as_json(&task.def) } else { as_row(&task.def) });
        text.push('\n');
    }
    print(&text)?;
    Ok(ExitCode::SUCCESS)
}

fn as_row(def: &TaskDef) -> String {
    let aliases = match def.aliases {
        [] => String::new(),
        aliases => format!(" [alias {}]", aliases.join(", ")),
    };
    format!(
        "{:<28} {:<14} {:>4} {:>8} {:<34} {}{aliases}{}",
        def.name,
        def.queue,
        def.priority,
        def.max_attempts,
        backoff(&def.backoff),
        def.arguments.join(", "),
        schedule(def).map(|words| format!(" ({words})")).unwrap_or_default()
    )
}

fn as_json(def: &TaskDef) -> String {
    let millis = |duration: Duration| u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
    json!({
        "name": def.name,
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
        "aliases": def.aliases,
        "blocking": def.blocking,
        "arguments": def.arguments,
        "schedule": schedule(def),
        "module": def.module,
        "file": def.file,
        "line": def.line,
    })
    .to_string()
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

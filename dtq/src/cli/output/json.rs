//! What `--json` gives: exact content, one object a line.

use serde::Serialize;
use serde_json::value::RawValue;

use crate::types::{Attempt, LogLine, Progress, Record, TaskId};

/// Stored JSON as it is, to the digit; what is no JSON as a string.
pub(in crate::cli) fn raw(bytes: &[u8]) -> Box<RawValue> {
    let text = String::from_utf8_lossy(bytes);
    // Outside of strings, where JSON allows no line break, these are blanks: an object stays on its line.
    RawValue::from_string(text.replace(['\n', '\r'], " ")).unwrap_or_else(|_| quoted(&text))
}

fn quoted(text: &str) -> Box<RawValue> {
    serde_json::value::to_raw_value(text).unwrap_or_else(|_| RawValue::NULL.to_owned())
}

/// A task's record.
#[derive(Debug, Serialize)]
pub(in crate::cli) struct RecordShape<'a> {
    id: &'a TaskId,
    task: &'a str,
    queue: &'a str,
    status: &'static str,
    attempt: u32,
    max_attempts: u32,
    priority: u8,
    payload: Box<RawValue>,
    result: Option<Box<RawValue>>,
    enqueued_at: String,
    due_at: Option<String>,
    finished_at: Option<String>,
    cancel_requested: bool,
    timeout_ms: Option<u64>,
    ttl_ms: Option<u64>,
    retention_ms: u64,
    dead_letter: bool,
    progress: Option<ProgressShape<'a>>,
    checkpoint: Option<Box<RawValue>>,
    attempts: Vec<AttemptShape<'a>>,
    log: Vec<LineShape<'a>>,
}

#[derive(Debug, Serialize)]
struct ProgressShape<'a> {
    done: f64,
    message: &'a str,
    attempt: u32,
    at: String,
}

#[derive(Debug, Serialize)]
struct LineShape<'a> {
    at: String,
    attempt: u32,
    text: &'a str,
}

#[derive(Debug, Serialize)]
struct AttemptShape<'a> {
    attempt: u32,
    started_at: String,
    ended_at: String,
    kind: &'static str,
    message: &'a str,
}

impl<'a> From<&'a Record> for RecordShape<'a> {
    fn from(record: &'a Record) -> Self {
        let millis = |time: std::time::Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        Self {
            id: &record.id,
            task: &record.task,
            queue: record.id.queue().as_str(),
            status: record.status.as_str(),
            attempt: record.attempt,
            max_attempts: record.policy.max_attempts,
            priority: record.priority.level(),
            payload: raw(&record.payload),
            result: record.result.as_deref().map(raw),
            enqueued_at: record.enqueued_at.to_string(),
            due_at: record.due_at.map(|at| at.to_string()),
            finished_at: record.finished_at.map(|at| at.to_string()),
            cancel_requested: record.cancel_requested,
            timeout_ms: record.policy.timeout.map(millis),
            ttl_ms: record.policy.ttl.map(millis),
            retention_ms: millis(record.policy.retention),
            dead_letter: record.policy.dead_letter,
            progress: record.progress.as_ref().map(ProgressShape::from),
            checkpoint: record.checkpoint.as_deref().map(raw),
            attempts: record.attempts.iter().map(AttemptShape::from).collect(),
            log: record.log.iter().map(LineShape::from).collect(),
        }
    }
}

impl<'a> From<&'a Attempt> for AttemptShape<'a> {
    fn from(attempt: &'a Attempt) -> Self {
        Self {
            attempt: attempt.number,
            started_at: attempt.started_at.to_string(),
            ended_at: attempt.ended_at.to_string(),
            kind: attempt.failure.kind.as_str(),
            message: &attempt.failure.message,
        }
    }
}

impl<'a> From<&'a Progress> for ProgressShape<'a> {
    fn from(told: &'a Progress) -> Self {
        Self { done: told.done.fraction(), message: &told.message, attempt: told.attempt, at: told.at.to_string() }
    }
}

impl<'a> From<&'a LogLine> for LineShape<'a> {
    fn from(line: &'a LogLine) -> Self {
        Self { at: line.at.to_string(), attempt: line.attempt, text: &line.text }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stored_json_stays_exact_and_on_one_line() {
        for (stored, shown) in [
            (r#"{"n":340282366920938463463374607431768211455}"#, r#"{"n":340282366920938463463374607431768211455}"#),
            (r#"{"n":1e-320,"z":-0.0,"e":[]}"#, r#"{"n":1e-320,"z":-0.0,"e":[]}"#),
            ("{\n \"a\":\r\n 1}", "{  \"a\":   1}"),
            ("no json\n\u{1b}", r#""no json\n\u001b""#),
            ("", r#""""#),
        ] {
            assert_eq!(raw(stored.as_bytes()).get(), shown);
        }
    }
}

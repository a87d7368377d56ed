//! What holds a queue back: pauses and limits; and dropping what waits in it.

use redis::Value;

use super::RedisStore;
use super::enqueue::list_queue;
use super::inspect;
use super::link::Link;
use super::record;
use super::reply;
use super::scripts::SCRIPTS;
use crate::store::{LimitsDeclaration, LimitsRequest, PauseRequest, Purge, Purged, Result};
use crate::types::{By, ErrorKind, Failure, Limit, Pause, QueueLimits, QueueName, TaskLimit, Timestamp};

pub(super) async fn pause(store: &RedisStore, request: &PauseRequest) -> Result<bool> {
    const OPERATION: &str = "pause";
    list_queue(store, &request.queue).await?;
    let script = &SCRIPTS.pause;
    let mut call = Link::call(script, &store.keys.root(&request.queue));
    call.arg(u8::from(request.pause)).arg(&request.by.actor).arg(&request.by.reason).arg(request.queue.as_str());
    let answer = store.link.eval(OPERATION, script, &call).await?;
    let changed = reply::int(&answer).ok_or_else(|| store.link.corrupt(OPERATION, UNEXPECTED))?;
    Ok(changed == 1)
}

const UNEXPECTED: &str = "an unexpected answer of its script";

pub(super) async fn set_limits(store: &RedisStore, request: &LimitsRequest) -> Result<()> {
    list_queue(store, &request.queue).await?;
    let changes = &request.changes;
    let queue = [("depth", changes.depth), ("concurrency", changes.concurrency)];
    let queue = queue.into_iter().filter_map(|(field, limit)| {
        let value = limit?.bound().map_or(String::new(), |bound| bound.to_string());
        Some((field.to_owned(), value))
    });
    let tasks = changes.tasks.iter().map(|(task, limit)| {
        let value = match limit {
            Some(Limit::AtMost(bound)) => bound.to_string(),
            Some(Limit::Unlimited) => "-".to_owned(),
            None => String::new(),
        };
        (format!("s:{task}"), value)
    });
    change(store, &request.queue, Some((&changes.to_string(), &request.by)), queue.chain(tasks)).await
}

pub(super) async fn declare_limits(store: &RedisStore, declaration: &LimitsDeclaration) -> Result<()> {
    let fields = declaration.tasks.iter().map(|(task, limit)| {
        let value = limit.map_or(String::new(), |limit| limit.to_string());
        (format!("d:{task}"), value)
    });
    change(store, &declaration.queue, None, fields).await
}

/// Gives fields of the hash of limits new values.
async fn change(
    store: &RedisStore,
    queue: &QueueName,
    audit: Option<(&str, &By)>,
    fields: impl Iterator<Item = (String, String)>,
) -> Result<()> {
    let script = &SCRIPTS.limit;
    let mut call = Link::call(script, &store.keys.root(queue));
    match audit {
        Some((words, by)) => call.arg(words).arg(&by.actor).arg(&by.reason),
        None => call.arg("").arg("").arg(""),
    };
    for (field, value) in fields {
        call.arg(field).arg(value);
    }
    store.link.eval("set_limits", script, &call).await.map(drop)
}

pub(super) async fn limits(store: &RedisStore, queue: &QueueName) -> Result<QueueLimits> {
    const OPERATION: &str = "limits";
    let script = &SCRIPTS.limits;
    let answer = store.link.eval(OPERATION, script, &Link::call(script, &store.keys.root(queue))).await?;
    let detail = || format!("the limits of {queue:?} cannot be read");
    let mut limits = read(answer).ok_or_else(|| store.link.corrupt(OPERATION, detail()))?;
    let stats = inspect::stats(store, queue).await?;
    limits.depth = stats.pending + stats.queued + stats.retrying;
    limits.running = stats.running;
    Ok(limits)
}

fn read(answer: Value) -> Option<QueueLimits> {
    let mut parts = reply::list(answer)?.into_iter();
    let (mut fields, mut kinds) = (reply::list(parts.next()?)?.into_iter(), reply::list(parts.next()?)?.into_iter());
    let mut limits = QueueLimits::default();
    while let (Some(task), Some(running), Some(held_back)) = (kinds.next(), kinds.next(), kinds.next()) {
        let count = |value| reply::int(&value).and_then(|count| u64::try_from(count).ok());
        let (running, held_back) = (count(running)?, count(held_back)?);
        limits.tasks.push(TaskLimit { task: reply::text(task)?, declared: None, set: None, running, held_back });
    }
    while let (Some(name), Some(value)) = (fields.next(), fields.next()) {
        let (name, value) = (reply::text(name)?, reply::text(value)?);
        match name.split_once(':') {
            Some((whose, task)) => {
                let limit = limits.tasks.iter_mut().find(|limit| limit.task == task)?;
                match whose {
                    "d" => limit.declared = Some(value.parse().ok()?),
                    _ if value == "-" => limit.set = Some(Limit::Unlimited),
                    _ => limit.set = Some(Limit::AtMost(value.parse().ok()?)),
                }
            }
            None if name == "paused" => limits.paused = Some(read_pause(&value)?),
            None if name == "depth" => limits.max_depth = Some(value.parse().ok()?),
            None if name == "concurrency" => limits.concurrency = Some(value.parse().ok()?),
            None => {}
        }
    }
    limits.tasks.sort_by(|a, b| a.task.cmp(&b.task));
    Some(limits)
}

/// Reads `<ms> <length of the actor>:<actor><reason>`.
fn read_pause(text: &str) -> Option<Pause> {
    let (since, rest) = text.split_once(' ')?;
    let (length, rest) = rest.split_once(':')?;
    let (actor, reason) = rest.split_at_checked(length.parse().ok()?)?;
    let by = By { actor: actor.to_owned(), reason: reason.to_owned() };
    Some(Pause { since: Timestamp::from_millis(since.parse().ok()?), by })
}

pub(super) async fn purge(store: &RedisStore, purge: &Purge) -> Result<Purged> {
    const OPERATION: &str = "purge";
    let script = &SCRIPTS.purge;
    // The reason becomes a line of each history, so it is bounded like any other failure's.
    let reason = Failure::new(ErrorKind::Cancelled, purge.by.reason.as_str()).message;
    let mut call = Link::call(script, &store.keys.root(&purge.queue));
    call.arg(store.link.options().event_log)
        .arg(purge.task.as_deref().unwrap_or_default())
        .arg(u8::from(purge.stop_running))
        .arg(u8::from(purge.dry_run))
        .arg(record::escape(&reason))
        .arg(purge.after.as_deref().unwrap_or_default())
        .arg(purge.target())
        .arg(&purge.by.actor)
        .arg(&purge.by.reason)
        .arg(purge.run.to_string());
    let answer = store.link.eval(OPERATION, script, &call).await?;
    read_purged(answer).ok_or_else(|| store.link.corrupt(OPERATION, UNEXPECTED))
}

fn read_purged(answer: Value) -> Option<Purged> {
    let mut parts = reply::list(answer)?.into_iter();
    let mut count = || u64::try_from(reply::int(&parts.next()?)?).ok();
    let (dropped, stopping) = (count()?, count()?);
    let next = match parts.next() {
        None | Some(Value::Nil) => None,
        Some(place) => Some(reply::text(place)?),
    };
    Some(Purged { dropped, stopping, next })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_survives_whoever_asked_for_it() {
        let text = "1796025140123 6:é: 9:why\nnot";
        let pause = read_pause(text).unwrap();
        assert_eq!((pause.by.actor.as_str(), pause.by.reason.as_str()), ("é: 9:", "why\nnot"));
        assert_eq!(pause.since, Timestamp::from_millis(1_796_025_140_123));
        for broken in ["", "5", "5 9:short", "5 1:é", "x 0:"] {
            assert!(read_pause(broken).is_none(), "{broken:?}");
        }
    }
}

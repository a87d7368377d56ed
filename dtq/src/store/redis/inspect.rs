//! Reading: tasks, dead letters, counts, queues.

use bytes::Bytes;
use redis::Value;

use super::RedisStore;
use super::link::Link;
use super::notes;
use super::record::{self, Envelope};
use super::reply;
use super::scripts::SCRIPTS;
use crate::store::{DeadLetterQuery, Result};
use crate::types::{DeadLetter, Policy, QueueName, QueueStats, Record, TaskId};

pub(super) async fn get(store: &RedisStore, id: &TaskId) -> Result<Option<Record>> {
    const OPERATION: &str = "get";
    let script = &SCRIPTS.get;
    let mut call = Link::call(script, &store.keys.root(id.queue()));
    call.arg(id.uuid().to_string());
    let answer = store.link.eval(OPERATION, script, &call).await?;
    if matches!(answer, Value::Nil) {
        return Ok(None);
    }
    let detail = || format!("the record of {id} cannot be read, or its stream entry is gone");
    read_record(id, answer).map(Some).ok_or_else(|| store.link.corrupt(OPERATION, detail()))
}

pub(super) async fn find_by_key(store: &RedisStore, queue: &QueueName, key: &str) -> Result<Option<TaskId>> {
    const OPERATION: &str = "find_by_key";
    let script = &SCRIPTS.find_by_key;
    let mut call = Link::call(script, &store.keys.root(queue));
    call.arg(key);
    let answer = store.link.eval(OPERATION, script, &call).await?;
    if matches!(answer, Value::Nil) {
        return Ok(None);
    }
    let uuid = reply::text(answer).and_then(|uuid| uuid.parse().ok());
    let detail = || format!("what is stored of the idempotency key {key:?} cannot be read");
    uuid.map(|uuid| Some(TaskId::new(queue.clone(), uuid))).ok_or_else(|| store.link.corrupt(OPERATION, detail()))
}

fn read_record(id: &TaskId, answer: Value) -> Option<Record> {
    let mut values = reply::list(answer)?.into_iter();
    let raw = reply::bytes(values.next()?)?;
    let running = reply::int(&values.next()?)? == 1;
    let result = values.next().and_then(reply::bytes);
    let mut next = || values.next().and_then(reply::bytes);
    let entry = Envelope { task: next(), meta: next(), payload: next() };
    let record = record::read(id, &raw, running, entry, result)?;
    match (values.next(), values.next()) {
        (Some(notes), Some(log)) => notes::read_into(record, notes, log),
        _ => Some(record),
    }
}

pub(super) async fn dead_letters(store: &RedisStore, query: &DeadLetterQuery) -> Result<Vec<DeadLetter>> {
    const OPERATION: &str = "dead_letters";
    let oldest = oldest_dead_letter(store).await?;
    let from = match query.after.as_deref() {
        // What is older than a dead letter is kept may still be there until the next one trims the list.
        Some(position) if time_of(position).is_some_and(|time| time >= oldest) => format!("({position}"),
        Some(position) if time_of(position).is_some() => oldest.to_string(),
        None => oldest.to_string(),
        Some(position) => {
            return Err(store.link.corrupt(OPERATION, format!("{position:?} is not a position of this list")));
        }
    };
    let mut command = redis::cmd("XRANGE");
    command
        .arg(store.keys.dlq(&query.queue))
        .arg(from)
        .arg("+")
        .arg("COUNT")
        .arg(i64::try_from(query.limit).unwrap_or(i64::MAX));
    let answer = store.link.run(OPERATION, &command).await?;
    reply::list_or_nil(answer)
        .and_then(|entries| entries.into_iter().map(|entry| dead_letter(&query.queue, entry)).collect())
        .ok_or_else(|| store.link.corrupt(OPERATION, format!("the dead letters of {:?} cannot be read", query.queue)))
}

async fn oldest_dead_letter(store: &RedisStore) -> Result<u64> {
    const OPERATION: &str = "dead_letters";
    let answer = store.link.run(OPERATION, &redis::cmd("TIME")).await?;
    let seconds = reply::list(answer).and_then(|parts| reply::text(parts.into_iter().next()?)?.parse::<u64>().ok());
    let now = seconds.ok_or_else(|| store.link.corrupt(OPERATION, "an unexpected answer to TIME"))?;
    Ok(now.saturating_sub(Policy::DEAD_LETTER_RETENTION.as_secs()) * 1000)
}

/// The time part of an entry id; `None` when it is none.
fn time_of(id: &str) -> Option<u64> {
    let (time, sequence) = id.split_once('-')?;
    sequence.parse::<u64>().ok()?;
    time.parse().ok()
}

fn dead_letter(queue: &QueueName, entry: Value) -> Option<DeadLetter> {
    let (position, fields) = reply::entry(entry)?;
    let uuid = reply::field(&fields, "i")?.parse().ok()?;
    let last = record::read_line(&reply::field(&fields, "h")?)?;
    Some(DeadLetter {
        at: last.ended_at,
        position,
        id: TaskId::new(queue.clone(), uuid),
        task: reply::field(&fields, "t")?,
        attempt: last.number,
        failure: last.failure,
    })
}

pub(super) async fn stats(store: &RedisStore, queue: &QueueName) -> Result<QueueStats> {
    const OPERATION: &str = "stats";
    const NAMES: [&str; 8] =
        ["pending", "retrying", "succeeded", "failed", "dead_lettered", "cancelled", "expired", "retries"];
    let script = &SCRIPTS.stats;
    let mut call = Link::call(script, &store.keys.root(queue));
    call.arg(&NAMES);
    let answer = store.link.eval(OPERATION, script, &call).await?;
    let counts = reply::list(answer).and_then(|values| {
        // A gauge that somebody's hand made negative reads as zero.
        let number = |value| reply::int(value).map(|number| u64::try_from(number).unwrap_or(0));
        <[u64; 10]>::try_from(values.iter().map(number).collect::<Option<Vec<u64>>>()?).ok()
    });
    let [entries, running, pending, retrying, succeeded, failed, dead_lettered, cancelled, expired, retries] =
        counts.ok_or_else(|| store.link.corrupt(OPERATION, format!("the counts of {queue:?} cannot be read")))?;
    let queued = entries.saturating_sub(running);
    Ok(QueueStats { pending, queued, running, retrying, succeeded, failed, dead_lettered, cancelled, expired, retries })
}

pub(super) async fn queues(store: &RedisStore) -> Result<Vec<QueueName>> {
    const OPERATION: &str = "queues";
    let mut command = redis::cmd("SMEMBERS");
    command.arg(store.keys.queues());
    let answer = store.link.run(OPERATION, &command).await?;
    let name = |value: Value| QueueName::new(std::str::from_utf8(&reply::bytes(value)? as &Bytes).ok()?).ok();
    let names: Option<Vec<QueueName>> = reply::list(answer).and_then(|names| names.into_iter().map(name).collect());
    let mut names = names.ok_or_else(|| store.link.corrupt(OPERATION, "the list of queues cannot be read"))?;
    names.sort();
    Ok(names)
}

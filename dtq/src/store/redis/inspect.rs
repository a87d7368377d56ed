//! Reading: a task, counts, queues.

use bytes::Bytes;
use redis::Value;

use super::RedisStore;
use super::link::Link;
use super::notes;
use super::record::{self, Envelope};
use super::reply;
use super::scripts::SCRIPTS;
use crate::store::Result;
use crate::types::{QueueName, QueueStats, Record, TaskId};

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

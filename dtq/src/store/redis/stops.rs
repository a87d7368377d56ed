//! Hearing of running tasks that were asked to stop.
//!
//! Each queue has a short log of them. Reading on from a known place misses nothing that is still in the log, and one
//! command blocks for as long as nothing comes: a worker that runs nothing asks for nothing.

use std::collections::BTreeMap;
use std::time::Duration;

use redis::Value;

use super::RedisStore;
use super::reply;
use crate::store::{Result, StopQuery, Stops};
use crate::types::{QueueName, TaskId};

const OPERATION: &str = "stops";
/// Entries that a log keeps.
pub(super) const STOPS_KEPT: usize = 1024;
/// How long a log is kept after its latest entry: for readers that were cut off for a while.
pub(super) const STOPS_KEEP: Duration = Duration::from_secs(3600);

pub(super) async fn stops(store: &RedisStore, query: &StopQuery) -> Result<Stops> {
    let mut places = read_places(query.after.as_deref().unwrap_or_default());
    let mut command = redis::cmd("XREAD");
    if !query.wait.is_zero() {
        // At zero it would block for ever.
        command.arg("BLOCK").arg(u64::try_from(query.wait.as_millis()).unwrap_or(u64::MAX).max(1));
    }
    command.arg("STREAMS");
    for queue in &query.queues {
        command.arg(store.keys.stops(queue));
    }
    for queue in &query.queues {
        command.arg(places.get(queue.as_str()).map_or("0", String::as_str));
    }
    let answer = store.link.run_aside(OPERATION, &command, query.wait).await?;
    let read = read(store, &query.queues, answer, &mut places);
    let (tasks, incomplete) = read.ok_or_else(|| store.link.corrupt(OPERATION, "a log of stops cannot be read"))?;
    Ok(Stops { tasks, incomplete, next: Some(write_places(&places)) })
}

/// Where to read on, by queue: `name=id;name=id`.
fn read_places(cursor: &str) -> BTreeMap<String, String> {
    let words = cursor.split(';').filter_map(|word| word.split_once('='));
    words.map(|(name, id)| (name.to_owned(), id.to_owned())).collect()
}

fn write_places(places: &BTreeMap<String, String>) -> String {
    places.iter().map(|(name, id)| format!("{name}={id}")).collect::<Vec<_>>().join(";")
}

fn read(
    store: &RedisStore,
    queues: &[QueueName],
    answer: Value,
    places: &mut BTreeMap<String, String>,
) -> Option<(Vec<TaskId>, bool)> {
    let (mut tasks, mut incomplete) = (Vec::new(), false);
    for log in reply::list_or_nil(answer)? {
        let mut log = reply::list(log)?.into_iter();
        let key = reply::text(log.next()?)?;
        let queue = queues.iter().find(|queue| store.keys.stops(queue) == key)?;
        let entries = reply::list(log.next()?)?;
        // As many as the log keeps: there may have been more.
        incomplete |= entries.len() >= STOPS_KEPT;
        for entry in entries {
            let (id, fields) = reply::entry(entry)?;
            tasks.push(TaskId::new(queue.clone(), reply::field(&fields, "i")?.parse().ok()?));
            places.insert(queue.to_string(), id);
        }
    }
    Some((tasks, incomplete))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_survive() {
        let places = read_places("a=1-2;b=3-4");
        assert_eq!(places.len(), 2);
        assert_eq!(write_places(&places), "a=1-2;b=3-4");
        assert!(read_places("").is_empty());
    }
}

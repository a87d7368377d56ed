//! Reading the event logs.

use std::collections::BTreeMap;
use std::time::Duration;

use bytes::Bytes;
use redis::Value;
use uuid::Uuid;

use super::RedisStore;
use super::record;
use super::reply;
use crate::store::{EventQuery, Result};
use crate::types::{Event, EventCursor, EventKind, EventPage, QueueName, TaskId, Timestamp, WorkerId};

const OPERATION: &str = "events";
/// Entries read from one log at a time: each may hold the events of a whole batch.
const PAGE: usize = 256;
/// The fleet's place in a cursor.
const FLEET: &str = "@";

pub(super) async fn events(store: &RedisStore, query: &EventQuery) -> Result<EventPage> {
    let mut cursor = Cursor::read(&query.after)
        .ok_or_else(|| store.link.corrupt(OPERATION, format!("{:?} is not an event cursor", query.after.as_str())))?;
    let logs = logs(store, &query.queues);
    resolve_end(store, &logs, &mut cursor).await?;
    let page = page(store, query, &logs, cursor.clone()).await?;
    if !page.events.is_empty() || query.wait.is_zero() {
        return Ok(page);
    }
    block(store, &logs, &cursor, query.wait).await?;
    self::page(store, query, &logs, cursor).await
}

/// One log: of a queue, or the fleet's.
struct Log {
    queue: Option<QueueName>,
    key: String,
}

impl Log {
    fn name(&self) -> &str {
        self.queue.as_ref().map_or(FLEET, QueueName::as_str)
    }
}

fn logs(store: &RedisStore, queues: &[QueueName]) -> Vec<Log> {
    let mut logs = vec![Log { queue: None, key: store.keys.fleet_events() }];
    for queue in queues {
        if !logs.iter().any(|log| log.queue.as_ref() == Some(queue)) {
            logs.push(Log { queue: Some(queue.clone()), key: store.keys.events(queue) });
        }
    }
    logs
}

/// Where to read on in each log: `name=id;name=id`, with a `$` among them when a log that is not named is read from its
/// end instead of from its start.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Cursor {
    places: BTreeMap<String, (u64, u64)>,
    from_end: bool,
}

impl Cursor {
    fn read(cursor: &EventCursor) -> Option<Self> {
        let mut read = Self::default();
        for word in cursor.as_str().split(';').filter(|word| !word.is_empty()) {
            if word == EventCursor::END {
                read.from_end = true;
            } else {
                let (name, id) = word.split_once('=')?;
                read.places.insert(name.to_owned(), entry_id(id)?);
            }
        }
        Some(read)
    }

    fn write(&self) -> EventCursor {
        let end = self.from_end.then(|| EventCursor::END.to_owned());
        let places = self.places.iter().map(|(name, (time, sequence))| format!("{name}={time}-{sequence}"));
        EventCursor::from_text(end.into_iter().chain(places).collect::<Vec<_>>().join(";"))
    }

    fn of(&self, log: &Log) -> Option<String> {
        self.places.get(log.name()).map(|(time, sequence)| format!("{time}-{sequence}"))
    }
}

fn entry_id(text: &str) -> Option<(u64, u64)> {
    let (time, sequence) = text.split_once('-')?;
    Some((time.parse().ok()?, sequence.parse().ok()?))
}

/// Finds the ends of logs that are to be read from there.
async fn resolve_end(store: &RedisStore, logs: &[Log], cursor: &mut Cursor) -> Result<()> {
    let unplaced: Vec<_> = logs.iter().filter(|log| cursor.from_end && cursor.of(log).is_none()).collect();
    if unplaced.is_empty() {
        return Ok(());
    }
    let mut commands = redis::pipe();
    for log in &unplaced {
        commands.cmd("XREVRANGE").arg(&log.key).arg("+").arg("-").arg("COUNT").arg(1);
    }
    let answers = store.link.run_all(OPERATION, &commands).await?;
    for (log, answer) in unplaced.into_iter().zip(answers) {
        let last = reply::list_or_nil(answer).and_then(|mut entries| reply::entry(entries.pop()?));
        let place = last.and_then(|(id, _)| entry_id(&id)).unwrap_or_default();
        cursor.places.insert(log.name().to_owned(), place);
    }
    Ok(())
}

/// One entry of a log.
struct Entry {
    id: (u64, u64),
    log: usize,
    events: Vec<Event>,
}

async fn page(store: &RedisStore, query: &EventQuery, logs: &[Log], mut cursor: Cursor) -> Result<EventPage> {
    let limit = query.limit.max(1);
    let count = limit.min(PAGE);
    let mut commands = redis::pipe();
    for log in logs {
        let from = cursor.of(log).map_or_else(|| "-".to_owned(), |id| format!("({id}"));
        commands.cmd("XRANGE").arg(&log.key).arg(from).arg("+").arg("COUNT").arg(count);
    }
    let answers = store.link.run_all(OPERATION, &commands).await?;
    let mut entries = merge(logs, answers, count)
        .ok_or_else(|| store.link.corrupt(OPERATION, "an entry of an event log cannot be read"))?
        .into_iter();
    let mut events = Vec::new();
    while events.len() < limit
        && let Some(entry) = entries.next()
    {
        cursor.places.insert(logs[entry.log].name().to_owned(), entry.id);
        events.extend(entry.events);
    }
    Ok(EventPage { events, next: cursor.write() })
}

/// The entries of all logs by time. Where a log has more than was read, the others' later entries must wait for it.
fn merge(logs: &[Log], answers: Vec<Value>, count: usize) -> Option<Vec<Entry>> {
    let mut all = Vec::new();
    let mut horizon = u64::MAX;
    for (place, (log, answer)) in logs.iter().zip(answers).enumerate() {
        let entries = reply::list_or_nil(answer)?;
        let cut = entries.len() == count;
        for value in entries {
            all.push(read_entry(place, log, value)?);
        }
        if let Some(last) = all.last().filter(|_| cut) {
            horizon = horizon.min(last.id.0);
        }
    }
    all.retain(|entry| entry.id.0 <= horizon);
    all.sort_by_key(|entry| (entry.id.0, entry.log, entry.id.1));
    Some(all)
}

/// What cannot be read (a newer version's kinds, a stranger's entries) is passed over: it must not stop a reader for ever.
fn read_entry(place: usize, log: &Log, value: Value) -> Option<Entry> {
    let (id, fields) = reply::entry(value)?;
    let at = record::entry_time(&id)?;
    let events = match &log.queue {
        Some(queue) => task_events(queue, at, &fields),
        None => worker_event(at, &fields).into_iter().collect(),
    };
    Some(Entry { id: entry_id(&id)?, log: place, events })
}

fn task_events(queue: &QueueName, at: Timestamp, fields: &[(String, Bytes)]) -> Vec<Event> {
    let event = |kind, attempt, uuid| {
        let task = Some(TaskId::new(queue.clone(), uuid));
        Event { kind, at, task, attempt, worker: None }
    };
    let lines = reply::field(fields, "e").unwrap_or_default();
    let mut events = Vec::new();
    for line in lines.lines() {
        let mut words = line.split(' ');
        let Some((kind, attempt)) = words.next().and_then(what) else { continue };
        events.extend(words.flat_map(uuids).map(|uuid| event(kind, attempt, uuid)));
    }
    events
}

/// A uuid, and those behind it that begin alike: of them only the last two letters are there.
fn uuids(word: &str) -> impl Iterator<Item = Uuid> {
    const LENGTH: usize = 36;
    let first = word.get(..LENGTH).unwrap_or_default();
    let (begins, rest) = (first.get(..LENGTH - 2).unwrap_or_default(), word.get(LENGTH..).unwrap_or_default());
    let ends = (0..rest.len() / 2).filter_map(|at| rest.get(2 * at..2 * at + 2));
    let others = ends.filter_map(move |end| Uuid::try_parse(&[begins, end].concat()).ok());
    Uuid::try_parse(first).ok().into_iter().chain(others)
}

fn what(word: &str) -> Option<(EventKind, u32)> {
    let kind = EventKind::from_code(word.chars().next()?)?;
    Some((kind, word.get(1..)?.parse().ok()?))
}

fn worker_event(at: Timestamp, fields: &[(String, Bytes)]) -> Option<Event> {
    let kind = EventKind::from_code(reply::field(fields, "k")?.chars().next()?)?;
    let worker = Some(WorkerId::named(reply::field(fields, "w")?));
    Some(Event { kind, at, task: None, attempt: 0, worker })
}

/// Waits for the first entry after the cursor, on a connection of its own: a block stops whatever shares it.
async fn block(store: &RedisStore, logs: &[Log], cursor: &Cursor, wait: Duration) -> Result<()> {
    let mut command = redis::cmd("XREAD");
    // Zero would mean for ever.
    command.arg("COUNT").arg(1).arg("BLOCK").arg(record::millis(wait).max(1)).arg("STREAMS");
    for log in logs {
        command.arg(&log.key);
    }
    for log in logs {
        command.arg(cursor.of(log).unwrap_or_else(|| "0-0".to_owned()));
    }
    store.link.run_aside(OPERATION, &command, wait).await.map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_survives_its_text() {
        let text = "$;@=7-0;default=1796025140123-4";
        let cursor = Cursor::read(&EventCursor::from_text(text)).unwrap();
        assert_eq!(cursor.write().as_str(), text);
        assert_eq!(Cursor::read(&EventCursor::start()), Some(Cursor::default()));
        assert_eq!(Cursor::read(&EventCursor::from_text("nonsense")), None);
    }

    #[test]
    fn a_blob_holds_the_events_of_a_step() {
        let queue = QueueName::default();
        let (a, b) = (Uuid::now_v7(), Uuid::now_v7());
        let begins = &b.to_string()[..34];
        let blob = format!("L1 {a}\nB2 {a}\n?7 {a}\nA0 junk\nB1 {a} {begins}fe00zz7f");
        let events = task_events(&queue, Timestamp::from_millis(17), &[("e".to_owned(), blob.into())]);
        let told: Vec<_> = events.iter().map(|event| (event.kind, event.attempt)).collect();
        assert_eq!(told[..2], [(EventKind::Reclaimed, 1), (EventKind::Started, 2)]);
        let row: Vec<_> = events[3..].iter().map(|event| event.task.as_ref().unwrap().uuid().as_bytes()[15]).collect();
        assert_eq!(row, [0xfe, 0, 0x7f]);
        assert_eq!(events[4].task.as_ref().unwrap().uuid().as_bytes()[..15], b.as_bytes()[..15]);
        assert_eq!(events[0].at.as_millis(), 17);
    }
}
